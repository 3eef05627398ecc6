/**
 * The only way to open a project: its folder, its settings, and its store with the requested access. Opens no store that this user neither
 * made nor accepted. Records a new store as this user's own. Hooks check the same record in store/sqlite/access.ts.
 */

import { existsSync, statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import type { Config } from "../base/config-schema.ts";
import { HaversackError } from "../base/errors.ts";
import { removeOldLogs } from "../base/log.ts";
import { trackedInIndex } from "../base/project-root.ts";
import {
  checkTrust,
  type Distrust,
  explainDistrust,
  LOG_NAMES,
  makeRecordedStore,
  recordTrust,
} from "../base/project-trust.ts";
import { isWritable } from "../base/safe-write.ts";
import { readStore, type StoreHandle, writeStore } from "../store/sqlite/access.ts";
import { guardStore, whyNotWritable } from "../store/sqlite/connect.ts";
import { retireSessions } from "../store/sqlite/maintenance/purge.ts";
import { readMeta, writeMeta } from "../store/sqlite/meta.ts";
import { openDatabase, openMemoryStore, openToAnswer, openToRead } from "../store/sqlite/open.ts";
import { SqliteOutputs } from "../store/sqlite/outputs/sqlite-outputs.ts";
import { readInSpool } from "../store/sqlite/spool/take-in.ts";
import type { OutputLimits } from "../work/outputs/kept-output.ts";
import { purgeSnapshots } from "./artifacts/git-snapshot.ts";
import {
  type Environment,
  ensureStateFolder,
  loadConfig,
  noProject,
  type ProjectPaths,
  projectPaths,
  usableConfig,
} from "./project.ts";

/** A project and its settings, with nothing opened. */
export interface Project {
  cwd: string;
  env: Environment;
  paths: ProjectPaths;
  /** Read on first use. Wrong values are reported, and defaults used instead. */
  readonly config: Config;
}

/** The caller closes it; a process that ends need not. */
export interface OpenProject extends Project {
  handle: StoreHandle;
  /** There is no store on disk: this one is in memory and lost with the process. */
  isMemory: boolean;
  close(): void;
}

/**
 * - `save`: makes a missing store.
 * - `look`: opens an empty store in memory if there is none, and a store that cannot be written for reading only.
 * - `answer`: for callers that answer and record it. Makes a missing store in a repository, otherwise in memory. Failed records are dropped.
 * - `serve`: like `look`, but makes a missing store if `.haversack/` exists.
 */
export type Access = "save" | "look" | "answer" | "serve";

export interface OpenProjectOptions {
  access: Access;
  /** full: the caller is told that the data is saved. Default: normal. */
  durability?: "full" | "normal";
  /** How long to wait for other processes, in milliseconds. Default: 15,000. */
  busyMs?: number;
  /** Receives the reason if something is not stored. */
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
      return (config ??= usableConfig(paths, warn));
    },
  };
}

/** For a command that would do harm with a wrong setting, such as starting sessions without the user's limits. */
export function requireSettings({ cwd, env }: Pick<Project, "cwd" | "env">, isNeeded: (key: string) => boolean): void {
  const { problems } = loadConfig(projectPaths(cwd, env));
  const wrong = problems.find(({ level, path }) => level === "error" && (path === "" || isNeeded(path)));
  if (!wrong) return;
  const { file, path, text } = wrong;
  throw new HaversackError("config-invalid", `${file}: ${path ? `${path} ` : ""}${text}`, {
    hint: "correct it first: this command relies on it (`haversack config` lists every setting)",
  });
}

/** For the CLI, the MCP server and the library. Events use keptOpen, which must not make or upgrade a store. */
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
  const missing = access === "save" ? undefined : noProject(paths);
  const makes = access === "save" || (access === "answer" && !missing);
  if (!makes) requireTrust(paths);
  if (!makes && (access === "serve" ? !existsSync(paths.state) : isMissing(paths))) {
    if (missing) note(`${missing.why} (${missing.remedy})`);
    return openMemoryStore();
  }
  prepare(paths);
  if (access === "save") return openDatabase(paths.store, how);
  if (makes) return openToAnswer(paths.store, { ...how, warn: (text) => note(`not recorded: ${text}`) });
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
    // No permission to look: opening it reports the problem.
    return false;
  }
}

/**
 * A project for a long-lived process, with one connection for everything. Opens nothing before it is needed. Every call uses the store that
 * is on disk at that time: it may have been restored, deleted or made since the last call.
 */
export class KeptProject {
  readonly #at: Pick<Project, "cwd" | "env">;
  readonly #mustStay: boolean;
  /** A store on disk was used. */
  #wasThere = false;
  #open: { handle: StoreHandle; place: string } | undefined;
  #users = 0;
  #left: StoreHandle[] = [];

  /** `mustStay`: a store that was there and is gone is a fault, for views that would show an empty project instead. */
  constructor({ cwd, env, mustStay = false }: Pick<Project, "cwd" | "env"> & { mustStay?: boolean }) {
    this.#at = { cwd, env };
    this.#mustStay = mustStay;
  }

