/** What `doctor` looks at in Gemini CLI: version, trust of the folder, settings, hooks, MCP server. */
import { existsSync } from "node:fs";
import { errorText } from "../../base/errors.ts";
import { readText } from "../../engine/init.ts";
import { type Tried, tryHook, tryMcpServer, tryProgram } from "../../engine/try-process.ts";
import type { CheckPlace, Finding } from "../../engine/wiring.ts";
import { unguarded } from "../claude-code/server-guard.ts";
import { objectOf } from "../claude-code/settings.ts";
import { findGeminiProgram, folderTrust, type GeminiPlaces, geminiPlaces, TESTED_VERSION } from "./detect.ts";
import { hasExtension } from "./extension.ts";
import { geminiSamplePayload } from "./sample-payloads.ts";
import {
  geminiHookGroups,
  geminiServerCommand,
  type OwnGeminiHook,
  ownGeminiHooks,
  readGeminiSettings,
  serverOf,
} from "./settings.ts";

const NAME = "gemini";

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
    ...(isExtended ? [extensionFinding(isWired, places)] : []),
    ...(isWired ? await checkHooks(wired, place, places) : []),
    ...(isWired || isExtended ? [] : [notWired()]),
    ...(await checkServer(files, { place, isExtended })),
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
      const remedy = "correct it; comments, which the client allows, are not read here";
      problems.push({ part: `${NAME} settings`, level: "warn", text: errorText(error), remedy });
    }
  }
  return { files, problems };
}

async function checkVersion({ env, cwd }: CheckPlace): Promise<Finding> {
  const part = `${NAME} version`;
  const program = findGeminiProgram(env);
  if (!program) return { part, level: "ok", text: `no gemini on the PATH to ask; tested with ${TESTED_VERSION}` };
  const { stdout } = await tryProgram(program, ["--version"], { cwd, env, limitMs: 20_000 });
  const version = /^\d+\.\d+\.\d+/m.exec(stdout)?.[0];
  if (!version) {
    return { part, level: "warn", text: `${program} --version says no version`, remedy: "run it by hand and see why" };
  }
  const text = `${version}; tested with ${TESTED_VERSION}`;
  const [major, minor] = version.split(".").map(Number);
  const [testedMajor, testedMinor] = TESTED_VERSION.split(".").map(Number);
  if (major === testedMajor && minor === testedMinor) return { part, level: "ok", text };
  const isOlder = Number(major) < Number(testedMajor) || (major === testedMajor && Number(minor) < Number(testedMinor));
  const remedy = isOlder
    ? "update Gemini CLI: an older one may lack events"
    : "look for a newer haversack: events and fields may differ";
  return { part, level: "warn", text, remedy };
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

function notWired(): Finding {
  const text = "not wired: the settings have no hook of Haversack";
  return {
    part: `${NAME} hooks`,
    level: "fail",
    text,
    remedy: "`haversack init --client gemini` writes them, or says why not",
  };
}

function extensionFinding(isWired: boolean, { extension }: GeminiPlaces): Finding {
  const part = `${NAME} extension`;
  if (!isWired) return { part, level: "ok", text: `installed in ${extension}` };
  const remedy = "`haversack uninstall`, or `gemini extensions uninstall haversack`";
  return {
    part,
    level: "warn",
    text: "wired twice, by the extension and in the settings: every event runs two processes",
    remedy,
  };
}

async function checkHooks(
  wired: readonly { path: string; hooks: OwnGeminiHook[] }[],
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
    if (isProject && folderTrust(places) !== "trusted") {
      const text = `${places.root} is not trusted, and without that the client ignores ${path}`;
      findings.push({
        part,
        level: "warn",
        text,
        remedy: "start `gemini` there and trust the folder; `/permissions` changes it",
      });
    }
  }
  const commands = new Map(wired.flatMap(({ hooks }) => hooks).map((hook) => [`${hook.event} ${hook.command}`, hook]));
  const present = [...commands.values()].filter(({ node, hook }) => existsSync(node) && existsSync(hook));
  return [...findings, ...(await checkEvents(present, place))];
}

