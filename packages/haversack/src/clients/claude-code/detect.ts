/** Where Claude Code keeps its files, and whether it is used here. */
import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { findProjectRoot } from "../../base/project-root.ts";
import type { Environment } from "../../engine/project.ts";
import { areAllSince, installations, isOneOlder } from "../client-version.ts";
import { allOnPath, findOnPath, isFolder } from "../find-program.ts";
import { SERVER_HOOKS_SINCE } from "./settings.ts";

export const TESTED_VERSION = "2.1.325";

export interface ClaudePlaces {
  /** The client's project folder: the main repository's root, from sub-folders and worktrees too; else the folder itself. */
  root: string;
  /** `CLAUDE_CONFIG_DIR`, else `~/.claude`. */
  configDir: string;
  /** Never committed; the client calls it local. Read from `root` whatever folder below it a session starts in. */
  localSettings: string;
  projectSettings: string;
  userSettings: string;
  /** The client's own state: MCP servers of the user and per project. */
  state: string;
}

export function claudePlaces(cwd: string, env: Environment): ClaudePlaces {
  const root = clientRoot(cwd);
  const home = env["HOME"] ?? "";
  const own = env["CLAUDE_CONFIG_DIR"];
  const configDir = own || join(home, ".claude");
  return {
    root,
    configDir,
    localSettings: join(root, ".claude/settings.local.json"),
    projectSettings: join(root, ".claude/settings.json"),
    userSettings: join(configDir, "settings.json"),
    state: join(own || home, ".claude.json"),
  };
}

/** The client's key for a project is its path without links. */
function clientRoot(cwd: string): string {
  const start = realpathSync(cwd);
  for (let folder = start; ; folder = dirname(folder)) {
    if (existsSync(join(folder, ".git"))) {
      const { root, because } = findProjectRoot(folder);
      return because === "main-repository" ? root : folder;
    }
    if (dirname(folder) === folder) return findProjectRoot(start).root;
  }
}

/** Those on the PATH, and the client's own place. */
function claudePrograms(env: Environment): string[] {
  return installations([...allOnPath("claude", env), join(env["HOME"] ?? "", ".claude/local/claude")]);
}

/** Whether the hooks of every installed client can ask our running MCP server. False where a version is not known. */
export function canAskServer(env: Environment): boolean {
  return areAllSince(SERVER_HOOKS_SINCE, claudePrograms(env), { ...env, ...QUIET });
}

/** One that cannot. False where no version is known. */
export function isTooOldToAsk(env: Environment): boolean {
  return isOneOlder(SERVER_HOOKS_SINCE, claudePrograms(env), { ...env, ...QUIET });
}

const QUIET = { DISABLE_AUTOUPDATER: "1", DISABLE_TELEMETRY: "1", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" };

/** Why Claude Code seems to be used here, one line each. */
export function findClaude(cwd: string, env: Environment): string[] {
  const { root, configDir } = claudePlaces(cwd, env);
  const program = findOnPath("claude", env);
  return [
    ...(program ? [`the program ${program}`] : []),
    ...(isFolder(join(root, ".claude")) ? [`the folder ${join(root, ".claude")}`] : []),
    ...(isFolder(configDir) ? [`the folder ${configDir}`] : []),
  ];
}
