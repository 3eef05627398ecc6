/** Where Codex keeps its files, and whether it is used here. */
import { accessSync, constants, existsSync, realpathSync, statSync } from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";
import type { Environment } from "../../engine/project.ts";

export const TESTED_VERSION = "0.166.0";

export interface CodexPlaces {
  /** The repository's root, from sub-folders too; a worktree is a project of its own (seen in 0.166.0). Else the folder itself. */
  root: string;
  /** `CODEX_HOME`, else `~/.codex`. */
  codexHome: string;
  projectHooks: string;
  /** Read only in a folder that the person trusts. */
  projectConfig: string;
  userHooks: string;
  userConfig: string;
}

export function codexPlaces(cwd: string, env: Environment): CodexPlaces {
  const root = clientRoot(cwd);
  const codexHome = env["CODEX_HOME"] || join(env["HOME"] ?? "", ".codex");
  return {
    root,
    codexHome,
    projectHooks: join(root, ".codex/hooks.json"),
    projectConfig: join(root, ".codex/config.toml"),
    userHooks: join(codexHome, "hooks.json"),
    userConfig: join(codexHome, "config.toml"),
  };
}

function clientRoot(cwd: string): string {
  const start = realpathSync(cwd);
  for (let folder = start; ; folder = dirname(folder)) {
    if (existsSync(join(folder, ".git"))) return folder;
    if (dirname(folder) === folder) return start;
  }
}

/** Why Codex seems to be used here, one line each. */
export function findCodex(cwd: string, env: Environment): string[] {
  const { root, codexHome } = codexPlaces(cwd, env);
  const program = findProgram(env);
  return [
    ...(program ? [`the program ${program}`] : []),
    ...(isFolder(join(root, ".codex")) ? [`the folder ${join(root, ".codex")}`] : []),
    ...(isFolder(codexHome) ? [`the folder ${codexHome}`] : []),
  ];
}

/** `codex` on the PATH. */
export function findProgram(env: Environment): string | undefined {
  const names = process.platform === "win32" ? ["codex.exe", "codex.cmd"] : ["codex"];
  for (const folder of (env["PATH"] ?? "").split(delimiter)) {
    for (const name of names) {
      const file = resolve(folder, name);
      if (folder !== "" && isProgram(file)) return file;
    }
  }
  return undefined;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    // Not there, or not to be run by us.
    return false;
  }
}