function hookProblems(hooks: readonly OwnGeminiHook[], { hasGuards }: CheckPlace): string[] {
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

/** One event through each hook command, in a copy of the project's state. */
async function checkEvents(hooks: readonly OwnGeminiHook[], { env, scratch, isOff }: CheckPlace): Promise<Finding[]> {
  const part = `${NAME} events`;
  if (hooks.length === 0 || !scratch) return [];
  const sessionId = `haversack-doctor-gemini-${process.pid}`;
  const cwd = scratch.root;
  // HAVERSACK=0 of the person's shell would make every hook silent. HAVERSACK_DOCTOR: no rebuild in the background.
  const options = { cwd, env: { ...env, HAVERSACK: undefined, HAVERSACK_DOCTOR: "1", GEMINI_PROJECT_DIR: cwd } };
  const findings: Finding[] = [];
  let slowestMs = 0;
  for (const { event, command, timeoutMs = 60_000 } of hooks) {
    const payload = geminiSamplePayload(event, { sessionId, cwd, now: new Date() });
    const tried = await tryHook(command, payload, { ...options, limitMs: timeoutMs });
    slowestMs = Math.max(slowestMs, tried.tookMs);
    const problem = eventProblem(tried);
    const remedy = "`haversack log --level error` may say why; `haversack init` writes the hooks anew";
    if (problem) findings.push({ part, level: "fail", text: `${event}: ${problem}`, remedy });
  }
  for (const text of scratch.errors().slice(0, 3)) {
    const remedy = "see what the text names; sessions go on without Haversack meanwhile";
    findings.push({ part, level: "fail", text: `the hook reports: ${text}`, remedy });
  }
  if (findings.length === 0 && !isOff && !scratch.hasSession(sessionId)) {
    const remedy = "a runtime below Node 22.16 is silent: run `haversack init` with a newer one";
    findings.push({ part, level: "fail", text: "the hooks run and record nothing", remedy });
  }
  if (findings.length > 0) return findings;
  return [{ part, level: "ok", text: `${hooks.length} test events answered, the slowest in ${slowestMs} ms` }];
}

/** What the client would make of the answer: any text that is no JSON is shown to the person. */
function eventProblem({ exitCode, stdout, stderr, isTimedOut }: Tried): string | undefined {
  const [said = ""] = stderr.trim().split("\n");
  if (isTimedOut) return "no answer in its time";
  if (exitCode !== 0) return `exit code ${exitCode}${said ? `: ${said}` : ""}`;
  if (said !== "") return `prints an error: ${said}`;
  if (stdout.trim() === "") return undefined;
  try {
    JSON.parse(stdout);
    return undefined;
  } catch {
    return "answers with something that is no JSON";
  }
}

async function checkServer(
  files: readonly SettingsFile[],
  { place, isExtended }: { place: CheckPlace; isExtended: boolean },
): Promise<Finding[]> {
  const part = `${NAME} MCP server`;
  const found = files.find(({ value }) => serverOf(value));
  const entry = found && serverOf(found.value);
  if (!found || !entry) {
    if (isExtended) return [];
    const remedy = "`haversack init --client gemini` writes it";
    return [{ part, level: "fail", text: 'no server "haversack" in the settings', remedy }];
  }
  const { command, args } = geminiServerCommand(entry);
  const own = unguarded({ command, args });
  const gone = [own.command, ...own.args].slice(0, 2).find((file) => file.startsWith("/") && !existsSync(file));
  if (gone) return [{ part, level: "fail", text: `${gone} is gone`, remedy: "`haversack init` repairs it" }];
  if (!place.scratch) return [{ part, level: "ok", text: "not started: there is no sound store to try it with" }];
  const env = { ...place.env, HAVERSACK: undefined, HAVERSACK_DOCTOR: "1", GEMINI_CLI: "1" };
  const answer = await tryMcpServer(command, args, { cwd: place.scratch.root, env, limitMs: 15_000 });
  if ("problem" in answer) {
    const remedy = `run \`${[own.command, ...own.args].join(" ")}\` by hand and see what it prints`;
    return [{ part, level: "fail", text: `does not start: ${answer.problem}`, remedy }];
  }
  const findings: Finding[] = [
    { part, level: "ok", text: `starts in ${answer.tookMs} ms with ${answer.tools.length} tools` },
  ];
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
