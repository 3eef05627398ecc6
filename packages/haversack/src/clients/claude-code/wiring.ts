/** Claude Code as `init`, `doctor` and `uninstall` see it. */
import { basename, join } from "node:path";
import { errorText } from "../../base/errors.ts";
import { readJson } from "../../base/json.ts";
import { findProjectRoot } from "../../base/project-root.ts";
import { readText } from "../../engine/init.ts";
import type { CheckPlace, Client, Finding, WiredFile, WiringPlace } from "../../engine/wiring.ts";
import { profileOf } from "../../skills/showing/activation.ts";
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
  type SettingsValue,
  serverEvents,
  type WiredIn,
  wiredFiles,
} from "../check-client.ts";
import { canAskServer, checkVersion, whyNoServerHooks } from "../client-program.ts";
import { FACTS } from "../facts.ts";
import { excludeLines, gitView, untracked } from "../git-view.ts";
import { readSettings } from "../hook-settings.ts";
import { objectOf } from "../json-settings.ts";
import { ownWiring } from "../own-wiring.ts";
import { commandOf, mergeServerEntry, unmergeServerEntry } from "../server-entry.ts";
import { fitListing, LISTINGS, type ListedSkill } from "../skill-listings.ts";
import { leftoversOfStamped, notesOnStamped, stateOfStamped, wireStamped } from "../stamped-file.ts";
import { hiddenSkills } from "./adapter.ts";
import { type ClaudePlaces, claudePlaces, claudeWork, findClaude, isPluginEnabled, readPlugin } from "./places.ts";
import {
  CLAUDE_HOOKS,
  claudeServer,
  claudeServerEntry,
  dropOverrides,
  mergeSettings,
  modeOfOverride,
  setOverrides,
  unmergeSettings,
} from "./settings.ts";

export const claudeCode: Client = {
  name: "claude-code",
  title: FACTS["claude-code"].title,
  find: ({ cwd, env }) => findClaude(cwd, env),
  files(place) {
    const { localSettings, userSettings, state, root } = claudePlaces(place.cwd, place.env);
    const isUser = place.scope === "user";
    return [
      untracked(settingsFile(isUser ? userSettings : localSettings, place), place, root),
      serverFile(state, isUser ? undefined : root, place),
      ...claudeWork(workFolder(place)).map(wireStamped),
      ...(isUser ? [] : excludeLines(root, EXCLUDED)),
    ];
  },
  notes(place) {
    const { scope, cwd, env } = place;
    const { localSettings, root } = claudePlaces(cwd, env);
    const notes: string[] = [];
    const why = whyNoServerHooks("claude-code", place);
    if (why) notes.push(`${why}: each event starts a process`);
    if (hasPlugin(place)) notes.push(PLUGIN_NOTE);
    if (scope === "project" && gitView(root, localSettings) === "no-git") {
      notes.push(
        `git could not be asked whether it ignores ${localSettings}: do not commit it, it contains paths of this machine`,
      );
    }
    return [...notes, ...notesOnStamped(claudeWork(workFolder(place)))];
  },
  leftovers: (place) => leftoversOfStamped(claudeWork(workFolder(place))),
  check: checkClaude,
  isPackaged: hasPlugin,
  deferral({ cwd, env }) {
    const { localSettings: path } = claudePlaces(cwd, env);
    return {
      path,
      blank: "{}\n",
      keyOf: deferKey,
      modeOf: modeOfOverride,
      set: (text, keys, mode, own) => setOverrides(text, keys, { file: path, mode, own }),
      drop: (text, own, keep) => dropOverrides(text, own, { file: path, keep }),
    };
  },
};

function hasPlugin({ cwd, env }: Pick<WiringPlace, "cwd" | "env">): boolean {
  const { localSettings, projectSettings, userSettings } = claudePlaces(cwd, env);
  const files = [localSettings, projectSettings, userSettings];
  return isPluginEnabled(files.map((path) => readJson(readText(path) ?? "{}").value));
}

const PLUGIN_NOTE =
  "the haversack plugin is enabled too: it is inactive where init has connected the client, and /haversack:work is there beside /work";

/** The folder for commands and agents of this scope. */
function workFolder({ scope, cwd, env }: WiringPlace): string {
  const { root, configDir } = claudePlaces(cwd, env);
  return scope === "user" ? configDir : join(root, ".claude");
}

