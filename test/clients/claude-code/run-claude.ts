/**
 * Runs the real Claude Code headless against a scripted server and collects its output. One call is one process with one prompt (`-p TEXT`) or
 * several, each sent after the result of the previous one. `--resume` and the like go in `args` of a second call.
 */
import { type ClientRun, type RunningClient, runClient } from "../run-client.ts";
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
  /** The program and its first arguments. Default: the pinned one. */
  program?: [string, ...string[]];
  /** Default true: `--dangerously-skip-permissions`. */
  skipPermissions?: boolean;
  /** The process and its children are killed after this. Default 60,000. */
  timeLimitMs?: number;
  /** Called when the process runs. */
  onStart?: (client: RunningClient) => void;
}

export interface ClaudeRun extends ClientRun {
  /** The lines of `--output-format stream-json`. */
  events: ClaudeEvent[];
  /** Texts of the `result` events, one per prompt. */
  results: string[];
  sessionId: string;
}

export interface ClaudeEvent {
  type: string;
  subtype?: string;
  session_id?: string;
  result?: string;
  [field: string]: unknown;
}

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
  const events: ClaudeEvent[] = [];
  const waiting = isSingle ? [] : [...prompt];
  const sendNext = (client: RunningClient) => {
    const content = waiting.shift();
    const message = { type: "user", message: { role: "user", content } };
    client.send(content === undefined ? undefined : `${JSON.stringify(message)}\n`);
  };
  const [program, ...first] = options.program ?? [claudeProgram()];
  const run = await runClient(program, [...first, ...args], {
    cwd: repo.root,
    env: environment(options),
    timeLimitMs,
    hasInput: true,
    onStart(client) {
      options.onStart?.(client);
      sendNext(client);
    },
    onLine(line, client) {
      const event = JSON.parse(line) as ClaudeEvent;
      events.push(event);
      if (event.type === "result") sendNext(client);
    },
  });
  return {
    ...run,
    events,
    results: events.filter((event) => event.type === "result").map((event) => event.result ?? ""),
    sessionId: events.findLast((event) => event.session_id)?.session_id ?? "",
  };
}

/** Only the PATH is inherited, so the user's keys, proxies and client settings have no effect. */
export function environment({
  repo,
  server,
  env,
}: Pick<ClaudeOptions, "server" | "env"> & { repo: Pick<ScratchRepo, "env"> }): Record<string, string> {
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
