/**
 * What becomes of claims when a session starts, ends or is gone: whoever holds a task and can no longer work on it must not keep
 * it from others until the lease ends. The hook bundles this file: it moves the ends of leases, and the next operation of the
 * work store returns what has ended, with a note. Who held it stays known (work/last-holders.ts), so that a session which starts
 * any time later still finds what was left.
 */
import type { DatabaseSync } from "node:sqlite";
import { isSameFolder } from "../../../../base/git-place.ts";
import type { EndedAs } from "../../../../work/task.ts";
import type { ClientProcess, SessionKey } from "../../../local-store.ts";
import type { WorkPlace } from "../../../work-store.ts";
import { readStore, writeEvent } from "../../access.ts";
import type { StoreHandle } from "../../handle.ts";
import { note } from "../activity.ts";
import { regainTasks } from "../claims.ts";
import {
  hasHolders,
  isHolding,
  type LapsedTask,
  lapsedOf,
  moveHolder,
  noteBack,
  noteEnded,
  noteOver,
} from "../last-holders.ts";
import { all } from "../rows.ts";
import { leaseTime } from "../store-clock.ts";

/** A task that somebody began, who has stopped without a word. */
export interface LeftTask {
  taskId: string;
  title: string;
  agent: string;
  /** expired: no sign of life came. ended: the client said so. gone: its process is no more. */
  because: EndedAs;
  /** Its client runs, and has been quiet for longer than its lease: it may go on any time. */
  isOpen: boolean;
  /** Where that session worked; absent: nobody said. */
  worktree?: string;
  branch?: string;
  /** In the work tree of whoever asks. */
  isHere: boolean;
  lastSeenAt: Date;
  /** When the session or its claim ended; of a client that is gone, the last sign of life. */
  endedAt: Date;
}

export interface StartingSession {
  sessionId: string;
  /** The name it goes by: what an earlier session of that name holds becomes its own. */
  name?: string | undefined;
  /** Where it starts. */
  place: WorkPlace & { worktree: string };
  /** The work tree of a folder in which a session was seen. */
  worktreeOf(cwd: string): string;
  /** Of its client; "" when that cannot be known. */
  processSpace: string;
  isAlive(processId: number): boolean;
  leaseMs(): number;
  at: Date;
}

/** Anybody's: without a holder there is nothing that a new session could go on with. */
export function hasWorkToFind(handle: StoreHandle): boolean {
  return readStore(handle, hasHolders);
}

/** Under its name, or in its session. */
export function holdsTask(handle: StoreHandle, { name, sessionId }: { name: string; sessionId: string }): boolean {
  return readStore(handle, (db) => db.prepare(HOLDS).get(name, sessionId) !== undefined);
}

const HOLDS = "SELECT 1 FROM claims WHERE agent = ? OR session_id = ? LIMIT 1";

export interface TakenOver {
  /** What nobody works on, newest work first. */
  left: LeftTask[];
  /** Of the same name, and not over. */
  others: OtherSession[];
}

/**
 * Finds what was left, frees what sessions still hold that are over, and gives this one what its own name holds. A named agent's
 * tasks stay its own until their lease ends when its session has ended: it is idle until somebody wakes it.
 */
