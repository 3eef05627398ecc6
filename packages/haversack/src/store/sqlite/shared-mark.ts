/**
 * Marks a local store whose work tables are a snapshot of a shared store. Hooks read it to know that what they write must be forwarded.
 * The hook bundles this file.
 */
import type { DatabaseSync } from "node:sqlite";
import { type StoreHandle, writeStore } from "./access.ts";

/** The shared store: its own id, which stays the same under every address, and its address for messages. */
export interface SharedMark {
  id: string;
  shown: string;
}

const KEY = "shared";

/** Undefined: the work in this store is its own. */
export function readSharedMark(db: DatabaseSync): SharedMark | undefined {
  const value = db.prepare("SELECT value FROM meta WHERE key = ?").get(KEY)?.["value"];
  return value === undefined ? undefined : (JSON.parse(String(value)) as SharedMark);
}

export function writeSharedMark(handle: StoreHandle, mark: SharedMark | undefined): void {
  writeStore(handle, (db) => {
    if (mark) db.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)").run(KEY, JSON.stringify(mark));
    else db.prepare("DELETE FROM meta WHERE key = ?").run(KEY);
  });
}
