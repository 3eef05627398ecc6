/** The installed versions of a client: which can do what we write for them, and what `doctor` says of the one that runs. */
import { spawnSync } from "node:child_process";
import { existsSync, realpathSync, statSync } from "node:fs";
import type { Environment } from "../engine/project.ts";
import type { Finding } from "../engine/wiring.ts";

export interface TestedClient {
  /** As people call it. */
  title: string;
  tested: string;
  /** How much must be equal: releases of some clients differ in every patch. An older one is told, a newer patch never. */
  upTo: "minor" | "patch";
}

export function judgeVersion(part: string, version: string, { title, tested, upTo }: TestedClient): Finding {
  const text = `${version}; tested with ${tested}`;
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);
  const [testedMajor = 0, testedMinor = 0, testedPatch = 0] = tested.split(".").map(Number);
  const difference = major - testedMajor || minor - testedMinor;
  const isOlder = difference < 0 || (difference === 0 && upTo === "patch" && patch < testedPatch);
  if (isOlder) return { part, level: "warn", text, remedy: `update ${title}: an older one may lack events` };
  if (difference === 0) return { part, level: "ok", text };
  return { part, level: "warn", text, remedy: "look for a newer haversack: events and fields may differ" };
}

/** Of these files those that are there, each program once. All of them read the user's settings. */
export function installations(files: readonly string[]): string[] {
  const byTarget = new Map(files.filter((file) => existsSync(file)).map((file) => [realpathSync(file), file]));
  // Not the target itself: a shim of a version manager goes by the name it is called with.
  return [...byTarget.values()];
}

/** False where there is none, or one does not say its version. */
export function areAllSince(since: string, programs: readonly string[], env: Environment): boolean {
  return programs.length > 0 && programs.every((program) => !isOlder(versionOf(program, env) ?? "0", since));
}

/** False where no version is known. */
export function isOneOlder(than: string, programs: readonly string[], env: Environment): boolean {
  return programs.some((program) => isOlder(versionOf(program, env) ?? than, than));
}

/** Undefined: it does not say. */
function versionOf(program: string, env: Environment): string | undefined {
  const key = `${program} ${statSync(program).mtimeMs}`;
  if (versions.has(key)) return versions.get(key);
  const { stdout } = spawnSync(program, ["--version"], { env: { ...env }, encoding: "utf8", timeout: 15_000 });
  const version = readVersion(stdout ?? "");
  versions.set(key, version);
  return version;
}

/** Asked several times by one command, and each answer takes the client a second. */
const versions = new Map<string, string | undefined>();

/** The first version in what `--version` prints: `2.1.325 (Claude Code)`, `codex-cli 0.166.0`. */
export function readVersion(text: string): string | undefined {
  return /(?<![\d.])\d+\.\d+\.\d+/.exec(text)?.[0];
}

/** By its numbers: 0.99.1 is older than 0.166.0. */
function isOlder(version: string, than: string): boolean {
  const [one = [], other = []] = [version, than].map((text) => text.split(".").map(Number));
  const at = other.findIndex((part, index) => part !== (one[index] ?? 0));
  return at >= 0 && (one[at] ?? 0) < other[at]!;
}
