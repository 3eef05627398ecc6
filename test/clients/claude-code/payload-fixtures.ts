/**
 * Recorded hook payloads in a form that may be kept: one per event and kind, paths, ids and times replaced by placeholders, and
 * the client's own wording cut out. `shapeOf` is what a later run is compared by.
 */
import type { HookPayload, HookRecord, McpRecord } from "../scratch.ts";
import type { Tour } from "./tour.ts";

export interface PayloadFixture {
  payload: Record<string, unknown>;
  /** The client's variables in the hook's environment, without values. */
  envNames: string[];
}

const CUT = "(text of the client, cut)";
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** Fixtures by file name, such as `post-tool-use.bash.json`. The first payload of a kind is kept. */
export function fixturesOf(tours: readonly Tour[]): Map<string, PayloadFixture> {
  const fixtures = new Map<string, PayloadFixture>();
  for (const { hooks, repo } of tours) {
    const placeholder = placeholders(repo.base);
    for (const { payload, env } of hooks) {
      const name = `${fixtureName(payload)}.json`;
      if (fixtures.has(name)) continue;
      fixtures.set(name, { payload: placeholder(withoutWording(payload)), envNames: clientVariables({ env }) });
    }
  }
  return fixtures;
}

/** The messages of one kind that the MCP server got, and its environment, in the same form. */
export function mcpFixture({ mcp, repo }: Tour): Record<string, unknown> {
  const placeholder = placeholders(repo.base);
  const messages = new Map<string, unknown>();
  for (const { message } of mcp)
    if (message?.method && !messages.has(message.method)) messages.set(message.method, message);
  const start = mcp.find(
    (record): record is McpRecord & Required<Pick<McpRecord, "start">> => record.start !== undefined,
  );
  const env = start?.start.env ?? {};
  return placeholder({
    envNames: clientVariables({ env }),
    env: { CLAUDE_CODE_SESSION_ID: env["CLAUDE_CODE_SESSION_ID"], CLAUDE_PROJECT_DIR: env["CLAUDE_PROJECT_DIR"] },
    cwd: start?.start.cwd,
    messages: [...messages.values()],
  });
}

/** Keys and types of a value; lists as the shapes of their members, each once. */
export function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return [...new Set(value.map((member) => JSON.stringify(shapeOf(member))))].sort();
  if (value === null) return "null";
  if (typeof value !== "object") return typeof value;
  const entries = Object.entries(value).map(([key, member]) => [key, shapeOf(member)] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function fixtureName(payload: HookPayload): string {
  const { hook_event_name: event, source, tool_name: tool, trigger, agent_type: agent } = payload;
  const words = [event, source ?? tool ?? trigger ?? (agent === "" ? "summariser" : undefined)];
  if (agent && !event.startsWith("Subagent")) words.push("in-sub-agent");
  if (event === "UserPromptSubmit" && payload.prompt?.startsWith("<task-notification>"))
    words.push("task-notification");
  if (tool === "Read" && field(payload.tool_input, "limit")) words.push("part");
  if (tool === "Bash") words.push(bashKind(payload));
  if (tool === "Write" && "tool_response" in payload) words.push(String(field(payload["tool_response"], "type")));
  if (tool === "Agent" && "tool_response" in payload) words.push(String(field(payload["tool_response"], "status")));
  if (tool === "TaskUpdate") words.push(String(field(payload.tool_input, "status")));
  if (event === "SessionEnd") words.push(String(payload["reason"]));
  return words
    .filter((word): word is string => Boolean(word))
    .map(kebab)
    .join(".");
}

function bashKind({ tool_input, tool_response }: HookPayload): string | undefined {
  if (field(tool_response, "gitOperation")) return "git-commit";
  return String(field(tool_input, "command")).includes("git commit") ? "git-commit" : undefined;
}

/** The client's messages to the model are its own text; our tests never read them. */
function withoutWording(payload: HookPayload): HookPayload {
  const calls = payload["tool_calls"];
  if (Array.isArray(calls)) {
    return { ...payload, tool_calls: calls.map((call) => ({ ...call, tool_response: cut(call.tool_response) })) };
  }
  if (payload.hook_event_name === "StopFailure") return { ...payload, last_assistant_message: CUT };
  if (payload.prompt?.startsWith("<task-notification>")) {
    return { ...payload, prompt: `<task-notification>\n${CUT}\n</task-notification>` };
  }
  if (payload.hook_event_name === "PostToolUseFailure" && payload.tool_name !== "Bash")
    return { ...payload, error: CUT };
  return payload;
}

/** What our own tools, files and agents print is not the client's text, but a batch mixes both. */
function cut(response: unknown): unknown {
  return typeof response === "string" ? CUT : response;
}

function placeholders(base: string): <Value>(value: Value) => Value & Record<string, unknown> {
  const ids = new Map<string, string>();
  const numbered = (id: string) => {
    if (!ids.has(id)) ids.set(id, `00000000-0000-4000-8000-${String(ids.size + 1).padStart(12, "0")}`);
    return ids.get(id)!;
  };
  const agents = new Map<string, string>();
  const agent = (id: string) => {
    if (!agents.has(id)) agents.set(id, `a${String(agents.size + 1).padStart(16, "0")}`);
    return agents.get(id)!;
  };
  const slug = base.replace(/[^a-zA-Z0-9]/g, "-");
  return (value) =>
    JSON.parse(JSON.stringify(value), (key, member) => {
      if (typeof member === "number" && /_?ms$|Ms$|seconds|usd|context_tokens/i.test(key)) return 1;
      // How the client describes itself is its own text; the name and version say enough.
      if (key.endsWith("clientInfo")) return { name: member.name, version: member.version };
      if (key === "sha") return "abc1234";
      if (key === "harnessSectionHash") return "0000000000000000";
      if (typeof member !== "string") return member;
      return member
        .replaceAll(`${slug}-repo`, "-repo")
        .replaceAll(`${base}/repo`, "/repo")
        .replaceAll(`${base}/config`, "/home/user/.claude")
        .replaceAll(`${base}/tmp`, "/tmp")
        .replaceAll(/claude-\d+\//g, "claude-1000/")
        .replaceAll(/\[main [0-9a-f]{7}\]/g, "[main abc1234]")
        .replaceAll(UUID, numbered)
        .replaceAll(/\ba[0-9a-f]{16}\b/g, agent);
    });
}

function clientVariables({ env }: Pick<HookRecord, "env">): string[] {
  // Those that the harness itself sets say nothing about the client.
  const ours = ["CLAUDE_CONFIG_DIR", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"];
  return Object.keys(env)
    .filter((name) => name.includes("CLAUDE") && !name.includes("_ENABLE_") && !ours.includes(name))
    .sort();
}

function field(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[key] : undefined;
}

function kebab(word: string): string {
  return word
    .replaceAll(/([a-z])([A-Z])/g, "$1-$2")
    .replaceAll(/_+/g, "-")
    .toLowerCase();
}
