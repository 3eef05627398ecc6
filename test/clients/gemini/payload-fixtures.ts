/**
 * Recorded hook payloads in a form that may be kept: one per event and kind, paths, ids and times replaced by placeholders, and the
 * client's own wording cut out.
 */
import type { GeminiTour } from "./tour.ts";

export interface PayloadFixture {
  payload: Record<string, unknown>;
  /** The client's variables in the hook's environment, without values. */
  envNames: string[];
}

const CUT = "(text of the client, cut)";
type Fields = Record<string, unknown>;

/** Fixtures by file name, such as `after-tool.read-file.json`. The first payload of a kind is kept. */
export function fixturesOf({ hooks, repo }: GeminiTour): Map<string, PayloadFixture> {
  const fixtures = new Map<string, PayloadFixture>();
  const placeholder = placeholders(repo.base);
  for (const { payload, env } of hooks) {
    const name = `${fixtureName(payload)}.json`;
    if (!fixtures.has(name))
      fixtures.set(name, { payload: placeholder(withoutWording(payload)), envNames: clientVariables(env) });
  }
  return fixtures;
}

/** The messages of one kind that the MCP server got, and its environment, in the same form. */
export function mcpFixture({ mcp, repo }: GeminiTour): Fields {
  const messages = new Map<string, unknown>();
  for (const { message } of mcp)
    if (message?.method && !messages.has(message.method)) messages.set(message.method, message);
  const start = mcp.find((record) => record.start)?.start;
  return placeholders(repo.base)({
    envNames: clientVariables(start?.env ?? {}),
    cwd: start?.cwd,
    messages: [...messages.values()],
  });
}

/** The transcript around the compaction, line by line, with every text of the client and of messages cut short. */
export function transcriptFixture({ transcript, repo }: GeminiTour): string {
  const placeholder = placeholders(repo.base);
  const lines = transcript.split("\n").filter(Boolean);
  return lines.map((line) => `${JSON.stringify(placeholder(shortened(JSON.parse(line))))}\n`).join("");
}

function shortened(value: unknown): Fields {
  return JSON.parse(JSON.stringify(value), (key, member) => {
    if (key === "result" || key === "response" || key === "resultDisplay" || key === "description") return CUT;
    if (key === "text" && /^<session_context>|^Got it/.test(String(member))) return CUT;
    return key === "projectHash" ? "0" : member;
  });
}

function fixtureName(payload: Fields): string {
  const { hook_event_name: event, source, tool_name: tool, trigger } = payload;
  const input = (payload["tool_input"] ?? {}) as Fields;
  const response = (payload["tool_response"] ?? {}) as Fields;
  const words = [event, source ?? tool ?? trigger];
  if (tool === "run_shell_command") words.push(shellKind(input));
  if (input["start_line"]) words.push("part");
  if (response["error"]) words.push("failed");
  if (event === "BeforeAgent" && String(payload["prompt"]).startsWith("<hook_context>")) words.push("after-start-text");
  if (event === "BeforeAgent" && String(payload["prompt"]).startsWith("Tie")) words.push("command");
  return words
    .filter((word): word is string => typeof word === "string" && word !== "")
    .map(kebab)
    .join(".");
}

function shellKind({ command, is_background: isBackground }: Fields): string | undefined {
  if (isBackground) return "background";
  if (String(command).includes("check.sh")) return "exit-1";
  if (String(command).includes("git commit")) return "git-commit";
  return String(command).includes("agent") ? "in-sub-agent" : undefined;
}

/** The client's messages to the model are its own text; of those our readers need only what a shell command's says. */
function withoutWording(payload: Fields): Fields {
  const {
    llm_request: request,
    tool_response: response,
    tool_name: tool,
  } = payload as Record<string, Fields | undefined>;
  const copy: Fields = { ...payload };
  if (request) copy["llm_request"] = { ...request, messages: [{ role: "user", content: CUT }] };
  if (response && String(tool) !== "run_shell_command") {
    const error = response["error"] as Fields | undefined;
    copy["tool_response"] = {
      ...response,
      llmContent: typeof response["llmContent"] === "string" ? CUT : [{ text: CUT }],
      ...(typeof response["returnDisplay"] === "string" && { returnDisplay: CUT }),
      ...(error && { error: { ...error, message: CUT } }),
    };
  }
  if (response && (payload["tool_input"] as Fields)["is_background"])
    copy["tool_response"] = { llmContent: CUT, returnDisplay: CUT };
  return copy;
}

function placeholders(base: string): <Value>(value: Value) => Value & Fields {
  const ids = new Map<string, string>();
  const numbered = (id: string) => {
    if (!ids.has(id)) ids.set(id, `00000000-0000-4000-8000-${String(ids.size + 1).padStart(12, "0")}`);
    return ids.get(id)!;
  };
  return (value) =>
    JSON.parse(JSON.stringify(value), (key, member) => {
      if (key === "command" && String(member).includes("/node")) return "node";
      if (typeof member !== "string") return member;
      return member
        .replaceAll(`${base}/repo`, "/repo")
        .replaceAll(`${base}/home`, "/home/user")
        .replaceAll(base, "/scratch")
        .replaceAll(/\S*\/test\/clients\//g, "/clients/")
        .replaceAll(/session-\d{4}-\d\d-\d\dT\d\d-\d\d-[0-9a-f]{8}/g, "session-2026-01-01T00-00-00000000")
        .replaceAll(/PGID: \d+/g, "PGID: 1000")
        .replaceAll(/\[main [0-9a-f]{7}\]/g, "[main abc1234]")
        .replaceAll(UUID, numbered);
    });
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

function clientVariables(env: Record<string, string>): string[] {
  // Those that the harness itself sets say nothing about the client.
  const ours = /_SYSTEM_|TRUST_WORKSPACE|TELEMETRY|API_KEY|BASE_URL/;
  return Object.keys(env)
    .filter((name) => /GEMINI|CLAUDE/.test(name) && !ours.test(name))
    .sort();
}

function kebab(word: string): string {
  return word
    .replaceAll(/([a-z])([A-Z])/g, "$1-$2")
    .replaceAll(/_+/g, "-")
    .toLowerCase();
}
