/** Where Codex keeps its files, whether it is used here, and our plugin in it. */
import { existsSync, readdirSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { readText } from "../../engine/init.ts";
import type { Environment } from "../../engine/project.ts";
import { findClient } from "../client-program.ts";
import { OWN_PLUGIN, type PluginPackage, readPackage } from "../plugin-package.ts";
import { simpleValue, tomlStatements } from "./toml-statements.ts";

export interface CodexPlaces {
  /** The repository's root, also from subfolders; a worktree is a project of its own (seen in 0.166.0). Without a repository, the folder itself. */
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
  return findClient("codex", [join(root, ".codex"), codexHome], env);
}

/** `id`: `haversack@MARKETPLACE`. `root` is "" if the plugin is enabled but not in the client's cache. */
export type CodexPlugin = PluginPackage & { id: string };

/** Undefined: the plugin is not enabled. */
export function readCodexPlugin({ codexHome, userConfig }: CodexPlaces): CodexPlugin | undefined {
  const enabled = tomlStatements(readText(userConfig) ?? "").find(({ kind, path: [table, id, key], value }) => {
    const isOn = kind === "key" && key === "enabled" && simpleValue(value) === "true";
    return isOn && table === "plugins" && id?.startsWith(OWN_PLUGIN);
  });
  const id = enabled?.path[1];
  if (id === undefined) return undefined;
  const root = newest(join(codexHome, "plugins/cache", id.slice(OWN_PLUGIN.length), "haversack"));
  return { id, ...(root ? readPackage(root) : { root: "", hooks: [], server: undefined }) };
}

/** Key under which the client keeps reviews of a plugin's hooks; trust.ts appends event and position. */
export function trustFile({ id }: Pick<CodexPlugin, "id">): string {
  return `${id}:hooks/hooks.json`;
}

/** The client keeps one folder per version and removes the others when it updates. */
function newest(folder: string): string | undefined {
  if (!existsSync(folder)) return undefined;
  const versions = readdirSync(folder).sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  const last = versions.at(-1);
  return last === undefined ? undefined : join(folder, last);
}
