/** Which files of the local state git tracks: it replaces such a file without a question. */
import { spawnSync } from "node:child_process";
import { STATE_FOLDER } from "../base/project-root.ts";
import type { Environment, ProjectPaths } from "./project.ts";

/** What teams share through git on purpose. */
export const SHARED = [".gitignore", "config.json", "artifacts.json", "skills", "templates", "skill-rules.json"];

/** SQLite's own files beside the database. */
export const LOGS = ["haversack.db-wal", "haversack.db-shm", "haversack.db-journal"];

/** Below the root. */
export function trackedState({ root }: ProjectPaths, env: Environment): string[] {
  const { status, stdout } = spawnSync("git", ["-C", root, "ls-files", "-z", "--", `${STATE_FOLDER}/`], {
    encoding: "utf8",
    timeout: 10_000,
    env: { ...env },
  });
  if (status !== 0) return [];
  return stdout.split("\0").filter((path) => path !== "" && !SHARED.includes(path.split("/")[1] ?? ""));
}
