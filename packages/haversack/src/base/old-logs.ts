/** Ends the life of log files: see log.ts for how they are written and rotated. No hook does this. */
import { closeSync, lstatSync, openSync, readdirSync, readSync } from "node:fs";
import { join } from "node:path";
import { LOG_FILE, placeOf, ROTATED_LOG } from "./log.ts";
import { moveFile, removeFile } from "./safe-write.ts";

const WEEK_MS = 7 * 86_400_000;

/** Files whose last line is older go. The current file is rotated once it holds lines of more than a week, so that its turn comes. */
export function removeOldLogs(dir: string, { olderThan, now }: { olderThan: Date; now: Date }): number {
  if (!lstatSync(dir, { throwIfNoEntry: false })?.isDirectory()) return 0;
  let removed = 0;
  for (const name of readdirSync(dir)) {
    if (name !== LOG_FILE && !ROTATED_LOG.test(name)) continue;
    const file = join(dir, name);
    const stat = lstatSync(file, { throwIfNoEntry: false });
    if (!stat?.isFile()) continue;
    if (stat.mtimeMs < olderThan.getTime()) {
      removeFile(file, placeOf(dir));
      removed++;
    } else if (name === LOG_FILE && firstTime(file) < now.getTime() - WEEK_MS) {
      const random = Math.random().toString(36).slice(2, 10) || "0";
      const rotated = join(dir, `haversack.${String(now.getTime()).padStart(15, "0")}-${random}.log`);
      moveFile(file, rotated, placeOf(dir));
    }
  }
  return removed;
}

/** Of the first line. Now, where that does not say it. */
function firstTime(file: string): number {
  const opened = openSync(file, "r");
  try {
    const head = Buffer.alloc(64);
    const text = head.toString("latin1", 0, readSync(opened, head));
    const at = Date.parse(/^\{"at":"([^"]+)"/.exec(text)?.[1] ?? "");
    return Number.isNaN(at) ? Number.POSITIVE_INFINITY : at;
  } finally {
    closeSync(opened);
  }
}
