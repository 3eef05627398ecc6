/**
 * The project that an event belongs to: its folder, settings and store, the client's process, and what the process that handles the
 * event can do.
 */

import { readFileSync, statSync } from "node:fs";
import type { Config } from "../../base/config-schema.ts";
import { errorText, HaversackError } from "../../base/errors.ts";
import { appendLog } from "../../base/log.ts";
import { processSpace } from "../../base/process-space.ts";
import { findProjectRoot } from "../../base/project-root.ts";
import { checkTrust } from "../../base/project-trust.ts";
import { sizeFor } from "../../skills/showing/activation.ts";
import { hasSpool, openForHook, type StoreHandle } from "../../store/sqlite/access.ts";
import { isLockFault } from "../../store/sqlite/connect.ts";
import { SessionState } from "../../store/sqlite/sessions/session-state.ts";
import { type ClientProcess, SqliteLocalStore } from "../../store/sqlite/sessions/sqlite-local-store.ts";
import { SkillRows } from "../../store/sqlite/skills/skill-index.ts";
import { SkillLedger } from "../../store/sqlite/skills/skill-ledger.ts";
import { connectToRead, openBlind, standInAfter } from "../../store/sqlite/spool/stand-in.ts";
import { takeInOrStandIn } from "../../store/sqlite/spool/take-in.ts";
import { SessionTasks } from "../../store/sqlite/work/events/session-tasks.ts";
import { type Environment, loadConfig, onSince, type ProjectPaths } from "../project.ts";
import { readForPacket, type WakeParts } from "../wake/gather-wake.ts";
import { makePacket } from "../wake/make-packet.ts";
import { workSettings } from "../work/work-parts.ts";
import type { EventBase } from "./client-event.ts";

export interface EventProject {
  root: string;
  /** `.haversack/` */
  state: string;
  /** Where this user's trust records are. */
  userState: string | undefined;
  env: Environment;
  handle: StoreHandle;
  now: Date;
  /** Throws if the config cannot be read. */
  config(): Config;
  /** The folder that corresponds to the root in the linked worktree of `cwd`. */
  worktree(cwd: string): string | undefined;
  sessions(): SqliteLocalStore;
  /** The client's process; undefined: not known. */
  process(): ClientProcess | undefined;
  isAlive(processId: number, start?: number | null): boolean;
  /** The command that starts our CLI, without arguments; empty: not known. */
  cli: readonly string[];
  log(level: "warn" | "error", text: string): void;
  /** When Haversack was last switched on again, here or for the user; "" if never. Earlier events are not recorded. */
  onSince(): string;
  /** A server receives the events and may miss some, so reported calls are marked as seen. Default: false. */
  isServer?: boolean;
  /** Similarity of skills to the prompt of this event, by id, from the user's embedding endpoint. */
  judged?: ReadonlyMap<string, number> | undefined;
  /** A trial run before the first event, which is rolled back. Default: false. */
  isRehearsal?: boolean;
}

/** The differences between a process for one event and a long-lived one. */
type EventHost = Pick<EventProject, "env" | "process" | "cli" | "isServer" | "judged"> & {
  /** The writer's name in the log. */
  part: string;
};

export function eventProject(
  paths: ProjectPaths,
  handle: StoreHandle,
  { env, process, cli, part, isServer = false, judged }: EventHost,
  now = new Date(),
): EventProject {
  let config: Config | undefined;
  return {
    root: paths.root,
    state: paths.state,
    userState: paths.userState,
    env,
    handle,
    now,
    config: () => (config ??= readableConfig(paths)),
    worktree: (cwd) => findProjectRoot(cwd).worktree,
    sessions: () => new SqliteLocalStore(handle),
    process,
    isAlive,
    onSince: () => onSince(paths),
    cli,
    isServer,
    judged,
    log: (level, text) => logLine(paths, { level, text, part, at: now }),
  };
}

/** An invalid value counts as absent; the CLI reports it. Invalid JSON is logged. */
function readableConfig(paths: ProjectPaths): Config {
  const { config, problems } = loadConfig(paths);
  const unreadable = problems.find(({ level, path }) => level === "error" && path === "");
  if (unreadable) throw new HaversackError("config-invalid", `${unreadable.file}: ${unreadable.text}`);
  return config;
}

