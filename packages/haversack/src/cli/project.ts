/** What most commands begin with: the project they were called in, and its settings. */
import type { Config } from "../base/config-schema.ts";
import { ensureStateFolder, type ProjectPaths, projectPaths, requireConfig } from "../engine/project.ts";
import { openDatabase } from "../store/sqlite/open.ts";
import type { Call } from "./command.ts";

export interface OpenProject {
  paths: ProjectPaths;
  config: Config;
}

export function openProject({ io }: Call): OpenProject {
  const paths = projectPaths(io.cwd, io.env);
  return { paths, config: requireConfig(paths, (line) => io.err(`haversack: warning: ${line}\n`)) };
}

/** The store, made when there is none. What a person is told is saved goes through `full`. */
export function openStore(paths: ProjectPaths, durability: "full" | "normal" = "full") {
  ensureStateFolder(paths);
  return openDatabase(paths.store, { durability });
}
