/** Where Claude Code keeps its files, and whether it is used here. */
import { spawnSync } from "node:child_process";
import { existsSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { findProjectRoot } from "../../base/project-root.ts";
import type { Environment } from "../../engine/project.ts";
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

/** Every installation that reads the settings of this user: those on the PATH, and the client's own place. */
function claudePrograms(env: Environment): string[] {
  const files = [...allOnPath("claude", env), join(env["HOME"] ?? "", ".claude/local/claude")];
  const byTarget = new Map(files.filter((file) => existsSync(file)).map((file) => [realpathSync(file), file]));
  // Not the target itself: a shim of a version manager goes by the name it is called with.
  return [...byTarget.values()];
}

/** Undefined: it does not say. */
function versionOf(program: string, env: Environment): string | undefined {
  const key = `${program} ${statSync(program).mtimeMs}`;
  if (versions.has(key)) return versions.get(key);
  const quiet = { DISABLE_AUTOUPDATER: "1", DISABLE_TELEMETRY: "1", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" };
  const { stdout } = spawnSync(program, ["--version"], {
    env: { ...env, ...quiet },
    encoding: "utf8",
    timeout: 15_000,
  });
  const version = /^\d+\.\d+\.\d+/.exec(stdout ?? "")?.[0];
  versions.set(key, version);
  return version;
}

/** Asked several times by one command, and each answer takes the client a second. */
const versions = new Map<string, string | undefined>();

/** Whether the hooks of every installed client can ask our running MCP server. False where a version is not known. */
export function canAskServer(env: Environment): boolean {
  const programs = claudePrograms(env);
  return (
    programs.length > 0 && programs.every((program) => !isOlder(versionOf(program, env) ?? "0", SERVER_HOOKS_SINCE))
  );
}

/** One that cannot. False where no version is known. */
export function isTooOldToAsk(env: Environment): boolean {
  return claudePrograms(env).some((program) =>
    isOlder(versionOf(program, env) ?? SERVER_HOOKS_SINCE, SERVER_HOOKS_SINCE),
  );
}

function isOlder(version: string, than: string): boolean {
  const [one, other] = [version, than].map((text) => text.split(".").map(Number));
  const at = other!.findIndex((part, index) => part !== (one![index] ?? 0));
  return at >= 0 && (one![at] ?? 0) < other![at]!;
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
