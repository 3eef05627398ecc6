/**
 * Claude Code as a client that can go on with an agent (seen in 2.1.325): a headless session by `--resume`, and a sub-agent of such a
 * session by `SendMessage`, also when the session itself was resumed meanwhile. For the trial of `doctor --try-resume`.
 */
import type { ResumableClient, TrialPlace } from "../../engine/artifacts/check-resume.ts";
import { tryProgram } from "../../engine/try-process.ts";
import { type Fields, object, text } from "./fields.ts";

const LIMIT_MS = 180_000;
const TOOLS = "Read,Agent,SendMessage,ToolSearch";
/** What a client tells its own children: called from inside a session, the trial's sessions are none of that one's. */
const OF_A_SESSION = { CLAUDECODE: undefined, CLAUDE_CODE_SESSION_ID: undefined, CLAUDE_CODE_ENTRYPOINT: undefined };

/** Its agents are sessions. */
export function claudeSessions(program: string): ResumableClient {
  return {
    client: "claude-code",
    way: "session",
    async start(prompt, place) {
      const { sessionId, said } = await run(program, [prompt], place);
      return { agentId: sessionId, answer: said };
    },
    async resume(agentId, prompt, place) {
      return { answer: (await run(program, [prompt, "--resume", agentId], place)).said };
    },
  };
}

/** Its agents are sub-agents: `SESSION/AGENT`. Their coordinator is told to start and to wake them, and nothing else. */
export function claudeSubAgents(program: string): ResumableClient {
  return {
    client: "claude-code",
    way: "sub-agent",
    async start(prompt, place) {
      const { sessionId, events } = await run(program, [startOrder(prompt)], place);
      const agentId = events.map((event) => text(event["task_id"])).find(Boolean) ?? "";
      return { agentId: agentId && `${sessionId}/${agentId}`, answer: saidBy(events, agentId) };
    },
    async resume(id, prompt, place) {
      const [sessionId = "", agentId = ""] = id.split("/");
      const { events } = await run(program, [resumeOrder(agentId, prompt), "--resume", sessionId], place);
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
  /** What the session's own agent said last. */
  said: string;
}

async function run(program: string, [prompt = "", ...more]: readonly string[], { cwd, env }: TrialPlace): Promise<Ran> {
  const args = ["-p", prompt, "--output-format", "stream-json", "--verbose", "--allowedTools", TOOLS, ...more];
  const options = { cwd, env: { ...env, ...OF_A_SESSION, CLAUDE_PROJECT_DIR: undefined }, limitMs: LIMIT_MS };
  const { exitCode, stdout, stderr, isTimedOut } = await tryProgram(program, args, options);
  if (isTimedOut) throw new Error(`no answer within ${LIMIT_MS / 1000} seconds`);
  const events = stdout.split("\n").flatMap(readEvent);
  const results = events.filter((event) => event["type"] === "result");
  const failed = results.find((event) => event["is_error"] === true);
  if (failed || exitCode !== 0) {
    throw new Error(text(failed?.["result"]) ?? `it ended with ${exitCode}: ${stderr.trim().split("\n").at(-1)}`);
  }
  const sessionId = events.map((event) => text(event["session_id"])).find(Boolean) ?? "";
  return { sessionId, events, said: text(results.at(-1)?.["result"]) ?? "" };
}

/** Only the sub-agent's own words: its coordinator might guess, or repeat what it was told before. */
function saidBy(events: readonly Fields[], agentId: string): string {
  const own = events.filter((event) => event["type"] === "assistant" && event["agent_id"] === agentId);
  const blocks = own.flatMap((event) => {
    const { content } = object(event["message"]);
    return Array.isArray(content) ? content : [];
  });
  return blocks.flatMap((block) => text(object(block)["text"]) ?? []).join("\n");
}

function readEvent(line: string): Fields[] {
  if (!line.startsWith("{")) return [];
  try {
    return [object(JSON.parse(line))];
  } catch {
    // A line that was cut off: what it said is not needed.
    return [];
  }
}
