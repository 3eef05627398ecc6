/**
 * Replaces a file's text in one step: a reader sees the old or the new one, never half, also after a kill. Keeps the mode,
 * follows a link to the file it means.
 */
import {
  chmodSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { HaversackError } from "../base/errors.ts";

export function replaceFile(path: string, text: string, { modeIfNew = 0o644 }: { modeIfNew?: number } = {}): void {
  const stat = statSync(path, { throwIfNoEntry: false });
  const target = stat ? realpathSync(path) : path;
  const temporary = join(dirname(target), `.${basename(target)}.${process.pid}.haversack`);
  try {
    const file = openSync(temporary, "wx", 0o600);
    try {
      writeSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    chmodSync(temporary, stat ? stat.mode & 0o7777 : modeIfNew);
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { force: true });
    const { code } = error as NodeJS.ErrnoException;
    throw new HaversackError("file-unwritable", `${path}: cannot be written (${code})`, {
      hint:
        code === "ENOENT"
          ? `there is no folder ${dirname(target)}`
          : "give yourself write access to the file and its folder",
      cause: error,
    });
  }
}

/** The missing folders of a path are made; which, outermost first. */
export function makeFolders(folder: string): string[] {
  const missing: string[] = [];
  for (let at = folder; !statSync(at, { throwIfNoEntry: false }); at = dirname(at)) missing.unshift(at);
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw new HaversackError(
      "file-unwritable",
      `${folder}: cannot be made (${(error as NodeJS.ErrnoException).code})`,
      {
        hint: "give yourself write access to the folder it is in",
        cause: error,
      },
    );
  }
  return missing;
}

/** The client touches its lock every few seconds while it holds it; one older than this was left by a kill. */
const STALE_LOCK_MS = 15_000;

/** Runs the action while a lock folder is ours, as the client does around its own writes. Waits for it 3 s by default. */
export function withLock<T>(lock: string | undefined, action: () => T, { waitMs = 3_000 } = {}): T {
  if (lock === undefined) return action();
  const deadline = Date.now() + waitMs;
  for (;;) {
    try {
      mkdirSync(lock);
      break;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "EEXIST") {
        throw new HaversackError("file-unwritable", `${dirname(lock)}: cannot be written (${code})`, {
          hint: "give yourself write access to the folder",
          cause: error,
        });
      }
      const age = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? 0);
      if (age > STALE_LOCK_MS) rmdirSync(lock);
      else if (Date.now() > deadline) {
        throw new HaversackError("store-locked", `${lock} is held by a running client`, {
          hint: "wait a moment, then run this again",
        });
      } else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
    }
  }
  try {
    return action();
  } finally {
    rmdirSync(lock);
  }
}
