/** Where Claude Code keeps its files, and whether it is used here. */
import { spawnSync } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { findProjectRoot } from "../../base/project-root.ts";
import type { Environment } from "../../engine/project.ts";
import { findOnPath, isFolder } from "../find-program.ts";
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

/** The installed version; undefined: there is none on the PATH, or it does not say. */
export function claudeVersion(env: Environment): string | undefined {
  const program = findOnPath("claude", env);
  if (!program) return undefined;
  const quiet = { DISABLE_AUTOUPDATER: "1", DISABLE_TELEMETRY: "1", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" };
  const { stdout } = spawnSync(program, ["--version"], {
    env: { ...env, ...quiet },
    encoding: "utf8",
    timeout: 15_000,
  });
  return /^\d+\.\d+\.\d+/.exec(stdout ?? "")?.[0];
}

/** Whether the installed client's hooks can ask our running MCP server. */
export function canAskServer(env: Environment): boolean {
  const version = claudeVersion(env);
  return version !== undefined && !isOlder(version, SERVER_HOOKS_SINCE);
}

/** False where the version is not known. */
export function isTooOldToAsk(env: Environment): boolean {
  const version = claudeVersion(env);
  return version !== undefined && isOlder(version, SERVER_HOOKS_SINCE);
}

function isOlder(version: string, than: string): boolean {
  const [one, other] = [version, than].map((text) => text.split(".").map(Number));
  const at = one!.findIndex((part, index) => part !== other![index]);
  return at >= 0 && one![at]! < other![at]!;
}

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
