/** How large a project's local state is, and how far back it goes, for `doctor`. */
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { readStore, type StoreHandle } from "../store/sqlite/access.ts";
import { SqliteOutputs } from "../store/sqlite/outputs/sqlite-outputs.ts";
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
  const kept = days > 0 ? `kept for ${days} days` : "kept forever";
  return {
    part: "local state",
    level: "ok",
    text: `${shown}; ${ageOf(handle, now)}${outputsIn(handle)}; ${kept} (store.retention_days)`,
  };
}

/** "" if none is kept. */
function outputsIn(handle: StoreHandle): string {
  const { count, bytes } = new SqliteOutputs(handle).totals();
  if (count === 0) return "";
  return `; ${count} kept tool ${count === 1 ? "output" : "outputs"}, ${(bytes / 1_000_000).toFixed(1)} MB`;
}

function ageOf(handle: StoreHandle, now: Date): string {
  const row = readStore(handle, (db) =>
    db.prepare("SELECT count(*) AS count, min(last_seen_at) AS oldest FROM sessions").get(),
  );
  const oldest = Date.parse(String(row?.["oldest"]));
  if (Number.isNaN(oldest)) return "no sessions";
  const days = Math.max(0, Math.floor((now.getTime() - oldest) / 86_400_000));
  const [count, age] = [
    Number(row?.["count"]),
    days === 0 ? "from today" : `${days} ${days === 1 ? "day" : "days"} old`,
  ];
  return count === 1 ? `1 session, ${age}` : `${count} sessions, the oldest ${age}`;
}

function folderSize(folder: string): number {
  if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return 0;
  try {
    const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
    return names.reduce((sum, name) => sum + sizeOf(join(folder, name)), 0);
  } catch (error) {
    // The folder belongs to another user.
    if ((error as NodeJS.ErrnoException).code !== "EACCES") throw error;
    return 0;
  }
}

function sizeOf(path: string): number {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isFile() ? stat.size : 0;
}
