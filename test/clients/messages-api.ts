/**
 * The part of the Anthropic Messages API that Claude Code needs: messages, streamed or as one JSON message, and token counts. Anything
 * else gets an empty JSON object.
 */
import type { ServerResponse } from "node:http";
import { type ModelRequest, parseModelRequest } from "./model-request.ts";
import type { ApiFormat } from "./model-server.ts";
import { defaultReply, type Reply, type Usage } from "./script.ts";

export const MESSAGES_API: ApiFormat = {
  read: ({ method, path, headers, bytes }, index) =>
    method === "POST" && path === "/v1/messages" ? parseModelRequest(index, headers, bytes) : undefined,
  write: writeReply,
  writeError,
  defaultReply,
  other: ({ path, bytes }) =>
    path === "/v1/messages/count_tokens" ? { input_tokens: Math.ceil(bytes.length / 4) } : {},
};

export function writeReply(response: ServerResponse, request: ModelRequest, reply: Reply): void {
  const message = messageOf(request, reply);
  if (!request.isStream) {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(message));
    return;
  }
  response.setHeader("content-type", "text/event-stream");
  for (const [name, data] of streamEvents(message)) {
    response.write(`event: ${name}\ndata: ${JSON.stringify({ type: name, ...data })}\n\n`);
  }
  response.end();
}

export function writeError(response: ServerResponse, { status, type, message }: NonNullable<Reply["error"]>): void {
  response.statusCode = status;
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ type: "error", error: { type, message } }));
}

type Block = { type: "text"; text: string } | { type: "tool_use"; id: string; name: string; input: object };
type ApiMessage = ReturnType<typeof messageOf>;

function messageOf(request: ModelRequest, { text, tools = [], usage }: Reply) {
  const content: Block[] = text === undefined ? [] : [{ type: "text", text }];
  for (const [place, { name, input, id }] of tools.entries()) {
    content.push({ type: "tool_use", id: id ?? `toolu_${request.index}_${place}`, name, input });
  }
  return {
    id: `msg_${request.index}`,
    type: "message",
    role: "assistant",
    model: request.model,
    content,
    stop_reason: tools.length > 0 ? "tool_use" : "end_turn",
    stop_sequence: null,
    usage: apiUsage(usage ?? {}),
  };
}

function* streamEvents(message: ApiMessage): Generator<[string, object]> {
  const { content, stop_reason, stop_sequence, usage } = message;
  const opening = { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } };
  yield ["message_start", { message: opening }];
  for (const [index, block] of content.entries()) {
    const isText = block.type === "text";
    yield [
      "content_block_start",
      { index, content_block: isText ? { type: "text", text: "" } : { ...block, input: {} } },
    ];
    const delta = isText
      ? { type: "text_delta", text: block.text }
      : { type: "input_json_delta", partial_json: JSON.stringify(block.input) };
    yield ["content_block_delta", { index, delta }];
    yield ["content_block_stop", { index }];
  }
  yield ["message_delta", { delta: { stop_reason, stop_sequence }, usage }];
  yield ["message_stop", {}];
}

function apiUsage({ inputTokens = 1_000, outputTokens = 10, cacheReadTokens = 0, cacheWriteTokens = 0 }: Usage) {
  return {
    input_tokens: inputTokens,
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cacheReadTokens,
    output_tokens: outputTokens,
  };
}
