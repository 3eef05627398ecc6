/**
 * What a project brings that counts only when its user has accepted it: local state in `.haversack/`, settings of its config that
 * reach far, templates, and rules that load text unasked. For `haversack trust`, `init`, `doctor` and `config`.
 */
import { spawnSync } from "node:child_process";
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { type FarReach, farReaching, trustedConfig } from "../base/config-trust.ts";
import { HaversackError } from "../base/errors.ts";
import { diskFileSystem } from "../base/file-system.ts";
import { readJson } from "../base/json.ts";
import { STATE_FOLDER } from "../base/project-root.ts";
import { checkTrust, recordTrust, trustRecord } from "../base/project-trust.ts";
import { makePrivate } from "../base/safe-write.ts";
import { parseRules } from "../skills/parse-rules.ts";
import { type FarRule, farRuleKey, farRules, whyFar } from "../skills/rule-reach.ts";
import { checkStore } from "../store/sqlite/maintenance.ts";
import { type Environment, loadConfig, type ProjectPaths } from "./project.ts";
import { distrust } from "./project-store.ts";
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
};

/** Templates are short; whatever is longer is not shown and not accepted. */
const MAX_TEMPLATE_BYTES = 100_000;

export function broughtAlong(paths: ProjectPaths, env: Environment): BroughtAlong {
  // A file in the folder's place brings nothing.
  if (lstatSync(paths.state, { throwIfNoEntry: false })?.isFile())
    return { parts: [], settings: [], templates: [], rules: [] };
  const untrusted = distrust(paths);
  return {
    ...(untrusted && { untrusted: { why: untrusted.why, hint: untrusted.hint } }),
    parts: localParts(paths, env),
    settings: farSettings(paths),
    templates: findTemplates(paths),
    rules: findFarRules(paths, env),
  };
}

/** Whether the user has to say yes to anything. */
export function needsTrust({ untrusted, settings, templates, rules }: BroughtAlong): boolean {
  return untrusted !== undefined || [...settings, ...templates, ...rules].some(({ isAccepted }) => !isAccepted);
}

/** Records what was shown as accepted. A fault when a part of it is a link, or a log of the database that git can replace. */
export function acceptBrought(paths: ProjectPaths, { parts, templates, rules }: BroughtAlong, at: Date): void {
  const trust = checkTrust(paths.state, paths.userState);
  const link = parts.find((part) => part.link !== undefined);
  const isLink = trust.kind === "untrusted" && trust.because === "link";
  if (isLink || link) {
    throw new HaversackError("refused", `${link?.path ?? paths.state} is a symbolic link and cannot be accepted`, {
      hint: "replace the link with a folder or file of the project",
    });
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

/** Rules of the project's own files that load text unasked. Files that cannot be read bring none. */
function findFarRules(paths: ProjectPaths, env: Environment): FoundRule[] {
  const folders = loadConfig(paths).config["skills.folders"];
  const { ruleFiles, ruleTrust } = findSkillSources(paths.root, { env, folders, fs: diskFileSystem });
  const found = ruleFiles.filter((file) => file.startsWith(`${paths.root}/`) && existsSync(file)).flatMap(readFarRules);
  return found.map((far) => {
    const key = farRuleKey(far, paths.root);
    const path = far.file.slice(paths.root.length + 1);
    return { path, skill: far.skill, why: whyFar(far.reach), key, isAccepted: ruleTrust.accepted.includes(key) };
  });

  function readFarRules(file: string): FarRule[] {
    if (lstatSync(file).size > MAX_RULES_BYTES) return [];
    try {
      return farRules(parseRules(readJson(readFileSync(file, "utf8")).value, file).rules, paths.root);
    } catch {
      // A folder in its place, or a file that may not be read: `rules check` says so.
      return [];
    }
  }
}

/** As for the index. */
const MAX_RULES_BYTES = 8 * 1024 * 1024;

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
      const isAccepted = Object.hasOwn(accepted, role) && accepted[role] === text;
      return [{ path: `${STATE_FOLDER}/templates/${name}`, role, text, isAccepted }];
    });
}