  /** Opens nothing. */
  get found(): Project {
    return findProject(this.#at);
  }

  /** Also reads in the spool. `busyMs`: how long this caller waits for other processes. */
  current({ busyMs, isRetry = true }: { busyMs: number; isRetry?: boolean }): OpenProject {
    const found = findProject(this.#at);
    const place = placeOf(found.paths);
    if (this.#mustStay) this.#requireStore(found.paths);
    // A store that was read-only may be writable by now.
    if (this.#open && (this.#open.place !== place || (this.#open.handle.isReadOnly && isRetry))) this.close();
    if (this.#open) {
      const { handle } = this.#open;
      handle.db.exec(`PRAGMA busy_timeout = ${busyMs}`);
      readInSpool(handle);
      // With the current settings.
      return withStore(found, handle);
    }
    // full: agents are told that it is saved.
    const opened = openProject(found, { access: "serve", durability: "full", busyMs });
    // Determine the place after opening, which may have made the file.
    this.#open = { handle: opened.handle, place: placeOf(found.paths) };
    return opened;
  }

  #requireStore({ store }: ProjectPaths): void {
    const isThere = existsSync(store);
    if (this.#wasThere && !isThere) {
      this.close();
      const hint = "put it back, or restart this program to begin with an empty store";
      throw new HaversackError("store-unreadable", `${store} is gone: it was moved or deleted`, { hint });
    }
    this.#wasThere = isThere;
  }

  /** Keeps the store open while an action runs, even if the project is closed meanwhile. */
  async use<T>(action: () => Promise<T>): Promise<T> {
    this.#users++;
    try {
      return await action();
    } finally {
      this.#users--;
      this.#closeLeft();
    }
  }

  /** The next call opens it again. */
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

/** The file's path and inode. The path alone does not show that a file was replaced. */
function placeOf({ state, store, root }: ProjectPaths): string {
  if (statSync(state, { throwIfNoEntry: false }) === undefined) return `memory for ${root}`;
  return `${store}#${statSync(store, { throwIfNoEntry: false })?.ino ?? "none"}`;
}

/** Throws a fault if the project's local state is not this user's own. */
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

/** File modes say nothing if the file system has none or the umask was 077. So ask git about the files beside the store. */
function trackedBeside(paths: ProjectPaths): { because: Distrust; files: string[] } | undefined {
  const tracked = trackedInIndex(
    paths.root,
    LOG_NAMES.filter((name) => existsSync(`${paths.state}/${name}`)),
  );
  return tracked.length > 0 ? { because: "other-log", files: tracked } : undefined;
}

/** Makes an empty store if there is none, recorded as this user's own. */
export function prepare(paths: ProjectPaths): void {
  requireTrust(paths);
  if (checkTrust(paths.state, paths.userState).kind === "trusted") {
    // A read-only folder cannot take a .gitignore, and does not need one.
    if (isWritable(paths.state)) ensureStateFolder(paths);
    return;
  }
  ensureStateFolder(paths);
  record(paths, () => makeRecordedStore(paths.state, paths.userState, new Date()));
}

/** Records the existing store as this user's own. For callers that have just made it. */
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

// Local state expires after `store.retention_days`: sessions, their ledger, notes of hooks, snapshots and the log.
// Commands and the MCP server clean up at most once a day, a bounded part each time; hooks never do. Work is never
// touched.

export interface RetireOptions {
  paths: Pick<ProjectPaths, "state" | "log">;
  /** The setting `store.retention_days`. 0: keep everything. */
  days: number;
  /** How much of the kept tool outputs may stay. Absent: they are left alone. */
  outputs?: OutputLimits;
  now: Date;
}

const DAY_MS = 86_400_000;
const RETIRED_AT = "retired_at";

/** Returns whether it ran. After a fault, such as a lock held by another process, the next process tries again. */
export function retireOldState(handle: StoreHandle, { paths, days, outputs, now }: RetireOptions): boolean {
  try {
    if (days <= 0 || handle.isReadOnly || handle.file === ":memory:") return false;
    const isDue = (db: DatabaseSync) =>
      // A mark in the future comes from a wrong clock.
      !(Math.abs(now.getTime() - Date.parse(readMeta(db, RETIRED_AT) ?? "")) < DAY_MS);
    if (!readStore(handle, isDue)) return false;
    const olderThan = new Date(now.getTime() - days * DAY_MS);
    const isOurs = writeStore(handle, (db) => {
      // Another process may have been faster.
      if (!isDue(db)) return false;
      writeMeta(db, RETIRED_AT, now.toISOString());
      retireSessions(db, { olderThan });
      return true;
    });
    if (!isOurs) return false;
    purgeSnapshots(paths.state, { olderThan, dryRun: false });
    removeOldLogs(paths.log, { olderThan, now });
    if (outputs) new SqliteOutputs(handle).retire(outputs, now);
    return true;
  } catch {
    // Nobody asked for this cleanup, so the command continues without it.
    return false;
  }
}
