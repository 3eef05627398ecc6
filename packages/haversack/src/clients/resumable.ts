/**
 * Clients that can resume an agent, for the trial `doctor --try-resume` (seen in Claude Code 2.1.325 and Codex 0.166.0): a headless session
 * by its id, and in Claude Code a sub-agent by `SendMessage`, even if its session was itself resumed meanwhile.
 */
import { HaversackError } from "../base/errors.ts";
import type { ResumableClient, TrialPlace } from "../engine/artifacts/check-resume.ts";
import type { Environment } from "../engine/project.ts";
import { tryProgram } from "../engine/try-process.ts";
import { type Fields, object, text } from "./client-adapter.ts";
import { findOnPath } from "./client-program.ts";
import { FACTS, OF_A_SESSION } from "./facts.ts";

interface Resumable {
  ways: readonly ((program: string) => ResumableClient)[];
  /** Roughly how many model requests the trial takes. */
  requests: number;
}

const RESUMABLE: Readonly<Record<string, Resumable>> = {
  "claude-code": { ways: [claudeSubAgents, claudeSessions], requests: 11 },
  codex: { ways: [codexSessions], requests: 3 },
};

export const RESUMABLE_NAMES = Object.keys(RESUMABLE);

/** Throws if the program is missing; then nothing was tried. */
export function resumableClient(
  name: string,
  env: Environment,
): { title: string; requests: number; clients: ResumableClient[] } {
  const { title, program: word } = FACTS[name as keyof typeof FACTS];
  const { ways, requests } = RESUMABLE[name]!;
  const program = findOnPath(word, env);
  if (program === undefined) {
    throw new HaversackError("not-found", `${title} is not installed: its program is not on the PATH`);
  }
  return { title, requests, clients: ways.map((way) => way(program)) };
}

/** The agents are sessions. */
function claudeSessions(program: string): ResumableClient {
  return sessionsOf("claude-code", async (prompt, place, id) => {
    const { sessionId, said } = await runClaude(program, [prompt, ...(id ? ["--resume", id] : [])], place);
    return { agentId: sessionId, answer: said };
  });
}

/** `ask`: with an id, in that session, else in a new one. */
function sessionsOf(
  client: string,
  ask: (prompt: string, place: TrialPlace, id?: string) => ReturnType<ResumableClient["start"]>,
): ResumableClient {
  return { client, way: "session", start: ask, resume: (id, prompt, place) => ask(prompt, place, id) };
}

/** The agents are sub-agents: `SESSION/AGENT`. Their coordinator is only told to start and to wake them. */
function claudeSubAgents(program: string): ResumableClient {
  return {
    client: "claude-code",
    way: "sub-agent",
    async start(prompt, place) {
      const { sessionId, events } = await runClaude(program, [startOrder(prompt)], place);
      const agentId = events.map((event) => text(event["task_id"])).find(Boolean) ?? "";
      return { agentId: agentId && `${sessionId}/${agentId}`, answer: saidBy(events, agentId) };
    },
    async resume(id, prompt, place) {
      const [sessionId = "", agentId = ""] = id.split("/");
      const { events } = await runClaude(program, [resumeOrder(agentId, prompt), "--resume", sessionId], place);
      const refused = events.map((event) => object(event["tool_use_result"])).find(({ success }) => success === false);
      if (refused) throw new Error(text(refused["message"]) ?? "SendMessage was refused");
      const answer = saidBy(events, agentId);
      if (answer === "") throw new Error("the sub-agent was not woken: its coordinator did not call SendMessage");
      return { answer };
    },
  };
}

function startOrder(prompt: string): string {
  return `Call the Agent tool once, with description "read one file", subagent_type "general-purpose", run_in_background false, and exactly this prompt:\n\n${prompt}\n\nCall no other tool. When it has answered, answer only: done`;
}

