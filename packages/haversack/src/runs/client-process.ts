/** The process of a headless client: its output line by line, its end, and the end of what it left running. */
import type { ChildProcess } from "node:child_process";
import { StringDecoder } from "node:string_decoder";
import { type FoundProcess, signal, stillRunning } from "./process-tree.ts";

/** A longer line is a tool's result. It only shows that the client is alive, so its content is not needed. */
const MAX_LINE_CHARS = 8_000_000;
/** How long other processes may hold the output open after the client has exited; then they are ended. */
const PIPE_MS = 500;

interface Lines {
  onLine(line: string): void;
  onLongLine(): void;
  onError(text: string): void;
}

export function followLines(child: ChildProcess, { onLine, onLongLine, onError }: Lines): void {
  const decoder = new StringDecoder("utf8");
  let parts: string[] = [];
  let [length, isTooLong] = [0, false];
  child.stdout?.on("data", (chunk: Buffer) => {
    const text = decoder.write(chunk);
    let from = 0;
    for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", from)) {
      if (isTooLong) onLongLine();
      else onLine(parts.length > 0 ? parts.join("") + text.slice(from, at) : text.slice(from, at));
      [parts, length, isTooLong] = [[], 0, false];
      from = at + 1;
    }
    const rest = text.slice(from);
    length += rest.length;
    if (length > MAX_LINE_CHARS) [parts, isTooLong] = [[], true];
    else if (rest !== "") parts.push(rest);
  });
  child.stdout?.on("end", () => {
    if (!isTooLong && length > 0) onLine(parts.join(""));
  });
  child.stderr?.setEncoding("utf8").on("data", onError);
}

interface Exit {
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  /** It could not be started. */
  fault?: string;
}

/** Waits for the process, not for the pipe: a shell that survives the client may hold the output open. */
export function whenEnded(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => {
    let exit: Exit | undefined;
    const finish = () => {
      child.stdout?.destroy();
      child.stderr?.destroy();
      child.stdin?.destroy();
      if (exit) resolve(exit);
    };
    child.on("error", (error) => {
      exit ??= { exitCode: null, signal: null, fault: error.message };
      finish();
    });
    child.on("exit", (exitCode, by) => {
      exit = { exitCode, signal: by };
      setTimeout(finish, PIPE_MS).unref();
    });
    child.on("close", finish);
  });
}

/** Returns how many processes were still there. */
export async function endAll(known: readonly FoundProcess[], pid: number): Promise<number> {
  const left = stillRunning(known).filter(({ id }) => id !== pid);
  if (left.length === 0) return 0;
  signal(left, "SIGTERM");
  for (let waited = 0; waited < 2_000 && stillRunning(left).length > 0; waited += 50) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  signal(left, "SIGKILL");
  return left.length;
}

export function signalGroup(pid: number, name: NodeJS.Signals): void {
  if (pid <= 1) return;
  try {
    process.kill(-pid, name);
  } catch {
    // It has just ended.
  }
}
