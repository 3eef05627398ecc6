/**
 * The one way into a project: its folder, its settings, and its store with the access that is asked for. A store that this user neither
 * made nor accepted is not opened; one that is made here is recorded as this user's own. Hooks check the same record in open-for-hook.ts.
 */
import { accessSync, constants, existsSync, statSync } from "node:fs";
import type { Config } from "../base/config-schema.ts";
import { HaversackError } from "../base/errors.ts";
import { trackedInIndex } from "../base/git-place.ts";
import { removeOldLogs } from "../base/log.ts";
import { checkTrust, type Distrust, explainDistrust, makeRecordedStore, recordTrust } from "../base/project-trust.ts";
import { guardStore, whyNotWritable } from "../store/sqlite/faults.ts";
import type { StoreHandle } from "../store/sqlite/handle.ts";
import { isRetirementDue, retireSessions } from "../store/sqlite/maintenance/purge.ts";
import { openDatabase, openMemoryStore, openToAnswer, openToRead } from "../store/sqlite/open.ts";
import { readInSpool } from "../store/sqlite/spool/take-in.ts";
import { purgeSnapshots } from "./artifacts/purge-snapshots.ts";
import {
  type Environment,
  ensureStateFolder,
  noProject,
  type ProjectPaths,
  projectPaths,
  requireConfig,
} from "./project.ts";
import { LOGS } from "./tracked-state.ts";

/** A project and its settings. Nothing is opened. */
export interface Project {
  cwd: string;
  env: Environment;
  paths: ProjectPaths;
  /** Read when it is first asked for. A fault when a setting is wrong. */
  readonly config: Config;
}

/** Whoever opened it closes it; a process that ends need not. */
export interface OpenProject extends Project {
  handle: StoreHandle;
  /** There is no store: this one is in memory and forgotten with the process. */
  isMemory: boolean;
  close(): void;
}

/**
 * - `save`: made where there is none.
 * - `look`: where there is none, an empty one in memory; where it cannot be written, it is opened for reading.
 * - `answer`: for what answers and also notes what it answered. Made in a repository, else in memory. What cannot be noted is forgotten.
 * - `serve`: as `look`, but where there is `.haversack/`, the store is made.
 */
export type Access = "save" | "look" | "answer" | "serve";

export interface OpenProjectOptions {
  access: Access;
  /** full: whoever asked is told that it is saved. Default: normal. */
  durability?: "full" | "normal";
  /** How long to wait for other processes, in milliseconds. Default: 15,000. */
  busyMs?: number;
  /** Hears why something is not kept. */
  note?(text: string): void;
}

export function findProject(
  { cwd, env }: Pick<Project, "cwd" | "env">,
  warn: (line: string) => void = () => undefined,
): Project {
  const paths = projectPaths(cwd, env);
  let config: Config | undefined;
  return {
    cwd,
    env,
    paths,
    get config() {
      return (config ??= requireConfig(paths, warn));
    },
  };
}

/** The one way in, for the CLI, the MCP server and the library; events have keptOpen, which must not make or upgrade a store. */
export function openProject(project: Project, options: OpenProjectOptions): OpenProject {
  return withStore(project, openStore(project.paths, options));
}

function withStore(project: Project, handle: StoreHandle): OpenProject {
  const { cwd, env, paths } = project;
  return {
    cwd,
    env,
    paths,
    get config() {
      return project.config;
    },
    handle,
    isMemory: handle.file === ":memory:",
    close: () => handle.db.close(),
  };
}

function openStore(paths: ProjectPaths, options: OpenProjectOptions): StoreHandle {
  const { access, durability = "normal", busyMs, note = () => undefined } = options;
  const how = { durability, ...(busyMs !== undefined && { busyMs }) };
  if (access === "save") {
    prepare(paths);
    return openDatabase(paths.store, how);
  }
  const missing = noProject(paths);
  if (access === "answer" && !missing) {
    prepare(paths);
    return openToAnswer(paths.store, { ...how, warn: (text) => note(`not recorded: ${text}`) });
  }
  requireTrust(paths);
  if (access === "serve" ? !existsSync(paths.state) : isMissing(paths)) {
    if (missing) note(`${missing.why} (${missing.remedy})`);
    return openMemoryStore();
  }
  prepare(paths);
  const handle = openToRead(paths.store, how);
  if (handle.isReadOnly) note(`${paths.store} can only be read here; commands that save will fail`);
  return handle;
}

function isMissing({ state, store }: ProjectPaths): boolean {
  try {
    const folder = statSync(state, { throwIfNoEntry: false });
    if (folder && !folder.isDirectory()) return false;
    return statSync(store, { throwIfNoEntry: false }) === undefined;
  } catch {
    // Not ours to see: opening it says what is wrong.
    return false;
  }
}

/**
 * A project for a process that stays, with one connection for all that it does. Nothing is opened before it is asked for, and at every
 * question the store is the one that lies there now: it may have been restored, deleted or made meanwhile.
 */
export class KeptProject {
  readonly #at: Pick<Project, "cwd" | "env">;
  #open: { handle: StoreHandle; place: string } | undefined;
  #users = 0;
  #left: StoreHandle[] = [];

  constructor({ cwd, env }: Pick<Project, "cwd" | "env">) {
    this.#at = { cwd, env };
  }

