/**
 * Reads the spool into the store, in order, each entry once. The names of the files taken are saved in the same transaction as
 * their content. A process killed before the commit leaves everything as it was; one killed after it leaves files that the
 * next reader recognizes. The hook bundles this file as a separate chunk.
 */
import { errorText } from "../../../base/errors.ts";
import { appendLog } from "../../../base/log.ts";
import { folderOf, hasSpool, inTransaction, type StoreHandle } from "../access.ts";
import { isLockFault } from "../connect.ts";
import { readPragma } from "../schema.ts";
import { saveEntry } from "./save-entry.ts";
import { readSpooled, removeSpooled, type SpooledEntry, spooledNames } from "./spool-files.ts";
import { type StandInOptions, standInAfter, standInFor } from "./stand-in.ts";

export type TakenIn =
  | { kind: "nothing" }
  /** problems: one text per invalid entry; these entries are dropped. */
  | { kind: "taken"; count: number; problems: string[] }
  /** Another process holds the lock. */
  | { kind: "locked" };

const REFUSED = { damaged: "not an entry", foreign: "it came from git or a copy, not from Haversack" };

/** Waits for the lock as long as the handle's busy timeout. */
export function takeInSpool(handle: StoreHandle): TakenIn {
  const { db, file } = handle;
  if (handle.isReadOnly || !hasSpool(file)) return { kind: "nothing" };
  if (spooledNames(file).length === 0) {
    removeSpooled(file, []);
    return { kind: "nothing" };
  }
  const problems: string[] = [];
  let count = 0;
  let names: string[];
  try {
    names = handle.guard(() =>
      inTransaction(db, () => {
        handle.checkVersion();
        // Listed under the lock, so no other process takes these entries.
        const found = spooledNames(file);
        const taken: string[] = [];
        const known = new Set(
          db
            .prepare("SELECT key FROM meta WHERE key >= 'spool/' AND key < 'spool0'")
            .all()
            .map(({ key }) => String(key).slice("spool/".length)),
        );
        const note = db.prepare("INSERT INTO meta (key, value) VALUES (?, ?)");
        for (const name of found) {
          if (known.delete(name)) {
            taken.push(name);
            continue;
          }
          const spooled = readSpooled(file, name);
          // It belongs to another user, who has to read it in.
          if (spooled === "unreadable") continue;
          const problem = typeof spooled === "string" ? REFUSED[spooled] : saveSpooled(handle, spooled);
          if (problem) problems.push(`${name}: ${problem}`);
          else count++;
          taken.push(name);
          note.run(`spool/${name}`, new Date().toISOString());
        }
        // Their files are gone, and names are never reused.
        const forget = db.prepare("DELETE FROM meta WHERE key = ?");
        for (const name of known) forget.run(`spool/${name}`);
        return taken;
      }),
    );
  } catch (error) {
    if (isLockFault(error) || (error as { code?: unknown }).code === "store-locked") return { kind: "locked" };
    throw error;
  }
  removeSpooled(file, names);
  return { kind: "taken", count, problems };
}

/** Before an event: reads the spool in, or switches to a stand-in if the store cannot be written. */
export function takeInOrStandIn(handle: StoreHandle, options: StandInOptions): void {
  try {
    const taken = takeInSpool(handle);
    if (taken.kind === "locked") handle.standIn = standInFor(handle, options);
    if (taken.kind === "taken") for (const problem of taken.problems) options.warn(`left out of the spool: ${problem}`);
  } catch (error) {
    const standIn = standInAfter(error, handle, options);
    if (!standIn) throw error;
    handle.standIn = standIn;
  }
}

/** Returns what is wrong with the entry. Throws if something is wrong with the store; then nothing is taken. */
function saveSpooled({ db }: StoreHandle, spooled: SpooledEntry): string | undefined {
  db.exec("SAVEPOINT spooled");
  try {
    saveEntry(db, spooled.entry, spooled);
    db.exec("RELEASE spooled");
    return undefined;
  } catch (error) {
    // On a full disk or an I/O error, SQLite may have ended the transaction itself.
    if (isStoreFault(error)) throw error;
    db.exec("ROLLBACK TO spooled; RELEASE spooled");
    return errorText(error).slice(0, 200);
  }
}

/** True for SQLite's codes about the file and the disk. All other codes are about the statement or its values. */
function isStoreFault(error: unknown): boolean {
  const { errcode, errno = 0 } = error as { errcode?: number; errno?: number };
  const code = (errcode ?? errno) & 0xff;
  return code !== 0 && ![1, 18, 19, 20, 25].includes(code);
}

// Reads the spool in for processes that are not hooks: when they open the store, and for a long-lived process at every call.

/** The longest a process waits to take in the entries of others. */
const BUSY_MS = 250;

/** Does not fail: entries that cannot be read in now wait for the next reader. */
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
