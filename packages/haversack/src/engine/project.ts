/**
 * The project a command works in: its root, its paths, its settings, and whether Haversack is switched on.
 * Commands ask for the store through it, so that nothing is opened that is not used.
 */
import { existsSync, lstatSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { type ConfigFile, type ReadConfig, readConfig } from "../base/config.ts";
import type { Config } from "../base/config-schema.ts";
import { type IgnoredSetting, trustedConfig } from "../base/config-trust.ts";
import { HaversackError } from "../base/errors.ts";
import { readJson } from "../base/json.ts";
import { findProjectRoot, type ProjectRoot, STATE_FOLDER } from "../base/project-root.ts";
import { trustRecord, userStateFolder } from "../base/project-trust.ts";
import { MAX_CONFIG_BYTES, readBounded, readProjectText, type TextRead } from "../base/read-text.ts";
import { errnoOf, makeFolder, putNewFile } from "../base/safe-write.ts";

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
  return join(env["XDG_CONFIG_HOME"] || join(env["HOME"] ?? "", ".config"), "haversack");
}

export interface LoadedConfig extends ReadConfig {
  /** Settings of the project that the user has not accepted. */
  ignored: IgnoredSetting[];
}

/** Settings of the user and the project. Problems are returned, not thrown: `doctor` shows all of them. */
export function loadConfig(paths: ProjectPaths): LoadedConfig {
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
      const trusted = trustedConfig(read.value, trustRecord(paths.state, paths.userState)?.settings);
      files.push({ file, value: trusted.value });
      ignored.push(...trusted.ignored);
    }
  }
  const result = readConfig(files);
  return { ...result, problems: [...unreadable, ...result.problems], ignored };
}

/** The text of the project's own config. It comes with the repository. */
export function readProjectConfig({ config, root }: Pick<ProjectPaths, "config" | "root">): TextRead {
  return readProjectText(config, { root, maxBytes: MAX_CONFIG_BYTES });
}

/** Settings, or the first wrong one as a fault. */
export function requireConfig(paths: ProjectPaths, warn: (line: string) => void): Config {
  const { config, problems } = loadConfig(paths);
  for (const { level, file, path, text } of problems) {
    const line = `${file}: ${path ? `${path} ` : ""}${text}`;
    if (level === "error")
      throw new HaversackError("config-invalid", line, { hint: "`haversack config` lists every setting" });
    warn(line);
  }
  return config;
}

/** By the user, for this process or everywhere: nothing at all is shown then. */
export function isOffForUser({ userOffMark }: Pick<ProjectPaths, "userOffMark">, env: Environment): boolean {
  return env["HAVERSACK"] === "0" || existsSync(userOffMark);
}

/** Where `haversack on` leaves the time: in the project's local state, or in the user's. */
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

/** By a file in the project. A link there is not ours: `off` makes a file. */
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
 * Makes `.haversack/` with a .gitignore that keeps local state out of git and lets the shared parts in. Where it may not be made
 * unasked, that is a fault; `isAsked`: a person wants it here.
 */
export function ensureStateFolder(paths: ProjectPaths, { isAsked = false }: { isAsked?: boolean } = {}): void {
  const ignore = join(paths.state, ".gitignore");
  if (existsSync(ignore)) return;
  if (!isAsked) requireProject(paths);
  try {
    makeFolder(paths.state, { within: paths.root, mode: 0o700 });
    // Of several processes that start at once, one writes it.
    putNewFile(ignore, SHARED_PARTS, { within: paths.root });
  } catch (error) {
    const code = errnoOf(error);
    if (code === "EEXIST") return;
    // A link in its place.
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

// Where `.haversack/` may be made without being asked for: at the top of a git repository. In any other folder a
// person says so with `haversack init`: a folder made by a command that was called in the wrong place is found by
// everything below it from then on.

export interface NoProject {
  why: string;
  /** What makes one, as a sentence. */
  remedy: string;
}

/** Undefined: `.haversack/` is there, or may be made. */
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

/** Before anything is stored. */
export function requireProject(paths: ProjectPaths): void {
  const found = noProject(paths);
  if (found) throw new HaversackError("no-project", found.why, { hint: found.remedy });
}

/** A folder that would take in everything below it that is no repository of its own. */
export function notAProject({ root, home }: ProjectPaths): "your home folder" | "the root of the disk" | undefined {
  if (dirname(root) === root) return "the root of the disk";
  const isHome = home !== "" && (root === home || (existsSync(home) && root === realpathSync(home)));
  return isHome ? "your home folder" : undefined;
}
