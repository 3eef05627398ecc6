/** Codex as `init`, `doctor` and `uninstall` see it. */
import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { findProjectRoot, STATE_FOLDER } from "../../base/project-root.ts";
import { readText } from "../../engine/init.ts";
import type { Environment } from "../../engine/project.ts";
import type { CheckPlace, Client, Deferral, Finding, WiredFile, WiringPlace } from "../../engine/wiring.ts";
import type { SkillCard } from "../../skills/types.ts";
import {
  checkEvents,
  checkHooks,
  checkServer,
  findings,
  initCommand,
  notWired,
  presentHooks,
  readSettingsFiles,
  serverEvents,
  tooOld,
  wiredFiles,
} from "../check-client.ts";
import { canAskServer, checkVersion, isTooOldToAsk, whyNoServerHooks } from "../client-program.ts";
import { excludeLines, gitView, untracked } from "../git-view.ts";
import { type HookEntry, mergeHooks, unmergeHooks } from "../hook-settings.ts";
import { ownWiring } from "../own-wiring.ts";
import { leftoversOfStamped, notesOnStamped, type StampedFile, wireStamped } from "../stamped-file.ts";
import { codexWorkFiles } from "../work-files.ts";
import {
  disableSkills,
  enableSkills,
  mergeNotify,
  mergeServer,
  notifyOf,
  notifyProgram,
  serverTable,
  unmergeNotify,
  unmergeServer,
} from "./config.ts";
import { CODEX_HOOKS } from "./hooks-file.ts";
import { readTurnNote } from "./notify.ts";
import { type CodexPlaces, type CodexPlugin, codexPlaces, findCodex, readCodexPlugin, trustFile } from "./places.ts";
import { readTrust } from "./trust.ts";

export const codex: Client = {
  name: "codex",
  title: "Codex",
  find: ({ cwd, env }) => findCodex(cwd, env),
  files(place) {
    const { root, projectHooks, projectConfig, userHooks, userConfig } = codexPlaces(place.cwd, place.env);
    const isUser = place.scope === "user";
    return [
      untracked(hooksFile(isUser ? userHooks : projectHooks, place), place, root),
      untracked(serverFile(isUser ? userConfig : projectConfig, place), place, root),
      ...workSkill(place).map(wireStamped),
      ...(isUser ? [] : excludeLines(root, EXCLUDED)),
    ];
  },
  notes(place) {
    const { scope, cwd, env, installed } = place;
    const { node, hook } = installed;
    const places = codexPlaces(cwd, env);
    const { root, projectHooks, userConfig } = places;
    const notes = [
      "Codex silently skips hooks until you have reviewed them: start `codex` here, open /hooks and trust those of Haversack (again after each change of them)",
    ];
    const config = place.hooks === "command" ? undefined : switchedOffIn(place);
    const off = config && `the MCP server is switched off in ${config}`;
    const why = whyNoServerHooks("codex", place) ?? off;
    if (why) notes.push(`${why}: each event starts a process`);
    if (readCodexPlugin(places)) {
      notes.push(
        "the haversack plugin of Codex is installed too: it becomes inactive once you have trusted these hooks",
      );
    }
    if (scope === "user" && notifyOf(readText(userConfig) ?? "").kind === "foreign") {
      notes.push(
        `notify in ${userConfig} is yours and stays; to have doctor see whether hooks run, let your program end with \`${node} ${notifyProgram(hook)} JSON\`, where JSON is its own last word`,
      );
    }
    if (scope === "project") {
      notes.push(`Codex reads ${join(root, ".codex")} only when you trust this folder: it asks when you start it here`);
      if (gitView(root, projectHooks) === "no-git") {
        notes.push(
          `git could not be asked whether it ignores ${join(root, ".codex")}: do not commit files with paths of this machine`,
        );
      }
    }
    return [...notes, ...notesOnStamped(workSkill(place))];
  },
  leftovers: (place) => leftoversOfStamped(workSkill(place)),
  check: checkCodex,
  isPackaged: ({ cwd, env }) => readCodexPlugin(codexPlaces(cwd, env)) !== undefined,
  deferral: ({ cwd, env }) => deferral(codexPlaces(cwd, env)),
};

function workSkill({ scope, cwd, env }: Pick<WiringPlace, "scope" | "cwd" | "env">): StampedFile[] {
  const { root, codexHome } = codexPlaces(cwd, env);
  const folder = scope === "user" ? codexHome : join(root, ".codex");
  return codexWorkFiles("$work").map(({ path, text }) => ({
    path: join(folder, path),
    about: "the skill $work",
    text,
  }));
}

/** The config file in which the MCP server of this scope is switched off, if it is. */
function switchedOffIn({ scope, cwd, env }: WiringPlace): string | undefined {
  const { projectConfig, userConfig } = codexPlaces(cwd, env);
  const config = scope === "user" ? userConfig : projectConfig;
  return serverTable(readText(config) ?? "").isEnabled ? undefined : config;
}

