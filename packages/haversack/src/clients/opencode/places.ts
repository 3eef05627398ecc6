/** Where opencode keeps its files, whether it is used here, and the plugin file that `init` writes for it. */
import { existsSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { MAX_CONFIG_BYTES, readBounded } from "../../base/clean-text.ts";
import { readJson, withoutComments } from "../../base/json.ts";
import { findProjectRoot } from "../../base/project-root.ts";
import type { Environment } from "../../engine/project.ts";
import type { Installed } from "../../engine/wiring.ts";
import { findOnPath } from "../client-program.ts";
import { serverCommand } from "../server-entry.ts";

export interface OpencodePlaces {
  /** The client looks for `.opencode` from a session's folder up to the root of its checkout: a linked worktree needs its own. */
  root: string;
  /** The project, which all worktrees share. */
  project: string;
  /** `$XDG_CONFIG_HOME/opencode`, else `~/.config/opencode`. */
  configDir: string;
  projectPlugin: string;
  userPlugin: string;
}

export function opencodeConfigDir(env: Environment): string {
  return join(env["XDG_CONFIG_HOME"] || join(env["HOME"] ?? "", ".config"), "opencode");
}

export function opencodePlaces(cwd: string, env: Environment): OpencodePlaces {
  const { root: project, worktree: root = project } = findProjectRoot(realpathSync(cwd));
  const configDir = opencodeConfigDir(env);
  return {
    root,
    project,
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

/**
 * The file that `init` puts into the client's plugin folder. It names the installed plugin and the command of the MCP server. It holds no code of
 * its own, so updating the package needs no new file. Without the package it does nothing.
 */
export function pluginFileText({ node, hook, bin }: Installed): string {
  const { command, args } = serverCommand({ node, bin });
  return `// Written by \`haversack init\`; \`haversack uninstall\` takes it out. It names paths of this machine: do not commit it.
const plugin = ${JSON.stringify(pathToFileURL(join(dirname(hook), "opencode-plugin.mjs")).href)};
const server = ${JSON.stringify([command, ...args])};

export const Haversack = async (input) => {
  try {
    const { Haversack } = await import(plugin);
    return await Haversack(input, { server, file: import.meta.url });
  } catch {
    // The package is gone: opencode goes on without it.
    return {};
  }
};
`;
}

/** The installed plugin that our file names. */
export function bundleNamedIn(text: string): string | undefined {
  const url = /^const plugin = "(file:[^"]+)";$/m.exec(text)?.[1];
  return url === undefined ? undefined : decodeURIComponent(new URL(url).pathname);
}

const FILE = "plugin/haversack.js";

/**
 * Which of several Haversack plugins is active in a session: the project's file, else the user's, else the package that opencode.json names. The
 * others stand back, because otherwise every text would appear twice.
 *
 * Returns the active file; undefined if only a package can be active. The client looks for `.opencode` from the session's folder upwards.
 */
export function workingPluginFile({ directory, env }: { directory: string; env: Environment }): string | undefined {
  const files: string[] = [];
  for (let folder = directory; ; folder = dirname(folder)) {
    files.push(join(folder, ".opencode", FILE));
    // Stop at the root of the session's repository or worktree.
    if (existsSync(join(folder, ".git")) || dirname(folder) === folder) break;
  }
  return [...files, join(opencodeConfigDir(env), FILE)].find(isWorking);
}

/** Whether the client's settings name our package. */
export function isPackageNamed({ root, env }: { root: string; env: Environment }): boolean {
  const folders = [root, join(root, ".opencode"), opencodeConfigDir(env)];
  const files = folders.flatMap((folder) => ["opencode.json", "opencode.jsonc"].map((name) => join(folder, name)));
  return files.some((file) => pluginsIn(file).some((name) => isOurs(folderOf(name, dirname(file)))));
}

/** A plugin is named by URL, path or package name. */
function folderOf(name: string, base: string): string {
  return name.startsWith("file:") ? fileURLToPath(name) : resolve(base, name);
}

function isWorking(file: string): boolean {
  const bundle = bundleNamedIn(textOf(file));
  return bundle !== undefined && existsSync(bundle);
}

function pluginsIn(file: string): string[] {
  // The client accepts trailing commas.
  const text = withoutComments(textOf(file)).replace(/,(\s*[\]}])/g, "$1");
  const { value } = readJson(text);
  const { plugin } = (typeof value === "object" && value !== null ? value : {}) as { plugin?: unknown };
  return Array.isArray(plugin) ? plugin.filter((name) => typeof name === "string") : [];
}

function isOurs(folder: string): boolean {
  const { value } = readJson(textOf(join(folder, "package.json")));
  return (value as { name?: unknown } | undefined)?.name === "haversack-opencode";
}

/** "" if the file does not exist, is too large or is not a regular file. */
function textOf(file: string): string {
  return readBounded(file, MAX_CONFIG_BYTES)?.text ?? "";
}
