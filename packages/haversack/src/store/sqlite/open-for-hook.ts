/**
 * The hook's way into the store: an existing one, of a schema it knows. It makes and upgrades nothing; that is left to the
 * CLI and the MCP server, which can say what went wrong. The hook bundles this file.
 */
import { statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { checkTrust } from "../../base/project-trust.ts";
import type { StoreHandle } from "./handle.ts";
import { sqlite } from "./quiet.ts";
import { GUARDED, GUARDED_OPTIONS, readMinReader, refuseForeignSchema } from "./schema.ts";
import { SCHEMA_VERSION } from "./schema-version.ts";
import { folderOf } from "./store-files.ts";

/**
 * Whoever opens the store alone reads its write-ahead file from the start: 3 ms for 4 MB. Hooks end without closing, which
 * would copy that file into the store each time (4 ms); so one that finds it grown closes properly, and the file is gone.
 */
export function closeIfLogIsLong({ file, db }: StoreHandle): void {
  if ((statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > LONG_LOG_BYTES) db.close();
}

const LONG_LOG_BYTES = 512_000;

export interface HookOpenOptions {
  /** How long to wait for other processes, in milliseconds. */
  busyMs: number;
  /** Where this user's records of trusted projects are. */
  userState: string | undefined;
  /** A connection that only reads, for a store that cannot be opened otherwise. */
  readable?: DatabaseSync;
}

/** Undefined when there is no store, when it is not this user's own, or when it is older or too new. Throws when its tables are not exactly ours. */
export function openForHook(file: string, { busyMs, userState, readable }: HookOpenOptions): StoreHandle | undefined {
  if (checkTrust(folderOf(file), userState).kind !== "trusted") return undefined;
  const db = readable ?? new sqlite.DatabaseSync(file, { timeout: busyMs, ...GUARDED_OPTIONS });
  db.exec(GUARDED);
  const version = db.prepare("PRAGMA user_version");
  const readVersion = () => Number(version.get()?.["user_version"]);
  const isUsable = () => {
    const found = readVersion();
    if (found === SCHEMA_VERSION) return true;
    if (found < SCHEMA_VERSION) return false;
    return readMinReader(db) <= SCHEMA_VERSION;
  };
  try {
    if (readVersion() < SCHEMA_VERSION) return closed(db);
    refuseForeignSchema(db, file, readVersion);
    if (!isUsable()) return closed(db);
  } catch (error) {
    closed(db);
    throw error;
  }
  db.exec("PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0");
  return {
    file,
    db,
    isReadOnly: readable !== undefined,
    guard: (action) => action(),
    checkVersion: () => {
      if (!isUsable()) throw new Error(`${file} was upgraded by a newer Haversack`);
    },
  };
}

/** A process that stays must not keep every file open that it could not use. */
function closed(db: StoreHandle["db"]): undefined {
  db.close();
}
