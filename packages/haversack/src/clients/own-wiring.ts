/**
 * Whether `init` has wired a client, for the project or the user. Where it has, the client's package (plugin, extension) stands back:
 * with both, every text would come twice. What does not run does not count: a hook whose program is gone, one that Codex has not
 * been allowed to run, settings of a folder that is not trusted. Then the package goes on.
 *
 * A package's hook asks this at every event: a file or two to read, and nothing but `fs` to load.
 */
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { withoutComments } from "../base/json.ts";
import { MAX_CONFIG_BYTES, readBounded } from "../base/read-text.ts";
import { repositoryRoot } from "./claude-code/hidden-skills.ts";
import { type HookFiles, readHookCommand } from "./claude-code/hook-command.ts";
import { readHookCommand as readCodexCommand } from "./codex/hook-command.ts";
import { readTrust } from "./codex/trust.ts";
import { folderTrust } from "./gemini/folder-trust.ts";
import { readGeminiHookCommand } from "./gemini/hook-command.ts";
import { type HookEntry, hookEntries } from "./hook-entries.ts";

export interface SessionPlace {
  /** The project's. */
  root: string;
  /** Where the session was started. */
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
}

/** The file with the hooks that run; undefined: the package is alone. */
export function ownWiring(client: string, place: SessionPlace): string | undefined {
  return READERS[client]?.(place);
}

const READERS: Readonly<Record<string, (place: SessionPlace) => string | undefined>> = {
  "claude-code": (place) => claudeSettings(place).find((file) => hooksIn(file, readHookCommand).length > 0),
  codex: ({ cwd, env }) => {
    const home = env["CODEX_HOME"] || `${env["HOME"]}/.codex`;
    const root = repositoryRoot(existsSync(cwd) ? realpathSync(cwd) : cwd);
    const project = `${root}/.codex/hooks.json`;
    return [project, `${home}/hooks.json`].find((file) => {
      const hooks = hooksIn(file, readCodexCommand);
      if (hooks.length === 0) return false;
      const config = existsSync(`${home}/config.toml`) ? readFileSync(`${home}/config.toml`, "utf8") : "";
      const { isFolderTrusted, unreviewed, switchedOff } = readTrust(config, { root, file, hooks });
      if (switchedOff.length > 0 || (file === project && !isFolderTrusted)) return false;
      // We run from the plugin: without a review of its own hooks the person has told Codex to run all of them.
      return unreviewed.length === 0 || !PLUGIN_REVIEW.test(config);
    });
  },
  gemini: ({ cwd, env }) => {
    const folder = `${env["GEMINI_CLI_HOME"] || env["HOME"]}/.gemini`;
    const userSettings = `${folder}/settings.json`;
    const trustedFolders = env["GEMINI_CLI_TRUSTED_FOLDERS_PATH"] || `${folder}/trustedFolders.json`;
    // Read from the folder of the session, and from no folder above it.
    const project = `${cwd}/.gemini/settings.json`;
    const isRun = (file: string) => hooksIn(file, readGeminiHookCommand).length > 0;
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
 * For the server that Claude Code asks: the events that a process is started for as well, because a project and all projects are wired in
 * different ways. The client runs both, and one of them has to stand back.
 */
export function eventsOfProcesses(): (place: Pick<SessionPlace, "root" | "env">) => ReadonlySet<string> {
  // Looked up once: the client reads its settings when a session starts, and a running one goes on with those whatever `init` writes.
  const known = new Map<string, ReadonlySet<string>>();
  return (place) => {
    let events = known.get(place.root);
    if (!events) {
      const hooks = claudeSettings(place).flatMap((file) => hooksIn(file, readHookCommand));
      events = new Set(hooks.filter(({ way }) => way === "command").map(({ event }) => event));
      known.set(place.root, events);
    }
    return events;
  };
}

/** As trust.ts knows it: `hooks.state."haversack@MARKET:hooks/hooks.json:…"`. */
const PLUGIN_REVIEW = /"haversack@[^"]*:hooks\/hooks\.json:/;

/** Those whose runtime and file are there, and those beside them that ask the running MCP server. */
function hooksIn(file: string, readCommand: (command: unknown) => HookFiles | undefined): HookEntry[] {
  const text = readBounded(file, MAX_CONFIG_BYTES)?.text;
  try {
    // Most settings have none: a search costs less than parsing.
    if (!text?.includes("hook.cjs")) return [];
    const hooks = hookEntries(JSON.parse(withoutComments(text)), readCommand);
    const isThere = hooks.some(({ node, hook }) => existsSync(node) && existsSync(hook));
    return isThere
      ? hooks.filter(({ way, node, hook }) => way === "server" || (existsSync(node) && existsSync(hook)))
      : [];
  } catch {
    // Unreadable: the client runs nothing of it.
    return [];
  }
}