function hooksFile(path: string, place: WiringPlace): WiredFile {
  const { installed, hasGuards, seesOutputs = false } = place;
  return {
    path,
    about: "hooks",
    blank: "{}\n",
    wire: (text) => {
      const canAsk = place.hooks !== "command" && canAskServer("codex", place.env);
      const asksServer = canAsk && !switchedOffIn(place);
      return mergeHooks(CODEX_HOOKS, text, { ...installed, file: path, hasGuards, seesOutputs, asksServer });
    },
    unwire: (text, keep) => unmergeHooks(CODEX_HOOKS, text, { file: path, keep }),
  };
}

function serverFile(path: string, { installed: { node, hook, bin }, scope }: WiringPlace): WiredFile {
  const program = notifyProgram(hook);
  return {
    path,
    about: scope === "user" ? "the MCP server and notify" : "the MCP server",
    blank: "",
    // The file holds the user's own settings, sometimes keys.
    isPrivate: scope === "user",
    wire: (text) => {
      const merged = mergeServer(text, { file: path, node, bin });
      return scope === "user" ? { ...merged, text: mergeNotify(merged.text, { node, program }) } : merged;
    },
    unwire: (text, keep) => unmergeServer(unmergeNotify(text), { keep }),
  };
}

/** The first two contain paths of this machine; the skill is generated by us. */
const EXCLUDED = {
  "/.codex/hooks.json": ".codex/hooks.json",
  "/.codex/config.toml": ".codex/config.toml",
  "/.codex/skills/work/": ".codex/skills/work/SKILL.md",
};

/** Which skills can be kept out of the listing, and where. */
function deferral({ userConfig: path }: CodexPlaces): Deferral {
  return {
    path,
    blank: "",
    isPrivate: true,
    isReadByFile: true,
    noNames: "Codex cannot list a skill's name without its description",
    keyOf,
    nameOf: (key) => basename(dirname(key)),
    set: (text, keys, _, own) => disableSkills(text, keys, { file: path, own }),
    drop: (text, own, keep) => enableSkills(text, own, { keep }),
  };
}

/** The setting is in the user's file and applies to all projects, so it only hides skills of this project. */
function keyOf(card: SkillCard): { key: string } | { why: string } {
  const { sourceKind, sourceLabel, folder, path } = card;
  if (!folder || !LISTED.test(sourceLabel)) return { why: "Codex does not list it anyway" };
  if (!card.modelInvocable) return { why: "its author keeps it out of the listing already" };
  if (sourceKind !== "project") {
    return { why: "it is a skill for all your projects, and Codex has no setting that hides it in one" };
  }
  return { key: path };
}

const LISTED = /(?:^|\/)\.(?:agents|codex)\/skills$/;

const CLIENT = { name: "codex", hooks: CODEX_HOOKS, variables: () => ({}) } as const;

async function checkCodex(place: CheckPlace): Promise<Finding[]> {
  const places = codexPlaces(place.cwd, place.env);
  const { files, problems } = readSettingsFiles(CODEX_HOOKS, [places.projectHooks, places.userHooks]);
  const wired = wiredFiles(CODEX_HOOKS, files);
  const found: Finding[] = [await checkVersion("codex", place), ...problems];
  const plugin = readCodexPlugin(places);
  const standsBackFor = plugin && ownWiring("codex", { root: places.root, cwd: place.cwd, env: place.env });
  if (wired.length === 0 && !plugin) {
    const absent = { what: "there is no hook of Haversack", remedy: `\`${initCommand(place)}\` connects it` };
    found.push(notWired("codex hooks", { ...absent, wasWired: place.wasWired }));
  }
  if (wired.length > 1) {
    const text = `connected twice, in ${wired.map(({ path }) => path).join(" and ")}: every event runs two processes`;
    const remedy = "`haversack uninstall` removes those of the project, with `--user` those of the user";
    found.push(findings("codex hooks").warn(text, remedy));
  }
  for (const one of wired) {
    const command = `haversack init${one.path === places.userHooks ? " --user" : ""}`;
    const remedy = `\`${command}\` repairs it; review the hooks in /hooks then`;
    const whyUnanswered = () => whyLost(place.env, places);
    found.push(...checkHooks(CODEX_HOOKS, one, { place, remedy, whyUnanswered }), checkTrust(one, places));
  }
  if (plugin) {
    found.push(checkPlugin(plugin, standsBackFor));
    if (plugin.root && !standsBackFor) found.push(checkTrust({ path: trustFile(plugin), hooks: plugin.hooks }, places));
  }
  const paths = wired.map(({ path }) => path);
  found.push(...checkNotify(place, places, paths));
  const ofPlugin = standsBackFor ? [] : (plugin?.hooks ?? []);
  const events = await checkEvents(CLIENT, [...presentHooks(wired), ...ofPlugin], place);
  const isWired = wired.length > 0 || place.wasWired;
  return [...found, ...events, ...(await checkOwnServer(place, places, { plugin, isWired }))];
}

