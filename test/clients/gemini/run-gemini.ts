/** Runs the real Gemini CLI headless against a scripted server and collects what it said. One call is one process and one prompt. */
import { type ClientRun, runClient, type ToldRun, withEvents } from "../run-client.ts";
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

export async function runGemini(options: GeminiOptions): Promise<ToldRun> {
  const { prompt, skipPermissions = true } = options;
  const args = ["-p", prompt, "--output-format", "stream-json"];
  if (skipPermissions) args.push("--yolo");
  return withEvents(await spawnGemini([...args, ...(options.args ?? [])], options), "session_id");
}

/** `gemini ARGS`, for its other commands too. */
export function spawnGemini(
  args: readonly string[],
  options: Omit<GeminiOptions, "prompt" | "args">,
): Promise<ClientRun> {
  const { repo, cwd = repo.root, timeLimitMs } = options;
  const env = environment(options);
  return runClient(process.execPath, [geminiProgram(), ...args], { cwd, env, ...(timeLimitMs && { timeLimitMs }) });
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
