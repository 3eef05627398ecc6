/**
 * The parts of a project that take effect only after the user accepts them: local state in `.haversack/`, sensitive settings of its config,
 * templates, and rules that load text without a request. For `haversack trust`, `init`, `doctor` and `config`.
 */

import { existsSync, lstatSync, readdirSync, readlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { MAX_TEMPLATE_BYTES, readBounded, readProjectText, type TextRead } from "../base/clean-text.ts";
import { type FarReach, farReaching, trustedConfig } from "../base/config.ts";
import { errorText, HaversackError, isFault } from "../base/errors.ts";
import { diskFileSystem } from "../base/file-system.ts";
import { readJson } from "../base/json.ts";
import { STATE_FOLDER } from "../base/project-root.ts";
import {
  type Accepted,
  checkTrust,
  isRecordEnough,
  LOG_NAMES,
  recordAccepted,
  recordTrust,
  trustRecord,
} from "../base/project-trust.ts";
import { copyToNew, errnoOf, makeScratch, removeScratch } from "../base/safe-write.ts";
import { parseSkill } from "../skills/parse-skill.ts";
import { parseRules } from "../skills/rules/parse-rules.ts";
import { farRuleName, farRules, type RuleSkill, reachesOf, untilAccepted, whyFar } from "../skills/rules/rule-reach.ts";
import { findSkillFiles, type SkillRoot } from "../skills/skill-files.ts";
import type { SkillRule } from "../skills/types.ts";
import { checkStore, peekStore, type StoreCheck, type StorePeek } from "../store/sqlite/maintenance/check-store.ts";
import { git } from "./artifacts/git-snapshot.ts";
import { readRoleMapText, roleMapFile } from "./artifacts/load-role-map.ts";
import { distrust } from "./open-project.ts";
import { type Environment, loadConfig, type ProjectPaths, readProjectConfig } from "./project.ts";
import { MAX_FILE_BYTES } from "./refresh-index.ts";
import { findSkillSources } from "./skill-sources.ts";

export interface BroughtAlong {
  /** Why the local state is not used. Absent: it is the user's own, or there is none. */
  untrusted?: NonNullable<ReturnType<typeof distrust>>;
  parts: LocalPart[];
  settings: FoundSetting[];
  templates: FoundTemplate[];
  rules: FoundRule[];
  /** Shared files that are skipped because they are links or too large. */
  unread: UnreadFile[];
}

export interface UnreadFile {
  /** Relative to the project's root. */
  path: string;
  why: string;
}

export interface LocalPart {
  /** Relative to the project's root. */
  path: string;
  about: string;
  bytes: number;
  isTracked: boolean;
  /** The target, if it is a symbolic link. */
  link?: string;
}

interface FoundSetting {
  key: string;
  value: unknown;
  why: string;
  isAccepted: boolean;
}

interface FoundRule {
  /** The rules file; relative to the project's root if it is inside the project. */
  path: string;
  skill: string;
  why: string;
  /** What the rule does until it is accepted: `only recommends`. */
  until: string;
  /** The words, patterns and files that trigger it, in the order of the rule. */
  triggers: string[];
  /** The text that it loads. Absent: no skill of this name is installed. */
  loads?: { path: string; text: string };
  /** The user accepted an earlier version of the rule or its skill. */
  isChanged: boolean;
  /** Recorded when the user accepts it. */
  key: string;
  isAccepted: boolean;
}

interface FoundTemplate {
  path: string;
  role: string;
  text: string;
  isAccepted: boolean;
  /** The accepted text, if it has changed since. */
  before?: string;
}

/** The parts that a person can accept separately. */
export const TRUST_PARTS = ["store", "settings", "templates", "rules"] as const;
export type TrustPart = (typeof TRUST_PARTS)[number];

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
  "on-since": "when Haversack was last switched on here",
};

const WHY: Readonly<Record<FarReach, string>> = {
  outside: "names a folder outside the project",
  lower: "is lower than the default, so more text reaches the model unasked",
  load: "loads a skill's text with a task, unasked",
  on: "turns on something that is off by default",
  run: "runs a program",
  spend: "lets a run spend far more than the default",
  disk: "is so high that the log could fill the disk",
  flood: "adds far more text to prompts than the default",
  forget: "deletes local state after a few days",
  lease: "ends claims while their agents still work",
};