function resumeOrder(agentId: string, prompt: string): string {
  return `Call the SendMessage tool once, with to "${agentId}", summary "a question about the file" and exactly this message:\n\n${prompt}\n\nWhere SendMessage is not listed, ToolSearch with "select:SendMessage" loads it. Start no new agent. When its answer has come, answer only: done`;
}

interface Ran {
  sessionId: string;
  events: Fields[];
  /** The last words of the session's main agent. */
  said: string;
}

const CLAUDE_TOOLS = "Read,Agent,SendMessage,ToolSearch";

async function runClaude(program: string, [prompt = "", ...more]: readonly string[], place: TrialPlace): Promise<Ran> {
  const args = ["-p", prompt, "--output-format", "stream-json", "--verbose", "--allowedTools", CLAUDE_TOOLS, ...more];
  const { exitCode, events, lastWord } = await run(program, args, place);
  const results = events.filter((event) => event["type"] === "result");
  const failed = results.find((event) => event["is_error"] === true);
  if (failed || exitCode !== 0) {
    throw new Error(text(failed?.["result"]) ?? `it ended with ${exitCode}: ${lastWord}`);
  }
  const sessionId = events.map((event) => text(event["session_id"])).find(Boolean) ?? "";
  return { sessionId, events, said: text(results.at(-1)?.["result"]) ?? "" };
}

/** Only the sub-agent's own words, because its coordinator might guess or repeat earlier text. */
function saidBy(events: readonly Fields[], agentId: string): string {
  const own = events.filter((event) => event["type"] === "assistant" && event["agent_id"] === agentId);
  const blocks = own.flatMap((event) => {
    const { content } = object(event["message"]);
    return Array.isArray(content) ? content : [];
  });
  return blocks.flatMap((block) => text(object(block)["text"]) ?? []).join("\n");
}

function codexSessions(program: string): ResumableClient {
  return sessionsOf("codex", async (prompt, place, id) => {
    const args = ["exec", ...(id ? ["resume"] : []), ...CODEX_OPTIONS, ...(id ? [id] : []), prompt];
    const { threadId, said } = await runCodex(program, args, place);
    return { agentId: threadId, answer: said };
  });
}

/** The trial's folder is no repository. The default permission, reading only, is kept. */
const CODEX_OPTIONS = ["--json", "--skip-git-repo-check"];

async function runCodex(program: string, args: readonly string[], place: TrialPlace) {
  const { exitCode, events, lastWord } = await run(program, args, place);
  const failed = events.find(({ type }) => type === "turn.failed" || type === "error");
  if (exitCode !== 0 || failed?.["type"] === "turn.failed") {
    const why = text(object(failed?.["error"])["message"]) ?? text(failed?.["message"]) ?? lastWord;
    throw new Error(why || `it ended with ${exitCode}`);
  }
  const said = events.map(({ item }) => object(item)).findLast(({ type }) => type === "agent_message");
  return {
    threadId: events.map((event) => text(event["thread_id"])).find(Boolean) ?? "",
    said: text(said?.["text"]) ?? "",
  };
}

const LIMIT_MS = 180_000;

/** The printed output, one JSON object per line. Other lines are ignored. */
async function run(program: string, args: readonly string[], { cwd, env }: TrialPlace) {
  // If doctor runs inside a session, the trial's sessions must not be taken for part of it.
  const outside = Object.fromEntries(OF_A_SESSION.map((name) => [name, undefined]));
  const tried = await tryProgram(program, args, { cwd, env: { ...env, ...outside }, limitMs: LIMIT_MS });
  if (tried.isTimedOut) throw new Error(`no answer within ${LIMIT_MS / 1000} seconds`);
  const events = tried.stdout.split("\n").flatMap((line): Fields[] => {
    try {
      return line.startsWith("{") ? [object(JSON.parse(line))] : [];
    } catch {
      // A line that was cut off; its content is not needed.
      return [];
    }
  });
  return { exitCode: tried.exitCode, events, lastWord: tried.stderr.trim().split("\n").at(-1) };
}
