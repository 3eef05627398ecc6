/** The part of the OpenAI Responses API that Codex needs: streamed responses. Anything else is not found. */
import type { ServerResponse } from "node:http";
import type { ApiFormat } from "./model-server.ts";
import { parseResponsesRequest, type ResponsesRequest } from "./responses-request.ts";
import { defaultReply, type Reply, type ToolCall } from "./script.ts";

export const RESPONSES_API: ApiFormat<ResponsesRequest> = {
  read: ({ method, path, headers, bytes }, index) =>
    method === "POST" && path === "/v1/responses" ? parseResponsesRequest(index, headers, bytes) : undefined,
  write: writeResponse,
  writeError,
  defaultReply,
  other: () => ({}),
  otherStatus: 404,
};

/** A call of a tool that takes a text instead of JSON, such as `apply_patch` and the JavaScript of `exec`. */
export function textCall(name: string, text: string): ToolCall {
  return { name, input: { [TEXT]: text } };
}

/** A call of a tool that stands in a namespace: MCP servers (`mcp__SERVER`), `multi_agent_v1`, `collaboration`. */
export function namespaceCall(namespace: string, name: string, input: Record<string, unknown>): ToolCall {
  return { name: `${namespace}${IN}${name}`, input };
}

const TEXT = "\0text";
const IN = "\0";

function writeResponse(response: ServerResponse, { index }: ResponsesRequest, reply: Reply): void {
  response.setHeader("content-type", "text/event-stream");
  for (const event of streamEvents(index, reply)) {
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  }
  response.end();
}

function writeError(response: ServerResponse, { status, type, message }: NonNullable<Reply["error"]>): void {
  response.statusCode = status;
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ error: { type, code: type, message } }));
}

function* streamEvents(index: number, { text, tools = [], usage = {} }: Reply) {
  const id = `resp_${index}`;
  yield { type: "response.created", response: { id } };
  if (text !== undefined) {
    const content = [{ type: "output_text", text }];
    yield {
      type: "response.output_item.done",
      item: { type: "message", role: "assistant", id: `msg_${index}`, content },
    };
  }
  for (const [place, call] of tools.entries()) {
    yield { type: "response.output_item.done", item: callItem(call, `${index}_${place}`) };
  }
  const { inputTokens = 1_000, outputTokens = 10, cacheReadTokens = 0 } = usage;
  const counts = {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cacheReadTokens },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: inputTokens + outputTokens,
  };
  yield { type: "response.completed", response: { id, usage: counts } };
}

function callItem({ name: full, input, id }: ToolCall, place: string) {
  const at = full.indexOf(IN);
  const name = full.slice(at + 1);
  const call_id = id ?? `call_${place}`;
  const text = input[TEXT];
  if (typeof text === "string") return { type: "custom_tool_call", id: `ctc_${place}`, call_id, name, input: text };
  const namespace = at < 0 ? {} : { namespace: full.slice(0, at) };
  return { type: "function_call", id: `fc_${place}`, call_id, name, ...namespace, arguments: JSON.stringify(input) };
}
