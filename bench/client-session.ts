/**
 * A session of a real client that stays open. Prompts are sent one after the other; a scripted model answers each with one tool call and
 * then with a word. The scripted server runs in this process, so one clock times the prompts and the requests.
 */
import { join } from "node:path";
import { environment } from "../test/clients/claude-code/run-claude.ts";
import { startAppServer, trustAllHooks } from "../test/clients/codex/app-server.ts";
import type { ModelRequest } from "../test/clients/model-request.ts";
import { textCall } from "../test/clients/responses-api.ts";
import { startResponsesServer } from "../test/clients/responses-server.ts";
import { type RunningClient, runClient } from "../test/clients/run-client.ts";
import type { Reply, Script } from "../test/clients/script.ts";
import { startScriptedServer } from "../test/clients/scripted-server.ts";

export interface Turn {
  /** From the prompt to the model's first request. */
  promptMs: number;
  /** From the answer with a tool call to the request with its result. */
  toolMs: number;
}

export interface ClientSession {
  turn(prompt: string): Promise<Turn>;
  /** The last request of the main conversation, which contains the whole window. */
  lastRequest(): ModelRequest | undefined;
  end(): Promise<void>;
}

export interface SessionPlace {
  program: string;
  root: string;
  /** The client stays inside its folders. */
  env: Record<string, string>;
}

/** Longer than any run. A session that hangs is killed with all its children. */
const LIMIT_MS = 15 * 60_000;
const TURN_LIMIT_MS = 30_000;

export async function startClaude({ program, root, env }: SessionPlace): Promise<ClientSession> {
  const clock = turnClock((at) => ({
    tools: [{ name: "Write", input: { file_path: join(root, `src/file-${at}.ts`), content: "x\n" } }],
  }));
  const server = await startScriptedServer(clock.script);
  const words = "-p --input-format stream-json --output-format stream-json --verbose --dangerously-skip-permissions";
  let run: ReturnType<typeof runClient> | undefined;
  const client = await new Promise<RunningClient>((resolve, reject) => {
    run = runClient(program, words.split(" "), {
      ...{ cwd: root, env: environment({ repo: { env }, server }), timeLimitMs: LIMIT_MS, hasInput: true },
      onStart: resolve,
      onLine: (line) => void (JSON.parse(line).type === "result" && clock.done()),
    });
    run.catch(reject);
  });
  return session(clock, {
    send: (prompt) => client.send(`${JSON.stringify({ type: "user", message: { role: "user", content: prompt } })}\n`),
    end: async () => {
      client.send(undefined);
      await run;
      await server.close();
    },
  });
}

/** Uses the client's own server for other programs, because `codex exec` takes one prompt per process. */
export async function startCodex({ program, root, env }: SessionPlace): Promise<ClientSession> {
  const clock = turnClock((at) => {
    const lines = ["*** Begin Patch", `*** Add File: src/file-${at}.ts`, "+x", "*** End Patch"];
    return { tools: [textCall("apply_patch", lines.join("\n"))] };
  });
  const server = await startResponsesServer(clock.script);
  const place = { program, root, env, server, timeLimitMs: LIMIT_MS };
  await trustAllHooks(place);
  const app = await startAppServer(place);
  const threadId = await app.startThread();
  return session(clock, {
    send: (prompt) => void app.turn(threadId, prompt).then(clock.done),
    end: async () => {
      await app.end();
      await server.close();
      const failed = app.hookRuns.find(({ status }) => status === "failed");
      if (failed) throw new Error(`codex: a hook failed: ${JSON.stringify(failed)}`);
    },
  });
}

interface TurnClock {
  script: Script;
  /** Called when the client reports the end of the turn. */
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

async function bounded<Value>(promise: Promise<Value>, what: string): Promise<Value> {
  let limit: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    limit = setTimeout(() => reject(new Error(`${what}: no answer in ${TURN_LIMIT_MS} ms`)), TURN_LIMIT_MS);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(limit));
}
