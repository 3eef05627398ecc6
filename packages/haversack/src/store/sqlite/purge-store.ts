/** Removes what has grown old, by the rules the parts have listed. One transaction: all of it or nothing. */
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

export function purgeStore(file: string, { olderThan, dryRun, rules = purgeRules }: PurgeOptions): PurgeReport {
  const handle = openDatabase(file, { durability: "full", create: false });
  const before = olderThan.toISOString();
  const removed: Record<string, number> = {};
  try {
    writeStore(handle, (db) => {
      // A dry run counts by removing and taking it back: rules see what the rules before them have left.
      db.exec("SAVEPOINT purge");
      for (const { table, where } of rules) {
        const { changes } = db.prepare(`DELETE FROM ${quoteName(table)} WHERE ${where}`).run({ before });
        removed[table] = (removed[table] ?? 0) + Number(changes);
      }
      if (dryRun) db.exec("ROLLBACK TO purge");
      db.exec("RELEASE purge");
    });
  } finally {
    handle.db.close();
  }
  return { removed, dryRun };
}
