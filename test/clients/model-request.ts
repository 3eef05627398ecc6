/**
 * One request that a client sent to the model, as recorded: what it carried and which conversation it belongs to.
 *
 * How Claude Code 2.1.325 tells them apart on the wire (seen, not documented):
 * - a sub-agent's requests carry the header `x-claude-code-agent-id`, the same id that its hooks get as `agent_id`;
 * - the compaction summariser sends the conversation again and asks, at the end of the last user turn, for an
 *   `<analysis>` and a `<summary>`; its agent id is that of the window it compacts, not the one in its SubagentStop hook;
 * - side requests (prompt hooks, titles) bring no tools.
 */
import type { IncomingHttpHeaders } from "node:http";

export type RequestKind = "main" | "sub-agent" | "compaction" | "side";

export interface ContentBlock {
  type: string;
  text?: string;
  [field: string]: unknown;
}

export interface Message {
  role: "user" | "assistant" | "system";
  content: string | ContentBlock[];
  [field: string]: unknown;
}

export interface ToolDefinition {
  name: string;
  description?: string;
  /** Listed so that it can be loaded; the model does not see its schema yet. */
  defer_loading?: boolean;
  [field: string]: unknown;
}

export interface ToolResult {
  toolUseId: string;
  text: string;
  isError: boolean;
}

export interface ModelRequest {
  /** Order of arrival, from 0. */
  index: number;
  kind: RequestKind;
  sessionId: string | undefined;
  /** Only inside a sub-agent. */
  agentId: string | undefined;
  model: string;
  isStream: boolean;
  system: string | ContentBlock[];
  messages: Message[];
  tools: ToolDefinition[];
  /** Text of the last user turn, without tool results; trailing `system` messages (injected context) are passed over. */
  lastUserText: string;
  /** Tool results of the last user turn. */
  toolResults: ToolResult[];
  headers: IncomingHttpHeaders;
  /** The body as sent. */
  body: Record<string, unknown>;
}

export function parseModelRequest(index: number, headers: IncomingHttpHeaders, bytes: string): ModelRequest {
  const body = JSON.parse(bytes) as Record<string, unknown>;
  const messages = (body["messages"] ?? []) as Message[];
  const tools = (body["tools"] ?? []) as ToolDefinition[];
  const agentId = header(headers, "x-claude-code-agent-id");
  const lastUserBlocks = blocksOf(messages.findLast((message) => message.role === "user")?.content ?? []);
  const lastUserText = lastUserBlocks.flatMap((block) => (block.type === "text" ? [block.text ?? ""] : [])).join("\n");
  return {
    index,
    kind: requestKind({ agentId, tools, lastUserText }),
    sessionId: header(headers, "x-claude-code-session-id"),
    agentId,
    model: String(body["model"]),
    isStream: body["stream"] === true,
    system: (body["system"] ?? []) as string | ContentBlock[],
    messages,
    tools,
    lastUserText,
    toolResults: lastUserBlocks.filter((block) => block.type === "tool_result").map(toolResult),
    headers,
    body,
  };
}

/** Content as blocks: the client sends one text now as a string, now as a block, for the same message. */
export function blocksOf(content: string | ContentBlock[]): ContentBlock[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

function requestKind({
  agentId,
  tools,
  lastUserText,
}: Pick<ModelRequest, "agentId" | "tools" | "lastUserText">): RequestKind {
  // First, because a sub-agent's own window can be compacted too.
  if (lastUserText.includes("<analysis>") && lastUserText.includes("<summary>")) return "compaction";
  if (agentId) return "sub-agent";
  return tools.length === 0 ? "side" : "main";
}

function toolResult(block: ContentBlock): ToolResult {
  const content = blocksOf((block["content"] ?? "") as string | ContentBlock[]);
  return {
    toolUseId: String(block["tool_use_id"]),
    text: content.map((part) => part.text ?? JSON.stringify(part)).join("\n"),
    isError: block["is_error"] === true,
  };
}

function header(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}
