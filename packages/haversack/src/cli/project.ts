/** What most commands begin with: the project they were called in, its settings, and its store. */
import { statSync } from "node:fs";
import type { Config } from "../base/config-schema.ts";
import { noProject } from "../engine/no-project.ts";
import { type ProjectPaths, projectPaths, requireConfig } from "../engine/project.ts";
import { openProjectStore, openProjectToAnswer, openProjectToRead, requireTrust } from "../engine/project-store.ts";
import type { StoreHandle } from "../store/sqlite/handle.ts";
import { openMemoryStore } from "../store/sqlite/open.ts";
import type { Call, Io } from "./command.ts";

export interface OpenProject {
  paths: ProjectPaths;
  config: Config;
}

export function openProject({ io }: Call): OpenProject {
  const paths = projectPaths(io.cwd, io.env);
  return { paths, config: requireConfig(paths, (line) => io.err(`haversack: warning: ${line}\n`)) };
}

export type Durability = "full" | "normal";

/** For commands that save: the store, made when there is none. What a person is told is saved goes through `full`. */
export function openStore(paths: ProjectPaths, durability: Durability = "full"): StoreHandle {
  return openProjectStore(paths, { durability });
}

/** For commands that only look: where there is no store, an empty one in memory, and no folder is made. */
export function readStore({ io }: Call, paths: ProjectPaths, durability: Durability = "normal"): StoreHandle {
  requireTrust(paths);
  if (isMissing(paths)) {
    noteNoProject(io, paths);
    return openMemoryStore();
  }
  const handle = openProjectToRead(paths, { durability });
  if (handle.isReadOnly) noteReadOnly(io, paths);
  return handle;
}

/** For commands that answer and also note what they answered: kept where there is a project, else forgotten. */
export function keepStore(call: Call, paths: ProjectPaths, durability: Durability = "normal"): StoreHandle {
  if (noProject(paths)) return readStore(call, paths, durability);
  const { io } = call;
  return openProjectToAnswer(paths, {
    durability,
    warn: (text) => io.err(`haversack: note: not recorded: ${text}\n`),
  });
}

const told = new WeakSet<Io>();

function noteNoProject(io: Io, paths: ProjectPaths): void {
  const found = noProject(paths);
  // Some commands open it twice.
  if (!found || told.has(io)) return;
  told.add(io);
  io.err(`haversack: note: ${found.why} (${found.remedy})\n`);
}

function noteReadOnly(io: Io, paths: ProjectPaths): void {
  if (told.has(io)) return;
  told.add(io);
  io.err(`haversack: note: ${paths.store} can only be read here; commands that save will fail\n`);
}

function isMissing({ state, store }: ProjectPaths): boolean {
  try {
    const folder = statSync(state, { throwIfNoEntry: false });
    if (folder && !folder.isDirectory()) return false;
    return statSync(store, { throwIfNoEntry: false }) === undefined;
  } catch {
    // Not ours to see: opening it says what is wrong.
    return false;
  }
}
