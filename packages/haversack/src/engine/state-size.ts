/** How large a project's local state is, and how far back it goes, for `doctor`. */
import { join } from "node:path";
import { readStore, type StoreHandle } from "../store/sqlite/access.ts";
import { SqliteOutputs } from "../store/sqlite/outputs/sqlite-outputs.ts";
import type { ProjectPaths } from "./project.ts";
import { sizeOf } from "./trust-project.ts";
import type { Finding } from "./wiring.ts";

export function describeState(
  { state, store, log }: Pick<ProjectPaths, "state" | "store" | "log">,
  { handle, days, now }: { handle: StoreHandle; days: number; now: Date },
): Finding {
  const sizes = [
    ["store", sizeOf(store) + sizeOf(`${store}-wal`)],
    ["log", sizeOf(log)],
    ["snapshots", sizeOf(join(state, "snapshots"))],
  ] as const;
  const shown = sizes.map(([name, bytes]) => `${name} ${(bytes / 1_000_000).toFixed(1)} MB`).join(", ");
  const kept = days > 0 ? `kept for ${days} days` : "kept forever";
  const { count, bytes } = new SqliteOutputs(handle).totals();
  const outputs = `; ${count} kept tool ${count === 1 ? "output" : "outputs"}, ${(bytes / 1_000_000).toFixed(1)} MB`;
  const text = `${shown}; ${ageOf(handle, now)}${count === 0 ? "" : outputs}; ${kept} (store.retention_days)`;
  return { part: "local state", level: "ok", text };
}

function ageOf(handle: StoreHandle, now: Date): string {
  const row = readStore(handle, (db) =>
    db.prepare("SELECT count(*) AS count, min(last_seen_at) AS oldest FROM sessions").get(),
  );
  const oldest = Date.parse(String(row?.["oldest"]));
  if (Number.isNaN(oldest)) return "no sessions";
  const days = Math.max(0, Math.floor((now.getTime() - oldest) / 86_400_000));
  const count = Number(row?.["count"]);
  const age = days === 0 ? "from today" : `${days} ${days === 1 ? "day" : "days"} old`;
  return count === 1 ? `1 session, ${age}` : `${count} sessions, the oldest ${age}`;
}