export function takeOver(handle: StoreHandle, start: StartingSession): TakenOver {
  const { sessionId, name, place, leaseMs, at } = start;
  const now = readStore(handle, (db) => leaseTime(db, at)).getTime();
  // What the session itself held is its own to take back, see takeBack.
  const others = readStore(handle, readHeld).filter((task) => task.sessionId !== sessionId);
  const states = others.map((task) => ({ task, state: stateOf(task, start) }));
  const isHeld = ({ leaseUntil }: HeldTask) => leaseUntil !== null && leaseUntil > now;
  const own: HeldTask[] = [];
  const free: { task: HeldTask; because: "ended" | "gone" }[] = [];
  const left: LeftTask[] = [];
  for (const { task, state } of states) {
    if (!isHeld(task)) {
      // Its coordinator runs and decides what becomes of it.
      if (state === "open" && task.agentId) continue;
      left.push(toLeft(task, state, start));
    } else if (state === "ended" || state === "gone") {
      if (task.agent === name) own.push(task);
      else if (state === "gone" || !task.isNamed) {
        free.push({ task, because: state });
        left.push(toLeft(task, state, start));
      }
    }
  }
  if (own.length + free.length > 0) {
    const moved = {
      sessionId,
      place,
      free: free.map(({ task: { seq, sessionId: session }, because }) => ({ seq, session, because })),
      move: own.map(({ seq, sessionId: session }) => ({ seq, session })),
      leaseUntil: own.length > 0 ? now + leaseMs() : now,
      at,
    };
    writeEvent(handle, "take-over", saveTakeOver, moved);
  }
  const running = states.filter(({ task, state }) => task.agent === name && isHeld(task) && !isOver(state));
  return {
    // What its own name left comes first.
    left: left.sort((a, b) => Number(b.agent === name) - Number(a.agent === name)),
    others: sessionsOf(
      running
        .filter(({ task }) => task.sessionId !== null)
        .slice(0, MOST_OTHERS)
        .map(({ task: { sessionId: session, taskId: task, id, space } }) => ({ session, task, id, space })),
    ),
  };
}

export interface MovedClaims {
  sessionId: string;
  place: WorkPlace;
  /** Claims of sessions that are over, by the task's row. */
  free: readonly { seq: number; session: string | null; because: "ended" | "gone" }[];
  /** What this session holds from now on. */
  move: readonly { seq: number; session: string | null }[];
  leaseUntil: number;
  at: Date;
}

/** For callers that hold the write lock already; so are the others that save. */
export function saveTakeOver(db: DatabaseSync, { sessionId, place, free, move, leaseUntil, at }: MovedClaims): void {
  // Only while it is the same session's: it may have been taken between the look and the lock.
  for (const { seq, session, because } of free) {
    if (db.prepare(FREE).run(at.getTime(), seq, session).changes) noteOver(db, seq, because, at);
  }
  for (const { seq, session } of move) {
    const { changes } = db.prepare(MOVE).run(sessionId, at.toISOString(), leaseUntil, seq, session);
    if (changes) moveHolder(db, seq, { sessionId, place });
  }
}

/** A task with whoever holds it or held it last, and what this machine knows of that session. */
interface HeldTask {
  seq: number;
  taskId: string;
  title: string;
  agent: string;
  sessionId: string | null;
  agentId: string;
  /** Null: the claim is gone. */
  leaseUntil: number | null;
  worktree: string | null;
  branch: string | null;
  lastSeenAt: string;
  endedAs: EndedAs | null;
  endedAt: string | null;
  /** Somebody gave the agent its name. */
  isNamed: number;
  /** Of the session; null: no client has said anything of it here. */
  cwd: string | null;
  isEnded: number | null;
  sessionSeenAt: string | null;
  /** The client's process. */
  id: number | null;
  space: string | null;
}

/** Newest work first. */
function readHeld(db: DatabaseSync): HeldTask[] {
  return all<HeldTask>(db, HELD);
}

/** So many tasks that were left are looked at; of a longer list nobody reads the end. */
const MOST_LEFT = 200;

const HELD = `SELECT t.seq, t.id AS taskId, t.title, coalesce(c.agent, h.agent) AS agent, iif(c.task IS NULL, h.session_id, c.session_id) AS sessionId,
  coalesce(c.agent_id, h.agent_id, '') AS agentId, c.lease_until AS leaseUntil, h.worktree, h.branch,
  max(coalesce(c.heartbeat_at, h.last_seen_at), coalesce(w.updated_at, '')) AS lastSeenAt, h.ended_as AS endedAs, h.ended_at AS endedAt,
  EXISTS (SELECT 1 FROM agents a WHERE a.name = coalesce(c.agent, h.agent)) AS isNamed,
  s.cwd, s.ended_at IS NOT NULL AS isEnded, s.last_seen_at AS sessionSeenAt, s.process_id AS id, s.process_space AS space
FROM (SELECT task FROM (SELECT task FROM last_holders ORDER BY last_seen_at DESC LIMIT ${MOST_LEFT}) UNION SELECT task FROM claims) k
JOIN tasks t ON t.seq = k.task LEFT JOIN claims c ON c.task = k.task LEFT JOIN last_holders h ON h.task = k.task
LEFT JOIN task_wip w ON w.task = k.task
LEFT JOIN sessions s ON s.session_id = iif(c.task IS NULL, h.session_id, c.session_id) AND s.agent_id = ''
WHERE t.status IN ('todo', 'in_progress') ORDER BY lastSeenAt DESC, t.seq DESC`;

