/** What `doctor` looks at in Claude Code: version, settings, hooks, MCP server, listing. */
import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { errorText } from "../../base/errors.ts";
import { findProjectRoot } from "../../base/project-root.ts";
import { readText } from "../../engine/init.ts";
import { tryProgram } from "../../engine/try-process.ts";
import type { CheckPlace, Finding } from "../../engine/wiring.ts";
import { profileOf } from "../../skills/showing/activation.ts";
import { checkEvents, checkServer, type RunningClient } from "../check-running.ts";
import { judgeVersion } from "../client-version.ts";
import { findOnPath } from "../find-program.ts";
import { type HookEntry, waysOf } from "../hook-entries.ts";
import { objectOf } from "../json-settings.ts";
import { notWired } from "../not-wired.ts";
import { ownWiring } from "../own-wiring.ts";
import { type ClaudePlaces, canAskServer, claudePlaces, isTooOldToAsk, TESTED_VERSION } from "./detect.ts";
import { hiddenSkills } from "./hidden-skills.ts";
import { isPluginEnabled, readPlugin } from "./plugin-wiring.ts";
import { samplePayload } from "./sample-payloads.ts";
import { hookGroups, ownHooks, readSettings, SERVER_EVENT_NAMES } from "./settings.ts";
import { commandOf, serverEntry } from "./settings-mcp.ts";
import { fitListing, LISTINGS, type ListedSkill } from "./skill-listing.ts";
import { workFileStates } from "./wire-work-files.ts";

const NAME = "claude-code";

const CLIENT: RunningClient = {
  name: NAME,
  sample: samplePayload,
  unitMs: 1000,
  variables: (cwd) => ({ CLAUDE_PROJECT_DIR: cwd }),
};

export async function checkClaude(place: CheckPlace): Promise<Finding[]> {
  const places = claudePlaces(place.cwd, place.env);
  const settings = readAll(places);
  const wired = settings.files
    .map(({ path, value }) => ({ path, hooks: ownHooks(value) }))
    .filter(({ hooks }) => hooks.length > 0);
  const hasPlugin = isPluginEnabled(settings.files.map(({ value }) => value));
  return [
    await checkVersion(place),
    ...settings.problems,
    ...stoppedHooks(settings),
    ...(hasPlugin ? await checkPlugin(place, places, standsBack(place)) : []),
    ...(wired.length > 0 ? await checkWired(wired, { place, places }) : []),
    ...(wired.length === 0 && !hasPlugin ? [withoutHooks(place)] : []),
    ...checkWorkFiles(wired, places),
    ...(await checkOwnServer(place, places, { hasPlugin, isWired: wired.length > 0 })),
    checkListing(place, places, settings),
  ];
}

interface Settings {
  files: { path: string; value: Record<string, unknown> }[];
  problems: Finding[];
}

/** Nearest first. */
function readAll({ localSettings, projectSettings, userSettings }: ClaudePlaces): Settings {
  const settings: Settings = { files: [], problems: [] };
  for (const path of [localSettings, projectSettings, userSettings]) {
    try {
      const text = readText(path);
      if (text?.trim()) settings.files.push({ path, value: readSettings(text, path) });
    } catch (error) {
      const remedy = "correct it: the client ignores the whole file as it is";
      settings.problems.push({ part: `${NAME} settings`, level: "fail", text: errorText(error), remedy });
    }
  }
  return settings;
}

