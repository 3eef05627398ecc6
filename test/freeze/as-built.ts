/**
 * Import this first. Makes the sources that seed projects in this process behave like the built program, and deterministically: IDs are counted
 * instead of random, the index of skills names the built version as its writer, and stores can be closed as at the end of a process.
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

/** Call before a command: stores that are open now belong to others. */
export function noteStores(): void {
  opened.clear();
}

/** A command leaves its store open, because normally its process ends. */
export function closeStores(): void {
  for (const db of opened) if (db.isOpen) db.close();
  opened.clear();
}

/** Restarts IDs, so each project begins with `T1001`. */
export function countIdsAnew(): void {
  counted.ids = 0;
}
