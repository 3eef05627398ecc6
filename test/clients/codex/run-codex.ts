/**
 * Runs the real Codex headless (`codex exec --json`) against a scripted server and collects what it said. One call is one process
 * and one prompt; `resume` goes on in a session.
 */
import type { ResponsesServer } from "../responses-server.ts";
import { type ClientRun, type RunningClient, runClient, withEvents } from "../run-client.ts";
import type { CodexRepo } from "./codex-repo.ts";
import { codexProgram } from "./install.ts";

export interface CodexOptions {
  repo: CodexRepo;
  server: ResponsesServer;
  prompt: string;
  /** A thread to go on with: `codex exec resume ID`. */
  resume?: string;
  /** A thread to begin a new one from: `codex exec fork ID`. */
  fork?: string;
  /** Called when the process runs. */
  onStart?: (client: RunningClient) => void;
  args?: string[];
  /** `-c key=value` each. */
  config?: Record<string, string | number | boolean>;
  env?: Record<string, string>;
  /** Default: the one whose model calls tools directly. The newer ones call them from JavaScript. */
  model?: string;
  /** Default true: hooks run without the person's review. */
  trustHooks?: boolean;
  /** Default true: no sandbox, and approval `never`. */
  skipApprovals?: boolean;
  /** The process and its children are killed after this. Default 60,000. */
  timeLimitMs?: number;
}

export interface CodexRun extends ClientRun {
  /** The lines of `--json`. */
  events: CodexEvent[];
  /** Also the session's id in hooks. */
  threadId: string;
  /** What the agent said last. */
  lastMessage: string;
}

export interface CodexEvent {
  type: string;
  thread_id?: string;
  item?: { type: string; text?: string; [field: string]: unknown };
  [field: string]: unknown;
}

export const DIRECT_MODEL = "gpt-5.5";
/** Its tools are called from JavaScript, in the tool `exec`. */
export const CODE_MODEL = "gpt-6.1-sol";

export async function runCodex(options: CodexOptions): Promise<CodexRun> {
  const { repo, timeLimitMs = 60_000 } = options;
  const env = environment(options);
  const onStart = options.onStart && { onStart: options.onStart };
  const done = await runClient(codexProgram(), argumentsOf(options), { cwd: repo.root, env, timeLimitMs, ...onStart });
  const { sessionId: threadId, ...run } = withEvents<CodexEvent>(done, "thread_id");
  const lastMessage = run.events.findLast(({ item }) => item?.type === "agent_message")?.item?.text ?? "";
  return { ...run, threadId, lastMessage };
}

export function argumentsOf({
  server,
  prompt,
  resume,
  fork,
  args = [],
  config = {},
  model = DIRECT_MODEL,
  trustHooks = true,
  skipApprovals = true,
}: CodexOptions): string[] {
  return [
    "exec",
    ...(resume ? ["resume", resume] : []),
    ...(fork ? ["fork", fork] : []),
    "--json",
    ...(skipApprovals ? ["--dangerously-bypass-approvals-and-sandbox"] : []),
    ...(trustHooks ? ["--dangerously-bypass-hook-trust"] : []),
    ...settingsFor(server, { model, ...config }),
    ...args,
    prompt,
  ];
}

/** `-c key=value` each: the scripted server is the model, and no other host is asked. */
export function settingsFor(
  server: Pick<ResponsesServer, "url">,
  config: Record<string, string | number | boolean> = {},
): string[] {
  const settings: Record<string, string | number | boolean> = {
    model: DIRECT_MODEL,
    model_provider: "scripted",
    "model_providers.scripted.name": "scripted",
    "model_providers.scripted.base_url": `${server.url}/v1`,
    "model_providers.scripted.env_key": "SCRIPTED_KEY",
    "model_providers.scripted.wire_api": "responses",
    "model_providers.scripted.supports_websockets": false,
    "model_providers.scripted.request_max_retries": 0,
    "model_providers.scripted.stream_max_retries": 0,
    // Without these two it asks other hosts for catalogues.
    "features.plugins": false,
    "features.apps": false,
    "analytics.enabled": false,
    "otel.exporter": "none",
    check_for_update_on_startup: false,
    ...config,
  };
  return Object.entries(settings).flatMap(([key, value]) => ["-c", `${key}=${JSON.stringify(value)}`]);
}

/** Nothing is inherited but the PATH: the person's keys, proxies and client settings stay outside. */
export function environment({
  repo,
  server,
  env,
}: Pick<CodexOptions, "server" | "env"> & { repo: Pick<CodexRepo, "env"> }): Record<string, string> {
  return {
    PATH: process.env["PATH"] ?? "",
    ...repo.env,
    SCRIPTED_KEY: "not-a-key",
    HTTP_PROXY: server.url,
    HTTPS_PROXY: server.url,
    NO_PROXY: "127.0.0.1",
    ...env,
  };
}
