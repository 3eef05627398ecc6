/**
 * What a project brings that counts only when its user has accepted it: local state in `.haversack/`, settings of its config that
 * reach far, templates, and rules that load text unasked. For `haversack trust`, `init`, `doctor` and `config`.
 */
import { spawnSync } from "node:child_process";
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { type FarReach, farReaching, trustedConfig } from "../base/config-trust.ts";
import { errorText, HaversackError } from "../base/errors.ts";
import { diskFileSystem } from "../base/file-system.ts";
import { readJson } from "../base/json.ts";
import { STATE_FOLDER } from "../base/project-root.ts";
import { type Accepted, checkTrust, recordAccepted, recordTrust, trustRecord } from "../base/project-trust.ts";
import { copyToNew, makePrivate, makeScratch, removeScratch } from "../base/safe-write.ts";
import { parseRules } from "../skills/parse-rules.ts";
import { farRuleName, farRules, reachesOf, untilAccepted, whyFar } from "../skills/rule-reach.ts";
import type { SkillRule } from "../skills/types.ts";
import { checkStore, peekStore, type StorePeek } from "../store/sqlite/maintenance.ts";
import { nearestSkills } from "./nearest-skills.ts";
import { type Environment, loadConfig, type ProjectPaths } from "./project.ts";
import { distrust } from "./project-store.ts";
import { MAX_FILE_BYTES } from "./refresh-index.ts";
import { findSkillSources } from "./skill-sources.ts";

export interface BroughtAlong {
  /** Why the local state is not used; absent: it is the user's own, or there is none. */
  untrusted?: { why: string; hint: string };
  parts: LocalPart[];
  settings: FoundSetting[];
  templates: FoundTemplate[];
  rules: FoundRule[];
}

export interface LocalPart {
  /** Below the project's root. */
  path: string;
  about: string;
  bytes: number;
  isTracked: boolean;
  /** Where it leads, when it is a symbolic link. */
  link?: string;
}

interface FoundSetting {
  key: string;
  value: unknown;
  why: string;
  isAccepted: boolean;
}

interface FoundRule {
  /** The rules file, below the project's root where it is in the project. */
  path: string;
  skill: string;
  why: string;
  /** What it does until it is accepted: `only recommends`. */
  until: string;
  /** The words, patterns and files that it waits for, in the order of the rule. */
  triggers: string[];
  /** The text that it loads; absent: no skill of this name is installed. */
  loads?: { path: string; text: string };
  /** The rule or its skill was accepted and is another now. */
  isChanged: boolean;
  /** What is recorded when the user accepts it. */
  key: string;
  isAccepted: boolean;
}

interface FoundTemplate {
  path: string;
  role: string;
  text: string;
  isAccepted: boolean;
  /** The text that was accepted, when it is another now. */
  before?: string;
}

/** What a person can accept by itself. */
export const TRUST_PARTS = ["store", "settings", "templates", "rules"] as const;
export type TrustPart = (typeof TRUST_PARTS)[number];

/** What teams share through git on purpose. */
const SHARED = [".gitignore", "config.json", "artifacts.json", "skills", "templates", "skill-rules.json"];

const ABOUT: Readonly<Record<string, string>> = {
  "haversack.db": "database: tasks, messages, sessions, the skill index",
  "haversack.db-wal": "database: the latest writes",
  "haversack.db-shm": "database: shared memory",
  "haversack.db-journal": "database: writes to undo",
  "wiring.json": "what `init` wrote into the clients' settings",
  log: "log",
  snapshots: "snapshots of reviewed files",
  spool: "events that wait to be saved",
  off: "switches Haversack off here",
};

const WHY: Readonly<Record<FarReach, string>> = {
  outside: "names a folder outside of the project",
  lower: "is lower than the default, so more text reaches the model unasked",
  on: "switches on what is off by default",
  disk: "is so high that the log could fill the disk",
  flood: "brings far more text into prompts than the default",
  forget: "deletes local state after a few days",
  lease: "ends claims while their agents still work",
};

/** Templates are short; whatever is longer is not shown and not accepted. */
const MAX_TEMPLATE_BYTES = 100_000;

