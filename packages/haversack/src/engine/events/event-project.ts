/** The project that an event belongs to: where it is, its store and settings, and what the process around it can do. */
import type { Config } from "../../base/config-schema.ts";
import { errorText, HaversackError } from "../../base/errors.ts";
import { appendLog } from "../../base/log.ts";
import { findProjectRoot } from "../../base/project-root.ts";
import { checkTrust } from "../../base/project-trust.ts";
import type { ClientProcess } from "../../store/local-store.ts";
import type { StoreHandle } from "../../store/sqlite/handle.ts";
import { SessionState } from "../../store/sqlite/sessions/session-state.ts";
import { SqliteLocalStore } from "../../store/sqlite/sessions/sqlite-local-store.ts";
import { SkillCards } from "../../store/sqlite/skills/skill-index.ts";
import { SkillLedger } from "../../store/sqlite/skills/skill-ledger.ts";
import { SessionTasks } from "../../store/sqlite/work/events/session-tasks.ts";
import { type Environment, loadConfig, onSince, type ProjectPaths } from "../project.ts";
import type { WakeParts } from "../wake/gather-wake.ts";
import { readForPacket, wakeSettings } from "../wake/gather-wake.ts";
import { makePacket } from "../wake/make-packet.ts";
import { workSettings } from "../work/work-parts.ts";
import { isAlive } from "./client-process.ts";

export interface EventProject {
  root: string;
  /** `.haversack/` */
  state: string;
  /** Where this user's records of trusted projects are. */
  userState: string | undefined;
  env: Environment;
  handle: StoreHandle;
  now: Date;
  /** A config that cannot be read is a fault. */
  config(): Config;
  /** The folder that stands for the root in the linked worktree that a folder is in. */
  worktree(cwd: string): string | undefined;
  sessions(): SqliteLocalStore;
  /** The client's; undefined: not known. */
  process(): ClientProcess | undefined;
  isAlive(processId: number, start?: number | null): boolean;
  /** How our CLI is started, without its arguments; empty: not known. */
  cli: readonly string[];
  log(level: "warn" | "error", text: string): void;
  /** When Haversack was last switched on again, here or for the user; "" if never. What happened before is not recorded. */
  onSince(): string;
  /** Events come to a server, which may miss some: the calls that it is told of are noted. Default: false. */
  isServer?: boolean;
  /** Played through and taken back, before the first event. Default: false. */
  isRehearsal?: boolean;
}

/** What differs between a process for one event and one that stays. */
export interface EventHost {
  env: Environment;
  process(): ClientProcess | undefined;
  /** How our CLI is started, without its arguments; empty: not known. */
  cli: readonly string[];
  /** For the log: who writes. */
  part: string;
  /** See EventProject. */
  isServer?: boolean;
}

export function eventProject(
  paths: ProjectPaths,
  handle: StoreHandle,
  { env, process, cli, part, isServer = false }: EventHost,
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
    log: (level, text) => logLine(paths, { level, text, part, at: now }),
  };
}

/** A wrong value counts as absent, and the CLI says so. What is no JSON is told in the log. */
function readableConfig(paths: ProjectPaths): Config {
  const { config, problems } = loadConfig(paths);
  const unreadable = problems.find(({ level, path }) => level === "error" && path === "");
  if (unreadable) throw new HaversackError("config-invalid", `${unreadable.file}: ${unreadable.text}`);
  return config;
}

/** Nothing is written into a folder that came with a clone. */
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
 * The one thing that needs a process: a stale index is rebuilt by the CLI, a missing store made and an old one upgraded, detached, while
 * the session goes on.
 */
export function startIndexing({
  root,
  env,
  cli: [program, ...args],
}: Pick<EventProject, "root" | "env" | "cli">): void {
  // `doctor` sends a test event and wants no process to outlive it.
  if (!program || env["HAVERSACK_DOCTOR"]) return;
  // Loaded here: it takes a new process 4 ms, and few events need it.
  const { spawn } = process.getBuiltinModule("node:child_process");
  const child = spawn(program, [...args, "skills", "index", "--changed"], {
    cwd: root,
    detached: true,
    stdio: "ignore",
  });
  // An installation that is gone: the next command looks at the index too.
  child.on("error", () => undefined).unref();
}

export function leaseMs({ config }: EventProject): number {
  return workSettings(config()).leaseMs;
}

export interface EventStores {
  index: SkillCards;
  ledger: SkillLedger;
  state: SessionState;
  tasks: SessionTasks;
}

export function storesOf(handle: StoreHandle): EventStores {
  return {
    index: new SkillCards(handle.db),
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
    index: new SkillCards(handle.db),
    root,
    settings: wakeSettings(config()),
    readText: (path) => readForPacket(root, path, userState),
    now,
    makePacket,
  };
}
