/**
 * Which of several plugins of ours works in a session: the project's file, else the user's, else the package that opencode.json names. The
 * others stand back, because every text would come twice.
 */
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { readJson, withoutComments } from "../../base/json.ts";
import { MAX_CONFIG_BYTES, readBounded } from "../../base/read-text.ts";
import type { Environment } from "../../engine/project.ts";
import { opencodeConfigDir } from "./detect.ts";
import { bundleNamedIn } from "./plugin-file.ts";

const FILE = "plugin/haversack.js";

/** The file that works; undefined: only a package may. The client looks for `.opencode` from the session's folder upwards. */
export function workingPluginFile({ directory, env }: { directory: string; env: Environment }): string | undefined {
  const files: string[] = [];
  for (let folder = directory; ; folder = dirname(folder)) {
    files.push(join(folder, ".opencode", FILE));
    // Not above the repository or worktree of the session.
    if (existsSync(join(folder, ".git")) || dirname(folder) === folder) break;
  }
  return [...files, join(opencodeConfigDir(env), FILE)].find(isWorking);
}

/** Whether one of the client's settings names our package. */
export function isPackageNamed({ root, env }: { root: string; env: Environment }): boolean {
  const folders = [root, join(root, ".opencode"), opencodeConfigDir(env)];
  const files = folders.flatMap((folder) => ["opencode.json", "opencode.jsonc"].map((name) => join(folder, name)));
  return files.some((file) => pluginsIn(file).some((name) => isOurs(folderOf(name, dirname(file)))));
}

/** A plugin is named by an address, a path, or the name of a published package. */
function folderOf(name: string, base: string): string {
  return name.startsWith("file:") ? fileURLToPath(name) : resolve(base, name);
}

function isWorking(file: string): boolean {
  const bundle = bundleNamedIn(textOf(file));
  return bundle !== undefined && existsSync(bundle);
}

function pluginsIn(file: string): string[] {
  // The client accepts a comma behind the last value too.
  const text = withoutComments(textOf(file)).replace(/,(\s*[\]}])/g, "$1");
  const { value } = readJson(text);
  const { plugin } = (typeof value === "object" && value !== null ? value : {}) as { plugin?: unknown };
  return Array.isArray(plugin) ? plugin.filter((name) => typeof name === "string") : [];
}

function isOurs(folder: string): boolean {
  const { value } = readJson(textOf(join(folder, "package.json")));
  return (value as { name?: unknown } | undefined)?.name === "haversack-opencode";
}

/** Empty: no such file, or one that a repository must not make us read. */
function textOf(file: string): string {
  return readBounded(file, MAX_CONFIG_BYTES)?.text ?? "";
}
