/**
 * The part of the Gemini API that Gemini CLI needs: `models/M:generateContent` and `:streamGenerateContent`, with requests read
 * into the form that scripts and tests know. How 0.61.0 tells its conversations apart on the wire (seen, not documented):
 * a sub-agent has the tool `complete_task`; the summariser asks for a `<state_snapshot>`; the router and other side requests
 * bring no tools.
 */
import type { ServerResponse } from "node:http";
import type { ContentBlock, Message, ModelRequest, RequestKind, ToolDefinition, ToolResult } from "./model-request.ts";
import type { ApiCall, ApiFormat } from "./model-server.ts";
import { DONE, type Reply, SUMMARY } from "./script.ts";

export const GEMINI_API: ApiFormat = {
  read: readGeminiRequest,
  write: writeGeminiReply,
  writeError: writeGeminiError,
  defaultReply({ kind, body }) {
    if (kind === "compaction") return { text: `<state_snapshot>${SUMMARY}</state_snapshot>` };
    if (kind !== "side") return { text: DONE };
    // The router's model choice, the loop check and others: an object with every field that is asked for.
    return { text: JSON.stringify(exampleOf(schemaOf(body))) };
  },
  other: ({ path, bytes }) => (path.endsWith(":countTokens") ? { totalTokens: Math.ceil(bytes.length / 4) } : {}),
};

interface Part {
  text?: string;
  functionCall?: { id?: string; name: string; args?: object };
  functionResponse?: { id?: string; name: string; response?: Record<string, unknown> };
  [field: string]: unknown;
}

interface Content {
  role?: string;
  parts?: Part[];
}

const CALL = /\/models\/([^/:]+):(generateContent|streamGenerateContent)$/;

export function readGeminiRequest({ method, path, headers, bytes }: ApiCall, index: number): ModelRequest | undefined {
  const [, model, action] = CALL.exec(path) ?? [];
  if (method !== "POST" || model === undefined) return undefined;
  const body = JSON.parse(bytes) as Record<string, unknown>;
  const contents = (body["contents"] ?? []) as Content[];
  const lists = (body["tools"] ?? []) as { functionDeclarations?: ToolDefinition[] }[];
  const tools = lists.flatMap(({ functionDeclarations = [] }) => functionDeclarations);
  const last = contents.findLast(({ role }) => role === "user")?.parts ?? [];
  const lastUserText = last.flatMap(({ text }) => (text === undefined ? [] : [text])).join("\n");
  return {
    index,
    kind: requestKind(tools, lastUserText),
    sessionId: undefined,
    agentId: undefined,
    model,
    isStream: action === "streamGenerateContent",
    system: ((body["systemInstruction"] as Content | undefined)?.parts ?? []).map(({ text = "" }) => ({
      type: "text",
      text,
    })),
    messages: contents.map(messageOf),
    tools,
    lastUserText,
    toolResults: last.flatMap((part) => (part.functionResponse ? [toolResult(part.functionResponse)] : [])),
    headers,
    body,
  };
}

function requestKind(tools: readonly ToolDefinition[], lastUserText: string): RequestKind {
  if (lastUserText.includes("<state_snapshot>") && tools.length === 0) return "compaction";
  if (tools.some(({ name }) => name === "complete_task")) return "sub-agent";
  return tools.length === 0 ? "side" : "main";
}

function messageOf({ role, parts = [] }: Content): Message {
  return { role: role === "model" ? "assistant" : "user", content: parts.map(blockOf) };
}

function blockOf(part: Part): ContentBlock {
  const { text, functionCall, functionResponse } = part;
  if (functionCall)
    return { type: "tool_use", id: functionCall.id, name: functionCall.name, input: functionCall.args ?? {} };
  if (functionResponse) {
    const { toolUseId, text: content, isError } = toolResult(functionResponse);
    return { type: "tool_result", tool_use_id: toolUseId, content, is_error: isError };
  }
  return text === undefined ? { type: "other", ...part } : { type: "text", text };
}

function toolResult({ id = "", response = {} }: NonNullable<Part["functionResponse"]>): ToolResult {
  const said = response["output"] ?? response["error"] ?? response;
  return {
    toolUseId: id,
    text: typeof said === "string" ? said : JSON.stringify(said),
    isError: response["error"] !== undefined,
  };
}

export function writeGeminiReply(response: ServerResponse, request: ModelRequest, reply: Reply): void {
  const { text, tools = [], usage = {} } = reply;
  const parts: Part[] = text === undefined ? [] : [{ text }];
  for (const [place, { name, input, id }] of tools.entries()) {
    parts.push({ functionCall: { id: id ?? `toolu_${request.index}_${place}`, name, args: input } });
  }
  const { inputTokens = 1_000, outputTokens = 10, cacheReadTokens = 0 } = usage;
  const message = {
    responseId: `msg_${request.index}`,
    modelVersion: request.model,
    candidates: [{ index: 0, content: { role: "model", parts }, finishReason: "STOP" }],
    usageMetadata: {
      promptTokenCount: inputTokens,
      candidatesTokenCount: outputTokens,
      totalTokenCount: inputTokens + outputTokens,
      cachedContentTokenCount: cacheReadTokens,
    },
  };
  response.setHeader("content-type", request.isStream ? "text/event-stream" : "application/json");
  response.end(request.isStream ? `data: ${JSON.stringify(message)}\r\n\r\n` : JSON.stringify(message));
}

export function writeGeminiError(
  response: ServerResponse,
  { status, type, message }: NonNullable<Reply["error"]>,
): void {
  response.statusCode = status;
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ error: { code: status, message, status: type } }));
}

interface Schema {
  type?: string;
  enum?: unknown[];
  minimum?: number;
  properties?: Record<string, Schema>;
}

function schemaOf(body: Record<string, unknown>): Schema {
  const config = (body["generationConfig"] ?? {}) as { responseSchema?: Schema; responseJsonSchema?: Schema };
  return config.responseJsonSchema ?? config.responseSchema ?? {};
}

function exampleOf({ type, enum: values, minimum = 1, properties = {} }: Schema): unknown {
  if (values) return values[0];
  const kind = type?.toLowerCase() ?? "object";
  if (kind === "object")
    return Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, exampleOf(inner)]));
  if (kind === "array") return [];
  return kind === "boolean" ? false : kind === "string" ? "ok" : minimum;
}