export function broughtAlong(paths: ProjectPaths, env: Environment): BroughtAlong {
  // A file in the folder's place brings nothing.
  if (lstatSync(paths.state, { throwIfNoEntry: false })?.isFile())
    return { parts: [], settings: [], templates: [], rules: [] };
  const untrusted = distrust(paths);
  const settings = farSettings(paths);
  return {
    ...(untrusted && { untrusted: { why: untrusted.why, hint: untrusted.hint } }),
    parts: localParts(paths, env),
    settings,
    templates: findTemplates(paths),
    // Whoever accepts `skills.enforce` accepts what it makes of the rules in the same answer.
    rules: findFarRules(
      paths,
      env,
      settings.some(({ key }) => key === "skills.enforce"),
    ),
  };
}

/** Whether the user has to say yes to anything. */
export function needsTrust(brought: BroughtAlong): boolean {
  return partsToTrust(brought).length > 0;
}

/** What the user has to say yes to. */
export function partsToTrust({ untrusted, ...lists }: BroughtAlong): TrustPart[] {
  return TRUST_PARTS.filter((part) =>
    part === "store" ? untrusted !== undefined : lists[part].some(({ isAccepted }) => !isAccepted),
  );
}

/**
 * Records what was shown as accepted: all of it, or the parts in `only`. A fault when a part of it is a link, or a log of the database that
 * git can replace.
 */
export function acceptBrought(
  paths: ProjectPaths,
  { parts, templates, rules }: BroughtAlong,
  { at, only = TRUST_PARTS }: { at: Date; only?: readonly TrustPart[] },
): void {
  const trust = checkTrust(paths.state, paths.userState);
  const link = parts.find((part) => part.link !== undefined);
  const isLink = trust.kind === "untrusted" && trust.because === "link";
  if (isLink || link) {
    throw new HaversackError("refused", `${link?.path ?? paths.state} is a symbolic link and cannot be accepted`, {
      hint: "replace the link with a folder or file of the project",
    });
  }
  const accepted: Accepted & { at: Date } = {
    at,
    ...(only.includes("settings") && { settings: farReaching(projectConfig(paths)) ?? "" }),
    ...(only.includes("templates") && {
      templates: Object.fromEntries(templates.map(({ role, text }) => [role, text])),
    }),
    ...(only.includes("rules") && { rules: rules.map(({ key }) => key) }),
  };
  if (!only.includes("store")) {
    // Without a database the record alone says whose the rest of the local state is.
    if (trust.kind === "untrusted" && !existsSync(paths.store)) {
      throw new HaversackError("refused", `${paths.state} holds local state that has to be accepted first`, {
        hint: "`haversack trust --only store` does that; or delete what `haversack trust` lists as local state",
      });
    }
    requireHome(recordAccepted(paths.state, paths.userState, accepted));
    return;
  }
  const log = parts.find(({ path, isTracked }) => isTracked && LOGS.some((name) => path === `${STATE_FOLDER}/${name}`));
  if (log) {
    // The database is known by its inode. SQLite makes these files anew all the time, so nothing could tell a pulled one.
    throw new HaversackError("refused", `git tracks ${log.path}, so every pull could replace the latest writes`, {
      hint: `\`git rm --cached ${log.path}\` stops that; then run \`haversack trust\` again`,
    });
  }
  giveLogsModeOf(paths.store);
  if (trust.kind === "untrusted" && (lstatSync(paths.store, { throwIfNoEntry: false })?.size ?? 0) > 0)
    refuseDamaged(paths);
  requireHome(recordTrust(paths.state, paths.userState, accepted));
}

function requireHome(isRecorded: boolean): void {
  if (isRecorded) return;
  throw new HaversackError("store-untrusted", "HOME is not set, so there is no place to record what you accept", {
    hint: "set HOME or XDG_STATE_HOME",
  });
}

/**
 * A look into a database that is not accepted yet. It is copied first: SQLite would leave files beside it, and whoever only looks writes
 * nothing into the project. A text says why it was not looked at.
 */
