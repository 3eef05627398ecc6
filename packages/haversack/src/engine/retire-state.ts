/**
 * Local state has an end: sessions, their ledger and what hooks noted, snapshots and the log go after `store.retentionDays`. Commands
 * and the MCP server do it in passing, at most once a day and a bounded part each time; hooks never do. Work is not touched.
 */
import { removeOldLogs } from "../base/log.ts";
import type { StoreHandle } from "../store/sqlite/handle.ts";
import { isRetirementDue, retireSessions } from "../store/sqlite/maintenance/purge.ts";
import { purgeSnapshots } from "./artifacts/purge-snapshots.ts";
import type { ProjectPaths } from "./project.ts";

export interface RetireOptions {
  paths: Pick<ProjectPaths, "state" | "log">;
  /** The setting `store.retentionDays`. 0: nothing goes. */
  days: number;
  now: Date;
}

const DAY_MS = 86_400_000;

/** Whether it was done. A fault, such as a lock that another process holds, leaves it to the next one. */
export function retireOldState(handle: StoreHandle, { paths, days, now }: RetireOptions): boolean {
  try {
    if (days <= 0 || handle.isReadOnly || handle.file === ":memory:" || !isRetirementDue(handle, now)) return false;
    const olderThan = new Date(now.getTime() - days * DAY_MS);
    if (!retireSessions(handle, { olderThan, now })) return false;
    purgeSnapshots(paths.state, { olderThan, dryRun: false });
    removeOldLogs(paths.log, { olderThan, now });
    return true;
  } catch {
    // Nobody asked for this: the command goes on with what it was called for.
    return false;
  }
}