export function broughtAlong(paths: ProjectPaths, env: Environment): BroughtAlong {
  // A file in place of the folder contains nothing to accept.
  if (isFile(paths.state)) return { parts: [], settings: [], templates: [], rules: [], unread: [] };
  const untrusted = distrust(paths);
  const settings = farSettings(paths);
  return {
    ...(untrusted && { untrusted }),
    parts: localParts(paths),
    settings,
    templates: findTemplates(paths),
    // Accepting `skills.enforce` also accepts its effect on the rules.
    rules: findFarRules(
      paths,
      env,
      settings.some(({ key }) => key === "skills.enforce"),
    ),
    unread: findUnread(paths, env),
  };
}

function findUnread(paths: ProjectPaths, env: Environment): UnreadFile[] {
  const reads: [string, TextRead][] = [
    [paths.config, readProjectConfig(paths)],
    [roleMapFile(paths), readRoleMapText(paths)],
    ...skillSources(paths, env)
      .ruleFiles.filter((file) => file.startsWith(`${paths.root}/`) && existsSync(file))
      .map((file): [string, TextRead] => [file, readRules(file, paths)]),
    ...templateFiles(paths).map((file): [string, TextRead] => [file, readTemplate(file, paths)]),
  ];
  return reads.flatMap(([file, read]) =>
    read?.problem === undefined ? [] : [{ path: file.slice(paths.root.length + 1), why: read.problem }],
  );
}

/** What the user has to say yes to. */
export function partsToTrust({ untrusted, ...lists }: BroughtAlong): TrustPart[] {
  return TRUST_PARTS.filter((part) =>
    part === "store" ? untrusted !== undefined : lists[part].some(({ isAccepted }) => !isAccepted),
  );
}

/**
 * Why this cannot be accepted: something in the folder is a link, or `only` includes the store and git tracks a file beside the database,
 * which every pull could replace.
 */
export function whyRefused(
  { parts }: BroughtAlong,
  only: readonly TrustPart[] = TRUST_PARTS,
): HaversackError | undefined {
  const links = parts.filter(({ link }) => link !== undefined).map(({ path }) => path);
  if (links.length > 0) {
    const are = links.length === 1 ? "is a symbolic link" : "are symbolic links";
    return new HaversackError("refused", `${links.join(" and ")} ${are} and cannot be accepted`, {
      hint: `replace ${links.length === 1 ? "the link" : "the links"} with a folder or file of the project`,
    });
  }
  const logs = parts
    .filter(({ path, isTracked }) => isTracked && LOG_NAMES.some((name) => path === `${STATE_FOLDER}/${name}`))
    .map(({ path }) => path);
  if (logs.length === 0 || !only.includes("store")) return undefined;
  const text = `git tracks ${logs.join(" and ")}, so every pull could replace what SQLite keeps there`;
  return new HaversackError("refused", text, {
    hint: `\`git rm --cached ${logs.join(" ")}\` stops that; then run \`haversack trust\` again`,
  });
}

/** Records what was shown as accepted: all of it, or the parts in `only`. Throws if that is refused. */
export function acceptBrought(
  paths: ProjectPaths,
  brought: BroughtAlong,
  { at, only = TRUST_PARTS }: { at: Date; only?: readonly TrustPart[] },
): void {
  const refused = whyRefused(brought, only);
  if (refused) throw refused;
  const { templates, rules } = brought;
  const accepted: Accepted & { at: Date } = {
    at,
    ...(only.includes("settings") && { settings: farReaching(projectConfig(paths)) ?? "" }),
    ...(only.includes("templates") && {
      templates: Object.fromEntries(templates.map(({ role, text }) => [role, text])),
    }),
    ...(only.includes("rules") && { rules: rules.map(({ key }) => key) }),
  };
  if (!only.includes("store")) {
    if (isRecordEnough(paths.state, paths.userState)) {
      throw new HaversackError("refused", `${paths.state} holds local state that has to be accepted first`, {
        hint: "`haversack trust --only store` does that; or delete what `haversack trust` lists as local state",
      });
    }
    requireHome(recordAccepted(paths.state, paths.userState, accepted));
    return;
  }
  const trust = checkTrust(paths.state, paths.userState);
  if (trust.kind === "untrusted" && sizeOf(paths.store) > 0) refuseDamaged(paths);
  requireHome(recordTrust(paths.state, paths.userState, accepted));
}

