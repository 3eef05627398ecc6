/**
 * Removes old snapshots of the working tree (git-snapshot.ts), by the time of their objects. Git renews the time of an object that a newer
 * snapshot also contains. If the snapshot of a review is gone, the next iteration gets all documents again.
 */
import { lstatSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { removeFile } from "../../base/safe-write.ts";

/** Removes older objects, unless it is a dry run, and returns their number. */
export function purgeSnapshots(state: string, { olderThan, dryRun }: { olderThan: Date; dryRun: boolean }): number {
  const folder = join(state, "snapshots");
  // A link here would lead to files that are not ours.
  if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return 0;
  let count = 0;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    const found = entry.isFile() ? lstatSync(file, { throwIfNoEntry: false }) : undefined;
    if (!found || found.mtimeMs >= olderThan.getTime()) continue;
    count++;
    if (!dryRun) removeFile(file, { within: dirname(state) });
  }
  return count;
}
