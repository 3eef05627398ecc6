/** Reads the spool in for processes that are not hooks: when they open the store, and at every call of one that stays. */
import { errorText } from "../../../base/errors.ts";
import { appendLog } from "../../../base/log.ts";
import { folderOf } from "../folder.ts";
import type { StoreHandle } from "../handle.ts";
import { readPragma } from "../migrate.ts";
import { hasSpool } from "./has-spool.ts";
import { takeInSpool } from "./take-in.ts";

/** Nobody waits longer for what others have to say. */
const BUSY_MS = 250;

/** What cannot be read in now waits for the next one that asks: no reason to fail. */
export function readInSpool(handle: StoreHandle): void {
  const { db, file } = handle;
  if (handle.isReadOnly || !hasSpool(file)) return;
  const log = (text: string) =>
    appendLog(`${folderOf(file)}/log`, { at: new Date(), level: "warn", part: "store", text });
  const patience = readPragma(db, "busy_timeout");
  try {
    db.exec(`PRAGMA busy_timeout = ${Math.min(BUSY_MS, patience)}`);
    const taken = takeInSpool(handle);
    if (taken.kind === "taken") for (const problem of taken.problems) log(`left out of the spool: ${problem}`);
  } catch (error) {
    log(`the spool could not be read in: ${errorText(error)}`);
  } finally {
    db.exec(`PRAGMA busy_timeout = ${patience}`);
  }
}