/** What is known here of the session that held it. open: its client runs, or was heard of lately. */
type HolderState = "ended" | "gone" | "open" | "silent";

function isOver(state: HolderState): boolean {
  return state === "ended" || state === "gone";
}

function stateOf(
  { isEnded, id, space, sessionSeenAt, endedAs }: HeldTask,
  { processSpace, isAlive, leaseMs, at }: StartingSession,
): HolderState {
  // No client has said anything of that session here: it ran on another machine, or its row was purged.
  if (sessionSeenAt === null) return endedAs === "ended" || endedAs === "gone" ? endedAs : "silent";
  if (isEnded) return "ended";
  if (id !== null && processSpace !== "" && space === processSpace) return isAlive(id) ? "open" : "gone";
  // Its process cannot be asked for from here: then only the time tells.
  return at.getTime() - Date.parse(sessionSeenAt) < leaseMs() ? "open" : "silent";
}

function toLeft(task: HeldTask, state: HolderState, { place, worktreeOf }: StartingSession): LeftTask {
  const { taskId, title, agent, cwd, branch, lastSeenAt } = task;
  const worktree = task.worktree ?? (cwd === null ? undefined : worktreeOf(cwd));
  return {
    taskId,
    title,
    agent,
    because: isOver(state) ? (state as "ended" | "gone") : "expired",
    isOpen: state === "open",
    ...(worktree !== undefined && { worktree }),
    ...(branch !== null && { branch }),
    isHere: worktree !== undefined && isSameFolder(worktree, place.worktree),
    lastSeenAt: new Date(lastSeenAt),
    endedAt: endOf(task, state),
  };
}

function endOf({ endedAt, leaseUntil, lastSeenAt }: HeldTask, state: HolderState): Date {
  if (state === "gone") return new Date(lastSeenAt);
  if (endedAt !== null) return new Date(endedAt);
  return new Date(state === "ended" ? lastSeenAt : (leaseUntil ?? lastSeenAt));
}

/** Whether an agent of the session held something until its lease ended, that nobody has taken since. */
export function hasLapsed(handle: StoreHandle, { sessionId, agentId = "" }: SessionKey): boolean {
  return readStore(handle, (db) => lapsedOf(db, sessionId, agentId).length > 0);
}

/** The session is back: what it held, and nobody took, is its own again. Returns what it had lost meanwhile. */
export function takeBack(
  handle: StoreHandle,
  { sessionId }: SessionKey,
  { leaseMs, at }: { leaseMs: number; at: Date },
): LapsedTask[] {
  return writeEvent(handle, "take-back", saveTakeBack, { sessionId, leaseMs, at });
}

export interface TakenBack {
  sessionId: string;
  leaseMs: number;
  at: Date;
}

export function saveTakeBack(db: DatabaseSync, { sessionId, leaseMs, at }: TakenBack): LapsedTask[] {
  const now = leaseTime(db, at);
  const { changes } = db
    .prepare("UPDATE claims SET heartbeat_at = ?, lease_until = max(lease_until, ?) WHERE session_id = ?")
    .run(now.toISOString(), now.getTime() + leaseMs, sessionId);
  if (changes) noteBack(db, sessionId);
  return saveRegain(db, { sessionId, leaseMs, at });
}

/** What an agent of the session lost when its lease ended, and nobody has taken since, is its own again. */
export function regain(handle: StoreHandle, key: SessionKey, { leaseMs, at }: { leaseMs: number; at: Date }): void {
  writeEvent(handle, "regain", saveRegain, { ...key, leaseMs, at });
}