async function checkVersion({ env, cwd }: CheckPlace): Promise<Finding> {
  const part = `${NAME} version`;
  const program = findOnPath("claude", env);
  if (!program) return { part, level: "ok", text: `no claude on the PATH to ask; tested with ${TESTED_VERSION}` };
  const quiet = { DISABLE_AUTOUPDATER: "1", DISABLE_TELEMETRY: "1", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" };
  const { stdout } = await tryProgram(program, ["--version"], { cwd, env: { ...env, ...quiet }, limitMs: 15_000 });
  const version = /^\d+\.\d+\.\d+/.exec(stdout)?.[0];
  if (!version) {
    return { part, level: "warn", text: `${program} --version says no version`, remedy: "run it by hand and see why" };
  }
  return judgeVersion(part, version, { title: "Claude Code", tested: TESTED_VERSION, upTo: "patch" });
}

function stoppedHooks({ files }: Settings): Finding[] {
  const stopped = files.find(({ value }) => value["disableAllHooks"] === true);
  if (!stopped) return [];
  const text = `disableAllHooks is set in ${stopped.path}: no hook runs`;
  return [{ part: `${NAME} hooks`, level: "fail", text, remedy: "take it out there" }];
}

function withoutHooks({ wasWired }: CheckPlace): Finding {
  const what = "the settings have no hook of Haversack";
  return notWired(`${NAME} hooks`, { what, remedy: "`haversack init` wires it", wasWired });
}

/** The file for which the plugin stands back. */
function standsBack({ cwd, env }: CheckPlace): string | undefined {
  return ownWiring(NAME, { root: findProjectRoot(cwd).root, cwd, env });
}

async function checkPlugin(
  place: CheckPlace,
  { configDir }: ClaudePlaces,
  wiredIn: string | undefined,
): Promise<Finding[]> {
  const part = `${NAME} plugin`;
  const plugin = readPlugin(configDir);
  if (!plugin) {
    const remedy = "`claude plugin install haversack` brings it back";
    return [{ part, level: "fail", text: "enabled, but its files are not there", remedy }];
  }
  if (wiredIn !== undefined) {
    const text = `enabled, in ${plugin.root}; it stands back, because ${wiredIn} has hooks of \`haversack init\``;
    return [{ part, level: "ok", text }];
  }
  const more = { CLAUDE_PLUGIN_ROOT: plugin.root };
  return [
    { part, level: "ok", text: `enabled, in ${plugin.root}` },
    ...(await checkEvents(CLIENT, plugin.hooks, place, more)),
    ...(plugin.server ? [await checkServer(CLIENT, plugin.server, place, { more })] : []),
  ];
}

interface WiredIn {
  path: string;
  hooks: HookEntry[];
}

async function checkWired(
  wired: readonly WiredIn[],
  { place, places }: { place: CheckPlace; places: ClaudePlaces },
): Promise<Finding[]> {
  const part = `${NAME} hooks`;
  const findings: Finding[] = [];
  for (const { path, hooks } of wired) {
    const problems = hookProblems(hooks, place);
    const remedy = `\`haversack init${path === places.userSettings ? " --user" : ""}\` repairs it`;
    for (const { level, text } of problems) findings.push({ part, level, text: `${path}: ${text}`, remedy });
    if (problems.length === 0)
      findings.push({
        part,
        level: "ok",
        text: `all ${hooks.length} in ${path}; ${waysOf(hooks, canAskServer(place.env))}`,
      });
  }
  // The same command in several settings runs once, so one of each is tried.
  const commands = new Map(wired.flatMap(({ hooks }) => hooks).map((hook) => [`${hook.event} ${hook.command}`, hook]));
  const present = [...commands.values()].filter(({ node, hook }) => existsSync(node) && existsSync(hook));
  return [...findings, ...(await checkEvents(CLIENT, present, place))];
}

interface HookProblem {
  level: "warn" | "fail";
  text: string;
}

function hookProblems(hooks: readonly HookEntry[], { hasGuards, installed, env }: CheckPlace): HookProblem[] {
  const problems: HookProblem[] = [];
  const expected = hookGroups("", hasGuards);
  const missing = Object.keys(expected).filter((event) => !hooks.some((hook) => hook.event === event));
  if (missing.length > 0) problems.push({ level: "fail", text: `no hook for ${missing.join(", ")}` });
  for (const { event, matcher } of hooks) {
    if (!expected[event] || expected[event].matcher === matcher) continue;
    const why = event === "PreToolUse" && hasGuards ? "; rules guard files, and it does not see edits" : "";
    problems.push({ level: "warn", text: `${event} has another matcher than this version writes${why}` });
  }
  const commands = hooks.filter(({ way }) => way === "command");
  if (commands.length < hooks.length && isTooOldToAsk(env)) {
    const text =
      "asks the MCP server at events, which an installed claude is too old for: it may ignore all hooks of this file";
    problems.push({ level: "fail", text });
  }
  for (const file of new Set(commands.flatMap(({ node, hook }) => [node, hook]))) {
    if (!existsSync(file)) problems.push({ level: "fail", text: `${file} is gone, so the hooks are silent` });
  }
  for (const hook of new Set(commands.map(({ hook }) => hook))) {
    if (hook === installed.hook || !existsSync(hook)) continue;
    problems.push({ level: "warn", text: `runs ${hook}, and you run ${installed.hook}` });
  }
  return problems;
}

/** `/work` and its agents, where `init` wrote them. What a person has changed is theirs. */
function checkWorkFiles(wired: readonly WiredIn[], { root, configDir, userSettings }: ClaudePlaces): Finding[] {
  return wired.map(({ path }): Finding => {
    const part = `${NAME} /work`;
    const isUser = path === userSettings;
    const folder = isUser ? configDir : join(root, ".claude");
    const states = workFileStates(folder);
    const problems = states.flatMap(({ path: file, state }) =>
      state === "absent" ? [`${file} is missing`] : state === "older" ? [`${file} is of another version`] : [],
    );
    if (problems.length > 0) {
      const remedy = `\`haversack init${isUser ? " --user" : ""}\` writes it`;
      return { part, level: "warn", text: problems.join("; "), remedy };
    }
    const own = states.filter(({ state }) => state !== "current").map(({ path: file }) => file);
    const also = own.length > 0 ? `; yours: ${own.join(", ")}` : "";
    return { part, level: "ok", text: `the command and its agents are in ${folder}${also}` };
  });
}

async function checkOwnServer(
  place: CheckPlace,
  { state, root }: ClaudePlaces,
  { hasPlugin, isWired }: { hasPlugin: boolean; isWired: boolean },
): Promise<Finding[]> {
  const part = `${NAME} MCP server`;
  let value: unknown;
  try {
    const text = readText(state);
    value = text?.trim() ? readSettings(text, state) : {};
  } catch (error) {
    const remedy = "start the client: it repairs this file from its own backups";
    return [{ part, level: "fail", text: errorText(error), remedy }];
  }
  const entry = serverEntry(value, root) ?? serverEntry(value, undefined);
  if (entry) return [await checkServer(CLIENT, commandOf(entry), place, { events: serverEvents(place) })];
  if (hasPlugin || !(isWired || place.wasWired)) return [];
  return [{ part, level: "fail", text: `no server "haversack" in ${state}`, remedy: "`haversack init` writes it" }];
}

/** Tried whichever way the hooks go, so that both are measured. */
function serverEvents({ scratch }: CheckPlace): Record<string, unknown>[] {
  const at = { sessionId: `haversack-doctor-${process.pid}-server`, cwd: scratch?.root ?? "" };
  return SERVER_EVENT_NAMES.map((event) => samplePayload(event, at));
}

/** Whose descriptions the model never sees, though their authors wrote them for it. */
function checkListing({ cards }: CheckPlace, { root, configDir }: ClaudePlaces, { files }: Settings): Finding {
  const part = `${NAME} listing`;
  const hidden = hiddenSkills(root, configDir);
  const overrides = Object.assign({}, ...files.toReversed().map(({ value }) => objectOf(value["skillOverrides"])));
  const listed: ListedSkill[] = [];
  let deferred = 0;
  for (const card of cards) {
    if (!card.modelInvocable || card.sourceKind === "rule" || !profileOf(NAME).ownTool?.sees(card)) continue;
    const isPlugin = card.sourceKind === "plugin";
    const name = isPlugin ? card.id : basename(card.folder ?? card.path);
    // No setting hides a plugin's skill.
    const isHidden = !isPlugin && hidden.has(name);
    const isNameOnly = !isPlugin && overrides[name] === "name-only";
    if (isHidden || isNameOnly) deferred++;
    if (!isHidden) listed.push({ name, description: card.description, isNameOnly });
  }
  const also = deferred > 0 ? `; ${deferred} deferred` : "";
  const fits = LISTINGS.map((window) => fitListing(listed, window));
  const [usual] = fits;
  if (!usual || usual.dropped.length === 0) {
    return { part, level: "ok", text: `room for all ${usual?.total ?? 0} descriptions${also}` };
  }
  const kept = fits.map(
    ({ kept: count, total, windowTokens, neededChars, budgetChars }) =>
      `${count} of ${total} in a window of ${windowTokens / 1000}k tokens (${neededChars} characters, room for ${budgetChars})`,
  );
  const first = usual.dropped.slice(0, 5).join(", ");
  return {
    part,
    level: "warn",
    text: `the client drops descriptions in silence; it keeps about ${kept.join(" and ")}; first dropped: ${first}${also}`,
    remedy: "`haversack skills defer --all` takes them out of its listing, and Haversack brings the right ones",
  };
}
