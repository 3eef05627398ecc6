/**
 * Runs the real Claude Code headless against a scripted server and collects what it said. One call is one process: one
 * prompt (`-p TEXT`), or several in a row, each sent when the one before has its result. `--resume` and the like go
 * in `args` of a second call.
 */
import { type ChildProcess, spawn } from "node:child_process";
import type { ScriptedServer } from "../scripted-server.ts";
import { claudeProgram } from "./install.ts";
import type { ScratchRepo } from "./scratch-repo.ts";

export interface ClaudeOptions {
  repo: ScratchRepo;
  server: ScriptedServer;
  /** One text is passed as an argument; a list is sent through stdin, turn by turn. `/compact`, `/clear` and `/skill` work. */
  prompt: string | string[];
  args?: string[];
  env?: Record<string, string>;
  /** Default true: `--dangerously-skip-permissions`. */
  skipPermissions?: boolean;
  /** The process and its children are killed after this. Default 60,000. */
  timeLimitMs?: number;
  /** Called when the process runs; `kill` ends it and its children as a crash would. */
  onStart?: (client: { pid: number; kill(): void }) => void;
}

export interface ClaudeRun {
  exitCode: number | null;
  isTimedOut: boolean;
  /** The lines of `--output-format stream-json`. */
  events: ClaudeEvent[];
  /** Texts of the `result` events, one per prompt. */
  results: string[];
  sessionId: string;
  stderr: string;
}

export interface ClaudeEvent {
  type: string;
  subtype?: string;
  session_id?: string;
  result?: string;
  [field: string]: unknown;
}

const MAX_OUTPUT_CHARS = 50_000_000;

export async function runClaude(options: ClaudeOptions): Promise<ClaudeRun> {
  const { repo, prompt, skipPermissions = true, timeLimitMs = 60_000 } = options;
  const isSingle = typeof prompt === "string";
  const args = [
    "-p",
    ...(isSingle ? [prompt] : ["--input-format", "stream-json"]),
    ...["--output-format", "stream-json", "--verbose"],
    ...(skipPermissions ? ["--dangerously-skip-permissions"] : []),
    ...(options.args ?? []),
  ];
  // A group of its own, so that a shell command or MCP server it started ends with it.
  const child = spawn(claudeProgram(), args, { cwd: repo.root, env: environment(options), detached: true });

  options.onStart?.({ pid: child.pid ?? -1, kill: () => killGroup(child) });

  const events: ClaudeEvent[] = [];
  const waiting = isSingle ? [] : [...prompt];
  const sendNext = () => {
    const content = waiting.shift();
    if (content === undefined) child.stdin.end();
    else child.stdin.write(`${JSON.stringify({ type: "user", message: { role: "user", content } })}\n`);
  };
  let stderr = "";
  let isTimedOut = false;
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    stderr = (stderr + chunk).slice(-100_000);
  });
  eachLine(child, (line) => {
    const event = JSON.parse(line) as ClaudeEvent;
    events.push(event);
    if (event.type === "result") sendNext();
  });
  // The client may end before it has read everything; its exit code tells.
  child.stdin.on("error", (fault) => (stderr += `\nstdin: ${fault.message}`));
  sendNext();

  const limit = setTimeout(() => {
    isTimedOut = true;
    killGroup(child);
  }, timeLimitMs);
  const exitCode = await new Promise<number | null>((resolve, reject) =>
    child.on("error", reject).on("close", resolve),
  );
  clearTimeout(limit);
  await groupEnd(child);

  const results = events.filter((event) => event.type === "result");
  return {
    exitCode,
    isTimedOut,
    events,
    results: results.map((event) => event.result ?? ""),
    sessionId: events.findLast((event) => event.session_id)?.session_id ?? "",
    stderr,
  };
}

/** Nothing is inherited but the PATH: the person's keys, proxies and client settings stay outside. */
export function environment({
  repo,
  server,
  env,
}: Pick<ClaudeOptions, "repo" | "server" | "env">): Record<string, string> {
  return {
    PATH: process.env["PATH"] ?? "",
    ...repo.env,
    ANTHROPIC_BASE_URL: server.url,
    ANTHROPIC_API_KEY: "not-a-key",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_TELEMETRY: "1",
    DISABLE_ERROR_REPORTING: "1",
    DISABLE_AUTOUPDATER: "1",
    HTTP_PROXY: server.url,
    HTTPS_PROXY: server.url,
    NO_PROXY: "127.0.0.1",
    // Lets root skip permissions; the scripted model is the only one that asks for tools.
    IS_SANDBOX: "1",
    ...env,
  };
}

function eachLine(child: ChildProcess, take: (line: string) => void): void {
  let rest = "";
  let size = 0;
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
    size += chunk.length;
    if (size > MAX_OUTPUT_CHARS) return killGroup(child);
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.startsWith("{")) take(line);
  });
}

/** The client does not wait for every hook (StopFailure): what it started gets a moment to end by itself. */
async function groupEnd(child: ChildProcess): Promise<void> {
  for (let waitedMs = 0; waitedMs < 3_000 && signalGroup(child, 0); waitedMs += 50) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  killGroup(child);
}

function killGroup(child: ChildProcess): void {
  signalGroup(child, "SIGKILL");
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
