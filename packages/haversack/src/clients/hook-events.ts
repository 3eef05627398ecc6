/** An event in a process of its own: everything that answers it, in one file, for hook.cjs. */
import { writeSync } from "node:fs";
import { keptOpen } from "../engine/events/kept-store.ts";
import { closeIfLogIsLong } from "../store/sqlite/open-for-hook.ts";
import { answerHook } from "./answer-hook.ts";

export { keepCompiled } from "./keep-compiled.ts";

/**
 * How long to wait for the store's lock, in milliseconds; then the event goes into the spool. Hooks hold the lock for 1 to 5 ms, so
 * this is for a command that saves with a sync, and for a busy machine.
 */
const BUSY_MS = 200;

/** `hook.cjs CLIENT [packaged]` */
export function answerProcess(payload: unknown): void {
  const [, , client = "", packaged] = process.argv;
  const text = answerHook(client, payload, {
    env: process.env,
    cwd: process.cwd(),
    cli: [process.execPath, `${__dirname}/haversack.cjs`],
    isPackaged: packaged !== undefined,
    openStore: ({ store, userState }, sessionId, warn) =>
      keptOpen(store, { busyMs: BUSY_MS, userState, warn, isForOne: true })(sessionId),
    done: closeIfLogIsLong,
  });
  if (text) writeSync(1, text);
}
