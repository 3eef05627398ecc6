/** Runs an action while a lock folder is ours, as the client does around writes of its own settings. */
import { statSync } from "node:fs";
import { HaversackError } from "../base/errors.ts";
import { makeNewFolder, type Place, removeEmptyFolder } from "../base/safe-write.ts";

/** The client touches its lock every few seconds while it holds it; one older than this was left by a kill. */
const STALE_LOCK_MS = 15_000;

/** Waits for it 3 s by default. */
export function withLock<T>(lock: string | undefined, action: () => T, { within, waitMs = 3_000 }: LockOptions): T {
  if (lock === undefined) return action();
  const deadline = Date.now() + waitMs;
  while (!makeNewFolder(lock, { within })) {
    const age = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? 0);
    if (age > STALE_LOCK_MS) removeEmptyFolder(lock, { within });
    else if (Date.now() > deadline) {
      throw new HaversackError("store-locked", `${lock} is held by a running client`, {
        hint: "wait a moment, then run this again",
      });
    } else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
  }
  try {
    return action();
  } finally {
    removeEmptyFolder(lock, { within });
  }
}

interface LockOptions extends Place {
  waitMs?: number;
}
