/**
 * What a project brings that counts only when its user has accepted it: local state in `.haversack/`, settings of its config that
 * reach far, templates, and rules that load text unasked. For `haversack trust`, `init`, `doctor` and `config`.
 */
import { existsSync, lstatSync, readdirSync, readlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { type FarReach, farReaching, trustedConfig } from "../base/config-trust.ts";
import { HaversackError } from "../base/errors.ts";
import { diskFileSystem } from "../base/file-system.ts";
import { readJson } from "../base/json.ts";
import { STATE_FOLDER } from "../base/project-root.ts";
import { checkTrust, type Distrust, recordTrust, trustRecord } from "../base/project-trust.ts";
import { MAX_TEMPLATE_BYTES, readProjectText, type TextRead } from "../base/read-text.ts";
import { parseRules } from "../skills/parse-rules.ts";
import { type FarRule, farRuleKey, farRules, whyFar } from "../skills/rule-reach.ts";
import { readRoleMapText, roleMapFile } from "./artifacts/load-role-map.ts";
import { lookAtStore } from "./look-at-store.ts";
import { type Environment, loadConfig, type ProjectPaths, readProjectConfig } from "./project.ts";
import { distrust } from "./project-store.ts";
import { findSkillSources } from "./skill-sources.ts";
import { LOGS, SHARED, trackedState } from "./tracked-state.ts";

export interface BroughtAlong {
  /** Why the local state is not used; absent: it is the user's own, or there is none. */
  untrusted?: { because: Distrust; why: string; hint: string };
  parts: LocalPart[];
  settings: FoundSetting[];
  templates: FoundTemplate[];
  rules: FoundRule[];
  /** Shared files that are not read, because they are links or too large. */
  unread: UnreadFile[];
}

export interface UnreadFile {
  /** Below the project's root. */
  path: string;
  why: string;
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
  /** The rules file below the project's root. */
  path: string;
  skill: string;
  why: string;
  /** What is recorded when the user accepts it. */
  key: string;
  isAccepted: boolean;
}

interface FoundTemplate {
  path: string;
  role: string;
  text: string;
  isAccepted: boolean;
}

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
};

export function broughtAlong(paths: ProjectPaths, env: Environment): BroughtAlong {
  // A file in the folder's place brings nothing.
  if (lstatSync(paths.state, { throwIfNoEntry: false })?.isFile())
    return { parts: [], settings: [], templates: [], rules: [], unread: [] };
  const untrusted = distrust(paths);
  return {
    ...(untrusted && { untrusted: { because: untrusted.because, why: untrusted.why, hint: untrusted.hint } }),
    parts: localParts(paths, env),
    settings: farSettings(paths),
    templates: findTemplates(paths),
    rules: findFarRules(paths, env),
    unread: findUnread(paths, env),
  };
}

function findUnread(paths: ProjectPaths, env: Environment): UnreadFile[] {
  const reads: [string, TextRead][] = [
    [paths.config, readProjectConfig(paths)],
    [roleMapFile(paths), readRoleMapText(paths)],
    ...projectRuleFiles(paths, env).map((file): [string, TextRead] => [file, readRules(file, paths)]),
    ...templateFiles(paths).map((file): [string, TextRead] => [file, readTemplate(file, paths)]),
  ];
  return reads.flatMap(([file, read]) =>
    read?.problem === undefined ? [] : [{ path: file.slice(paths.root.length + 1), why: read.problem }],
  );
}

/** Whether the user has to say yes to anything. */
export function needsTrust({ untrusted, settings, templates, rules }: BroughtAlong): boolean {
  return untrusted !== undefined || [...settings, ...templates, ...rules].some(({ isAccepted }) => !isAccepted);
}

