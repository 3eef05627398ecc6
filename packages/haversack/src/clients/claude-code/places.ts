/** Where Claude Code keeps its files, whether it is used here, and which of our parts it has. */
import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { readJson } from "../../base/json.ts";
import { findProjectRoot } from "../../base/project-root.ts";
import { readText } from "../../engine/init.ts";
import type { Environment } from "../../engine/project.ts";
import { findClient } from "../client-program.ts";
import { listOf, objectOf } from "../json-settings.ts";
import { ownWiring } from "../own-wiring.ts";
import { jsonIn, OWN_PLUGIN, type PluginPackage, readPackage } from "../plugin-package.ts";
import { commandOf, isOwnCommand, unguarded } from "../server-entry.ts";
import type { StampedFile } from "../stamped-file.ts";
import { workFiles } from "../work-files.ts";
import { claudeServerEntry } from "./settings.ts";

export interface ClaudePlaces {
  /** The client's project folder: the main repository's root, also from sub-folders and worktrees; outside git the folder itself. */
  root: string;
  /** `CLAUDE_CONFIG_DIR`, else `~/.claude`. */
  configDir: string;
  /** Never committed; the client calls it local. Always read from `root`, even if a session starts in a folder below. */
  localSettings: string;
  projectSettings: string;
  userSettings: string;
  /** The client's state file: MCP servers of the user and per project. */
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

/** The client's key for a project is its path with links resolved. */
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

/** Why Claude Code seems to be used here, one line each. */
export function findClaude(cwd: string, env: Environment): string[] {
  const { root, configDir } = claudePlaces(cwd, env);
  return findClient("claude-code", [join(root, ".claude"), configDir], env);
}

/** `/work` and its agents in one of the client's folders. */
export function claudeWork(folder: string): StampedFile[] {
  return workFiles("project").map(({ path, text }) => ({
    path: join(folder, path),
    about: path.startsWith("commands/") ? "the command /work" : "agents for /work",
    text,
    isStampLast: true,
  }));
}

export function isPluginEnabled(settings: readonly unknown[]): boolean {
  const plugins = settings.flatMap((value) => Object.entries(objectOf(objectOf(value)["enabledPlugins"])));
  return plugins.some(([id, isOn]) => id.startsWith(OWN_PLUGIN) && isOn === true);
}

/** Undefined: enabled, but not installed in this client folder. */
export function readPlugin(configDir: string): PluginPackage | undefined {
  const { plugins } = jsonIn(join(configDir, "plugins/installed_plugins.json"));
  const entries = Object.entries(objectOf(plugins)).flatMap(([id, list]) =>
    id.startsWith(OWN_PLUGIN) ? listOf(list) : [],
  );
  const root = entries.map((entry) => String(objectOf(entry)["installPath"])).find((path) => existsSync(path));
  return root === undefined ? undefined : readPackage(root);
}

/** Whether the MCP server that `init` wired runs beside the plugin's. Then the plugin's server lists no tools, so the model sees each once. */
export function isServerWired(cwd: string, env: Environment): boolean {
  const { root, state } = claudePlaces(cwd, env);
  // Without hooks from `init`, the plugin's hooks are active. They name the plugin's tools, so its server must list them.
  if (!ownWiring("claude-code", { root: findProjectRoot(cwd).root, cwd, env })) return false;
  const entry = claudeServerEntry(readJson(readText(state) ?? "{}").value, root);
  if (!entry || !isOwnCommand(commandOf(entry))) return false;
  const { command, args } = unguarded(commandOf(entry));
  return [command, args[0] ?? ""].every((file) => existsSync(file));
}
