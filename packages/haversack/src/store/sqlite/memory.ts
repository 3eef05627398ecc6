/** A store in memory with the whole schema: for evaluations, and for a call with other rules than the project's. */
import type { StoreHandle } from "./handle.ts";
import { applyMigrations } from "./migrate.ts";
import { migrations } from "./migrations.ts";
import { guardedHandle } from "./open.ts";
import { sqlite } from "./quiet.ts";

export function openMemoryStore(): StoreHandle {
  const db = new sqlite.DatabaseSync(":memory:");
  applyMigrations(db, ":memory:", migrations);
  return guardedHandle(":memory:", db, { list: migrations, isReadOnly: false });
}