/** Writes nothing into a folder that came with a clone. */
export function logLine(
  paths: Pick<ProjectPaths, "state" | "log" | "userState">,
  { at = new Date(), ...line }: { level: "warn" | "error"; text: string; part: string; at?: Date },
): void {
  if (checkTrust(paths.state, paths.userState).kind === "untrusted") return;
  appendLog(paths.log, { at, ...line });
}

export function logFault(paths: ProjectPaths, part: string, fault: unknown): void {
  logLine(paths, { level: "error", part, text: errorText(fault) });
}

/**
 * Starts the CLI, detached, to rebuild a stale index, create a missing store or upgrade an old one while the session continues.
 * Nothing else here starts a process.
 */
export function startIndexing({
  root,
  env,
  cli: [program, ...args],
}: Pick<EventProject, "root" | "env" | "cli">): void {
  // `doctor` sends a test event, and no process should outlive it.
  if (!program || env["HAVERSACK_DOCTOR"]) return;
  // Loaded here, because it takes a new process 4 ms and few events need it.
  const { spawn } = process.getBuiltinModule("node:child_process");
  const child = spawn(program, [...args, "skill", "index", "--changed"], {
    cwd: root,
    detached: true,
    stdio: "ignore",
  });
  // The installation is gone. The next command checks the index too.
  child.on("error", () => undefined).unref();
}

export function leaseMs({ config }: EventProject): number {
  return workSettings(config()).leaseMs;
}

export interface EventStores {
  index: SkillRows;
  ledger: SkillLedger;
  state: SessionState;
  tasks: SessionTasks;
}

export function storesOf(handle: StoreHandle): EventStores {
  return {
    index: new SkillRows(handle.db),
    ledger: new SkillLedger(handle),
    state: new SessionState(handle),
    tasks: new SessionTasks(handle),
  };
}

export function wakeParts({
  handle,
  root,
  config,
  now,
  userState,
}: EventProject): WakeParts & { makePacket: typeof makePacket } {
  return {
    handle,
    index: new SkillRows(handle.db),
    root,
    settings: config(),
    readText: (path) => readForPacket(root, path, userState),
    now,
    makePacket,
  };
}

export interface KeptOpenOptions {
  /** How long to wait for other processes, in milliseconds. After that the event goes into the spool. */
  busyMs: number;
  /** Where this user's trust records are. */
  userState: string | undefined;
  warn?(text: string): void;
  /** The process answers one event and exits without closing. Default: false. */
  isForOne?: boolean;
}

/**
 * A project's store for events: opened at the first event; the spool is read in before each. A long-lived process keeps it open,
 * and reopens it when the file was replaced or its tables changed (on Bun, a prepared statement returns the columns that the table
 * had when it was prepared).
 *
 * Undefined when there is no store, or none that this version may use. `sessionId`: the session of the event.
 */
