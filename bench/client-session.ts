/**
 * A session of a real client that stays open: prompts go in one after the other, a scripted model answers each with one tool call and
 * then with a word. The scripted server runs in this process, so that one clock sees the prompt leave and the requests arrive.
 */
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { environment as claudeEnvironment } from "../test/clients/claude-code/run-claude.ts";
import { environment as codexEnvironment, settingsFor } from "../test/clients/codex/run-codex.ts";
import type { ModelRequest } from "../test/clients/model-request.ts";
import { textCall } from "../test/clients/responses-api.ts";
import { startResponsesServer } from "../test/clients/responses-server.ts";
import { type RunningClient, runClient } from "../test/clients/run-client.ts";
import type { Reply, Script } from "../test/clients/script.ts";
import { startScriptedServer } from "../test/clients/scripted-server.ts";

export interface Turn {
  /** From the prompt to the model's first request. */
  promptMs: number;
  /** From the answer with a tool call to the request that brings its result. */
  toolMs: number;
}

export interface ClientSession {
  turn(prompt: string): Promise<Turn>;
  /** The last request of the main conversation, which has all that the window has. */
  lastRequest(): ModelRequest | undefined;
  end(): Promise<void>;
}

export interface SessionPlace {
  program: string;
  root: string;
  /** The client stays inside its folders. */
  env: Record<string, string>;
}

/** Longer than any run: a session that hangs is killed with all its children. */
const LIMIT_MS = 15 * 60_000;
const TURN_LIMIT_MS = 30_000;

export async function startClaude({ program, root, env }: SessionPlace): Promise<ClientSession> {
  const clock = turnClock((at) => ({
    tools: [{ name: "Write", input: { file_path: join(root, `src/file-${at}.ts`), content: "x\n" } }],
  }));
  const server = await startScriptedServer(clock.script);
  const words = "-p --input-format stream-json --output-format stream-json --verbose --dangerously-skip-permissions";
  const { client, over } = await start(program, words.split(" "), {
    ...{ cwd: root, env: claudeEnvironment({ repo: { env }, server }) },
    onLine: (line) => void (JSON.parse(line).type === "result" && clock.done()),
  });
  return session(clock, {
    send: (prompt) => tell(client, { type: "user", message: { role: "user", content: prompt } }),
    end: async () => {
      client.send(undefined);
      await over();
      await server.close();
    },
  });
}

/** Through the client's own server for other programs, which is what its editor extensions use: `exec` has one prompt for each process. */
export async function startCodex({ program, root, env }: SessionPlace): Promise<ClientSession> {
  const clock = turnClock((at) => {
    const lines = ["*** Begin Patch", `*** Add File: src/file-${at}.ts`, "+x", "*** End Patch"];
    return { tools: [textCall("apply_patch", lines.join("\n"))] };
  });
  const server = await startResponsesServer(clock.script);
  const waiting = new Map<number, (result: Record<string, unknown>) => void>();
  const open = () =>
    start(program, ["app-server", ...settingsFor(server)], {
      ...{ cwd: root, env: codexEnvironment({ repo: { env }, server }) },
      onLine: (line) => {
        const { id, method, result, error } = JSON.parse(line);
        if (method === "turn/completed") clock.done();
        if (method === undefined) waiting.get(id)?.(error ? { error } : result);
      },
    });
  let last = 0;
  const ask = (client: RunningClient, method: string, params: object) =>
    bounded(
      new Promise<Record<string, unknown>>((resolve) => {
        waiting.set(++last, resolve);
        tell(client, { jsonrpc: "2.0", id: last, method, params });
      }),
      method,
    );
  const greet = async (client: RunningClient) => {
    await ask(client, "initialize", { clientInfo: { name: "bench", version: "1" } });
    tell(client, { jsonrpc: "2.0", method: "initialized" });
  };
  // What a person does in /hooks, here in a home that is thrown away.
  const first = await open();
  await greet(first.client);
  const listed = await ask(first.client, "hooks/list", { cwds: [root] });
  first.client.kill();
  await first.over();
  trustHooks(join(env["CODEX_HOME"] ?? "", "config.toml"), listed);

  const { client, over } = await open();
  await greet(client);
  const started = await ask(client, "thread/start", {
    ...{ cwd: root, approvalPolicy: "never", sandbox: "danger-full-access" },
  });
  const threadId = (started["thread"] as { id: string } | undefined)?.id;
  if (!threadId) throw new Error(`codex began no thread: ${JSON.stringify(started)}`);
  return session(clock, {
    send: (prompt) => void ask(client, "turn/start", { threadId, input: [{ type: "text", text: prompt }] }),
    end: async () => {
      client.kill();
      await over();
      await server.close();
    },
  });
}

