/**
 * The work store of a project that a team shares. While the shared store can be reached, every operation runs there, after the unsent
 * changes of this machine, and the local snapshot follows. Otherwise work continues on the snapshot: changes wait in the outbox, and
 * claims are marked as unconfirmed.
 */
import { HaversackError } from "../../base/errors.ts";
import type { Place } from "../../store/postgres/place.ts";
import { PostgresWorkStore } from "../../store/postgres/postgres-work-store.ts";
import { isUnreachable, Server, type ServerOptions } from "../../store/postgres/server.ts";
import { readStore, type StoreHandle } from "../../store/sqlite/access.ts";
import { isSnapshotOf, readSharedMark } from "../../store/sqlite/meta.ts";
import { noteOffline, readSnapshotState, unconfirmedClaims } from "../../store/sqlite/outbox/outbox.ts";
import { changeOffline, type OfflineChange, SqliteWorkStore } from "../../store/sqlite/work/sqlite-work-store.ts";
import type { WorkStore } from "../../store/work-store.ts";
import type { Claim } from "../../work/task.ts";
import { forwardOutbox, nameOf } from "./forward.ts";
import { refreshSnapshot } from "./snapshot.ts";
import { changesWait, isOffline, MOST_OFFLINE_MS } from "./team-state.ts";

/** read: changes nothing. change: can be made here and sent later. online: needs the shared store. */
type Kind = "read" | "change" | "online";

const OPERATIONS: Readonly<Record<keyof WorkStore, Kind>> = {
  createEpic: "change",
  updateEpic: "change",
  getEpic: "read",
  listEpics: "read",
  createStory: "change",
  updateStory: "change",
  getStory: "read",
  listStories: "read",
  createTask: "change",
  updateTask: "change",
  getTask: "read",
  listTasks: "read",
  countTasks: "read",
  setStatus: "change",
  addDependency: "change",
  removeDependency: "change",
  listDependencies: "read",
  setBlocker: "change",
  resolveBlockers: "change",
  listBlockers: "read",
  recordFailure: "change",
  listFailures: "read",
  nextTasks: "read",
  filesInProgress: "read",
  claim: "change",
  heartbeat: "change",
  release: "change",
  listClaims: "read",
  listLeft: "read",
  updateWip: "change",
  wipHistory: "read",
  setHandoff: "change",
  getHandoff: "read",
  readHandoffDetails: "read",
  listHandoffs: "read",
  decay: "change",
  restore: "change",
  recordActivity: "change",
  listActivity: "read",
  addAgent: "change",
  seeAgent: "change",
  getAgent: "read",
  removeAgent: "change",
  listAgents: "read",
  sendMessage: "change",
  inbox: "read",
  markRead: "change",
  recordSkill: "change",
  skillHistory: "read",
  findId: "read",
  findLonger: "read",
  lastBatch: "read",
  recordBatch: "change",
  exportRecords: "read",
  importRecords: "online",
  importPlan: "online",
};

export interface TeamOptions {
  handle: StoreHandle;
  place: Place;
  server?: ServerOptions;
  /** Called when the server first answers. Throws if this project must not use it. */
  join?(server: Server): Promise<void>;
  /** Called once, with a text: the shared store cannot be reached, and what that means. */
  note?(text: string): void;
}

/** After a failed attempt to connect, the next one waits this many times its duration, within limits. */
const REMEMBERED_TIMES = 5;
const LEAST_OFFLINE_MS = 1000;

/** How long a command waits for a server that does not answer. */
const CONNECT_MS = 2000;
/** The same for a server that answered a moment ago: it may be restarting. */
const PATIENCE_MS = 5000;

export type TeamStore = WorkStore & Team;

export function openTeamStore(options: TeamOptions): TeamStore {
  const team = new Team(options);
  for (const [name, kind] of Object.entries(OPERATIONS) as [keyof WorkStore, Kind][]) {
    if (name === "exportRecords") Object.assign(team, { exportRecords: () => team.records() });
    else Object.assign(team, { [name]: (...args: unknown[]) => team.run(name, kind, args) });
  }
  return team as TeamStore;
}

type Operation = (...args: unknown[]) => Promise<unknown>;

class Team {
  readonly #handle: StoreHandle;
  readonly #note: (text: string) => void;
  /** For operations outside of the queue, such as runs. */
  readonly server: Server;
  readonly #join: TeamOptions["join"];
  readonly #local: SqliteWorkStore;
  readonly #remote: PostgresWorkStore;
  #isJoined = false;
  #isNoted = false;

  constructor({ handle, place, server, join, note = () => undefined }: TeamOptions) {
    this.#join = join;
    this.#handle = handle;
    this.#note = note;
    this.server = new Server(place, { timeoutMs: CONNECT_MS, patienceMs: PATIENCE_MS, connections: 2, ...server });
    this.#local = new SqliteWorkStore(handle);
    this.#remote = new PostgresWorkStore(this.server);
  }

  close(): Promise<void> {
    return this.server.close();
  }

  /**
   * Sends the outbox and brings the snapshot up to date. False: the shared store cannot be reached. `isPatient`: tries although it could
   * not be reached a moment ago.
   */
  async catchUp({ isPatient = false } = {}): Promise<boolean> {
    const isReached = await this.reach({ isPatient });
    if (isReached) await this.#refresh();
    return isReached;
  }

