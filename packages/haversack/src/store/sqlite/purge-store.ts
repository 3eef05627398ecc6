/** Removes what has grown old, by the rules the parts have listed. One transaction: all of it or nothing. */
import type { DatabaseSync } from "node:sqlite";
import { writeStore } from "./access.ts";
import { quoteName } from "./check-store.ts";
import { openDatabase } from "./open.ts";
import { type PurgeRule, purgeRules } from "./purge-rules.ts";

export interface PurgeReport {
  /** Rows removed (or, in a dry run, that would be), by table; tables with nothing to remove are listed with 0. */
  removed: Record<string, number>;
  dryRun: boolean;
}

export interface PurgeOptions {
  olderThan: Date;
  dryRun: boolean;
  /** Tests hand in their own. */
  rules?: readonly PurgeRule[];
}

/** For callers that hold the write lock already. Rows removed, by table. */
export function removeByRules(
  db: DatabaseSync,
  { rules, before }: { rules: readonly PurgeRule[]; before: string },
): Record<string, number> {
  const removed: Record<string, number> = {};
  for (const { table, where } of rules) {
    const { changes } = db.prepare(`DELETE FROM ${quoteName(table)} WHERE ${where}`).run({ before });
    removed[table] = (removed[table] ?? 0) + Number(changes);
  }
  return removed;
}

export function purgeStore(file: string, { olderThan, dryRun, rules = purgeRules }: PurgeOptions): PurgeReport {
  const handle = openDatabase(file, { durability: "full", create: false });
  const before = olderThan.toISOString();
  let removed: Record<string, number> = {};
  try {
    writeStore(handle, (db) => {
      // A dry run counts by removing and taking it back: rules see what the rules before them have left.
      db.exec("SAVEPOINT purge");
      removed = removeByRules(db, { rules, before });
      if (dryRun) db.exec("ROLLBACK TO purge");
      db.exec("RELEASE purge");
    });
  } finally {
    handle.db.close();
  }
  return { removed, dryRun };
}