function deferKey(card: SkillCard): { key: string } | { why: string } {
  if (card.sourceKind === "plugin") return { why: "Claude Code lets no setting hide a plugin's skill" };
  if (!card.folder || !profileOf("claude-code").ownTool?.sees(card))
    return { why: "Claude Code does not list it anyway" };
  if (!card.modelInvocable) return { why: "its author keeps it out of the listing already" };
  return { key: basename(card.folder) };
}

function settingsFile(path: string, place: WiringPlace): WiredFile {
  const { installed, hasGuards, seesOutputs = false, hooks, env } = place;
  const asksServer = hooks !== "command" && canAskServer("claude-code", env);
  return {
    path,
    about: "hooks, and the permission to call our tools",
    blank: "{}\n",
    wire: (text) => mergeSettings(text, { ...installed, file: path, hasGuards, seesOutputs, asksServer }),
    unwire: (text, keep) => unmergeSettings(text, { file: path, keep }),
  };
}

function serverFile(path: string, root: string | undefined, { installed: { node, bin } }: WiringPlace): WiredFile {
  return {
    path,
    about: "the MCP server",
    blank: "{}\n",
    lock: `${path}.lock`,
    isPrivate: true,
    wire: (text) => {
      const entry = { defaults: { type: "stdio" }, shownBy: "claude mcp get haversack", node, bin };
      return mergeServerEntry(text, claudeServer(path, root), entry);
    },
    unwire: (text, keep) => unmergeServerEntry(text, claudeServer(path, root), keep),
  };
}

/**
 * The settings contain paths of this machine. The `/work` files do not, and can be added to the repository with `git add --force`, but
 * `init` leaves no file that the next commit would include.
 */
const EXCLUDED: Readonly<Record<string, string>> = {
  "/.claude/settings.local.json": ".claude/settings.local.json",
  "/.claude/commands/work.md": ".claude/commands/work.md",
  "/.claude/agents/haversack-*.md": ".claude/agents/haversack-implementer.md",
};

const NAME = "claude-code";

const CLIENT = { name: NAME, hooks: CLAUDE_HOOKS, variables: (cwd: string) => ({ CLAUDE_PROJECT_DIR: cwd }) } as const;

async function checkClaude(place: CheckPlace): Promise<Finding[]> {
  const places = claudePlaces(place.cwd, place.env);
  const { localSettings, projectSettings, userSettings } = places;
  const { files, problems } = readSettingsFiles(CLAUDE_HOOKS, [localSettings, projectSettings, userSettings]);
  const wired = wiredFiles(CLAUDE_HOOKS, files);
  const isWired = wired.length > 0;
  const hasPlugin = isPluginEnabled(files.map(({ value }) => value));
  const what = "the settings have no hook of Haversack";
  const absent = { what, remedy: `\`${initCommand(place)}\` connects it`, wasWired: place.wasWired };
  return [
    await checkVersion(NAME, place),
    ...problems,
    ...stoppedHooks(files),
    ...(hasPlugin ? await checkPlugin(place, places) : []),
    ...wired.flatMap((one) =>
      checkHooks(CLAUDE_HOOKS, one, { place, remedy: `\`${initFor(one, places)}\` repairs it` }),
    ),
    ...(isWired ? await checkEvents(CLIENT, presentHooks(wired), place) : []),
    ...(isWired || hasPlugin ? [] : [notWired(`${NAME} hooks`, absent)]),
    ...checkWorkFiles(wired, places),
    ...(await checkOwnServer(place, places, { hasPlugin, isWired })),
    checkListing(place, places, files),
  ];
}

function initFor({ path }: WiredIn, { userSettings }: ClaudePlaces): string {
  return `haversack init${path === userSettings ? " --user" : ""}`;
}

function stoppedHooks(files: readonly SettingsValue[]): Finding[] {
  const stopped = files.find(({ value }) => value["disableAllHooks"] === true);
  if (!stopped) return [];
  return [findings(`${NAME} hooks`).fail(`disableAllHooks is set in ${stopped.path}: no hook runs`, "remove it there")];
}

async function checkPlugin(place: CheckPlace, { configDir }: ClaudePlaces): Promise<Finding[]> {
  const { ok, fail } = findings(`${NAME} plugin`);
  const { cwd, env } = place;
  const plugin = readPlugin(configDir);
  if (!plugin) {
    return [fail("enabled, but its files are not there", "`claude plugin install haversack` brings it back")];
  }
  const wiredIn = ownWiring(NAME, { root: findProjectRoot(cwd).root, cwd, env });
  if (wiredIn !== undefined) {
    return [ok(`enabled, in ${plugin.root}; it is inactive, because ${wiredIn} has hooks of \`haversack init\``)];
  }
  const more = { CLAUDE_PLUGIN_ROOT: plugin.root };
  return [
    ok(`enabled, in ${plugin.root}`),
    ...(await checkEvents(CLIENT, plugin.hooks, place, more)),
    ...(plugin.server ? [await checkServer(CLIENT, plugin.server, place, { more })] : []),
  ];
}