  async run(name: keyof WorkStore, kind: Kind, args: readonly unknown[]): Promise<unknown> {
    if (await this.reach()) {
      const result = await (this.#remote[name] as Operation)(...args);
      if (kind !== "read") await this.#refresh();
      return result;
    }
    this.noteOffline();
    if (kind === "read") return this.#marked(await (this.#local[name] as Operation)(...args));
    if (kind === "online") {
      const { reason = "the shared store cannot be reached" } = readSnapshotState(this.#handle).offline ?? {};
      throw new HaversackError("store-unreadable", reason, {
        hint: "an import needs the shared store: try again later",
      });
    }
    return this.#marked(
      await changeOffline(this.#handle, name as OfflineChange, args as [...unknown[], Date | { at: Date }]),
    );
  }

  async *records(): ReturnType<WorkStore["exportRecords"]> {
    const isReached = await this.reach();
    if (!isReached) this.noteOffline();
    yield* (isReached ? this.#remote : this.#local).exportRecords();
  }

  /** Whether the shared store answers. If so, it has all changes of this machine. */
  async reach({ isPatient = false } = {}): Promise<boolean> {
    const state = readSnapshotState(this.#handle);
    const { offline, cursor, outbox } = state;
    const mark = readStore(this.#handle, readSharedMark);
    const { key } = this.server.place;
    const isOwn = isSnapshotOf(mark, key);
    const now = Date.now();
    const hasFailed = isOffline(state, now) && (offline?.key ?? key) === key;
    if (!isPatient && isOwn && cursor !== undefined && hasFailed) return false;
    try {
      await this.server.prepare();
      // Another process may have made the snapshot one of another store.
      if (!this.#isJoined || !isOwn) await this.#join?.(this.server);
      this.#isJoined = true;
      // A process that cannot write the local store leaves the outbox to others.
      if (this.#handle.isReadOnly) return true;
      if (outbox === undefined) nameOf(this.#handle);
      const { renamed, conflicts } = await forwardOutbox(this.server, this.#handle);
      for (const { made, id } of renamed) this.#note(`${made} is now ${id}: somebody else used its ID meanwhile.`);
      if (conflicts > 0) {
        const changes = conflicts === 1 ? "1 change" : `${conflicts} changes`;
        this.#note(`${changes} of this machine could not be made: see \`haversack store conflicts\`.`);
      }
      if (offline) noteOffline(this.#handle, undefined);
      return true;
    } catch (error) {
      // Without a snapshot, work cannot continue.
      if (!isUnreachable(error) || cursor === undefined) throw error;
      if (!isOwn) {
        throw new HaversackError("store-unreadable", (error as Error).message, {
          hint: `the snapshot on this machine is of ${mark?.shown}, so nothing was read or recorded`,
          cause: (error as Error).cause,
        });
      }
      if (this.#handle.isReadOnly) return false;
      const reason = (error as Error).message;
      const tookMs = Date.now() - now;
      const untilMs = Math.min(MOST_OFFLINE_MS, Math.max(LEAST_OFFLINE_MS, REMEMBERED_TIMES * tookMs));
      const until = new Date(Date.now() + untilMs);
      noteOffline(this.#handle, { since: new Date(now), until, reason, ...(mark?.keys && { key }) });
      return false;
    }
  }

  /** The operation itself has succeeded, so a snapshot that stays behind for a moment is no fault. */
  async #refresh(): Promise<void> {
    try {
      await refreshSnapshot(this.#handle, this.server);
    } catch (error) {
      if (!isUnreachable(error)) throw error;
    }
  }

  /** Tells it once. */
  noteOffline(): void {
    if (this.#isNoted) return;
    this.#isNoted = true;
    const { offline, takenAt, backlog } = readSnapshotState(this.#handle);
    const since = takenAt ? ` of ${takenAt.toISOString().slice(0, 16).replace("T", " ")} UTC` : "";
    const waiting = backlog.count > 0 ? `; ${changesWait(backlog.count)} to be sent` : "";
    this.#note(`${offline?.reason ?? "the shared store cannot be reached"}; using the snapshot${since}${waiting}.`);
  }

  #marked<T>(result: T): T {
    const unconfirmed = unconfirmedClaims(this.#handle);
    return unconfirmed.size === 0 ? result : (markClaims(result, unconfirmed) as T);
  }
}

/** Marks every claim in a result, and every claimed task. */
function markClaims(value: unknown, unconfirmed: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) return value.map((each) => markClaims(each, unconfirmed));
  if (value === null || typeof value !== "object" || value instanceof Date) return value;
  const fields = Object.entries(value).map(([key, each]) => [key, markClaims(each, unconfirmed)]);
  const { taskId, leaseUntil } = value as Partial<Claim>;
  const { id, status } = value as { id?: string; status?: string };
  const isMarked =
    leaseUntil instanceof Date
      ? taskId !== undefined && unconfirmed.has(taskId)
      : status === "in_progress" && id !== undefined && unconfirmed.has(id);
  return { ...Object.fromEntries(fields), ...(isMarked && { isUnconfirmed: true }) };
}
