/**
 * Where `.haversack/` may be made without being asked for: at the top of a git repository. In any other folder a person says so
 * with `haversack init`: a folder made by a command that was called in the wrong place is found by everything below it from then on.
 */
import { existsSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import { HaversackError } from "../base/errors.ts";
import type { ProjectPaths } from "./project.ts";

export interface NoProject {
  why: string;
  /** What makes one, as a sentence. */
  remedy: string;
}

/** Undefined: `.haversack/` is there, or may be made. */
export function noProject(paths: ProjectPaths): NoProject | undefined {
  const { root, because, state } = paths;
  if (existsSync(state)) return undefined;
  const special = notAProject(paths);
  if (special) {
    return { why: `${root} is ${special}, not a project`, remedy: "go to a project's folder" };
  }
  if (because !== "working-folder") return undefined;
  return {
    why: `there is no project in ${root}: no git repository and no .haversack/`,
    remedy: "`haversack init` makes one here, with --bare without a client",
  };
}

/** Before anything is stored. */
export function requireProject(paths: ProjectPaths): void {
  const found = noProject(paths);
  if (found) throw new HaversackError("no-project", found.why, { hint: found.remedy });
}

/** A folder that would take in everything below it that is no repository of its own. */
export function notAProject({ root, home }: ProjectPaths): "your home folder" | "the root of the disk" | undefined {
  if (dirname(root) === root) return "the root of the disk";
  const isHome = home !== "" && (root === home || (existsSync(home) && root === realpathSync(home)));
  return isHome ? "your home folder" : undefined;
}