export function saveRegain(db: DatabaseSync, { leaseMs, at, ...key }: TakenBack & SessionKey): LapsedTask[] {
  return regainTasks(db, key, { leaseMs: () => leaseMs, at });
}

/**
 * The session has ended. A new session finds its tasks at once; all others have them in the queue after a while, so that a session
 * which is only started again does not lose them to whoever asks for the next task in between.
 */
export function letGo(handle: StoreHandle, { sessionId }: SessionKey, at: Date, placeOf?: () => WorkPlace): void {
  // Most sessions have no task.
  const place = readStore(handle, (db) => isHolding(db, sessionId)) ? placeOf?.() : undefined;
  writeEvent(handle, "let-go", saveLetGo, { sessionId, at, ...(place && { place }) });
}

/** A sub-agent that has ended will not go on: what it still holds is free at once, for a fixer or whoever comes next. */
export function letGoOfAgent(handle: StoreHandle, { sessionId, agentId = "" }: SessionKey, at: Date): void {
  if (agentId !== "") writeEvent(handle, "let-go", saveLetGo, { sessionId, agentId, at });
}

export interface EndedHolder extends SessionKey {
  at: Date;
  /** Where it was at its end. */
  place?: WorkPlace;
}

export function saveLetGo(db: DatabaseSync, { sessionId, agentId = "", at, place }: EndedHolder): void {
  if (agentId === "") db.prepare(LET_GO).run(at.getTime() + GRACE_MS, sessionId);
  else db.prepare(LET_GO_OF_AGENT).run(at.getTime(), sessionId, agentId);
  noteEnded(db, { sessionId, ...(agentId !== "" && { agentId }) }, { at, place });
}

const GRACE_MS = 10 * 60_000;

const LET_GO = `UPDATE claims SET lease_until = min(lease_until, ?) WHERE session_id = ?
AND NOT EXISTS (SELECT 1 FROM agents a WHERE a.name = claims.agent)`;

const LET_GO_OF_AGENT = "UPDATE claims SET lease_until = min(lease_until, ?) WHERE session_id = ? AND agent_id = ?";

const FREE = "UPDATE claims SET lease_until = min(lease_until, ?) WHERE task = ? AND session_id = ?";

const MOVE =
  "UPDATE claims SET session_id = ?, agent_id = '', heartbeat_at = ?, lease_until = max(lease_until, ?) WHERE task = ? AND session_id = ?";

/** More would be a list, not a hint. */
const MOST_OTHERS = 10;

// Claims of a session that another one was forked from.

export interface Holder {
  sessionId: string;
  /** Of the newest claim. */
  agent: string;
  /** The client said that the session is over. */
  isEnded: boolean;
  /** Absent: no client has said which it is. */
  process?: ClientProcess;
  /** Newest claim first. */
  tasks: { id: string; title: string }[];
}

/** The sessions of a client that hold tasks, but for this one; last seen first. */
export function otherHolders(
  handle: StoreHandle,
  { client, sessionId }: { client: string; sessionId: string },
): Holder[] {
  const found = new Map<string, Holder>();
  for (const row of readStore(handle, (db) => db.prepare(HELD_BY_OTHERS).all(client, sessionId))) {
    const session = String(row["session"]);
    const holder = found.get(session) ?? {
      sessionId: session,
      agent: String(row["agent"]),
      isEnded: row["ended"] !== null,
      ...(row["id"] !== null && { process: processOf(row) }),
      tasks: [],
    };
    holder.tasks.push({ id: String(row["task"]), title: String(row["title"]) });
    found.set(session, holder);
  }
  return [...found.values()];
}

/**
 * All that one session holds, its sub-agents too, becomes another's. `from` and `to`: their names as agents; what is held under another
 * name was somebody's with a name of its own, and stays under it.
 */
export function moveClaims(handle: StoreHandle, moved: MovedSession): void {
  writeEvent(handle, "fork", saveMovedSession, moved);
}