/** Why this cannot be accepted: a part of it is a link, or a file beside the database that every pull could replace. */
export function whyRefused({ parts }: BroughtAlong): HaversackError | undefined {
  const links = parts.filter(({ link }) => link !== undefined).map(({ path }) => path);
  if (links.length > 0) {
    const are = links.length === 1 ? "is a symbolic link" : "are symbolic links";
    return new HaversackError("refused", `${links.join(" and ")} ${are} and cannot be accepted`, {
      hint: `replace ${links.length === 1 ? "the link" : "the links"} with a folder or file of the project`,
    });
  }
  const logs = parts
    .filter(({ path, isTracked }) => isTracked && LOGS.some((name) => path === `${STATE_FOLDER}/${name}`))
    .map(({ path }) => path);
  if (logs.length === 0) return undefined;
  const text = `git tracks ${logs.join(" and ")}, so every pull could replace what SQLite keeps there`;
  return new HaversackError("refused", text, {
    hint: `\`git rm --cached ${logs.join(" ")}\` stops that; then run \`haversack trust\` again`,
  });
}

/** Records what was shown as accepted, or says why not. */
export function acceptBrought(paths: ProjectPaths, brought: BroughtAlong, at: Date): void {
  const refused = whyRefused(brought);
  if (refused) throw refused;
  const { templates, rules } = brought;
  const trust = checkTrust(paths.state, paths.userState);
  if (trust.kind === "untrusted" && (lstatSync(paths.store, { throwIfNoEntry: false })?.size ?? 0) > 0)
    refuseDamaged(paths);
  const isRecorded = recordTrust(paths.state, paths.userState, {
    settings: farReaching(projectConfig(paths)) ?? "",
    templates: Object.fromEntries(templates.map(({ role, text }) => [role, text])),
    rules: rules.map(({ key }) => key),
    at,
  });
  if (isRecorded) return;
  throw new HaversackError("store-untrusted", "HOME is not set, so there is no place to record what you accept", {
    hint: "set HOME or XDG_STATE_HOME",
  });
}

/**
 * Pages that are linked on purpose so that a search never ends would keep hooks busy, and nothing can interrupt SQLite. Its own check
 * looks at each page once, so it ends.
 */
function refuseDamaged({ store }: ProjectPaths): void {
  const { ok, problems } = lookAtStore(store);
  if (ok) return;
  throw new HaversackError("refused", `${store} cannot be accepted: ${problems[0]}`, {
    hint: "`haversack store check` lists what is wrong with it",
  });
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

/** Rules of the project's own files that load text unasked. Files that cannot be read bring none. */
function findFarRules(paths: ProjectPaths, env: Environment): FoundRule[] {
  const { accepted } = skillSources(paths, env).ruleTrust;
  const found = projectRuleFiles(paths, env).flatMap((file): FarRule[] => {
    const text = readRules(file, paths)?.text;
    return text === undefined ? [] : farRules(parseRules(readJson(text).value, file).rules, paths.root);
  });
  return found.map((far) => {
    const key = farRuleKey(far, paths.root);
    const path = far.file.slice(paths.root.length + 1);
    return { path, skill: far.skill, why: whyFar(far.reach), key, isAccepted: accepted.includes(key) };
  });
}

function skillSources(paths: ProjectPaths, env: Environment) {
  const folders = loadConfig(paths).config["skills.folders"];
  return findSkillSources(paths.root, { env, folders, fs: diskFileSystem });
}

function projectRuleFiles(paths: ProjectPaths, env: Environment): string[] {
  return skillSources(paths, env).ruleFiles.filter((file) => file.startsWith(`${paths.root}/`) && existsSync(file));
}

/** As for the index. */
const MAX_RULES_BYTES = 8 * 1024 * 1024;

function readRules(file: string, { root }: ProjectPaths): TextRead {
  return readProjectText(file, { root, maxBytes: MAX_RULES_BYTES, mayLinkInside: true });
}

export function findTemplates(paths: ProjectPaths): FoundTemplate[] {
  const accepted = trustRecord(paths.state, paths.userState)?.templates ?? {};
  return templateFiles(paths).flatMap((file): FoundTemplate[] => {
    const text = readTemplate(file, paths)?.text;
    if (text === undefined) return [];
    const role = basename(file, ".md");
    const isAccepted = Object.hasOwn(accepted, role) && accepted[role] === text;
    return [{ path: `${STATE_FOLDER}/templates/${role}.md`, role, text, isAccepted }];
  });
}

/** A link in the folder's place is named instead. */
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
