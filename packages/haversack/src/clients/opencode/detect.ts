/** Where opencode keeps its files, and whether it is used here. */
import { existsSync, realpathSync, statSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { findProjectRoot } from "../../base/project-root.ts";
import type { Environment } from "../../engine/project.ts";

export const TESTED_VERSION = "1.18.33";

export interface OpencodePlaces {
  /** The client looks for `.opencode` from the folder of a session up to the repository's root. */
  root: string;
  /** `$XDG_CONFIG_HOME/opencode`, else `~/.config/opencode`. */
  configDir: string;
  projectPlugin: string;
  userPlugin: string;
}

export function opencodePlaces(cwd: string, env: Environment): OpencodePlaces {
  const { root } = findProjectRoot(realpathSync(cwd));
  const configDir = join(env["XDG_CONFIG_HOME"] || join(env["HOME"] ?? "", ".config"), "opencode");
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
  const program = findOpencodeProgram(env);
  const marks = ["opencode.json", "opencode.jsonc", ".opencode"].map((name) => join(root, name));
  return [
    ...(program ? [`the program ${program}`] : []),
    ...[...marks, configDir].filter((path) => existsSync(path)).map((path) => `${path} is there`),
  ];
}

/** `opencode` on the PATH. */
export function findOpencodeProgram(env: Environment): string | undefined {
  const name = process.platform === "win32" ? "opencode.cmd" : "opencode";
  const folders = (env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  return folders
    .map((folder) => resolve(folder, name))
    .find((file) => statSync(file, { throwIfNoEntry: false })?.isFile());
}
