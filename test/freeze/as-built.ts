/**
 * Import this first. It makes the sources that seed projects in this process do as the built program does, and the same each time:
 * ids are counted instead of random, the index of skills says that the built version wrote it, and a store can be closed as the end of
 * a process closes it.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { vi } from "vitest";

const PACKAGE = join(import.meta.dirname, "../../packages/haversack/package.json");

vi.stubGlobal("__VERSION__", JSON.parse(readFileSync(PACKAGE, "utf8")).version);

const counted = { ids: 0 };

vi.mock("../../packages/haversack/src/base/ids.ts", async (original) => ({
  ...(await original<typeof import("../../packages/haversack/src/base/ids.ts")>()),
  newId: (prefix: string) => `${prefix}${1000 + ++counted.ids}`,
}));

const opened = new Set<DatabaseSync>();

vi.mock("../../packages/haversack/src/store/sqlite/quiet.ts", async (original) => {
  const { sqlite } = await original<typeof import("../../packages/haversack/src/store/sqlite/quiet.ts")>();
  class Noted extends sqlite.DatabaseSync {
    constructor(...args: ConstructorParameters<typeof DatabaseSync>) {
      super(...args);
      opened.add(this);
    }
  }
  return { sqlite: { ...sqlite, DatabaseSync: Noted } };
});

/** Before a command; what is open now belongs to others. */
export function noteStores(): void {
  opened.clear();
}

/** A command leaves its store open: its process ends. */
export function closeStores(): void {
  for (const db of opened) if (db.isOpen) db.close();
  opened.clear();
}

/** A project begins with `T1001`. */
export function countIdsAnew(): void {
  counted.ids = 0;
}