/** Why events do not reach the running MCP server. Codex does not report this. */
function whyLost(env: Environment, { projectConfig, userConfig }: CodexPlaces): string | undefined {
  if (isTooOldToAsk("codex", env)) return tooOld("codex");
  const tables = [projectConfig, userConfig].map((file) => serverTable(readText(file) ?? ""));
  const table = tables.find(({ kind }) => kind !== "none");
  if (!table) return "and there is none: these events are lost";
  if (table.kind === "foreign") return 'and the server "haversack" is not of Haversack: these events are lost';
  return table.isEnabled ? undefined : "which is switched off (enabled = false): these events are lost";
}

function checkPlugin({ id, root }: CodexPlugin, wiredIn: string | undefined): Finding {
  const { ok, fail } = findings("codex plugin");
  if (!root) {
    return fail(`${id} is enabled, and not in the cache of Codex`, `\`codex plugin add ${id}\` installs it again`);
  }
  const text = `${id}, in ${root}`;
  if (!wiredIn) return ok(text);
  return ok(`${text}; it is inactive, because ${wiredIn} has hooks of \`haversack init\` that you have trusted`);
}

/** Codex does not report hooks that it skips. */
function checkTrust(
  { path, hooks }: { path: string; hooks: readonly Pick<HookEntry, "event" | "path">[] },
  { root, userConfig, projectHooks }: CodexPlaces,
): Finding {
  const { ok, warn, fail } = findings("codex trust");
  const config = readText(userConfig) ?? "";
  const { isFolderTrusted, unreviewed, switchedOff, areHooksOff } = readTrust(config, { root, file: path, hooks });
  if (areHooksOff) {
    return fail(`hooks are switched off in ${userConfig} (features.hooks): no hook runs`, "remove it there");
  }
  if (path === projectHooks && !isFolderTrusted) {
    const text = `Codex does not trust ${root}, so it reads nothing in ${path}`;
    const remedy = "start `codex` here and trust the folder, or `haversack init --user`";
    return { ...warn(text, remedy), isSilencing: true };
  }
  if (unreviewed.length > 0) {
    const text = `${path}: you have not reviewed the hooks for ${unreviewed.join(", ")}, so Codex does not run them`;
    return fail(text, "start `codex` here, open /hooks and trust those of Haversack");
  }
  if (switchedOff.length > 0) {
    const text = `${path}: you have switched off the hooks for ${switchedOff.join(", ")}`;
    return warn(text, "start `codex` here and open /hooks to switch them on");
  }
  return ok(`reviewed in ${userConfig}; after a change of the hooks Codex asks again`);
}

/**
 * Checks what really happened in the last turn. The review that `doctor` finds in the settings may be for an older form of a hook, and only Codex
 * can tell. `wired`: files with our hooks.
 */
export function checkNotify(
  { cwd, installed }: CheckPlace,
  { userConfig, userHooks }: CodexPlaces,
  wired: readonly string[],
): Finding[] {
  const { ok, warn, fail } = findings("codex notify");
  const { kind, files } = notifyOf(readText(userConfig) ?? "");
  if (kind === "foreign") return [ok(`${userConfig} has a program of yours; it stays`)];
  const remedy = "`haversack init --user` writes it";
  if (!files) {
    // Project settings cannot have `notify`.
    if (!wired.includes(userHooks)) return [];
    return [warn(`${userConfig} has no notify, so doctor cannot tell whether hooks run`, remedy)];
  }
  const gone = [files.node, files.program].find((file) => !existsSync(file));
  if (gone) return [warn(`${gone} is gone, so it is silent`, remedy)];
  if (files.program !== notifyProgram(installed.hook)) {
    return [warn(`runs ${files.program}, of another installation`, remedy)];
  }
  const last = readTurnNote(join(findProjectRoot(cwd).root, STATE_FOLDER));
  if (!last) return [ok("set; no turn has ended here since")];
  const text = `a turn of session ${last.sessionId} ended at ${last.at}`;
  if (last.isHeard) return [ok(`${text}, and its hooks had run`)];
  const review = "start `codex` here, open /hooks and trust those of Haversack, also those marked as modified";
  return [fail(`${text}, and Codex had run no hook of ours for its prompt`, review)];
}

async function checkOwnServer(
  place: CheckPlace,
  { projectConfig, userConfig }: CodexPlaces,
  { plugin, isWired }: { plugin: CodexPlugin | undefined; isWired: boolean },
): Promise<Finding[]> {
  const { warn, fail } = findings("codex MCP server");
  for (const path of [projectConfig, userConfig]) {
    const { kind, command, isEnabled } = serverTable(readText(path) ?? "");
    if (kind === "none" || !command) continue;
    if (kind === "foreign") {
      const text = `${path}: the server "haversack" is not of Haversack`;
      return [fail(text, "rename it; `codex mcp get haversack` shows it")];
    }
    if (!isEnabled) return [warn(`${path}: switched off (enabled = false)`, "remove it there")];
    return [await checkServer(CLIENT, command, place, { events: serverEvents(CODEX_HOOKS, place) })];
  }
  if (plugin?.server) return [await checkServer(CLIENT, plugin.server, place)];
  if (!isWired) return [];
  const text = `no server "haversack" in ${projectConfig} or ${userConfig}`;
  return [fail(text, `\`${initCommand(place)}\` writes it`)];
}
