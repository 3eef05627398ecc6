/**
 * The project that a command works in: its root, paths and settings, and whether Haversack is switched on. Commands get the store through
 * it, so nothing is opened that is not used.
 */
import { existsSync, lstatSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { MAX_CONFIG_BYTES, readBounded, readProjectText, type TextRead } from "../base/clean-text.ts";
import {
  type ConfigFile,
  type ConfigProblem,
  farReaching,
  type IgnoredSetting,
  type ReadConfig,
  readConfig,
  trustedConfig,
  userOnlyIn,
} from "../base/config.ts";
import type { Config } from "../base/config-schema.ts";
import { HaversackError } from "../base/errors.ts";
import { readJson } from "../base/json.ts";
import { findProjectRoot, type ProjectRoot, STATE_FOLDER } from "../base/project-root.ts";
import { trustRecord, userStateFolder } from "../base/project-trust.ts";
import { errnoOf, makeFolder, putNewFile } from "../base/safe-write.ts";
import type { DiscoverSettings } from "../skills/showing/disclosure.ts";
import type { OutputLimits } from "../work/outputs/kept-output.ts";

export interface ProjectPaths {
  root: string;
  because: ProjectRoot["because"];
  /** `.haversack/` */
  state: string;
  store: string;
  config: string;
  log: string;
  offMark: string;
  /** The user's own folder: `$XDG_CONFIG_HOME/haversack`. */
  user: string;
  userConfig: string;
  userOffMark: string;
  /** Where this user's records of trusted projects are: `$XDG_STATE_HOME/haversack`. Undefined without a home folder. */
  userState: string | undefined;
  /** The user's home folder; empty when the environment has none. */
  home: string;
}

/** Whether a session may make a store that is missing or older: for a project that somebody set up, never for any folder that hooks fire in. */
export function isSetUp({ state, store, config }: Pick<ProjectPaths, "state" | "store" | "config">): boolean {
  return [store, config, `${state}/wiring.json`].some((file) => existsSync(file));
}

export type Environment = Readonly<Record<string, string | undefined>>;

export function projectPaths(cwd: string, env: Environment): ProjectPaths {
  const { root, because } = findProjectRoot(cwd);
  const state = `${root === "/" ? "" : root}/${STATE_FOLDER}`;
  const user = userFolder(env);
  return {
    root,
    because,
    state,
    store: `${state}/haversack.db`,
    config: `${state}/config.json`,
    log: `${state}/log`,
    offMark: `${state}/off`,
    user,
    userConfig: `${user}/config.json`,
    userOffMark: `${user}/off`,
    userState: userStateFolder(env),
    home: env["HOME"] ?? "",
  };
}

export function userFolder(env: Environment): string {
  // No `join`: its first call takes a new process 0.4 ms.
  return `${env["XDG_CONFIG_HOME"] || `${env["HOME"] ?? ""}/.config`}/haversack`;
}

export interface LoadedConfig extends ReadConfig {
  /** Settings of the project that the user has not accepted. */
  ignored: IgnoredSetting[];
}

export interface ConfigOptions {
  /** Read the project's config as if the user had accepted all of it. Default: false. */
  isAllAccepted?: boolean;
}

/** Settings of the user and the project. Problems are returned, not thrown: `doctor` shows all of them. */
export function loadConfig(paths: ProjectPaths, { isAllAccepted = false }: ConfigOptions = {}): LoadedConfig {
  const files: ConfigFile[] = [];
  const ignored: IgnoredSetting[] = [];
  const unreadable: ReadConfig["problems"] = [];
  for (const file of [paths.userConfig, paths.config]) {
    const found = file === paths.config ? readProjectConfig(paths) : readBounded(file, MAX_CONFIG_BYTES);
    if (!found) continue;
    const read = found.text === undefined ? found : readJson(found.text);
    if (read.problem !== undefined) unreadable.push({ level: "error", file, path: "", text: read.problem });
    else if (file === paths.userConfig) files.push({ file, value: read.value });
    else {
      const accepted = isAllAccepted ? farReaching(read.value) : trustRecord(paths.state, paths.userState)?.settings;
      const trusted = trustedConfig(read.value, accepted);
      for (const path of userOnlyIn(read.value)) {
        unreadable.push({ level: "warning", file, path, text: ONLY_YOURS });
      }
      files.push({ file, value: trusted.value });
      ignored.push(...trusted.ignored);
    }
  }
  const result = readConfig(files);
  return { ...result, problems: [...unreadable, ...result.problems], ignored };
}

const ONLY_YOURS = "counts only in your own config, so it is ignored here (`haversack config set --user`)";

/** The text of the project's own config. It comes with the repository. */
export function readProjectConfig({ config, root }: Pick<ProjectPaths, "config" | "root">): TextRead {
  return readProjectText(config, { root, maxBytes: MAX_CONFIG_BYTES });
}

/**
 * Settings for use. A wrong value does not stop a command: it is named in one line with its file, and the value that is used instead. The
 * one exception is `store.retention_days`: while nobody knows what the user meant, nothing is removed by age.
 */
export function usableConfig(paths: ProjectPaths, warn: (line: string) => void, options: ConfigOptions = {}): Config {
  const { config, problems } = loadConfig(paths, options);
  for (const problem of problems) warn(describeProblem(problem, config));
  const isAgeUnknown = problems.some(({ level, path }) => level === "error" && (path === "" || path === RETENTION));
  return isAgeUnknown ? { ...config, [RETENTION]: 0 } : config;
}

const RETENTION = "store.retention_days";

/** One line: file, setting, what is wrong, and what is used instead. */
export function describeProblem({ level, file, path, text }: ConfigProblem, config: Config): string {
  const instead =
    level !== "error"
      ? ""
      : path === ""
        ? "; its settings are ignored"
        : path === RETENTION
          ? "; until it is corrected, nothing is removed by age"
          : `; ${JSON.stringify(config[path as keyof Config])} is used instead`;
  return `${file}: ${path ? `${path} ` : ""}${text}${instead}`;
}

/** Switched off by the user, for this process or everywhere: then nothing at all is shown. */
export function isOffForUser({ userOffMark }: Pick<ProjectPaths, "userOffMark">, env: Environment): boolean {
  return env["HAVERSACK"] === "0" || existsSync(userOffMark);
}

/** Where `haversack on` stores the time: in the project's local state or in the user's. */
export function onSinceFiles({ state, userState }: Pick<ProjectPaths, "state" | "userState">): {
  project: string;
  user: string | undefined;
} {
  return { project: `${state}/on-since`, user: userState && `${userState}/on-since` };
}

/** When it was last switched on again; "" if never. */
export function onSince(paths: Pick<ProjectPaths, "state" | "userState">): string {
  const { project, user } = onSinceFiles(paths);
  const times = [project, ...(user ? [user] : [])].map((file) => readBounded(file, 100)?.text?.trim() ?? "");
  return (
    times
      .filter((time) => /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(time))
      .sort()
      .at(-1) ?? ""
  );
}

/** Switched off by a file in the project. A link there does not count: `off` makes a regular file. */
export function isOffHere({ offMark }: Pick<ProjectPaths, "offMark">): boolean {
  return lstatSync(offMark, { throwIfNoEntry: false })?.isFile() ?? false;
}

/** Why everything is switched off, or undefined when it is on. */
export function offReason(paths: ProjectPaths, env: Environment): string | undefined {
  if (env["HAVERSACK"] === "0") return "HAVERSACK=0 is set";
  if (isOffHere(paths)) return "switched off for this project; `haversack on` switches it on";
  if (existsSync(paths.userOffMark)) return "switched off for you everywhere; `haversack on --user` switches it on";
  return undefined;
}

/**
 * Makes `.haversack/` with a .gitignore that excludes local state from git and includes the shared parts. Throws a fault if the folder may
 * not be made here unasked. `isAsked`: a person wants it here.
 */
export function ensureStateFolder(paths: ProjectPaths, { isAsked = false }: { isAsked?: boolean } = {}): void {
  const ignore = join(paths.state, ".gitignore");
  if (existsSync(ignore)) return;
  if (lstatSync(paths.state, { throwIfNoEntry: false })?.isFile()) {
    throw new HaversackError("refused", `${paths.state} is a file, and Haversack needs a folder there`, {
      hint: "move the file away",
    });
  }
  if (!isAsked) requireProject(paths);
  try {
    makeFolder(paths.state, { within: paths.root, mode: 0o700 });
    // If several processes start at once, one writes it.
    putNewFile(ignore, SHARED_PARTS, { within: paths.root });
  } catch (error) {
    const code = errnoOf(error);
    if (code === "EEXIST") return;
    // A link is in its place.
    if (code === "") throw error;
    throw new HaversackError("store-read-only", `${paths.state}: cannot be written (${code})`, {
      hint: "give yourself write access to the project's folder, or run from another project",
      cause: error,
    });
  }
}

const SHARED_PARTS = `# Local state stays out of git; these parts are meant to be shared.
*
!.gitignore
!config.json
!artifacts.json
!skills/
!skills/**
!templates/
!templates/**
`;

// `.haversack/` may be made automatically only at the top of a git repository. Anywhere else a person must run
// `haversack init`: a folder made by a command in the wrong place would apply to everything below it.

export interface NoProject {
  why: string;
  /** How to make one, as a sentence. */
  remedy: string;
}

/** Undefined: `.haversack/` exists or may be made. */
export function noProject(paths: ProjectPaths): NoProject | undefined {
  const { root, because, state } = paths;
  if (existsSync(state)) return undefined;
  const special = notAProject(paths);
  if (special) {
    return { why: `${root} is ${special}, not a project`, remedy: "go to a project's folder" };
  }
  if (because !== "working-folder") return undefined;
  return {
    why: `there is no project in ${root}: no git repository and no .haversack/`,
    remedy: "`haversack init` makes one here, with --bare without a client",
  };
}

/** Call this before storing anything. */
export function requireProject(paths: ProjectPaths): void {
  const found = noProject(paths);
  if (found) throw new HaversackError("no-project", found.why, { hint: found.remedy });
}

/** A folder that would capture everything below it that is not its own repository. */
export function notAProject({ root, home }: ProjectPaths): "your home folder" | "the root of the disk" | undefined {
  if (dirname(root) === root) return "the root of the disk";
  const isHome = home !== "" && (root === home || (existsSync(home) && root === realpathSync(home)));
  return isHome ? "your home folder" : undefined;
}

/** What the settings say about recommending skills. */
export function discoverSettings(config: Config): DiscoverSettings {
  return {
    maxSkills: config["skills.max_skills"],
    recommendThreshold: config["skills.recommend_threshold"],
    autoLoadThreshold: config["skills.auto_load_threshold"],
    autoLoad: config["skills.auto_load"],
    enforce: config["skills.enforce"],
    idleMinutes: config["skills.idle_minutes"],
    isLearning: config["skills.learn"],
    forgetAfterPrompts: config["skills.forget_after_prompts"],
  };
}

/** How much of the kept outputs the settings allow. */
export function outputLimits(config: Config): OutputLimits {
  return { keepDays: config["outputs.keep_days"], maxBytes: config["outputs.max_mb"] * 1_000_000 };
}
