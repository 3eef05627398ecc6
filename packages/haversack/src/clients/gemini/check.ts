/** What `doctor` looks at in Gemini CLI: version, trust of the folder, settings, hooks, MCP server. */
import { existsSync } from "node:fs";
import { errorText } from "../../base/errors.ts";
import { readText } from "../../engine/init.ts";
import { tryProgram } from "../../engine/try-process.ts";
import type { CheckPlace, Finding } from "../../engine/wiring.ts";
import { checkEvents, type RunningClient, checkServer as tryServer } from "../check-running.ts";
import { judgeVersion } from "../client-version.ts";
import { findOnPath } from "../find-program.ts";
import type { HookEntry } from "../hook-entries.ts";
import { objectOf } from "../json-settings.ts";
import { notWired } from "../not-wired.ts";
import { ownWiring } from "../own-wiring.ts";
import { blockedByCommit, isCommitted, WIRE_FOR_USER } from "./committed.ts";
import { type GeminiPlaces, geminiPlaces, TESTED_VERSION } from "./detect.ts";
import { hasExtension } from "./extension.ts";
import { folderTrust } from "./folder-trust.ts";
import { geminiSamplePayload } from "./sample-payloads.ts";
import { geminiHookGroups, geminiServerCommand, ownGeminiHooks, readGeminiSettings, serverOf } from "./settings.ts";

const NAME = "gemini";

const CLIENT: RunningClient = {
  name: NAME,
  sample: (event, place) => geminiSamplePayload(event, { ...place, now: new Date() }),
  unitMs: 1,
  variables: (cwd) => ({ GEMINI_PROJECT_DIR: cwd, GEMINI_CLI: "1" }),
};

export async function checkGemini(place: CheckPlace): Promise<Finding[]> {
  const places = geminiPlaces(place.cwd, place.env);
  const { files, problems } = readAll(places);
  const wired = files.map(({ path, value }) => ({ path, hooks: ownGeminiHooks(value) }));
  const isWired = wired.some(({ hooks }) => hooks.length > 0);
  const isExtended = hasExtension(places);
  return [
    await checkVersion(place),
    ...problems,
    ...stoppedHooks(files),
    ...(isExtended ? [extensionFinding(place, places)] : []),
    ...(isWired ? await checkHooks(wired, place, places) : []),
    ...(isWired || isExtended ? [] : [withoutHooks(place)]),
    ...(await checkOwnServer(files, { place, isExtended, isWired })),
  ];
}

interface SettingsFile {
  path: string;
  value: Record<string, unknown>;
}

/** Nearest first. */
function readAll({ projectSettings, userSettings }: GeminiPlaces): { files: SettingsFile[]; problems: Finding[] } {
  const files: SettingsFile[] = [];
  const problems: Finding[] = [];
  for (const path of [projectSettings, userSettings]) {
    try {
      const text = readText(path);
      if (text?.trim()) files.push({ path, value: readGeminiSettings(text, path) });
    } catch (error) {
      const remedy = "correct it: the client cannot read it either";
      problems.push({ part: `${NAME} settings`, level: "warn", text: errorText(error), remedy });
    }
  }
  return { files, problems };
}

async function checkVersion({ env, cwd }: CheckPlace): Promise<Finding> {
  const part = `${NAME} version`;
  const program = findOnPath("gemini", env);
  if (!program) return { part, level: "ok", text: `no gemini on the PATH to ask; tested with ${TESTED_VERSION}` };
  const { stdout } = await tryProgram(program, ["--version"], { cwd, env, limitMs: 20_000 });
  const version = /^\d+\.\d+\.\d+/m.exec(stdout)?.[0];
  if (!version) {
    return { part, level: "warn", text: `${program} --version says no version`, remedy: "run it by hand and see why" };
  }
  return judgeVersion(part, version, { title: "Gemini CLI", tested: TESTED_VERSION, upTo: "minor" });
}

function stoppedHooks(files: readonly SettingsFile[]): Finding[] {
  return files.flatMap(({ path, value }): Finding[] => {
    const { enabled, disabled } = objectOf(value["hooksConfig"]);
    const isOff = enabled === false || (Array.isArray(disabled) && disabled.includes("haversack"));
    if (!isOff) return [];
    const remedy = "`/hooks enable haversack` in a session, or take it out of hooksConfig";
    return [{ part: `${NAME} hooks`, level: "fail", text: `switched off in ${path}: no hook of ours runs`, remedy }];
  });
}

