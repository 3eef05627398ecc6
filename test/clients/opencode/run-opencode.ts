/** Runs the real opencode headless against a scripted server and collects what it said. One call is one process and one prompt. */
import { type ChildProcess, spawn } from "node:child_process";
import type { ScriptedServer } from "../scripted-server.ts";
import { opencodeProgram, ripgrepFolder } from "./install.ts";
import type { ScratchOpencode } from "./scratch-opencode.ts";

export interface OpencodeOptions {
  repo: ScratchOpencode;
  server: ScriptedServer;
  prompt: string;
  args?: string[];
  env?: Record<string, string>;
  cwd?: string;
  /** The model's window in tokens. Default 200,000. */
  windowTokens?: number;
  /** The process and its children are killed after this. Default 90,000. */
  timeLimitMs?: number;
}

export interface OpencodeRun {
  exitCode: number | null;
  isTimedOut: boolean;
  stdout: string;
  stderr: string;
  /** The lines of `--format json`. */
  events: Record<string, unknown>[];
  sessionId: string;
}

const MAX_OUTPUT_CHARS = 20_000_000;

export async function runOpencode(options: OpencodeOptions): Promise<OpencodeRun> {
  const args = ["run", "--format", "json", "--auto", ...(options.args ?? []), options.prompt];
  const { stdout, ...run } = await spawnOpencode(args, options);
  const events = stdout
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { ...run, stdout, events, sessionId: String(events.find(({ sessionID }) => sessionID)?.["sessionID"] ?? "") };
}

/** `opencode ARGS`, for its other commands too. */
export async function spawnOpencode(
  args: readonly string[],
  {
    repo,
    server,
    env,
    windowTokens = 200_000,
    cwd = repo.root,
    timeLimitMs = 90_000,
  }: Omit<OpencodeOptions, "prompt" | "args">,
): Promise<Omit<OpencodeRun, "events" | "sessionId">> {
  repo.writeConfig(providerConfig(server, windowTokens));
  // A group of its own, so that a shell command or MCP server it started ends with it.
  const child = spawn(opencodeProgram(), [...args], {
    cwd,
    env: environment({ repo, server, ...(env && { env }) }),
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

/** The scripted model through the Anthropic provider that the client has built in. */
function providerConfig(server: ScriptedServer, windowTokens: number): Record<string, unknown> {
  const model = { name: "Scripted", limit: { context: windowTokens, output: 8_000 }, tool_call: true };
  return {
    $schema: "https://opencode.ai/config.json",
    autoupdate: false,
    share: "disabled",
    model: "scripted/model",
    small_model: "scripted/small",
    enabled_providers: ["scripted"],
    provider: {
      scripted: {
        npm: "@ai-sdk/anthropic",
        name: "Scripted",
        options: { baseURL: `${server.url}/v1`, apiKey: "not-a-key" },
        models: { model, small: { ...model, name: "Small" } },
      },
    },
  };
}

/** Nothing is inherited but the PATH: the person's keys, proxies and client settings stay outside. */
export function environment({
  repo,
  server,
  env,
}: Pick<OpencodeOptions, "repo" | "server" | "env">): Record<string, string> {
  return {
    PATH: `${ripgrepFolder()}:${process.env["PATH"] ?? ""}`,
    ...repo.env,
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    OPENCODE_DISABLE_SHARE: "1",
    HTTP_PROXY: server.url,
    HTTPS_PROXY: server.url,
    NO_PROXY: "127.0.0.1,localhost",
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
