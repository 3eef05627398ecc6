/** The installed clients: where their programs are, their versions, and what those support. */
import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync, realpathSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { makeScratch, removeScratch } from "../base/safe-write.ts";
import { tryProgram } from "../engine/try-process.ts";
import type { CheckPlace, Finding, WiringPlace } from "../engine/wiring.ts";
import { type ClientName, FACTS } from "./facts.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** The program's file; undefined if it is not on the PATH. */
export function findOnPath(program: string, env: Environment): string | undefined {
  return allOnPath(program, env)[0];
}

/** One file for each PATH folder that has it, in PATH order. */
function allOnPath(program: string, env: Environment): string[] {
  const names = process.platform === "win32" ? [`${program}.exe`, `${program}.cmd`] : [program];
  return (env["PATH"] ?? "").split(delimiter).flatMap((folder) => {
    return names.map((name) => resolve(folder, name)).find((file) => folder !== "" && isProgram(file)) ?? [];
  });
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    // Missing, or not executable by this user.
    return false;
  }
}

/** Why the client seems to be used here, one line each. `folders`: the client's folders in the project and for the user. */
export function findClient(client: ClientName, folders: readonly string[], env: Environment): string[] {
  const program = findOnPath(FACTS[client].program, env);
  const found = folders.filter((folder) => statSync(folder, { throwIfNoEntry: false })?.isDirectory());
  return [...(program ? [`the program ${program}`] : []), ...found.map((folder) => `the folder ${folder}`)];
}

/** In a home of its own if the client would leave files in the user's. */
async function askVersion(
  client: ClientName,
  program: string,
  { env, cwd }: Pick<CheckPlace, "env" | "cwd">,
): Promise<string | undefined> {
  const { quiet, homeVariable } = FACTS[client];
  const home = homeVariable && makeScratch(join(tmpdir(), "haversack-version-"));
  try {
    const own = { ...env, ...quiet, ...(home && { [homeVariable]: home }) };
    return readVersion((await tryProgram(program, ["--version"], { cwd, env: own, limitMs: 20_000 })).stdout);
  } finally {
    if (home) removeScratch(home);
  }
}

/** The finding of `doctor` about the installed version. */
export async function checkVersion(client: ClientName, { env, cwd }: CheckPlace): Promise<Finding> {
  const { title, program: name, tested, upTo } = FACTS[client];
  const part = `${client} version`;
  const program = findOnPath(name, env);
  if (!program) return { part, level: "ok", text: `no ${name} on the PATH to ask; tested with ${tested}` };
  const version = await askVersion(client, program, { env, cwd });
  if (!version) {
    return { part, level: "warn", text: `${program} --version says no version`, remedy: "run it by hand and see why" };
  }
  const text = `${version}; tested with ${tested}`;
  const [same, sameMinor] = [compare(version, tested), compare(minorOf(version), minorOf(tested))];
  if (sameMinor < 0 || (upTo === "patch" && same < 0)) {
    return { part, level: "warn", text, remedy: `update ${title}: an older one may lack events` };
  }
  if (sameMinor === 0) return { part, level: "ok", text };
  return { part, level: "warn", text, remedy: "look for a newer haversack: events and fields may differ" };
}

/** Whether the hooks of every installed version can ask our running MCP server. False if a version is unknown. */
export function canAskServer(client: ClientName, env: Environment): boolean {
  const versions = installedVersions(client, env);
  return versions.length > 0 && versions.every((version) => version && !isTooOld(client, version));
}

/** Why they cannot, as a note for the user. No note for a client that is not installed, unless the user asked for it. */
export function whyNoServerHooks(
  client: ClientName,
  { env, hooks }: Pick<WiringPlace, "env" | "hooks">,
): string | undefined {
  if (hooks === "command" || canAskServer(client, env)) return undefined;
  const { title, program, serverHooksSince } = FACTS[client];
  const versions = installedVersions(client, env);
  if (versions.length === 0 && hooks !== "server") return undefined;
  const old = versions.find((version) => version && isTooOld(client, version));
  const found =
    versions.length === 0
      ? `no ${program} was found`
      : old
        ? `a ${program} of version ${old} was found`
        : `${program} --version did not say a version`;
  return `hooks can ask the MCP server from ${title} ${serverHooksSince} on, and ${found}`;
}

/** True if one of the versions cannot. False if no version is known. */
export function isTooOldToAsk(client: ClientName, env: Environment): boolean {
  return installedVersions(client, env).some((version) => version && isTooOld(client, version));
}

function isTooOld(client: ClientName, version: string): boolean {
  return compare(version, FACTS[client].serverHooksSince ?? "0") < 0;
}

/** Each program once, because all of them read the user's settings. Undefined: the program does not report its version. */
function installedVersions(client: ClientName, env: Environment): (string | undefined)[] {
  const { program, ownPlace, quiet } = FACTS[client];
  const files = [...allOnPath(program, env), ...(ownPlace ? [join(env["HOME"] ?? "", ownPlace)] : [])];
  // Run under the name that was found, not its target: a version manager's shim depends on its own name.
  const byTarget = new Map(files.filter((file) => existsSync(file)).map((file) => [realpathSync(file), file]));
  return [...byTarget.values()].map((file) => versionOf(file, { ...env, ...quiet }));
}

/** What `--version` says. Undefined: it says no version. */
export function versionOf(program: string, env: Environment): string | undefined {
  const key = `${program} ${statSync(program).mtimeMs}`;
  if (!versions.has(key)) {
    const { stdout } = spawnSync(program, ["--version"], { env: { ...env }, encoding: "utf8", timeout: 15_000 });
    versions.set(key, readVersion(stdout ?? ""));
  }
  return versions.get(key);
}

/** A cache: one command asks several times, and each answer takes the client a second. */
const versions = new Map<string, string | undefined>();

/** The first version in what `--version` prints: `2.1.325 (Claude Code)`, `codex-cli 0.166.0`. */
function readVersion(text: string): string | undefined {
  return /(?<![\d.])\d+\.\d+\.\d+/.exec(text)?.[0];
}

function minorOf(version: string): string {
  return version.split(".").slice(0, 2).join(".");
}

export function isOlder(version: string, than: string): boolean {
  return compare(version, than) < 0;
}

/** Compares numerically: 0.99.1 is older than 0.166.0. Negative: `one` is older. */
function compare(one: string, other: string): number {
  const [left = [], right = []] = [one, other].map((text) => text.split(".").map(Number));
  return right.map((part, at) => (left[at] ?? 0) - part).find((difference) => difference !== 0) ?? 0;
}
