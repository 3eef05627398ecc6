/** What `doctor` looks at in Codex: version, hooks, the plugin, the person's review of hooks, notify, MCP server. */
import { existsSync } from "node:fs";
import { errorText } from "../../base/errors.ts";
import { readText } from "../../engine/init.ts";
import type { Environment } from "../../engine/project.ts";
import { tryProgram } from "../../engine/try-process.ts";
import type { CheckPlace, Finding } from "../../engine/wiring.ts";
import { checkEvents, checkServer, type RunningClient } from "../check-running.ts";
import { judgeVersion, readVersion } from "../client-version.ts";
import { findOnPath } from "../find-program.ts";
import { type HookEntry, waysOf } from "../hook-entries.ts";
import { notWired } from "../not-wired.ts";
import { ownWiring } from "../own-wiring.ts";
import { checkNotify } from "./check-notify.ts";
import { serverTable } from "./config-server.ts";
import { type CodexPlaces, canAskServer, codexPlaces, isTooOldToAsk, TESTED_VERSION } from "./detect.ts";
import { hookGroups, ownHooks, readHooks, SERVER_EVENT_NAMES } from "./hooks-file.ts";
import { type CodexPlugin, readCodexPlugin, trustFile } from "./plugin-wiring.ts";
import { samplePayload } from "./sample-payloads.ts";
import { readTrust } from "./trust.ts";

const CLIENT: RunningClient = { name: "codex", sample: samplePayload, unitMs: 1000, variables: () => ({}) };

export async function checkCodex(place: CheckPlace): Promise<Finding[]> {
  const places = codexPlaces(place.cwd, place.env);
  const findings: Finding[] = [await checkVersion(place)];
  const wired: WiredIn[] = [];
  for (const path of [places.projectHooks, places.userHooks]) {
    try {
      const text = readText(path);
      const hooks = text?.trim() ? ownHooks(readHooks(text, path)) : [];
      if (hooks.length > 0) wired.push({ path, hooks });
    } catch (error) {
      const remedy = "correct it: the client ignores the whole file as it is";
      findings.push({ part: "codex hooks", level: "fail", text: errorText(error), remedy });
    }
  }
  const plugin = readCodexPlugin(places);
  const standsBackFor = plugin && ownWiring("codex", { root: places.root, cwd: place.cwd, env: place.env });
  if (wired.length === 0 && !plugin) {
    const what = "there is no hook of Haversack";
    findings.push(notWired("codex hooks", { what, remedy: "`haversack init` wires it", wasWired: place.wasWired }));
  }
  if (wired.length > 1) {
    const text = `wired twice, in ${wired.map(({ path }) => path).join(" and ")}: every event runs two processes`;
    const remedy = "`haversack uninstall` takes out those of the project, with `--user` those of the user";
    findings.push({ part: "codex hooks", level: "warn", text, remedy });
  }
  for (const one of wired) findings.push(...checkHooks(one, place, places), checkTrust(one, places));
  if (plugin) {
    findings.push(checkPlugin(plugin, standsBackFor));
    if (plugin.root && !standsBackFor)
      findings.push(checkTrust({ path: trustFile(plugin), hooks: plugin.hooks }, places));
  }
  findings.push(
    ...checkNotify(
      place,
      places,
      wired.map(({ path }) => path),
    ),
  );
  const present = wired.flatMap(({ hooks }) => hooks).filter(({ node, hook }) => existsSync(node) && existsSync(hook));
  const ofPlugin = standsBackFor ? [] : (plugin?.hooks ?? []);
  const events = await checkEvents(CLIENT, [...present, ...ofPlugin], place);
  const isWired = wired.length > 0 || place.wasWired;
  return [...findings, ...events, ...(await checkOwnServer(place, places, { plugin, isWired }))];
}

interface WiredIn {
  path: string;
  hooks: HookEntry[];
}

async function checkVersion({ env, cwd }: CheckPlace): Promise<Finding> {
  const part = "codex version";
  const program = findOnPath("codex", env);
  if (!program) return { part, level: "ok", text: `no codex on the PATH to ask; tested with ${TESTED_VERSION}` };
  const { stdout } = await tryProgram(program, ["--version"], { cwd, env, limitMs: 15_000 });
  const version = readVersion(stdout);
  if (!version) {
    return { part, level: "warn", text: `${program} --version says no version`, remedy: "run it by hand and see why" };
  }
  return judgeVersion(part, version, { title: "Codex", tested: TESTED_VERSION, upTo: "minor" });
}