function trustHooks(config: string, listed: Record<string, unknown>): void {
  const [{ hooks = [] } = {}] = (listed["data"] ?? []) as { hooks?: { key: string; currentHash: string }[] }[];
  for (const { key, currentHash } of hooks) {
    appendFileSync(config, `\n[hooks.state.${JSON.stringify(key)}]\ntrusted_hash = ${JSON.stringify(currentHash)}\n`);
  }
}

interface TurnClock {
  script: Script;
  /** The client says that the turn is over. */
  done(): void;
  time(send: () => void): Promise<Turn>;
  lastRequest(): ModelRequest | undefined;
}

/** `callAt`: the tool call of the turn with this number. */
function turnClock(callAt: (turn: number) => Reply): TurnClock {
  let turns = 0;
  let [sentAt, askedAt, calledAt, resultAt] = [0, 0, 0, 0];
  let finish: ((turn: Turn) => void) | undefined;
  let last: ModelRequest | undefined;
  return {
    lastRequest: () => last,
    script: (request: ModelRequest) => {
      if (request.kind !== "main") return undefined;
      last = request;
      if (calledAt > 0) {
        resultAt ||= performance.now();
        return { text: "done" };
      }
      askedAt = performance.now();
      const reply = callAt(turns);
      calledAt = performance.now();
      return reply;
    },
    done: () => finish?.({ promptMs: askedAt - sentAt, toolMs: resultAt - calledAt }),
    time: (send) =>
      new Promise((resolve, reject) => {
        turns++;
        [askedAt, calledAt, resultAt] = [0, 0, 0];
        finish = (turn) =>
          resultAt > 0 ? resolve(turn) : reject(new Error("the client ended a turn without the tool's result"));
        sentAt = performance.now();
        send();
      }),
  };
}

function session(clock: TurnClock, { send, end }: { send(prompt: string): void; end(): Promise<void> }): ClientSession {
  return {
    turn: (prompt) =>
      bounded(
        clock.time(() => send(prompt)),
        "a turn",
      ),
    lastRequest: clock.lastRequest,
    end,
  };
}

async function start(
  program: string,
  args: readonly string[],
  options: { cwd: string; env: Record<string, string>; onLine(line: string): void },
): Promise<{ client: RunningClient; over(): Promise<unknown> }> {
  let running: ReturnType<typeof runClient> | undefined;
  const client = await new Promise<RunningClient>((resolve, reject) => {
    running = runClient(program, args, { ...options, timeLimitMs: LIMIT_MS, hasInput: true, onStart: resolve });
    running.catch(reject);
  });
  return { client, over: () => running ?? Promise.resolve() };
}

function tell(client: RunningClient, message: object): void {
  client.send(`${JSON.stringify(message)}\n`);
}

async function bounded<Value>(promise: Promise<Value>, what: string): Promise<Value> {
  let limit: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    limit = setTimeout(() => reject(new Error(`${what}: no answer in ${TURN_LIMIT_MS} ms`)), TURN_LIMIT_MS);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(limit));
}
