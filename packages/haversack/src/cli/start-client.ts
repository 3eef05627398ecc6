/**
 * Starts a client headless with a packet as its prompt, and waits for it. No shell: the packet goes in on standard input, so that
 * it is neither parsed nor in the list of processes. What the client prints goes straight to the terminal.
 */
import { spawn } from "node:child_process";
import { HaversackError } from "../base/errors.ts";
import { findOnPath } from "../clients/find-program.ts";
import { HEADLESS, OF_A_SESSION } from "../clients/headless.ts";
import { clientProcess, isAlive } from "../engine/events/client-process.ts";
import type { Environment } from "../engine/project.ts";
import type { ClientProcess } from "../store/local-store.ts";

export interface ClientStart {
  client: string;
  /** The session to go on with. Absent: a new one. */
  resume?: string | undefined;
  /** The user's own, such as permissions: handed on as they are. */
  args: readonly string[];
}

export interface ClientCommand {
  program: string;
  args: string[];
}

/** A fault when the client is unknown or not installed: nothing was started then. */
export function clientCommand({ client, resume, args }: ClientStart, env: Environment): ClientCommand {
  const headless = Object.hasOwn(HEADLESS, client) ? HEADLESS[client] : undefined;
  const instead = "the message is kept, and `haversack prompt --print` prints what it should be given";
  if (!headless) throw new HaversackError("not-found", `${client} cannot be started from here`, { hint: instead });
  const program = findOnPath(headless.program, env);
  if (!program) {
    throw new HaversackError("not-found", `there is no program ${headless.program} on the PATH`, {
      hint: `install ${headless.title}, or name another client with --client; ${instead}`,
    });
  }
  const start = resume === undefined ? headless.begin : headless.resume(resume);
  return { program, args: [...start, ...args, ...headless.end] };
}

export interface RunOptions {
  cwd: string;
  env: Environment;
  /** The agent it is from now on. */
  agent: string;
  prompt: string;
  /** It runs. */
  onStart(): Promise<void>;
}

/** Its exit code; 128 and the signal's number when one ended it, as shells say it. */
export function runClient(
  { program, args }: ClientCommand,
  { cwd, env, agent, prompt, onStart }: RunOptions,
): Promise<number> {
  const child = spawn(program, args, {
    cwd,
    env: { ...withoutSession(env), HAVERSACK_AGENT: agent, HAVERSACK_WOKEN: "1" },
    stdio: ["pipe", "inherit", "inherit"],
  });
  // It may end before it has read everything; its exit code tells.
  child.stdin.on("error", () => undefined);
  child.stdin.end(prompt);
  // Ctrl-C reaches the client too, and it is the client that decides; a request to end goes on to it.
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

function withoutSession(env: Environment): Record<string, string> {
  const kept = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !OF_A_SESSION.includes(entry[0]),
  );
  return Object.fromEntries(kept);
}

/** Undefined: the number is one of another machine, of another name space, or of before the machine's start. */
export function isRunning({ id, space }: ClientProcess): boolean | undefined {
  const own = clientProcess(process.pid)?.space;
  return space !== "" && space === own ? isAlive(id) : undefined;
}