export function lookIntoStore({ store }: Pick<ProjectPaths, "store">): StorePeek | string | undefined {
  const files = ["", "-wal"].filter((part) => lstatSync(store + part, { throwIfNoEntry: false })?.isFile());
  if (!files.includes("")) return undefined;
  const bytes = files.reduce((sum, part) => sum + lstatSync(store + part).size, 0);
  if (bytes > MAX_PEEK_BYTES) return "it is too large to look into here";
  const scratch = makeScratch(join(tmpdir(), "haversack-trust-"));
  try {
    const copy = join(scratch, "haversack.db");
    for (const part of files) copyToNew(store + part, copy + part, { within: scratch });
    const { ok, problems, facts } = checkStore(copy);
    if (!ok) return `it cannot be accepted: ${problems[0]}`;
    if (facts.version !== facts.knownVersion) return `it is of another version of Haversack (schema ${facts.version})`;
    return peekStore(copy);
  } catch (error) {
    // Not a database, or not readable: `store check` says more.
    return `it cannot be read: ${errorText(error).replaceAll(scratch, STATE_FOLDER)}`;
  } finally {
    removeScratch(scratch);
  }
}

const MAX_PEEK_BYTES = 200_000_000;

/**
 * Pages that are linked on purpose so that a search never ends would keep hooks busy, and nothing can interrupt SQLite. Its own check
 * looks at each page once, so it ends.
 */
function refuseDamaged({ store }: ProjectPaths): void {
  const { ok, problems } = checkStore(store);
  if (ok) return;
  throw new HaversackError("refused", `${store} cannot be accepted: ${problems[0]}`, {
    hint: "`haversack store check` lists what is wrong with it",
  });
}

/** SQLite's own files beside the database; with another mode they count as somebody else's. */
const LOGS = ["haversack.db-wal", "haversack.db-shm", "haversack.db-journal"];

function giveLogsModeOf(store: string): void {
  const mode = lstatSync(store, { throwIfNoEntry: false })?.mode;
  for (const part of ["-wal", "-shm", "-journal"]) {
    const found = lstatSync(store + part, { throwIfNoEntry: false });
    if (mode !== undefined && found?.isFile() && found.mode !== mode) makePrivate(store + part, mode & 0o777);
  }
}

/** Files of the local state that git tracks, below the root. Git replaces such a file without a question. */
export function trackedState({ root }: ProjectPaths, env: Environment): string[] {
  const { status, stdout } = spawnSync("git", ["-C", root, "ls-files", "-z", "--", `${STATE_FOLDER}/`], {
    encoding: "utf8",
    timeout: 10_000,
    env: { ...env },
  });
  if (status !== 0) return [];
  return stdout.split("\0").filter((path) => path !== "" && !SHARED.includes(path.split("/")[1] ?? ""));
}

function localParts(paths: ProjectPaths, env: Environment): LocalPart[] {
  const found = lstatSync(paths.state, { throwIfNoEntry: false });
  if (!found) return [];
  if (found.isSymbolicLink()) {
    return [
      {
        path: STATE_FOLDER,
        about: "link",
        bytes: 0,
        isTracked: false,
        link: readlinkSync(paths.state),
      } satisfies LocalPart,
    ];
  }
  if (!found.isDirectory()) return [];
  const tracked = trackedState(paths, env);
  return readdirSync(paths.state, { withFileTypes: true })
    .filter(({ name }) => !SHARED.includes(name))
    .map((entry): LocalPart => {
      const file = join(paths.state, entry.name);
      const path = `${STATE_FOLDER}/${entry.name}`;
      return {
        path,
        about: ABOUT[entry.name] ?? (entry.isDirectory() ? "folder" : "file"),
        bytes: sizeOf(file),
        isTracked: tracked.some((one) => one === path || one.startsWith(`${path}/`)),
        ...(entry.isSymbolicLink() && { link: readlinkSync(file) }),
      };
    })
    .sort((one, other) => (one.path < other.path ? -1 : 1));
}

