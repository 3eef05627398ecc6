/** One run of a client's program: started in a process group of its own, bounded in time, and gone with all its children afterwards. */
import { type ChildProcess, spawn } from "node:child_process";

export interface ClientRun {
  exitCode: number | null;
  isTimedOut: boolean;
  stdout: string;
  stderr: string;
}

/** A run in which the client told what it did in lines of JSON. */
export interface ToldRun extends ClientRun {
  events: Record<string, unknown>[];
  sessionId: string;
}

export interface RunOptions {
  cwd: string;
  env: Record<string, string>;
  /** The process and its children are killed after this. Default 90,000. */
  timeLimitMs?: number;
}

const MAX_OUTPUT_CHARS = 20_000_000;
const MAX_ERROR_CHARS = 100_000;
/** What a client leaves running when it ends, such as an MCP server, gets this long to end by itself. */
const GRACE_MS = 3_000;

export async function runClient(
  program: string,
  args: readonly string[],
  { cwd, env, timeLimitMs = 90_000 }: RunOptions,
): Promise<ClientRun> {
  // A group of its own, so that a shell command or MCP server it started ends with it.
  const child = spawn(program, [...args], { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  let [stdout, stderr, isTimedOut] = ["", "", false];
  child.stdout
    .setEncoding("utf8")
    .on("data", (chunk: string) => (stdout = (stdout + chunk).slice(0, MAX_OUTPUT_CHARS)));
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (stderr = (stderr + chunk).slice(-MAX_ERROR_CHARS)));
  const limit = setTimeout(() => {
    isTimedOut = true;
    signalGroup(child, "SIGKILL");
  }, timeLimitMs);
  const exitCode = await new Promise<number | null>((resolve, reject) =>
    child.on("error", reject).on("close", resolve),
  );
  clearTimeout(limit);
  for (let waitedMs = 0; waitedMs < GRACE_MS && signalGroup(child, 0); waitedMs += 50) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  signalGroup(child, "SIGKILL");
  return { exitCode, isTimedOut, stdout, stderr };
}

/** The lines of JSON that it printed; `sessionKey`: what the client calls a session's id in them. */
export function withEvents(run: ClientRun, sessionKey: string): ToldRun {
  const events = run.stdout
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { ...run, events, sessionId: String(events.find((event) => event[sessionKey])?.[sessionKey] ?? "") };
}

/** Whether there was still a process of the group to get the signal. */
function signalGroup({ pid }: ChildProcess, signal: "SIGKILL" | 0): boolean {
  if (pid === undefined) return false;
  try {
    return process.kill(-pid, signal);
  } catch (fault) {
    // ESRCH: the whole group has ended.
    if ((fault as NodeJS.ErrnoException).code === "ESRCH") return false;
    throw fault;
  }
}
