/** What `doctor` checks in Claude Code: version, settings, hooks, MCP server, listing. */
import { basename, join } from "node:path";
import { errorText } from "../../base/errors.ts";
import { findProjectRoot } from "../../base/project-root.ts";
import { readText } from "../../engine/init.ts";
import type { CheckPlace, Finding } from "../../engine/wiring.ts";
import { profileOf } from "../../skills/showing/activation.ts";
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
import { checkVersion } from "../client-program.ts";
import { readSettings } from "../hook-settings.ts";
import { objectOf } from "../json-settings.ts";
import { ownWiring } from "../own-wiring.ts";
import { commandOf } from "../server-entry.ts";
import { fitListing, LISTINGS, type ListedSkill } from "../skill-listings.ts";
import { stateOfStamped } from "../stamped-file.ts";
import { hiddenSkills } from "./adapter.ts";
import { type ClaudePlaces, claudePlaces, claudeWork, isPluginEnabled, readPlugin } from "./places.ts";
import { CLAUDE_HOOKS, claudeServerEntry } from "./settings.ts";

const NAME = "claude-code";

const CLIENT = { name: NAME, hooks: CLAUDE_HOOKS, variables: (cwd: string) => ({ CLAUDE_PROJECT_DIR: cwd }) } as const;

export async function checkClaude(place: CheckPlace): Promise<Finding[]> {
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