/** Of a folder the sum of its files; links are not followed. 0 where another user's folder may not be read. */
function sizeOf(path: string): number {
  const found = lstatSync(path);
  if (!found.isDirectory()) return found.size;
  try {
    return readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .reduce((sum, entry) => sum + lstatSync(join(entry.parentPath, entry.name)).size, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EACCES") throw error;
    return 0;
  }
}

function projectConfig({ config }: ProjectPaths): unknown {
  return existsSync(config) ? readJson(readFileSync(config, "utf8")).value : undefined;
}

function farSettings(paths: ProjectPaths): FoundSetting[] {
  const config = projectConfig(paths);
  const record = trustRecord(paths.state, paths.userState);
  const isAccepted = trustedConfig(config, record?.settings).ignored.length === 0;
  return trustedConfig(config, undefined).ignored.map(({ key, value, reach }) => ({
    key,
    value,
    why: whyIgnored(reach),
    isAccepted,
  }));
}

export function whyIgnored(reach: FarReach): string {
  return WHY[reach];
}

/** Rules that load text of the project unasked. Files that cannot be read bring none. */
function findFarRules(paths: ProjectPaths, env: Environment, isEnforceAsked: boolean): FoundRule[] {
  const { config } = loadConfig(paths);
  const folders = config["skills.folders"];
  const { roots, ruleFiles, ruleTrust } = findSkillSources(paths.root, { env, folders, fs: diskFileSystem });
  const isEnforced = config["skills.enforce"] || isEnforceAsked;
  const rules = ruleFiles.filter((file) => existsSync(file)).flatMap(readRules);
  const isFar = (reach: string) => reach !== "enforced" || isEnforced;
  // Most projects have none, and reading all skills takes a moment.
  if (!rules.some((rule) => reachesOf(rule).some(isFar))) return [];
  const skills = nearestSkills(roots, { fs: diskFileSystem, maxBytes: MAX_FILE_BYTES });
  const bodies = new Map(skills.map(({ path, body }) => [path, body]));
  return farRules(rules, skills, paths.root)
    .filter(({ reach }) => isFar(reach))
    .map((far): FoundRule => {
      const { file, skill, reach, key, target } = far;
      const isAccepted = ruleTrust.accepted.includes(key);
      const name = `${farRuleName(far, paths.root)}#`;
      return {
        path: belowRoot(file, paths),
        skill,
        why: whyFar(reach),
        until: untilAccepted(reach),
        triggers: triggersOf(far.rule),
        ...(target && { loads: { path: belowRoot(target.path, paths), text: bodies.get(target.path) ?? "" } }),
        key,
        isAccepted,
        isChanged: !isAccepted && ruleTrust.accepted.some((one) => one.startsWith(name)),
      };
    });
}

function readRules(file: string): SkillRule[] {
  try {
    if (lstatSync(file).size > MAX_FILE_BYTES) return [];
    return parseRules(readJson(readFileSync(file, "utf8")).value, file).rules;
  } catch {
    // A folder in its place, or a file that may not be read: `rules check` says so.
    return [];
  }
}

function triggersOf(rule: SkillRule): string[] {
  if (rule.alwaysActive) return ["every prompt"];
  return [
    ...[...rule.keywords, ...rule.synonyms].map(({ text }) => `"${text}"`),
    ...rule.intentPatterns.map((pattern) => `/${pattern}/`),
    ...rule.pathPatterns,
    ...(rule.pathRegexes ?? []).map((pattern) => `/${pattern}/`),
    ...rule.contentPatterns.map((pattern) => `files with /${pattern}/`),
  ];
}

function belowRoot(path: string, { root }: ProjectPaths): string {
  return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
}

export function findTemplates(paths: ProjectPaths): FoundTemplate[] {
  const folder = join(paths.state, "templates");
  if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return [];
  const accepted = trustRecord(paths.state, paths.userState)?.templates ?? {};
  return readdirSync(folder)
    .filter((name) => name.endsWith(".md"))
    .flatMap((name): FoundTemplate[] => {
      const found = lstatSync(join(folder, name));
      if (!found.isFile() || found.size > MAX_TEMPLATE_BYTES) return [];
      const role = basename(name, ".md");
      const text = readFileSync(join(folder, name), "utf8");
      const before = Object.hasOwn(accepted, role) ? accepted[role] : undefined;
      const path = `${STATE_FOLDER}/templates/${name}`;
      if (before === text) return [{ path, role, text, isAccepted: true }];
      return [{ path, role, text, isAccepted: false, ...(before !== undefined && { before }) }];
    });
}
