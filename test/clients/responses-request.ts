/**
 * One request of the Responses API, as recorded, in the same form as those of the Messages API: rules of a script, `textOf` and
 * `firstChange` work on both. Instructions of the client and context of hooks are `developer` messages; here their role is
 * `system`.
 *
 * How Codex 0.166.0 tells them apart (seen): `request_kind` in the metadata that goes with every request says turn or
 * compaction, and a sub-agent's thread is not the session.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { ContentBlock, Message, ModelRequest, RequestKind, ToolDefinition, ToolResult } from "./model-request.ts";

/** A part of the conversation as sent. */
export interface InputItem {
  type: string;
  role?: string;
  content?: ContentBlock[];
  call_id?: string;
  output?: string | ContentBlock[];
  tools?: ToolDefinition[];
  [field: string]: unknown;
}

export interface ResponsesRequest extends ModelRequest {
  input: InputItem[];
  /** Changes with every compaction. */
  windowId: string | undefined;
  /** What the client says of the turn. */
  turn: Record<string, unknown>;
}

export function parseResponsesRequest(index: number, headers: IncomingHttpHeaders, bytes: string): ResponsesRequest {
  const body = JSON.parse(bytes) as Record<string, unknown>;
  const input = (body["input"] ?? []) as InputItem[];
  const metadata = (body["client_metadata"] ?? {}) as Record<string, string>;
  const turn = JSON.parse(metadata["x-codex-turn-metadata"] ?? "{}") as Record<string, unknown>;
  const sessionId = metadata["session_id"];
  const agentId = metadata["thread_id"] === sessionId ? undefined : metadata["thread_id"];
  // Newer models get their tools as the first item of the conversation.
  const more = input.flatMap((item) => (item.type === "additional_tools" ? (item.tools ?? []) : []));
  const tools = [...((body["tools"] ?? []) as ToolDefinition[]), ...more];
  return {
    index,
    kind: requestKind(turn, agentId, tools),
    sessionId,
    agentId,
    model: String(body["model"]),
    isStream: body["stream"] === true,
    system: String(body["instructions"] ?? ""),
    messages: input.filter((item) => item.type !== "additional_tools").map(messageOf),
    tools,
    lastUserText: input.filter(isPrompt).map(itemText).at(-1) ?? "",
    toolResults: input
      .slice(input.findLastIndex(isModelPart) + 1)
      .filter(isOutput)
      .map(toolResult),
    headers,
    body,
    input,
    windowId: metadata["x-codex-window-id"],
    turn,
  };
}

/** Texts of the messages that hooks and the client put in for the model, in order. */
export function developerTexts({ input }: Pick<ResponsesRequest, "input">): string[] {
  return input.filter(({ type, role }) => type === "message" && role === "developer").map(itemText);
}

export function itemText({ content = [] }: InputItem): string {
  return content.map(({ text }) => text ?? "").join("\n");
}

function requestKind(turn: Record<string, unknown>, agentId: string | undefined, tools: unknown[]): RequestKind {
  if (turn["request_kind"] === "compaction") return "compaction";
  if (agentId) return "sub-agent";
  return tools.length === 0 ? "side" : "main";
}

/** What the client adds for the user begins with a tag. */
function isPrompt(item: InputItem): boolean {
  return item.type === "message" && item.role === "user" && !/^<[a-z_]+>/.test(itemText(item));
}

function isModelPart({ type, role }: InputItem): boolean {
  return type.endsWith("_call") || type === "reasoning" || (type === "message" && role === "assistant");
}

function isOutput({ type }: InputItem): boolean {
  return type.endsWith("_call_output");
}

function messageOf(item: InputItem): Message {
  const { id: _, internal_chat_message_metadata_passthrough: __, ...own } = item;
  if (item.type !== "message") return { role: isOutput(item) ? "user" : "assistant", content: [own] };
  const role = item.role === "assistant" || item.role === "user" ? item.role : "system";
  return { role, content: (item.content ?? []).map((part) => ({ type: "text", text: part.text ?? "" })) };
}

function toolResult({ call_id, output = "" }: InputItem): ToolResult {
  const text = typeof output === "string" ? output : output.map((part) => part.text ?? JSON.stringify(part)).join("\n");
  // The API has no mark for a failure: the text says it.
  return { toolUseId: String(call_id), text, isError: /^(?:tool call error|unsupported call|Error:)/.test(text) };
}
