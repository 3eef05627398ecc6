/** How large a project's local state is, and how far back it goes, for `doctor`. */
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { readStore } from "../store/sqlite/access.ts";
import type { StoreHandle } from "../store/sqlite/handle.ts";
import type { ProjectPaths } from "./project.ts";
import type { Finding } from "./wiring.ts";

export function describeState(
  { state, store, log }: Pick<ProjectPaths, "state" | "store" | "log">,
  { handle, days, now }: { handle: StoreHandle; days: number; now: Date },
): Finding {
  const sizes = [
    ["store", sizeOf(store) + sizeOf(`${store}-wal`)],
    ["log", folderSize(log)],
    ["snapshots", folderSize(join(state, "snapshots"))],
  ] as const;
  const shown = sizes.map(([name, bytes]) => `${name} ${(bytes / 1_000_000).toFixed(1)} MB`).join(", ");
  const kept = days > 0 ? `kept for ${days} days` : "kept for ever";
  return { part: "local state", level: "ok", text: `${shown}; ${ageOf(handle, now)}; ${kept} (store.retentionDays)` };
}

function ageOf(handle: StoreHandle, now: Date): string {
  const row = readStore(handle, (db) =>
    db.prepare("SELECT count(*) AS count, min(last_seen_at) AS oldest FROM sessions").get(),
  );
  const oldest = Date.parse(String(row?.["oldest"]));
  if (Number.isNaN(oldest)) return "no sessions";
  const days = Math.max(0, Math.floor((now.getTime() - oldest) / 86_400_000));
  return `${row?.["count"]} sessions, the oldest ${days} days old`;
}

function folderSize(folder: string): number {
  if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return 0;
  try {
    const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
    return names.reduce((sum, name) => sum + sizeOf(join(folder, name)), 0);
  } catch (error) {
    // Another user's.
    if ((error as NodeJS.ErrnoException).code !== "EACCES") throw error;
    return 0;
  }
}

function sizeOf(path: string): number {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isFile() ? stat.size : 0;
}
