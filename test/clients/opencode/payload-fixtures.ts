/**
 * What the client told the recording plugin, in a form that may be kept: one per hook and kind, paths, ids and times replaced by
 * placeholders, and the client's own wording cut out.
 */
import type { PluginRecord } from "./scratch-opencode.ts";
import type { OpencodeTour } from "./tour.ts";

const CUT = "(text of the client, cut)";
type Fields = Record<string, unknown>;

/** Fixtures by file name, such as `tool-execute-after.bash.json`. The first record of a kind is kept. */
export function fixturesOf({ hooks, mcp, repo }: OpencodeTour): Map<string, unknown> {
  const fixtures = new Map<string, unknown>();
  const placeholder = placeholders(repo.base);
  for (const record of hooks) {
    const name = fixtureName(record);
    if (name && !fixtures.has(`${name}.json`)) fixtures.set(`${name}.json`, placeholder(withoutWording(record)));
  }
  const messages = new Map<string, unknown>();
  for (const { message } of mcp)
    if (message?.method && !messages.has(message.method)) messages.set(message.method, message);
  const start = mcp.find((record) => record.start)?.start;
  const envNames = Object.keys(start?.env ?? {}).filter((key) => /^(?:AGENT|OPENCODE(?:_PID)?)$/.test(key));
  fixtures.set(
    "mcp-server.json",
    placeholder({ envNames: envNames.sort(), cwd: start?.cwd, messages: [...messages.values()] }),
  );
  return fixtures;
}

/** Events of no interest, and what comes by chance, have no name. */
function fixtureName({ hook, input, output }: PluginRecord): string | undefined {
  const event = input["event"] as { type: string; properties: Fields } | undefined;
  const words: unknown[] = [hook];
  if (event) {
    if (!/^session\.(?:created|compacted|idle)$|^todo\.updated$/.test(event.type) && !isAnswer(event)) return undefined;
    words.push(event.type);
    // A message's parentID is the message that it answers.
    const { parentID } = (event.properties["info"] ?? {}) as Fields;
    if (event.type === "session.created" && parentID) words.push("sub-agent");
  }
  if (hook === "system.transform" || hook === "plugin") return undefined;
  if (hook === "chat.params") words.push(input["agent"]);
  if (hook === "chat.message" && input["agent"] === "general") words.push("sub-agent");
  if (hook === "chat.message" && JSON.stringify(output).includes("Tie")) words.push("command");
  if (input["tool"]) words.push(input["tool"]);
  if (input["tool"] === "bash") words.push(bashKind(input, output));
  return words
    .filter((word): word is string => typeof word === "string" && word !== "")
    .map((word) => word.replaceAll(/[._]+/g, "-").toLowerCase())
    .join(".");
}

/** The last update of an answer, with its tokens. */
function isAnswer({ type, properties }: { type: string; properties: Fields }): boolean {
  const info = properties["info"] as { role?: string; finish?: string } | undefined;
  return type === "message.updated" && info?.role === "assistant" && info.finish === "tool-calls";
}

function bashKind({ args }: Fields, output: Fields): string | undefined {
  const { command } = { ...(args as Fields), ...(output["args"] as Fields) } as { command?: string };
  if (command?.includes("check.sh")) return "exit-1";
  if (command?.includes("git commit")) return "git-commit";
  return command?.includes("agent") ? "in-sub-agent" : undefined;
}

/** The client's texts for the model are its own; of those our readers need only the head of a sub-agent's answer. */
function withoutWording(record: PluginRecord): PluginRecord {
  const { hook, input, output } = record;
  const isOwn = ["bash", "task", "echo_recall"].includes(String(input["tool"]));
  if (hook !== "tool.execute.after" || isOwn) return record;
  return { ...record, output: { ...output, output: CUT } };
}

function placeholders(base: string): <Value>(value: Value) => Value {
  const ids = new Map<string, string>();
  const numbered = (id: string) => {
    const kind = id.slice(0, 4);
    if (!ids.has(id)) ids.set(id, `${kind}${String(ids.size + 1).padStart(4, "0")}`);
    return ids.get(id)!;
  };
  return (value) =>
    JSON.parse(JSON.stringify(value), (key, member) => {
      if (key === "time" || key === "version") return undefined;
      if (key === "command" && Array.isArray(member)) return ["node"];
      if (key === "slug" || key === "snapshot" || key === "hash") return "x";
      if (key === "title" && String(member).startsWith("New session")) return CUT;
      if (typeof member !== "string") return member;
      return member
        .replaceAll(`${base}/repo`, "/repo")
        .replaceAll(base, "/scratch")
        .replaceAll(/\[main [0-9a-f]{7}\]/g, "[main abc1234]")
        .replaceAll(/\b(?:ses|msg|prt|evt)_[0-9a-zA-Z]{20,}/g, numbered);
    });
}
