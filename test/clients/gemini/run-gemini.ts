/** Runs the real Gemini CLI headless against a scripted server and collects what it said. One call is one process and one prompt. */
import { type ChildProcess, spawn } from "node:child_process";
import type { ScriptedServer } from "../scripted-server.ts";
import { geminiProgram } from "./install.ts";
import type { ScratchGemini } from "./scratch-gemini.ts";

export interface GeminiOptions {
  repo: ScratchGemini;
  server: ScriptedServer;
  prompt: string;
  args?: string[];
  env?: Record<string, string>;
  cwd?: string;
  /** Default true: `--yolo`. */
  skipPermissions?: boolean;
  /** Default true: the folder is trusted. `--skip-trust` is no substitute: it leaves the project's settings unread. */
  isTrusted?: boolean;
  /** The process and its children are killed after this. Default 90,000. */
  timeLimitMs?: number;
}

export interface GeminiRun {
  exitCode: number | null;
  isTimedOut: boolean;
  stdout: string;
  stderr: string;
  /** The lines of `--output-format stream-json`. */
  events: Record<string, unknown>[];
  sessionId: string;
}

const MAX_OUTPUT_CHARS = 20_000_000;

export async function runGemini(options: GeminiOptions): Promise<GeminiRun> {
  const { prompt, skipPermissions = true } = options;
  const args = ["-p", prompt, "--output-format", "stream-json"];
  if (skipPermissions) args.push("--yolo");
  const { stdout, ...run } = await spawnGemini([...args, ...(options.args ?? [])], options);
  const events = stdout
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  return {
    ...run,
    stdout,
    events,
    sessionId: String(events.find(({ session_id }) => session_id)?.["session_id"] ?? ""),
  };
}

/** `gemini ARGS`, for its other commands too. */
export async function spawnGemini(
  args: readonly string[],
  {
    repo,
    server,
    env,
    isTrusted = true,
    cwd = repo.root,
    timeLimitMs = 90_000,
  }: Omit<GeminiOptions, "prompt" | "args">,
): Promise<Omit<GeminiRun, "events" | "sessionId">> {
  // A group of its own, so that a shell command or MCP server it started ends with it.
  const child = spawn(process.execPath, [geminiProgram(), ...args], {
    cwd,
    env: environment({ repo, server, isTrusted, ...(env && { env }) }),
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [stdout, stderr, isTimedOut] = ["", "", false];
  child.stdout
    .setEncoding("utf8")
    .on("data", (chunk: string) => (stdout = (stdout + chunk).slice(0, MAX_OUTPUT_CHARS)));
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (stderr = (stderr + chunk).slice(-100_000)));
  const limit = setTimeout(() => {
    isTimedOut = true;
    signalGroup(child, "SIGKILL");
  }, timeLimitMs);
  const exitCode = await new Promise<number | null>((resolve, reject) =>
    child.on("error", reject).on("close", resolve),
  );
  clearTimeout(limit);
  for (let waitedMs = 0; waitedMs < 3_000 && signalGroup(child, 0); waitedMs += 50) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  signalGroup(child, "SIGKILL");
  return { exitCode, isTimedOut, stdout, stderr };
}

/** Nothing is inherited but the PATH: the person's keys, proxies and client settings stay outside. */
export function environment({
  repo,
  server,
  env,
  isTrusted = true,
}: Pick<GeminiOptions, "repo" | "server" | "env" | "isTrusted">): Record<string, string> {
  return {
    PATH: process.env["PATH"] ?? "",
    ...repo.env,
    GOOGLE_GEMINI_BASE_URL: server.url,
    GEMINI_API_KEY: "not-a-key",
    GEMINI_TELEMETRY_ENABLED: "false",
    // The system's own settings stay outside too.
    GEMINI_CLI_SYSTEM_SETTINGS_PATH: `${repo.base}/system.json`,
    GEMINI_CLI_SYSTEM_DEFAULTS_PATH: `${repo.base}/defaults.json`,
    HTTP_PROXY: server.url,
    HTTPS_PROXY: server.url,
    NO_PROXY: "127.0.0.1",
    ...(isTrusted && { GEMINI_CLI_TRUST_WORKSPACE: "true" }),
    ...env,
  };
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