/** Checks `/work` and its agents, if `init` wrote them. Files that the user changed are left alone. */
function checkWorkFiles(wired: readonly WiredIn[], places: ClaudePlaces): Finding[] {
  const { ok, warn } = findings(`${NAME} /work`);
  return wired.map((one): Finding => {
    const isUser = one.path === places.userSettings;
    const folder = isUser ? places.configDir : join(places.root, ".claude");
    const states = claudeWork(folder).map((file) => ({ path: file.path, state: stateOfStamped(file) }));
    const problems = states.flatMap(({ path: file, state }) =>
      state === "absent" ? [`${file} is missing`] : state === "older" ? [`${file} is of another version`] : [],
    );
    if (problems.length > 0) return warn(problems.join("; "), `\`${initFor(one, places)}\` writes it`);
    const own = states.filter(({ state }) => state !== "current").map(({ path: file }) => file);
    const also = own.length > 0 ? `; yours: ${own.join(", ")}` : "";
    return ok(`the command and its agents are in ${folder}${also}`);
  });
}

async function checkOwnServer(
  place: CheckPlace,
  { state, root }: ClaudePlaces,
  { hasPlugin, isWired }: { hasPlugin: boolean; isWired: boolean },
): Promise<Finding[]> {
  const { fail } = findings(`${NAME} MCP server`);
  let value: unknown;
  try {
    const text = readText(state);
    value = text?.trim() ? readSettings(CLAUDE_HOOKS, text, state) : {};
  } catch (error) {
    return [fail(errorText(error), "start the client: it repairs this file from its own backups")];
  }
  const entry = claudeServerEntry(value, root);
  const events = serverEvents(CLAUDE_HOOKS, place);
  if (entry) return [await checkServer(CLIENT, commandOf(entry), place, { events })];
  if (hasPlugin || !(isWired || place.wasWired)) return [];
  return [fail(`no server "haversack" in ${state}`, `\`${initCommand(place)}\` writes it`)];
}

/** Finds skills whose descriptions do not fit into the client's listing, so the model never sees them. */
function checkListing(
  { cards }: CheckPlace,
  { root, configDir }: ClaudePlaces,
  files: readonly SettingsValue[],
): Finding {
  const { ok, warn } = findings(`${NAME} listing`);
  const hidden = hiddenSkills(root, configDir);
  const overrides = Object.assign({}, ...files.toReversed().map(({ value }) => objectOf(value["skillOverrides"])));
  const listed: ListedSkill[] = [];
  let deferred = 0;
  for (const card of cards) {
    if (!card.modelInvocable || card.sourceKind === "rule" || !profileOf(NAME).ownTool?.sees(card)) continue;
    const isPlugin = card.sourceKind === "plugin";
    const name = isPlugin ? card.id : basename(card.folder ?? card.path);
    // No setting can hide a plugin's skill.
    const isHidden = !isPlugin && hidden.has(name);
    const isNameOnly = !isPlugin && overrides[name] === "name-only";
    if (isHidden || isNameOnly) deferred++;
    if (!isHidden) listed.push({ name, description: card.description, isNameOnly });
  }
  const also = deferred > 0 ? `; ${deferred} deferred` : "";
  const fits = LISTINGS.map((window) => fitListing(listed, window));
  const [usual] = fits;
  if (!usual || usual.dropped.length === 0) {
    return ok(`room for the descriptions of all skills (${usual?.total ?? 0})${also}`);
  }
  const kept = fits.map(
    ({ kept: count, total, windowTokens, neededChars, budgetChars }) =>
      `${count} of ${total} in a window of ${windowTokens / 1000}k tokens (${neededChars} characters, room for ${budgetChars})`,
  );
  const first = usual.dropped.slice(0, 5).join(", ");
  return warn(
    `the client silently drops descriptions; it keeps about ${kept.join(" and ")}; first dropped: ${first}${also}`,
    "`haversack skill defer --all` hides them from its listing, and Haversack recommends those that fit",
  );
}
