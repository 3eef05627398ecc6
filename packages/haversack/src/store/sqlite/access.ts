/** Reading and writing an open store: faults translated, writes in one transaction. The hook bundles this file. */
import type { DatabaseSync } from "node:sqlite";
import type { StoreHandle } from "./handle.ts";
import { inTransaction } from "./transaction.ts";

/**
 * Runs `change` in one transaction; when this returns, it is saved as durably as the handle was opened. The version
 * is looked at under the same lock: a program that has been open since before a breaking upgrade must not write into
 * tables it does not know.
 */
export function writeStore<T>(handle: StoreHandle, change: (db: DatabaseSync) => T): T {
  return handle.guard(() =>
    inTransaction(handle.db, () => {
      handle.checkVersion();
      return change(handle.db);
    }),
  );
}

export function readStore<T>(handle: StoreHandle, read: (db: DatabaseSync) => T): T {
  return handle.guard(() => read(handle.db));
}

/** As the store stood at one moment, whatever others write meanwhile. Not inside of a write. */
export function readTogether<T>(handle: StoreHandle, read: (db: DatabaseSync) => T): T {
  return handle.guard(() => inTransaction(handle.db, () => read(handle.db), "BEGIN"));
}
