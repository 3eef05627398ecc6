/** One run of a client's program, in its own process group, with a time limit. Afterwards all its children are ended. */
import { type ChildProcess, spawn } from "node:child_process";

export interface ClientRun {
  exitCode: number | null;
  isTimedOut: boolean;
  stdout: string;
  stderr: string;
}

/** A run in which the client told what it did in lines of JSON. */
export interface ToldRun<Event = Record<string, unknown>> extends ClientRun {
  events: Event[];
  sessionId: string;
}

export interface RunOptions {
  cwd: string;
  env: Record<string, string>;
  /** The process and its children are killed after this. Default 90,000. */
  timeLimitMs?: number;
  /** Default false: the client finds its standard input at the end, which some read before they begin. */
  hasInput?: boolean;
  /** Called when the process runs. */
  onStart?: (client: RunningClient) => void;
  /** Called with every whole line of JSON that it prints. */
  onLine?: (line: string, client: RunningClient) => void;
}

export interface RunningClient {
  pid: number;
  /** Ends it and its children as a crash would. */
  kill(): void;
  /** Writes to its standard input; nothing more comes after undefined. Only with `hasInput`. */
  send(text: string | undefined): void;
}

const MAX_OUTPUT_CHARS = 50_000_000;
const MAX_ERROR_CHARS = 100_000;
/** What a client leaves running when it ends, such as an MCP server or a hook that it does not wait for, gets this long to end by itself. */
const GRACE_MS = 3_000;

export async function runClient(
  program: string,
  args: readonly string[],
  { cwd, env, timeLimitMs = 90_000, hasInput = false, onStart, onLine }: RunOptions,
): Promise<ClientRun> {
  const stdin = hasInput ? "pipe" : "ignore";
  // A group of its own, so that a shell command or MCP server it started ends with it.
  const child = spawn(program, [...args], { cwd, env, detached: true, stdio: [stdin, "pipe", "pipe"] });
  const ended = new Promise<number | null>((resolve, reject) => child.on("error", reject).on("close", resolve));
  const client: RunningClient = {
    pid: child.pid ?? -1,
    kill: () => void signalGroup(child, "SIGKILL"),
    send: (text) => void (text === undefined ? child.stdin?.end() : child.stdin?.write(text)),
  };
  let [stdout, stderr, isTimedOut] = ["", "", false];
  // The client may end before it has read everything. Then its exit code shows why.
  child.stdin?.on("error", (fault) => (stderr += `\nstdin: ${fault.message}`));
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => (stderr = (stderr + chunk).slice(-MAX_ERROR_CHARS)));
  let rest = "";
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
    stdout += chunk;
    if (stdout.length > MAX_OUTPUT_CHARS) return client.kill();
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines.filter(isJson)) onLine?.(line, client);
  });
  onStart?.(client);
  const limit = setTimeout(() => {
    isTimedOut = true;
    client.kill();
  }, timeLimitMs);
  const exitCode = await ended.finally(() => clearTimeout(limit));
  for (let waitedMs = 0; waitedMs < GRACE_MS && signalGroup(child, 0); waitedMs += 50) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  client.kill();
  return { exitCode, isTimedOut, stdout, stderr };
}

/** The lines of JSON that it printed; `sessionKey`: what the client calls a session's id in them. */
export function withEvents<Event extends Record<string, unknown>>(run: ClientRun, sessionKey: string): ToldRun<Event> {
  // Text after the last line break was cut off when the client was killed.
  const lines = run.stdout.split("\n").slice(0, -1);
  const events = lines.filter(isJson).map((line) => JSON.parse(line) as Event);
  return { ...run, events, sessionId: String(events.find((event) => event[sessionKey])?.[sessionKey] ?? "") };
}

function isJson(line: string): boolean {
  return line.startsWith("{");
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
