/**
 * Whether `init` has wired a client, for the project or the user. If so, the client's package (plugin, extension) does nothing, because
 * every text would come twice. Hooks that do not run do not count: their program is gone, Codex may not run them, or the folder is not
 * trusted. Then the package works.
 *
 * A package's hook checks this at every event, so it reads a file or two and loads only `fs`.
 */
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { MAX_CONFIG_BYTES, readBounded } from "../base/clean-text.ts";
import { withoutComments } from "../base/json.ts";
import { repositoryRoot } from "./client-adapter.ts";
import { readTrust } from "./codex/trust.ts";
import { folderTrust } from "./gemini/folder-trust.ts";
import { type HookEntry, ownHooks } from "./hook-settings.ts";

export interface SessionPlace {
  root: string;
  /** Where the session was started. */
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
}

/** The settings file with hooks that run; undefined: only the package is active. */
export function ownWiring(client: string, place: SessionPlace): string | undefined {
  return READERS[client]?.(place);
}

const READERS: Readonly<Record<string, (place: SessionPlace) => string | undefined>> = {
  "claude-code": (place) => claudeSettings(place).find((file) => hooksIn("claude-code", file).length > 0),
  codex: ({ cwd, env }) => {
    const home = env["CODEX_HOME"] || `${env["HOME"]}/.codex`;
    const root = repositoryRoot(existsSync(cwd) ? realpathSync(cwd) : cwd);
    const project = `${root}/.codex/hooks.json`;
    return [project, `${home}/hooks.json`].find((file) => {
      const hooks = hooksIn("codex", file);
      if (hooks.length === 0) return false;
      const config = existsSync(`${home}/config.toml`) ? readFileSync(`${home}/config.toml`, "utf8") : "";
      const { isFolderTrusted, unreviewed, switchedOff } = readTrust(config, { root, file, hooks });
      if (switchedOff.length > 0 || (file === project && !isFolderTrusted)) return false;
      // This code runs from the plugin. If the plugin's own hooks have no review, the user has told Codex to run all hooks.
      return unreviewed.length === 0 || !PLUGIN_REVIEW.test(config);
    });
  },
  gemini: ({ cwd, env }) => {
    const folder = `${env["GEMINI_CLI_HOME"] || env["HOME"]}/.gemini`;
    const userSettings = `${folder}/settings.json`;
    const trustedFolders = env["GEMINI_CLI_TRUSTED_FOLDERS_PATH"] || `${folder}/trustedFolders.json`;
    // Gemini CLI reads it from the session's folder only, not from folders above.
    const project = `${cwd}/.gemini/settings.json`;
    const isRun = (file: string) => hooksIn("gemini", file).length > 0;
    if (isRun(project) && folderTrust({ root: cwd, userSettings, trustedFolders }, env) === "trusted") return project;
    return isRun(userSettings) ? userSettings : undefined;
  },
};

function claudeSettings({ root, env }: Pick<SessionPlace, "root" | "env">): string[] {
  const folder = `${repositoryRoot(root)}/.claude`;
  const user = env["CLAUDE_CONFIG_DIR"] || `${env["HOME"]}/.claude`;
  return [`${folder}/settings.local.json`, `${folder}/settings.json`, `${user}/settings.json`];
}

/**
 * For the server that Claude Code asks: events for which a process is started as well, because project and user settings are wired in
 * different ways. The client runs both, so one of them must do nothing.
 */
export function eventsOfProcesses(): (place: Pick<SessionPlace, "root" | "env">) => ReadonlySet<string> {
  // Cached: the client reads its settings once, when a session starts. Later changes by `init` do not affect it.
  const known = new Map<string, ReadonlySet<string>>();
  return (place) => {
    let events = known.get(place.root);
    if (!events) {
      const hooks = claudeSettings(place).flatMap((file) => hooksIn("claude-code", file));
      events = new Set(hooks.filter(({ way }) => way === "command").map(({ event }) => event));
      known.set(place.root, events);
    }
    return events;
  };
}

/** As in trust.ts: `hooks.state."haversack@MARKET:hooks/hooks.json:…"`. */
const PLUGIN_REVIEW = /"haversack@[^"]*:hooks\/hooks\.json:/;

/** Our hooks whose runtime and file exist, and the hooks beside them that ask the running MCP server. */
function hooksIn(client: string, file: string): HookEntry[] {
  const text = readBounded(file, MAX_CONFIG_BYTES)?.text;
  try {
    // Most settings have no hook of ours, and a search costs less than parsing.
    if (!text?.includes("hook.cjs")) return [];
    const hooks = ownHooks(client, JSON.parse(withoutComments(text)));
    const isThere = hooks.some(({ node, hook }) => existsSync(node) && existsSync(hook));
    return isThere
      ? hooks.filter(({ way, node, hook }) => way === "server" || (existsSync(node) && existsSync(hook)))
      : [];
  } catch {
    // Unreadable: the client runs no hook from it.
    return [];
  }
}
