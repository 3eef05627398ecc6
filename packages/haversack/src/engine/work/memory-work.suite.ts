/** A work store in memory, and parts to call use cases with. For tests. */
import { onTestFinished } from "vitest";
import { readConfig } from "../../base/config.ts";
import type { StoreHandle } from "../../store/sqlite/access.ts";
import { openMemoryStore } from "../../store/sqlite/open.ts";
import { SqliteWorkStore } from "../../store/sqlite/work/sqlite-work-store.ts";
import type { Actor } from "../../store/work-store.ts";
import type { OpenProject } from "../open-project.ts";
import { projectPaths } from "../project.ts";
import type { WorkParts } from "./work-parts.ts";

/** A project without files, around a store. */
export function projectIn(handle: StoreHandle, cwd = "/nowhere"): OpenProject {
  const env = {};
  const { config } = readConfig([]);
  return { handle, cwd, env, paths: projectPaths(cwd, env), config, isMemory: true, close: () => undefined };
}

export const NOW = new Date("2031-05-06T07:00:00.000Z");

export interface MemoryWork extends WorkParts {
  /** The same store, for another actor or another time. */
  as(by: Partial<Actor>): WorkParts;
}

export function memoryWork(by: Partial<Actor> = {}): MemoryWork {
  const handle = openMemoryStore();
  onTestFinished(() => handle.db.close());
  const parts: WorkParts = {
    store: new SqliteWorkStore(handle),
    by: { name: "ann", at: NOW, ...by },
    settings: { leaseMs: 3_600_000 },
    project: projectIn(handle),
  };
  return { ...parts, as: (other) => ({ ...parts, by: { ...parts.by, ...other } }) };
}
