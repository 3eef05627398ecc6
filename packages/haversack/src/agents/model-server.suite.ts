/** A model server on this machine that follows a script: the OpenAI-compatible API and Anthropic's, whole answers and streams. */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LanguageModel } from "ai";
import { onTestFinished } from "vitest";

export interface ServerCall {
  tool: string;
  input: unknown;
  /** The arguments as they are sent, if they are not JSON. */
  raw?: string;
}
/** One answer. `cut`: the connection ends half-way. `hang`: it never ends. */
export type Answer =
  | string
  | ServerCall[]
  | { status: number }
  | { cut: string }
  | { hang: string }
  | ((body: RequestBody) => string | ServerCall[]);

export interface RequestBody {
  messages: { role: string; content: unknown; tool_calls?: unknown }[];
  system?: unknown;
  tools?: { name?: string; description?: string; function?: { name: string; description: string } }[];
  stream?: boolean;
}

export interface ModelServer {
  url: string;
  /** The requests so far: as sent, and parsed. */
  requests: { path: string; text: string; body: RequestBody; headers: Record<string, unknown> }[];
  openai: LanguageModel;
  anthropic: LanguageModel;
}

export async function startModelServer(...script: Answer[]): Promise<ModelServer> {
  const requests: ModelServer["requests"] = [];
  let at = 0;
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    const body = JSON.parse(text) as RequestBody;
    requests.push({ path: request.url ?? "", text, body, headers: request.headers });
    const step = script[Math.min(at++, script.length - 1)] ?? "done";
    const answer = typeof step === "function" ? step(body) : step;
    const api = request.url?.endsWith("/messages") ? anthropicApi : openaiApi;
    if (typeof answer === "object" && "status" in answer) {
      response.writeHead(answer.status, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { type: "server_error", message: "scripted failure" } }));
      return;
    }
    const isBroken = typeof answer === "object" && ("cut" in answer || "hang" in answer);
    const said =
      typeof answer === "object" && "cut" in answer
        ? answer.cut
        : typeof answer === "object" && "hang" in answer
          ? answer.hang
          : answer;
    if (!body.stream) {
      if (isBroken) {
        if ("cut" in (answer as object)) request.socket.destroy();
        return;
      }
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify(api.whole(said as string | ServerCall[], requests.length)));
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    api.stream(response, said as string | ServerCall[], { id: requests.length, isBroken });
    if (!isBroken) response.end();
    else if ("cut" in (answer as object)) setTimeout(() => request.socket.destroy(), 50);
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    requests,
    openai: createOpenAICompatible({ name: "scripted", baseURL: `${url}/v1`, apiKey: "none" })("scripted-model"),
    anthropic: createAnthropic({ baseURL: `${url}/v1`, apiKey: "none" })("claude-sonnet-4-5"),
  };
}

interface Api {
  whole(said: string | ServerCall[], id: number): unknown;
  stream(response: ServerResponse, said: string | ServerCall[], how: { id: number; isBroken: boolean }): void;
}

const argumentsOf = ({ raw, input }: ServerCall) => raw ?? JSON.stringify(input);
const words = (text: string) => text.split(/(?<= )/);

const openaiApi: Api = {
  whole: (said, id) => ({
    id: `chat-${id}`,
    object: "chat.completion",
    created: 1,
    model: "scripted-model",
    choices: [
      {
        index: 0,
        finish_reason: typeof said === "string" ? "stop" : "tool_calls",
        message:
          typeof said === "string"
            ? { role: "assistant", content: said }
            : {
                role: "assistant",
                content: null,
                tool_calls: said.map((call, at) => ({
                  id: `call_${id}_${at}`,
                  type: "function",
                  function: { name: call.tool, arguments: argumentsOf(call) },
                })),
              },
      },
    ],
    usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 },
  }),
  stream: (response, said, { id, isBroken }) => {
    const send = (delta: unknown, finish: string | null = null) =>
      response.write(
        `data: ${JSON.stringify({ id: `chat-${id}`, object: "chat.completion.chunk", created: 1, model: "scripted-model", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`,
      );
    if (typeof said === "string") for (const word of words(said)) send({ role: "assistant", content: word });
    else
      said.forEach((call, at) => {
        send({
          tool_calls: [
            { index: at, id: `call_${id}_${at}`, type: "function", function: { name: call.tool, arguments: "" } },
          ],
        });
        send({ tool_calls: [{ index: at, function: { arguments: argumentsOf(call) } }] });
      });
    if (isBroken) return;
    send({}, typeof said === "string" ? "stop" : "tool_calls");
    response.write(
      `data: ${JSON.stringify({ id: `chat-${id}`, choices: [], usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 } })}\n\n`,
    );
    response.write("data: [DONE]\n\n");
  },
};

const anthropicApi: Api = {
  whole: (said, id) => ({
    id: `msg_${id}`,
    type: "message",
    role: "assistant",
    model: "claude-sonnet-4-5",
    content:
      typeof said === "string"
        ? [{ type: "text", text: said }]
        : said.map((call, at) => ({ type: "tool_use", id: `toolu_${id}_${at}`, name: call.tool, input: call.input })),
    stop_reason: typeof said === "string" ? "end_turn" : "tool_use",
    stop_sequence: null,
    usage: { input_tokens: 100, output_tokens: 20 },
  }),
  stream: (response, said, { id, isBroken }) => {
    const send = (event: { type: string }) =>
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    const start = {
      type: "message_start",
      message: {
        id: `msg_${id}`,
        type: "message",
        role: "assistant",
        model: "claude-sonnet-4-5",
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 100, output_tokens: 1 },
      },
    };
    send(start);
    const blocks = typeof said === "string" ? [said] : said;
    blocks.forEach((block, index) => {
      const isText = typeof block === "string";
      const content = isText
        ? { type: "text", text: "" }
        : { type: "tool_use", id: `toolu_${id}_${index}`, name: block.tool, input: {} };
      const deltas = isText
        ? words(block).map((text) => ({ type: "text_delta", text }))
        : [{ type: "input_json_delta", partial_json: argumentsOf(block) }];
      send({ type: "content_block_start", index, content_block: content } as { type: string });
      for (const delta of deltas) send({ type: "content_block_delta", index, delta } as { type: string });
      if (!isBroken) send({ type: "content_block_stop", index } as { type: string });
    });
    if (isBroken) return;
    send({
      type: "message_delta",
      delta: { stop_reason: typeof said === "string" ? "end_turn" : "tool_use", stop_sequence: null },
      usage: { output_tokens: 20 },
    } as { type: string });
    send({ type: "message_stop" });
  },
};

/** The text of a message's content in either API. */
export function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  return Array.isArray(content)
    ? content.map((part: { text?: string; content?: unknown }) => part.text ?? contentText(part.content)).join("\n")
    : "";
}