function requireHome(isRecorded: boolean): void {
  if (isRecorded) return;
  throw new HaversackError("store-untrusted", "HOME is not set, so there is no place to record what you accept", {
    hint: "set HOME or XDG_STATE_HOME",
  });
}

/**
 * An attacker can link database pages so that a search never ends. That would keep hooks busy, and nothing can interrupt SQLite. SQLite's
 * own check visits each page once, so it does end.
 */
function refuseDamaged({ store }: ProjectPaths): void {
  const { ok, problems } = lookAtStore(store);
  if (ok) return;
  throw new HaversackError("refused", `${store} cannot be accepted: ${problems[0]}`, {
    hint: "`haversack store check` lists what is wrong with it",
  });
}

function localParts(paths: ProjectPaths): LocalPart[] {
  const found = lstatSync(paths.state, { throwIfNoEntry: false });
  if (!found) return [];
  if (found.isSymbolicLink()) {
    return [{ path: STATE_FOLDER, about: "link", bytes: 0, isTracked: false, link: readlinkSync(paths.state) }];
  }
  if (!found.isDirectory()) return [];
  // A pull replaces files that git tracks without asking.
  const listed = git(paths.root, ["ls-files", "-z", "--", `${STATE_FOLDER}/`])?.split("\0") ?? [];
  const tracked = listed.filter((path) => path !== "" && !SHARED.includes(path.split("/")[1] ?? ""));
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

/** For a folder: the sum of its files, without following links. 0 if it is missing or may not be read. */
export function sizeOf(path: string): number {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found?.isDirectory()) return found?.size ?? 0;
  try {
    return readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .reduce((sum, entry) => sum + lstatSync(join(entry.parentPath, entry.name)).size, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EACCES") throw error;
    return 0;
  }
}

function projectConfig(paths: ProjectPaths): unknown {
  const text = readProjectConfig(paths)?.text;
  return text === undefined ? undefined : readJson(text).value;
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

/** Rules that load text of the project without a request. Files that cannot be read count as empty. */
function findFarRules(paths: ProjectPaths, env: Environment, isEnforceAsked: boolean): FoundRule[] {
  const { roots, ruleFiles, ruleTrust } = skillSources(paths, env);
  const isEnforced = loadConfig(paths).config["skills.enforce"] || isEnforceAsked;
  const rules = ruleFiles.flatMap(
    (file) => parseRules(readJson(readRules(file, paths)?.text ?? "{}").value, file).rules,
  );
  const isFar = (reach: string) => reach !== "enforced" || isEnforced;
  // Most projects have none, and reading all skills takes time.
  if (!rules.some((rule) => reachesOf(rule).some(isFar))) return [];
  const skills = nearestSkills(roots);
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

function skillSources(paths: ProjectPaths, env: Environment) {
  const folders = loadConfig(paths).config["skills.folders"];
  return findSkillSources(paths.root, { env, folders, fs: diskFileSystem });
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

/** Uses the same size limit as the index. */
function readRules(file: string, { root }: ProjectPaths): TextRead {
  const maxBytes = MAX_FILE_BYTES;
  return file.startsWith(`${root}/`)
    ? readProjectText(file, { root, maxBytes, mayLinkInside: true })
    : readBounded(file, maxBytes);
}

export function findTemplates(paths: ProjectPaths): FoundTemplate[] {
  const accepted = trustRecord(paths.state, paths.userState)?.templates ?? {};
  return templateFiles(paths).flatMap((file): FoundTemplate[] => {
    const text = readTemplate(file, paths)?.text;
    if (text === undefined) return [];
    const role = basename(file, ".md");
    const path = `${STATE_FOLDER}/templates/${role}.md`;
    const before = Object.hasOwn(accepted, role) ? accepted[role] : undefined;
    const isAccepted = before === text;
    return [{ path, role, text, isAccepted, ...(before !== undefined && !isAccepted && { before }) }];
  });
}

/** If the folder is a link, returns the link instead. */
function templateFiles({ state }: ProjectPaths): string[] {
  const folder = join(state, "templates");
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (found?.isSymbolicLink()) return [folder];
  if (!found?.isDirectory()) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith(".md"))
    .map((name) => join(folder, name));
}

function readTemplate(file: string, { root }: ProjectPaths): TextRead {
  return readProjectText(file, { root, maxBytes: MAX_TEMPLATE_BYTES });
}

// The skills that rules can refer to, read without an index: `trust` must not open a store that is not the user's own.

/** For each name the nearest skill, chosen as in `SkillIndexWriter.settle`. Files that cannot be read are left out. */
function nearestSkills(roots: readonly SkillRoot[]): (RuleSkill & { body: string })[] {
  const nearest = new Map<string, RuleSkill & { body: string; rank: number }>();
  for (const file of findSkillFiles(roots, diskFileSystem).files) {
    if (file.size > MAX_FILE_BYTES) continue;
    try {
      const found = parseSkill(diskFileSystem.readFile(file.path), file).skill;
      if (!found) continue;
      const { id, path, hash, requires, body } = found;
      const { rank } = file.source;
      const other = nearest.get(id);
      if (other && (other.rank < rank || (other.rank === rank && other.path <= path))) continue;
      nearest.set(id, { id, path, hash, requires, body, rank });
    } catch {
      // Missing or unreadable: `skill check` reports it.
    }
  }
  return [...nearest.values()];
}

// Inspects a store that is not this user's own. SQLite creates and changes files beside a database that it opens, so it
// gets a copy.

/** Whether the store is sound. */
export function lookAtStore(store: string): StoreCheck {
  return withCopy(store, checkStore);
}

/**
 * What is in a store that is not accepted yet, for the person who decides. A text says why the store was not read. Undefined: there is no
 * store, or it is the user's own, or it is a link, which could lead to somebody else's store.
 */
export function lookIntoStore(paths: ProjectPaths): StorePeek | string | undefined {
  const { store } = paths;
  const because = distrust(paths)?.because;
  if (because === undefined || because === "link" || !isFile(store) || sizeOf(store) === 0) return undefined;
  if (sizeOf(store) + sizeOf(`${store}-wal`) > MAX_PEEK_BYTES) return "it is too large to look into here";
  try {
    return withCopy(store, (copy) => {
      const { ok, problems, facts } = checkStore(copy);
      if (!ok) return `it cannot be accepted: ${problems[0]}`;
      if (facts.version !== facts.knownVersion)
        return `it is of another version of Haversack (schema ${facts.version})`;
      return peekStore(copy);
    });
  } catch (error) {
    // Not a database, or not readable: `store check` gives details.
    return `it cannot be read: ${errorText(error)}`;
  }
}

const MAX_PEEK_BYTES = 200_000_000;

function isFile(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

function withCopy<T>(store: string, look: (copy: string) => T): T {
  const folder = makeScratch(join(tmpdir(), "haversack-look-"));
  const copy = join(folder, "haversack.db");
  try {
    for (const part of ["", "-wal", "-journal"]) copyPart(store + part, copy + part, folder);
    return look(copy);
  } catch (error) {
    if (!isFault(error) || !error.message.includes(copy)) throw error;
    throw new HaversackError(error.code, error.message.replaceAll(copy, store), {
      ...(error.hint !== undefined && { hint: error.hint }),
      cause: error,
    });
  } finally {
    removeScratch(folder);
  }
}

function copyPart(from: string, to: string, within: string): void {
  if (!isFile(from)) return;
  try {
    copyToNew(from, to, { within });
  } catch (error) {
    throw new HaversackError("file-unreadable", `${from}: cannot be copied to look at it (${errnoOf(error)})`, {
      cause: error,
    });
  }
}

/** Files that teams share through git on purpose. */
const SHARED = [".gitignore", "config.json", "artifacts.json", "skills", "templates", "skill-rules.json"];
