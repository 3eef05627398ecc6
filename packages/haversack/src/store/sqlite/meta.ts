/** Facts about the store as a whole: one text for each key of the table `meta`. The hook bundles this file. */
import type { DatabaseSync } from "node:sqlite";

export function readMeta(db: DatabaseSync, key: string): string | undefined {
  const value = db.prepare("SELECT value FROM meta WHERE key = ?").get(key)?.["value"];
  return value === undefined ? undefined : String(value);
}

/** Undefined removes the key. Callers hold the write lock. */
export function writeMeta(db: DatabaseSync, key: string, value: string | undefined): void {
  if (value === undefined) db.prepare("DELETE FROM meta WHERE key = ?").run(key);
  else db.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)").run(key, value);
}

/**
 * Marks a local store whose work tables are a snapshot of a shared store. Hooks read it to know that what they write must be forwarded.
 * `id`: the shared store's own, the same under every address. `shown`: its address for messages.
 * `keys`: the addresses under which it was reached, as Place.key; absent in a mark of an earlier build. Without the server, the snapshot is
 * that of these addresses and no others.
 */
export interface SharedMark {
  id: string;
  shown: string;
  keys?: readonly string[];
}

/** Undefined: the work in this store is its own. */
export function readSharedMark(db: DatabaseSync): SharedMark | undefined {
  const value = readMeta(db, "shared");
  return value === undefined ? undefined : JSON.parse(value);
}

/** A mark without keys may be of any address. */
export function isSnapshotOf(mark: SharedMark | undefined, key: string): boolean {
  return mark?.keys?.includes(key) ?? true;
}

export function writeSharedMark(db: DatabaseSync, mark: SharedMark | undefined): void {
  writeMeta(db, "shared", mark && JSON.stringify(mark));
}