function withoutHooks(place: CheckPlace): Finding {
  const part = `${NAME} hooks`;
  const { wasWired } = place;
  const blocked = blockedByCommit({ ...place, scope: "project" });
  if (blocked) return notWired(part, { what: blocked.why, remedy: blocked.instead, wasWired });
  const what = "the settings have no hook of Haversack";
  return notWired(part, { what, remedy: "`haversack init --client gemini` wires it", wasWired });
}

function extensionFinding({ env }: CheckPlace, { extension, root }: GeminiPlaces): Finding {
  const wiredIn = ownWiring(NAME, { root, cwd: root, env });
  const also = wiredIn ? `; it stands back, because ${wiredIn} has hooks of \`haversack init\`` : "";
  return { part: `${NAME} extension`, level: "ok", text: `installed in ${extension}${also}` };
}

async function checkHooks(
  wired: readonly { path: string; hooks: HookEntry[] }[],
  place: CheckPlace,
  places: GeminiPlaces,
): Promise<Finding[]> {
  const part = `${NAME} hooks`;
  const findings: Finding[] = [];
  for (const { path, hooks } of wired.filter(({ hooks: own }) => own.length > 0)) {
    const isProject = path === places.projectSettings;
    const problems = hookProblems(hooks, place);
    const remedy = `\`haversack init --client gemini${isProject ? "" : " --user"}\` repairs it`;
    for (const text of problems) findings.push({ part, level: "fail", text: `${path}: ${text}`, remedy });
    if (problems.length === 0) findings.push({ part, level: "ok", text: `all ${hooks.length} in ${path}` });
    if (isProject && folderTrust(places, place.env) !== "trusted") {
      const text = `${places.root} is not trusted, and without that the client ignores ${path}`;
      findings.push({
        part,
        level: "warn",
        text,
        remedy: "start `gemini` there and trust the folder; `/permissions` changes it",
        isSilencing: true,
      });
    }
  }
  const commands = new Map(wired.flatMap(({ hooks }) => hooks).map((hook) => [`${hook.event} ${hook.command}`, hook]));
  const present = [...commands.values()].filter(({ node, hook }) => existsSync(node) && existsSync(hook));
  return [...findings, ...(await checkEvents(CLIENT, present, place))];
}

function hookProblems(hooks: readonly HookEntry[], { hasGuards }: CheckPlace): string[] {
  const expected = geminiHookGroups("", hasGuards);
  const missing = Object.keys(expected).filter((event) => !hooks.some((hook) => hook.event === event));
  const others = hooks.filter(({ event, matcher }) => expected[event] && expected[event].matcher !== matcher);
  const gone = [...new Set(hooks.flatMap(({ node, hook }) => [node, hook]))].filter((file) => !existsSync(file));
  return [
    ...(missing.length > 0 ? [`no hook for ${missing.join(", ")}`] : []),
    ...others.map(({ event }) => `${event} has another matcher than this version writes`),
    ...gone.map((file) => `${file} is gone, so the hooks are silent`),
  ];
}

async function checkOwnServer(
  files: readonly SettingsFile[],
  { place, isExtended, isWired }: { place: CheckPlace; isExtended: boolean; isWired: boolean },
): Promise<Finding[]> {
  const part = `${NAME} MCP server`;
  const found = files.find(({ value }) => serverOf(value));
  const entry = found && serverOf(found.value);
  if (!found || !entry) {
    if (isExtended || !(isWired || place.wasWired)) return [];
    const remedy = `\`${isCommitted({ ...place, scope: "project" }) ? WIRE_FOR_USER : "haversack init --client gemini"}\` writes it`;
    return [{ part, level: "fail", text: 'no server "haversack" in the settings', remedy }];
  }
  const { command, args } = geminiServerCommand(entry);
  const findings = [await tryServer(CLIENT, { command, args }, place)];
  if (entry["trust"] !== true) {
    const remedy = `set "trust": true for it in ${found.path}, if you want that`;
    findings.push({
      part,
      level: "warn",
      text: "every call stops at a question, and headless sessions do not have its tools",
      remedy,
    });
  }
  return findings;
}
