/** Where opencode keeps its files, and whether it is used here. */
import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { findProjectRoot } from "../../base/project-root.ts";
import type { Environment } from "../../engine/project.ts";
import { findOnPath } from "../find-program.ts";

export const TESTED_VERSION = "1.18.33";

export interface OpencodePlaces {
  /** The client looks for `.opencode` from the folder of a session up to the repository's root. */
  root: string;
  /** `$XDG_CONFIG_HOME/opencode`, else `~/.config/opencode`. */
  configDir: string;
  projectPlugin: string;
  userPlugin: string;
}

export function opencodeConfigDir(env: Environment): string {
  return join(env["XDG_CONFIG_HOME"] || join(env["HOME"] ?? "", ".config"), "opencode");
}

export function opencodePlaces(cwd: string, env: Environment): OpencodePlaces {
  const { root } = findProjectRoot(realpathSync(cwd));
  const configDir = opencodeConfigDir(env);
  return {
    root,
    configDir,
    projectPlugin: join(root, ".opencode/plugin/haversack.js"),
    userPlugin: join(configDir, "plugin/haversack.js"),
  };
}

/** Why opencode seems to be used here, one line each. */
export function findOpencode(cwd: string, env: Environment): string[] {
  const { root, configDir } = opencodePlaces(cwd, env);
  const program = findOnPath("opencode", env);
  const marks = ["opencode.json", "opencode.jsonc", ".opencode"].map((name) => join(root, name));
  return [
    ...(program ? [`the program ${program}`] : []),
    ...[...marks, configDir].filter((path) => existsSync(path)).map((path) => `${path} is there`),
  ];
}
