/**
 * Recorded hook payloads in a form that may be kept: one per event and kind, paths, ids and times replaced by placeholders, and the
 * client's own wording cut out. `shapeOf` is what a later run is compared by.
 */
import { shapeOf } from "../claude-code/payload-fixtures.ts";
import type { HookPayload, McpRecord } from "../scratch.ts";
import type { Tour } from "./tour.ts";

export { shapeOf };

export interface PayloadFixture {
  payload: Record<string, unknown>;
  /** The client's variables in the hook's environment, without values. */
  envNames: string[];
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** Fixtures by file name, such as `post-tool-use.bash.json`. The first payload of a kind is kept. */
export function fixturesOf(tours: readonly Tour[]): Map<string, PayloadFixture> {
  const fixtures = new Map<string, PayloadFixture>();
  for (const { hooks, repo } of tours) {
    const placeholder = placeholders(repo.base);
    for (const { payload, env } of hooks) {
      const name = `${fixtureName(payload)}.json`;
      if (!fixtures.has(name)) fixtures.set(name, { payload: placeholder(payload), envNames: clientVariables(env) });
    }
  }
  return fixtures;
}

/** The messages of one kind that the MCP server got, and its whole environment, in the same form. */
export function mcpFixture(tours: readonly Tour[]): Record<string, unknown> {
  const first = tours[0]!;
  const placeholder = placeholders(first.repo.base);
  const messages = new Map<string, unknown>();
  for (const { message } of first.mcp) {
    if (message?.method && !messages.has(message.method)) messages.set(message.method, message);
  }
  const start = first.mcp.find((record): record is McpRecord & Required<Pick<McpRecord, "start">> => "start" in record);
  return placeholder({
    envNames: Object.keys(start?.start.env ?? {}).sort(),
    cwd: start?.start.cwd,
    messages: [...messages.values()],
  });
}

/** The lines of a session's file that our readers use: how a command ended, and how full the window is. */
export function rolloutFixture({ rollouts, repo }: Tour): string {
  const wanted = (rollouts[0] ?? []).filter(({ payload }) => {
    const { type, item } = payload as { type?: string; item?: { type?: string } };
    return type === "token_count" || (type === "item_completed" && item?.type === "CommandExecution");
  });
  const placeholder = placeholders(repo.base);
  return wanted.map((line) => `${JSON.stringify(placeholder(line))}\n`).join("");
}

function fixtureName(payload: HookPayload): string {
  const { hook_event_name: event, source, tool_name: tool, trigger, agent_id: agent } = payload;
  const words = [event, source ?? tool ?? trigger];
  if (agent && !event.startsWith("Subagent")) words.push("in-sub-agent");
  const command = String(payload.tool_input?.["command"] ?? "");
  if (command.includes("Move to")) words.push("move");
  if (command.includes("check.sh")) words.push("failing");
  if (command.includes("git commit")) words.push("git-commit");
  if (payload.tool_use_id?.startsWith("exec-")) words.push("in-script");
  return words
    .filter((word): word is string => Boolean(word))
    .map(kebab)
    .join(".");
}

function placeholders(base: string): <Value>(value: Value) => Value & Record<string, unknown> {
  const ids = new Map<string, string>();
  const numbered = (id: string) => {
    if (!ids.has(id)) ids.set(id, `00000000-0000-7000-8000-${String(ids.size + 1).padStart(12, "0")}`);
    return ids.get(id)!;
  };
  // Paths are keys too.
  const moved = (text: string) =>
    text
      .replaceAll(`${base}/repo`, "/repo")
      .replaceAll(`${base}/codex`, "/home/user/.codex")
      .replaceAll(base, "/base")
      .replaceAll(/\/\d{4}\/\d\d\/\d\d\/rollout-[\dT-]{20}/g, "/2026/01/01/rollout-2026-01-01T00-00-00-")
      .replaceAll(/\\"nickname\\":\\"[^"]*\\"/g, '\\"nickname\\":\\"Name\\"');
  return (value) =>
    JSON.parse(moved(JSON.stringify(value)), (key, member) => {
      if (typeof member === "number" && /_ms$|ordinal/.test(key)) return 1;
      // Accounts and offers of the vendor.
      if (key === "rate_limits") return null;
      if (key === "process_id") return "1";
      if (key === "timestamp") return "2026-01-01T00:00:00.000Z";
      if (key === "duration") return { secs: 0, nanos: 1 };
      if (key === "latest_git_commit_hash") return "0".repeat(40);
      if (typeof member !== "string") return member;
      return member.replaceAll(/\[main [0-9a-f]{7}\]/g, "[main abc1234]").replaceAll(UUID, numbered);
    });
}

function clientVariables(env: Record<string, string>): string[] {
  return Object.keys(env)
    .filter((name) => name.includes("CODEX") && name !== "CODEX_HOME")
    .sort();
}

function kebab(word: string): string {
  return word
    .replaceAll(/([a-z])([A-Z])/g, "$1-$2")
    .replaceAll(/_+/g, "-")
    .toLowerCase();
}