export interface MovedSession {
  from: NamedSession;
  to: NamedSession;
  place: WorkPlace;
  leaseMs: number;
  at: Date;
}

/** For callers that hold the write lock already. */
export function saveMovedSession(db: DatabaseSync, moved: MovedSession): void {
  for (const row of db.prepare(OF_SESSION).all(moved.from.sessionId)) moveClaim(db, row, moved);
}

export interface NamedSession {
  sessionId: string;
  name: string;
}

function moveClaim(
  db: DatabaseSync,
  row: Record<string, unknown>,
  { from, to, place, leaseMs, at }: MovedSession,
): void {
  const before = String(row["agent"]);
  const isUnnamed = before === from.name || before.startsWith(`${from.name}.`);
  const agent = isUnnamed ? to.name : before;
  const now = leaseTime(db, at);
  db.prepare(MOVE_TO_FORK).run(to.sessionId, agent, now.toISOString(), now.getTime() + leaseMs, Number(row["task"]));
  moveHolder(db, Number(row["task"]), { sessionId: to.sessionId, agent, place });
  note(
    db,
    { name: agent, at },
    "task-claimed",
    String(row["id"]),
    `claimed by ${agent}, a fork of ${before}'s session`,
  );
}

const HELD_BY_OTHERS = `SELECT c.session_id AS session, c.agent, t.id AS task, t.title, s.ended_at AS ended, s.process_id AS id, s.process_space AS space
FROM claims c JOIN tasks t ON t.seq = c.task JOIN sessions s ON s.session_id = c.session_id AND s.agent_id = ''
WHERE s.client = ? AND c.session_id <> ? ORDER BY s.last_seen_at DESC, c.claimed_at DESC, c.task DESC LIMIT 200`;

const OF_SESSION = "SELECT c.task, c.agent, t.id FROM claims c JOIN tasks t ON t.seq = c.task WHERE c.session_id = ?";

const MOVE_TO_FORK =
  "UPDATE claims SET session_id = ?, agent_id = '', agent = ?, heartbeat_at = ?, lease_until = max(lease_until, ?) WHERE task = ?";

// Where else an agent is at work: sessions of its name that have not ended, with what they hold.

export interface OtherSession {
  sessionId: string;
  /** Absent: no client has said which it is. */
  process?: ClientProcess;
  /** Newest first. */
  taskIds: string[];
}

export function otherSessions(db: DatabaseSync, name: string, sessionId: string): OtherSession[] {
  return sessionsOf(db.prepare(CLAIMS).all(name, sessionId));
}

/** Of claims, each with its `session`, the `task`, and the client's process as `id` and `space`. */
export function sessionsOf(claims: readonly Record<string, unknown>[]): OtherSession[] {
  const found = new Map<string, OtherSession>();
  for (const row of claims) {
    const key = String(row["session"]);
    const other = found.get(key) ?? {
      sessionId: key,
      ...(row["id"] !== null && { process: processOf(row) }),
      taskIds: [],
    };
    other.taskIds.push(String(row["task"]));
    found.set(key, other);
  }
  return [...found.values()];
}

export function processOf({ id, space }: { id?: unknown; space?: unknown }): ClientProcess {
  return { id: Number(id), space: String(space ?? "") };
}

/** Undefined: no client has said which it is. */
export function processOfSession(handle: StoreHandle, sessionId: string): ClientProcess | undefined {
  return readStore(handle, (db) => {
    const row = db
      .prepare("SELECT process_id AS id, process_space AS space FROM sessions WHERE session_id = ? AND agent_id = ''")
      .get(sessionId);
    return row && row["id"] !== null ? processOf(row) : undefined;
  });
}

const CLAIMS = `SELECT c.session_id AS session, t.id AS task, s.process_id AS id, s.process_space AS space
FROM claims c JOIN tasks t ON t.seq = c.task LEFT JOIN sessions s ON s.session_id = c.session_id AND s.agent_id = ''
WHERE c.agent = ? AND c.session_id <> ? AND s.ended_at IS NULL ORDER BY c.claimed_at DESC, c.task DESC LIMIT 10`;
