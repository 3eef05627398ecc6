/** Whether git refuses to work in a repository because it belongs to another user: containers and shared disks do that. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "./project.ts";

/** Undefined: it does not, or there is nothing to ask. The remedy is git's own. */
export function gitRefusal(root: string, env: Environment): { why: string; remedy: string } | undefined {
  if (!existsSync(join(root, ".git"))) return undefined;
  const { stderr } = spawnSync("git", ["-C", root, "rev-parse", "--git-dir"], {
    encoding: "utf8",
    timeout: 10_000,
    // In every language but this one it says it differently.
    env: { ...env, LC_ALL: "C" },
  });
  if (!stderr?.includes("dubious ownership")) return undefined;
  return {
    why: `git refuses to work in ${root}: it belongs to another user ("dubious ownership")`,
    remedy: `if you trust it: \`git config --global --add safe.directory '${root.replaceAll("'", "'\\''")}'\``,
  };
}