  /** With what waits in the spool. `busyMs`: how long this caller waits for other processes. */
  current({ busyMs, isRetry = true }: { busyMs: number; isRetry?: boolean }): OpenProject {
    const found = findProject(this.#at);
    const place = placeOf(found.paths);
    // One that could only be read may be writable by now.
    if (this.#open && (this.#open.place !== place || (this.#open.handle.isReadOnly && isRetry))) this.close();
    if (this.#open) {
      const { handle } = this.#open;
      handle.db.exec(`PRAGMA busy_timeout = ${busyMs}`);
      readInSpool(handle);
      // With the settings as they are now.
      return withStore(found, handle);
    }
    // full: agents are told that it is saved.
    const opened = openProject(found, { access: "serve", durability: "full", busyMs });
    // The place after opening: that may have made the file.
    this.#open = { handle: opened.handle, place: placeOf(found.paths) };
    return opened;
  }

  /** While an action runs, its store stays open, whoever closes the project meanwhile. */
  async use<T>(action: () => Promise<T>): Promise<T> {
    this.#users++;
    try {
      return await action();
    } finally {
      this.#users--;
      this.#closeLeft();
    }
  }

  /** The next question opens it anew. */
  close(): void {
    if (this.#open) this.#left.push(this.#open.handle);
    this.#open = undefined;
    this.#closeLeft();
  }

  #closeLeft(): void {
    if (this.#users > 0) return;
    for (const { db } of this.#left) db.close();
    this.#left = [];
  }
}

/** The file and what tells it from another of the same name. */
function placeOf({ state, store, root }: ProjectPaths): string {
  if (statSync(state, { throwIfNoEntry: false }) === undefined) return `memory for ${root}`;
  return `${store}#${statSync(store, { throwIfNoEntry: false })?.ino ?? "none"}`;
}

/** A fault when the project's local state is not this user's own. */
export function requireTrust(paths: ProjectPaths): void {
  const found = distrust(paths);
  if (found) throw new HaversackError("store-untrusted", found.why, { hint: found.hint });
}

/** Why the project's local state is not used, for messages. Undefined: it is this user's own, or there is none. */
export function distrust(
  paths: ProjectPaths,
): { because: Distrust; files: readonly string[]; why: string; hint: string } | undefined {
  const trust = guardStore(paths.store, () => checkTrust(paths.state, paths.userState));
  if (trust.kind === "no-store") return undefined;
  const found = trust.kind === "untrusted" ? trust : trackedBeside(paths);
  if (!found) return undefined;
  const { why, next } = explainDistrust(found, paths.state);
  return { because: found.because, files: found.files ?? [], why, hint: next };
}

/** Modes do not tell where the file system has none, or the umask was 077: git is asked about the files beside the store. */
function trackedBeside(paths: ProjectPaths): { because: Distrust; files: string[] } | undefined {
  const tracked = trackedInIndex(
    paths.root,
    LOGS.filter((name) => existsSync(`${paths.state}/${name}`)),
  );
  return tracked.length > 0 ? { because: "other-log", files: tracked } : undefined;
}

/** Makes an empty store where there is none, recorded as this user's own. */
export function prepare(paths: ProjectPaths): void {
  requireTrust(paths);
  if (checkTrust(paths.state, paths.userState).kind === "trusted") {
    // A folder that cannot be written has no room for its .gitignore either, and needs none.
    if (isWritable(paths.state)) ensureStateFolder(paths);
    return;
  }
  ensureStateFolder(paths);
  record(paths, () => makeRecordedStore(paths.state, paths.userState, new Date()));
}

/** Records the store that is there as this user's own: for whoever has just made it. */
export function recordStore(paths: ProjectPaths): void {
  record(paths, () => recordTrust(paths.state, paths.userState, { at: new Date() }));
}

function record(paths: ProjectPaths, write: () => boolean): void {
  let isRecorded: boolean;
  try {
    isRecorded = write();
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException;
    if (path?.startsWith(paths.state)) {
      throw whyNotWritable(paths.store) ?? new HaversackError("store-read-only", `${paths.store}: ${code}`);
    }
    throw new HaversackError("file-unwritable", `${paths.userState}: cannot be written (${code})`, {
      hint: "your record of trusted projects is kept there; XDG_STATE_HOME names another folder",
      cause: error,
    });
  }
  const { why, next } = explainDistrust({ because: "no-home" }, paths.state);
  if (!isRecorded) throw new HaversackError("store-untrusted", why, { hint: next });
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

// Local state has an end: sessions, their ledger and what hooks noted, snapshots and the log go after
// `store.retentionDays`. Commands and the MCP server do it in passing, at most once a day and a bounded part each
// time; hooks never do. Work is not touched.

export interface RetireOptions {
  paths: Pick<ProjectPaths, "state" | "log">;
  /** The setting `store.retentionDays`. 0: nothing goes. */
  days: number;
  now: Date;
}

const DAY_MS = 86_400_000;

/** Whether it was done. A fault, such as a lock that another process holds, leaves it to the next one. */
export function retireOldState(handle: StoreHandle, { paths, days, now }: RetireOptions): boolean {
  try {
    if (days <= 0 || handle.isReadOnly || handle.file === ":memory:" || !isRetirementDue(handle, now)) return false;
    const olderThan = new Date(now.getTime() - days * DAY_MS);
    if (!retireSessions(handle, { olderThan, now })) return false;
    purgeSnapshots(paths.state, { olderThan, dryRun: false });
    removeOldLogs(paths.log, { olderThan, now });
    return true;
  } catch {
    // Nobody asked for this: the command goes on with what it was called for.
    return false;
  }
}
