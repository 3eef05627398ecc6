/**
 * Starts a client headless with a packet as its prompt, and waits for it. The packet goes to standard input, so no shell parses it and
 * no process list shows it. The client prints directly to the terminal.
 */
import { spawn } from "node:child_process";
import { HaversackError } from "../base/errors.ts";
import { findOnPath } from "../clients/client-program.ts";
import { type ClientFacts, FACTS, OF_A_SESSION } from "../clients/facts.ts";
import { clientProcess, isAlive } from "../engine/events/event-project.ts";
import type { Environment } from "../engine/project.ts";
import type { ClientProcess } from "../store/sqlite/sessions/sqlite-local-store.ts";

export interface ClientStart {
  client: string;
  /** The session to resume. Absent: a new one. */
  resume?: string | undefined;
  /** The user's own options, such as permissions, passed on unchanged. */
  args: readonly string[];
}

export interface ClientCommand {
  program: string;
  args: string[];
}

/** Throws if the client is unknown or not installed; then nothing was started. */
export function clientCommand({ client, resume, args }: ClientStart, env: Environment): ClientCommand {
  const facts = new Map<string, ClientFacts>(Object.entries(FACTS)).get(client);
  const instead = "the message is kept, and `haversack agent prompt --print` prints what it should be given";
  if (!facts) throw new HaversackError("not-found", `${client} cannot be started from here`, { hint: instead });
  const program = findOnPath(facts.program, env);
  if (!program) {
    throw new HaversackError("not-found", `there is no program ${facts.program} on the PATH`, {
      hint: `install ${facts.title}, or name another client with --client; ${instead}`,
    });
  }
  const { begin, resume: goOn, end } = facts.headless;
  return { program, args: [...(resume === undefined ? begin : goOn(resume)), ...args, ...end] };
}

export interface RunOptions {
  cwd: string;
  env: Environment;
  /** The name of the agent that the client becomes. */
  agent: string;
  prompt: string;
  /** Called when the client runs. */
  onStart(): Promise<void>;
}

/** Returns its exit code, or 128 plus the signal's number, as shells do. */
export function runClient(
  { program, args }: ClientCommand,
  { cwd, env, agent, prompt, onStart }: RunOptions,
): Promise<number> {
  const child = spawn(program, args, {
    cwd,
    env: { ...withoutSession(env), HAVERSACK_AGENT: agent, HAVERSACK_WOKEN: "1" },
    stdio: ["pipe", "inherit", "inherit"],
  });
  // It may end before it has read everything. Its exit code shows whether it failed.
  child.stdin.on("error", () => undefined);
  child.stdin.end(prompt);
  // Ctrl-C also reaches the client, which decides what to do. A termination request is forwarded to it.
  const ignore = () => undefined;
  const pass = () => void child.kill("SIGTERM");
  process.on("SIGINT", ignore).on("SIGTERM", pass);
  return new Promise<number>((resolve, reject) => {
    let started: Promise<void> = Promise.resolve();
    child.on("spawn", () => {
      started = onStart();
      started.catch(reject);
    });
    child.on("error", (error) => {
      reject(new HaversackError("file-unreadable", `${program} cannot be started: ${error.message}`, { cause: error }));
    });
    child.on("close", (code, signal) => {
      void started.then(() => resolve(code ?? 128 + (signal ? (SIGNALS[signal] ?? 0) : 0)), ignore);
    });
  }).finally(() => process.off("SIGINT", ignore).off("SIGTERM", pass));
}

const SIGNALS: Readonly<Partial<Record<NodeJS.Signals, number>>> = { SIGHUP: 1, SIGINT: 2, SIGKILL: 9, SIGTERM: 15 };

/** For a client that starts a session of its own. */
export function withoutSession(env: Environment): Record<string, string> {
  const kept = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !OF_A_SESSION.includes(entry[0]),
  );
  return Object.fromEntries(kept);
}

/** Undefined: the process ID is from another machine or PID namespace, or from before the last boot. */
export function isRunning({ id, space }: ClientProcess): boolean | undefined {
  const own = clientProcess(process.pid)?.space;
  return space !== "" && space === own ? isAlive(id) : undefined;
}
