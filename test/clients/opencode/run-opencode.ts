/** Runs the real opencode headless against a scripted server and collects what it said. One call is one process and one prompt. */
import { type ClientRun, runClient, type ToldRun, withEvents } from "../run-client.ts";
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

export async function runOpencode(options: OpencodeOptions): Promise<ToldRun> {
  const args = ["run", "--format", "json", "--auto", ...(options.args ?? []), options.prompt];
  return withEvents(await spawnOpencode(args, options), "sessionID");
}

/** `opencode ARGS`, for its other commands too. */
export function spawnOpencode(
  args: readonly string[],
  options: Omit<OpencodeOptions, "prompt" | "args">,
): Promise<ClientRun> {
  const { repo, server, windowTokens = 200_000, cwd = repo.root, timeLimitMs } = options;
  repo.writeConfig(providerConfig(server, windowTokens));
  const env = environment(options);
  return runClient(opencodeProgram(), args, { cwd, env, ...(timeLimitMs && { timeLimitMs }) });
}

/** The scripted model through the Anthropic provider that the client has built in. */
export function providerConfig(server: ScriptedServer, windowTokens: number): Record<string, unknown> {
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
