/** Where Codex keeps its files, and whether it is used here. */
import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Environment } from "../../engine/project.ts";
import { areAllSince, installations, isOneOlder } from "../client-version.ts";
import { allOnPath, findOnPath, isFolder } from "../find-program.ts";
import { SERVER_HOOKS_SINCE } from "./hooks-file.ts";

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

/** Whether the hooks of every installed client can ask our running MCP server. False where a version is not known. */
export function canAskServer(env: Environment): boolean {
  return areAllSince(SERVER_HOOKS_SINCE, codexPrograms(env), env);
}

/** One that cannot. False where no version is known. */
export function isTooOldToAsk(env: Environment): boolean {
  return isOneOlder(SERVER_HOOKS_SINCE, codexPrograms(env), env);
}

function codexPrograms(env: Environment): string[] {
  return installations(allOnPath("codex", env));
}

/** Why Codex seems to be used here, one line each. */
export function findCodex(cwd: string, env: Environment): string[] {
  const { root, codexHome } = codexPlaces(cwd, env);
  const program = findOnPath("codex", env);
  return [
    ...(program ? [`the program ${program}`] : []),
    ...(isFolder(join(root, ".codex")) ? [`the folder ${join(root, ".codex")}`] : []),
    ...(isFolder(codexHome) ? [`the folder ${codexHome}`] : []),
  ];
}