function checkHooks(
  { path, hooks }: WiredIn,
  { hasGuards, installed, env }: CheckPlace,
  places: CodexPlaces,
): Finding[] {
  const part = "codex hooks";
  const isUser = path === places.userHooks;
  const remedy = `\`haversack init${isUser ? " --user" : ""}\` repairs it; review the hooks in /hooks then`;
  const findings: Finding[] = [];
  const expected = hookGroups("", hasGuards);
  const missing = Object.keys(expected).filter((event) => !hooks.some((hook) => hook.event === event));
  if (missing.length > 0) {
    findings.push({ part, level: "fail", text: `${path}: no hook for ${missing.join(", ")}`, remedy });
  }
  for (const { event, matcher } of hooks) {
    if (!expected[event] || expected[event].matcher === matcher) continue;
    const text = `${path}: ${event} has another matcher than this version writes`;
    findings.push({ part, level: "warn", text, remedy });
  }
  const commands = hooks.filter(({ way }) => way === "command");
  if (commands.length < hooks.length) {
    const why = whyUnanswered(env, places);
    if (why) findings.push({ part, level: "fail", text: `${path}: asks the MCP server at events, ${why}`, remedy });
  }
  for (const file of new Set(commands.flatMap(({ node, hook }) => [node, hook]))) {
    if (existsSync(file)) continue;
    findings.push({ part, level: "fail", text: `${path}: ${file} is gone, so the hooks are silent`, remedy });
  }
  for (const hook of new Set(commands.map(({ hook }) => hook))) {
    if (hook === installed.hook || !existsSync(hook)) continue;
    findings.push({ part, level: "warn", text: `${path}: runs ${hook}, and you run ${installed.hook}`, remedy });
  }
  if (findings.length > 0) return findings;
  return [{ part, level: "ok", text: `all ${hooks.length} in ${path}; ${waysOf(hooks, canAskServer(env))}` }];
}

/** Why the events that go to the running MCP server do not reach it. The client says nothing then. */
function whyUnanswered(env: Environment, { projectConfig, userConfig }: CodexPlaces): string | undefined {
  if (isTooOldToAsk(env)) return "which an installed codex is too old for: it may read no hook of this file";
  const tables = [projectConfig, userConfig].map((file) => serverTable(readText(file) ?? ""));
  const table = tables.find(({ kind }) => kind !== "none");
  if (!table) return "and there is none: these events are lost";
  if (table.kind === "foreign") return 'and the server "haversack" is not of Haversack: these events are lost';
  return table.isEnabled ? undefined : "which is switched off (enabled = false): these events are lost";
}

function checkPlugin({ id, root }: CodexPlugin, wiredIn: string | undefined): Finding {
  const part = "codex plugin";
  if (!root) {
    const text = `${id} is enabled, and not in the cache of Codex`;
    return { part, level: "fail", text, remedy: `\`codex plugin add ${id}\` installs it again` };
  }
  const text = `${id}, in ${root}`;
  if (!wiredIn) return { part, level: "ok", text };
  return {
    part,
    level: "ok",
    text: `${text}; it stands back, because ${wiredIn} has hooks of \`haversack init\` that you have trusted`,
  };
}

interface ReviewedHooks {
  path: string;
  hooks: readonly Pick<HookEntry, "event" | "path">[];
}

/** The client keeps silent about hooks that it does not run. */
function checkTrust({ path, hooks }: ReviewedHooks, { root, userConfig, projectHooks }: CodexPlaces): Finding {
  const part = "codex trust";
  const config = readText(userConfig) ?? "";
  const { isFolderTrusted, unreviewed, switchedOff, areHooksOff } = readTrust(config, { root, file: path, hooks });
  if (areHooksOff) {
    const text = `hooks are switched off in ${userConfig} (features.hooks): no hook runs`;
    return { part, level: "fail", text, remedy: "take it out there" };
  }
  if (path === projectHooks && !isFolderTrusted) {
    const text = `Codex does not trust ${root}, so it reads nothing in ${path}`;
    const remedy = "start `codex` here and trust the folder, or `haversack init --user`";
    return { part, level: "warn", text, remedy, isSilencing: true };
  }
  if (unreviewed.length > 0) {
    const text = `${path}: you have not reviewed the hooks for ${unreviewed.join(", ")}, so Codex does not run them`;
    return { part, level: "fail", text, remedy: "start `codex` here, open /hooks and trust those of Haversack" };
  }
  if (switchedOff.length > 0) {
    const text = `${path}: you have switched off the hooks for ${switchedOff.join(", ")}`;
    return { part, level: "warn", text, remedy: "start `codex` here and open /hooks to switch them on" };
  }
  return { part, level: "ok", text: `reviewed in ${userConfig}; after a change of the hooks Codex asks again` };
}

async function checkOwnServer(
  place: CheckPlace,
  { projectConfig, userConfig }: CodexPlaces,
  { plugin, isWired }: { plugin: CodexPlugin | undefined; isWired: boolean },
): Promise<Finding[]> {
  const part = "codex MCP server";
  for (const path of [projectConfig, userConfig]) {
    const { kind, command, isEnabled } = serverTable(readText(path) ?? "");
    if (kind === "none" || !command) continue;
    if (kind === "foreign") {
      const text = `${path}: the server "haversack" is not of Haversack`;
      return [{ part, level: "fail", text, remedy: "rename it; `codex mcp get haversack` shows it" }];
    }
    if (!isEnabled) {
      return [{ part, level: "warn", text: `${path}: switched off (enabled = false)`, remedy: "take it out there" }];
    }
    return [await checkServer(CLIENT, command, place, { events: serverEvents(place) })];
  }
  if (plugin?.server) return [await checkServer(CLIENT, plugin.server, place)];
  if (!isWired) return [];
  const text = `no server "haversack" in ${projectConfig} or ${userConfig}`;
  return [{ part, level: "fail", text, remedy: "`haversack init` writes it" }];
}

/** Tried whichever way the hooks go, so that both are measured. */
function serverEvents({ scratch }: CheckPlace): Record<string, unknown>[] {
  const at = { sessionId: `haversack-doctor-${process.pid}-server`, cwd: scratch?.root ?? "" };
  return SERVER_EVENT_NAMES.map((event) => samplePayload(event, at));
}