export function keptOpen(
  file: string,
  { busyMs, userState, warn = () => undefined, isForOne = false }: KeptOpenOptions,
): (sessionId?: string) => StoreHandle | undefined {
  let kept: { handle: StoreHandle; inode: number | undefined; log: number | undefined; schema: unknown } | undefined;
  const inodeOf = (path: string) => (isForOne ? undefined : statSync(path, { throwIfNoEntry: false })?.ino);
  // While the store is open, only git or a copy replaces the file. Reopening checks again whether it is trusted.
  const isSameLog = () => kept?.log === undefined || kept.log === inodeOf(`${file}-wal`);
  const open = (sessionId: string): StoreHandle | undefined => {
    const inode = inodeOf(file);
    // A handle that could not write has temporary copies of the tables, so the next event opens a new one.
    const isSame =
      kept && !kept.handle.standIn && kept.inode === inode && isSameLog() && kept.schema === schemaOf(kept.handle);
    if (!isSame) {
      const last = kept?.handle.db;
      kept = undefined;
      last?.close();
      const handle = openOrRead(file, { busyMs, userState });
      if (!handle || (!isForOne && inode === undefined)) return undefined;
      // A hook leaves the WAL to the next process; a long-lived process has to shorten it itself. It also limits its cache.
      if (!isForOne) handle.db.exec("PRAGMA wal_autocheckpoint = 1000; PRAGMA cache_size = -1000");
      kept = { handle, inode, log: inodeOf(`${file}-wal`), schema: isForOne ? undefined : schemaOf(handle) };
    }
    const handle = kept?.handle;
    if (!handle) return undefined;
    handle.standInFor = (error) => standInAfter(error, handle, { sessionId, warn });
    if (hasSpool(file)) takeInOrStandIn(handle, { sessionId, warn });
    return handle;
  };
  return (sessionId = "") => {
    try {
      return open(sessionId);
    } catch (error) {
      if (!isLockFault(error)) {
        // A failed connection may keep failing, so the next event opens a new one.
        const last = kept?.handle.db;
        kept = undefined;
        try {
          last?.close();
        } catch {
          // It was closed already. The first fault is reported.
        }
        throw error;
      }
      return openBlind(file, { sessionId, warn });
    }
  };
}

/** If the store cannot be written, opens it for reading: see spool/stand-in.ts. */
function openOrRead(file: string, options: { busyMs: number; userState: string | undefined }): StoreHandle | undefined {
  try {
    return openForHook(file, options);
  } catch (error) {
    if (isLockFault(error)) throw error;
    return openForHook(file, { ...options, readable: connectToRead(error, file) });
  }
}

/** A number that SQLite increments with every schema change. */
function schemaOf({ db }: StoreHandle): unknown {
  return db.prepare("PRAGMA schema_version").get()?.["schema_version"];
}

/**
 * Claude Code's process ID, from the environment of its hooks (2.1.325 gives the client's process, not the shell around the hook).
 * For versions that do not set it, the process is found by name: others above the hook may end long before the session.
 */
export function claudeProcess(env: Readonly<Record<string, string | undefined>>): ClientProcess | undefined {
  return clientProcess(Number(env["CLAUDE_PID"])) ?? parentProcess(/^claude/);
}

/** The parent of this process, skipping a shell that the client may have started it with. */
export function parentProcess(name?: RegExp): ClientProcess | undefined {
  const parent = readStat(process.ppid);
  const id = parent && SHELL.test(parent.name) ? parent.parent : process.ppid;
  return !name || name.test(readStat(id)?.name ?? "") ? clientProcess(id) : undefined;
}

const SHELL = /^(?:ba|da|z|a|k|fi)?sh$/;

export function clientProcess(id: number): ClientProcess | undefined {
  return Number.isInteger(id) && id > 1 ? { id, space: processSpace(), start: readStat(id)?.start } : undefined;
}

/**
 * A process of another user counts as alive; a zombie does not. `start`: a process with another start time is a different one.
 */
export function isAlive(processId: number, start?: number | null): boolean {
  try {
    process.kill(processId, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
  }
  const found = readStat(processId);
  // In a container, zombies may never be reaped.
  return found?.state !== "Z" && (!start || found === undefined || found.start === start);
}

interface Stat {
  name: string;
  state: string;
  parent: number;
  start: number;
}

/** Undefined: not Linux, or the process has just ended. */
function readStat(id: number): Stat | undefined {
  try {
    const stat = readFileSync(`/proc/${id}/stat`, "latin1");
    // The name may contain anything, including brackets.
    const end = stat.lastIndexOf(")");
    const fields = stat.slice(end + 2).split(" ");
    return {
      name: stat.slice(stat.indexOf("(") + 1, end),
      state: fields[0] ?? "",
      parent: Number(fields[1]),
      start: Number(fields[19]),
    };
  } catch {
    return undefined;
  }
}

/** Reduces the client's limit by a text that is shown beside the answer. */
export function withRoomFor<Event extends EventBase>(text: string, event: Event): Event {
  const { client } = event;
  return { ...event, client: { ...client, maxChars: client.maxChars - sizeFor(client, text) - 2 } };
}
