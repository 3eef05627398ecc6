/** Codex as a client that can go on with an agent (seen in 0.166.0): a headless session by `codex exec resume`. For the trial of `doctor --try-resume`. */
import type { ResumableClient, TrialPlace } from "../../engine/artifacts/check-resume.ts";
import { tryProgram } from "../../engine/try-process.ts";

const LIMIT_MS = 180_000;

export function codexSessions(program: string): ResumableClient {
  return {
    client: "codex",
    way: "session",
    async start(prompt, place) {
      const { threadId, said } = await run(program, ["exec", ...OPTIONS, prompt], place);
      return { agentId: threadId, answer: said };
    },
    async resume(agentId, prompt, place) {
      return { answer: (await run(program, ["exec", "resume", ...OPTIONS, agentId, prompt], place)).said };
    },
  };
}

/** The trial's folder is no repository. What it may do is left as it is by itself: reading. */
const OPTIONS = ["--json", "--skip-git-repo-check"];

interface CodexEvent {
  type?: string;
  thread_id?: string;
  message?: string;
  error?: { message?: string };
  item?: { type?: string; text?: string };
}

async function run(program: string, args: readonly string[], { cwd, env }: TrialPlace) {
  const { exitCode, stdout, stderr, isTimedOut } = await tryProgram(program, args, { cwd, env, limitMs: LIMIT_MS });
  if (isTimedOut) throw new Error(`no answer within ${LIMIT_MS / 1000} seconds`);
  const events = stdout.split("\n").flatMap(readEvent);
  const failed = events.find(({ type }) => type === "turn.failed" || type === "error");
  if (exitCode !== 0 || failed?.type === "turn.failed") {
    const why = failed?.error?.message ?? failed?.message ?? stderr.trim().split("\n").at(-1);
    throw new Error(why || `it ended with ${exitCode}`);
  }
  return {
    threadId: events.find(({ thread_id: id }) => id)?.thread_id ?? "",
    said: events.findLast(({ item }) => item?.type === "agent_message")?.item?.text ?? "",
  };
}

function readEvent(line: string): CodexEvent[] {
  if (!line.startsWith("{")) return [];
  try {
    return [JSON.parse(line) as CodexEvent];
  } catch {
    // A line that was cut off: what it said is not needed.
    return [];
  }
}
