/**
 * The real client's own server for other programs (`codex app-server`), which its editor extensions use: threads that stay open, the hooks that it
 * knows, and how each run of a hook ended. `codex exec` does not report that.
 */
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import type { ResponsesServer } from "../responses-server.ts";
import { type RunningClient, runClient } from "../run-client.ts";
import { environment, settingsFor } from "./run-codex.ts";

export interface AppServer {
  ask(method: string, params: object): Promise<Record<string, unknown>>;
  /** A thread in the folder that asks nobody for approval; its id. */
  startThread(): Promise<string>;
  /** Until the turn is over. */
  turn(threadId: string, prompt: string): Promise<void>;
  /** All hook runs since the start, in order: the event, how it ended, and the client's message. */
  hookRuns: HookRun[];
  end(): Promise<void>;
}

export interface HookRun {
  eventName: string;
  handlerType: string;
  status: string;
  entries: { kind: string; text: string }[];
}

export interface ListedHook {
  key: string;
  trustStatus: string;
  enabled: boolean;
  currentHash: string;
}

export interface AppServerOptions {
  root: string;
  /** Keeps the client inside its folders. */
  env: Record<string, string>;
  server: ResponsesServer;
  program: string;
  config?: Record<string, string | number | boolean>;
  /** The process and its children are killed after this. Default 60,000. */
  timeLimitMs?: number;
}

const ANSWER_LIMIT_MS = 30_000;

export async function startAppServer(options: AppServerOptions): Promise<AppServer> {
  const { root, env, server, program, config = {}, timeLimitMs = 60_000 } = options;
  const answers = new Map<number, (result: Record<string, unknown>) => void>();
  const turns = new Map<string, () => void>();
  const hookRuns: HookRun[] = [];
  let run: ReturnType<typeof runClient> | undefined;
  const client = await new Promise<RunningClient>((resolve, reject) => {
    run = runClient(program, ["app-server", ...settingsFor(server, config)], {
      ...{ cwd: root, env: environment({ repo: { env }, server }), timeLimitMs, hasInput: true, onStart: resolve },
      onLine: (line) => {
        const { id, method, params, result, error } = JSON.parse(line);
        if (method === undefined) answers.get(id)?.(error ? { error } : result);
        if (method === "hook/completed") hookRuns.push(params.run);
        if (method === "turn/completed") turns.get(params.threadId)?.();
      },
    });
    run.catch(reject);
  });
  const send = (message: object) => client.send(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  let last = 0;
  const ask = (method: string, params: object) =>
    inTime<Record<string, unknown>>(method, (resolve) => {
      answers.set(++last, resolve);
      send({ id: last, method, params });
    });
  await ask("initialize", { clientInfo: { name: "test", version: "1" } });
  send({ method: "initialized" });
  return {
    ask,
    async startThread() {
      const started = await ask("thread/start", { cwd: root, approvalPolicy: "never", sandbox: "danger-full-access" });
      const { id } = (started["thread"] ?? {}) as { id?: string };
      if (!id) throw new Error(`codex began no thread: ${JSON.stringify(started)}`);
      return id;
    },
    turn: (threadId, prompt) =>
      inTime("a turn", (resolve) => {
        turns.set(threadId, resolve as () => void);
        void ask("turn/start", { threadId, input: [{ type: "text", text: prompt }] });
      }),
    hookRuns,
    async end() {
      client.kill();
      await run;
    },
  };
}

/** The hooks that the client knows, and whether it accepts the user's review. */
export async function listHooksOf(options: AppServerOptions): Promise<ListedHook[]> {
  const app = await startAppServer(options);
  try {
    const { data } = (await app.ask("hooks/list", { cwds: [options.root] })) as { data?: { hooks: ListedHook[] }[] };
    return data?.[0]?.hooks ?? [];
  } finally {
    await app.end();
  }
}

/** What a person does in `/hooks`, in a home that is thrown away. Nothing that we ship does this. */
export async function trustAllHooks(options: AppServerOptions): Promise<void> {
  const config = join(options.env["CODEX_HOME"] ?? "", "config.toml");
  for (const { key, currentHash, trustStatus } of await listHooksOf(options)) {
    if (trustStatus === "trusted") continue;
    appendFileSync(config, `\n[hooks.state.${JSON.stringify(key)}]\ntrusted_hash = ${JSON.stringify(currentHash)}\n`);
  }
}

async function inTime<Value>(what: string, begin: (resolve: (value: Value) => void) => void): Promise<Value> {
  let limit: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    limit = setTimeout(() => reject(new Error(`codex: no answer to ${what} in time`)), ANSWER_LIMIT_MS);
  });
  return Promise.race([new Promise(begin), late]).finally(() => clearTimeout(limit));
}
