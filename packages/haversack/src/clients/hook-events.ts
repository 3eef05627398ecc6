/** Answers an event in a separate process: everything it needs, in one file, for hook.cjs. */
import { writeSync } from "node:fs";
import { keptOpen } from "../engine/events/event-project.ts";
import { closeIfLogIsLong } from "../store/sqlite/access.ts";
import { answerHook } from "./answer-hook.ts";

export { keepCompiled } from "../base/compiled-folder.ts";

/**
 * How long to wait for the store's lock, in milliseconds. After that the event goes into the spool. Hooks hold the lock for 1 to 5 ms;
 * the longer wait is for commands that save with a sync, and for busy machines.
 */
const BUSY_MS = 200;

/** `hook.cjs CLIENT [packaged]`. Returns a word for the client and whether there was an answer: these run different functions. */
export function answerProcess(payload: unknown): string {
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
  return text ? `${client}-answer` : client;
}
