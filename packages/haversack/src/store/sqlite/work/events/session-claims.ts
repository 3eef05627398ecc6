/**
 * Handles claims when a session starts, ends or is gone. A holder that can no longer work must not block a task until its lease ends.
 * The hook bundles this file: it only moves the ends of leases. The next operation of the work store returns expired tasks with a note.
 * The last holder stays on record (work/last-holders.ts), so later sessions still find unfinished work.
 */
import type { DatabaseSync } from "node:sqlite";
import { isSameFolder } from "../../../../base/project-root.ts";
import type { LeftWork } from "../../../../wake/packet-pieces.ts";
import type { EndedAs } from "../../../../work/task.ts";
import type { WorkPlace } from "../../../work-store.ts";
import { readStore, type StoreHandle, writeEvent } from "../../access.ts";
import { addToOutbox } from "../../outbox/outbox.ts";
import type { ClientProcess, SessionKey } from "../../sessions/sqlite-local-store.ts";
import { leaseTime, regainTasks } from "../claims.ts";
import { hasHolders, isHolding, type LapsedTask, lapsedOf } from "../last-holders.ts";
import { all } from "../rows.ts";
import {
  type EndedHolder,
  letGoOfTasks,
  type MovedClaims,
  type MovedSession,
  moveBetweenSessions,
  moveSession,
  type TakenBack,
  takeBackTasks,
  taskIdOf,
} from "../session-work.ts";

/** A task whose holder stopped without reporting. */
export interface LeftTask extends LeftWork {
  /** When the session or its claim ended. For a client that is gone: its last sign of life. */
  endedAt: Date;
}

export interface StartingSession {
  sessionId: string;
  /** The agent's name. This session takes over what an earlier session of that name holds. */
  name?: string | undefined;
  /** Where the session starts. */
  place: WorkPlace & { worktree: string };
  /** Returns the work tree of a folder in which a session was seen. */
  worktreeOf(cwd: string): string;
  /** The client's process space; "" if unknown. */
  processSpace: string;
  isAlive(processId: number): boolean;
  leaseMs(): number;
  at: Date;
}

/** Whether anybody holds or has abandoned a task. Without holders, a new session has nothing to continue. */
export function hasWorkToFind(handle: StoreHandle): boolean {
  return readStore(handle, hasHolders);
}

/** Whether the agent holds a task, under its name or in its session. */
export function holdsTask(handle: StoreHandle, { name, sessionId }: { name: string; sessionId: string }): boolean {
  return readStore(handle, (db) => db.prepare(HOLDS).get(name, sessionId) !== undefined);
}

const HOLDS = "SELECT 1 FROM claims WHERE agent = ? OR session_id = ? LIMIT 1";

export interface TakenOver {
  /** Tasks nobody works on, newest work first. */
  left: LeftTask[];
  /** Running sessions of the same name. */
  others: OtherSession[];
}

/**
 * Finds abandoned tasks, frees claims of sessions that are over, and moves the claims of this session's name to it. A named agent whose
 * session has ended keeps its tasks until their lease ends: it is idle until somebody wakes it.
 */
export function takeOver(handle: StoreHandle, start: StartingSession): TakenOver {
  const { sessionId, name, place, leaseMs, at } = start;
  const now = readStore(handle, (db) => leaseTime(db, at)).getTime();
  // The session's own earlier tasks are handled by takeBack.
  const others = readStore(handle, readHeld).filter((task) => task.sessionId !== sessionId);
  const states = others.map((task) => ({ task, state: stateOf(task, start) }));
  const isHeld = ({ leaseUntil }: HeldTask) => leaseUntil !== null && leaseUntil > now;
  const own: HeldTask[] = [];
  const free: { task: HeldTask; because: "ended" | "gone" }[] = [];
  const left: LeftTask[] = [];
  for (const { task, state } of states) {
    if (!isHeld(task)) {
      // A sub-agent's task: its coordinator still runs and decides.
      if (state === "open" && task.agentId) continue;
      left.push(toLeft(task, state, start));
    } else if (task.sessionId === null && task.agent === name) {
      // Claimed under its name in no session, such as in a shell.
      own.push(task);
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
    // Tasks of the session's own name come first.
    left: left.sort((a, b) => Number(b.agent === name) - Number(a.agent === name)),
    others: sessionsOf(
      running
        .filter(({ task }) => task.sessionId !== null)
        .slice(0, MOST_OTHERS)
        .map(({ task: { sessionId: session, taskId: task, id, space } }) => ({ session, task, id, space })),
    ),
  };
}

/** Callers must hold the write lock. This is true for all `save…` functions. */
export function saveTakeOver(db: DatabaseSync, moved: MovedClaims): void {
  moveBetweenSessions(db, moved);
  addToOutbox(db, "take-over", () => {
    const { free, move, ...rest } = moved;
    const withId = <Row extends { seq: number }>({ seq, ...row }: Row) => ({ ...row, taskId: taskIdOf(db, seq) });
    return { ...rest, free: free.map(withId), move: move.map(withId) };
  });
}

/** A task with its current or last holder, and what this machine knows of that holder's session. */
interface HeldTask {
  seq: number;
  taskId: string;
  title: string;
  agent: string;
  sessionId: string | null;
  agentId: string;
  /** Null: the claim has ended. */
  leaseUntil: number | null;
  worktree: string | null;
  branch: string | null;
  lastSeenAt: string;
  endedAs: EndedAs | null;
  endedAt: string | null;
  /** Whether somebody gave the agent its name. */
  isNamed: number;
  /** The session's folder. Null: no client has reported the session here. */
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

/** Limit for abandoned tasks: nobody reads to the end of a longer list. */
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

/** State of the holder's session. open: its client runs, or was seen recently. */
type HolderState = "ended" | "gone" | "open" | "silent";

function isOver(state: HolderState): boolean {
  return state === "ended" || state === "gone";
}

function stateOf(
  { isEnded, id, space, sessionSeenAt, endedAs }: HeldTask,
  { processSpace, isAlive, leaseMs, at }: StartingSession,
): HolderState {
  // No client has reported that session here: it ran on another machine, or its row was purged.
  if (sessionSeenAt === null) return endedAs === "ended" || endedAs === "gone" ? endedAs : "silent";
  if (isEnded) return "ended";
  if (id !== null && processSpace !== "" && space === processSpace) return isAlive(id) ? "open" : "gone";
  // Its process cannot be checked from here, so only the time counts.
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

/** Whether an agent of the session lost a task when its lease expired, and nobody has taken the task since. */
export function hasLapsed(handle: StoreHandle, { sessionId, agentId = "" }: SessionKey): boolean {
  return readStore(handle, (db) => lapsedOf(db, sessionId, agentId).length > 0);
}

/** The session is back and regains its tasks that nobody else took. Returns the tasks that it had lost in between. */
export function takeBack(
  handle: StoreHandle,
  { sessionId }: SessionKey,
  { leaseMs, at }: { leaseMs: number; at: Date },
): LapsedTask[] {
  return writeEvent(handle, "take-back", saveTakeBack, { sessionId, leaseMs, at });
}

export function saveTakeBack(db: DatabaseSync, back: TakenBack): LapsedTask[] {
  const lapsed = takeBackTasks(db, back);
  addToOutbox(db, "take-back", () => back);
  return lapsed;
}

/** Gives an agent of the session back the tasks that expired and that nobody has taken since. */
export function regain(handle: StoreHandle, key: SessionKey, { leaseMs, at }: { leaseMs: number; at: Date }): void {
  writeEvent(handle, "regain", saveRegain, { ...key, leaseMs, at });
}

export function saveRegain(db: DatabaseSync, back: TakenBack & SessionKey): LapsedTask[] {
  const { leaseMs, at, ...key } = back;
  const lapsed = regainTasks(db, key, { leaseMs: () => leaseMs, at });
  if (lapsed.length > 0) addToOutbox(db, "regain", () => back);
  return lapsed;
}

/**
 * The session has ended. A new session finds its tasks at once. They return to the queue only after a while: a session that just
 * restarts must not lose them to the next agent that asks for a task.
 */
export function letGo(handle: StoreHandle, { sessionId }: SessionKey, at: Date, placeOf?: () => WorkPlace): void {
  // Most sessions have no task.
  const place = readStore(handle, (db) => isHolding(db, sessionId)) ? placeOf?.() : undefined;
  writeEvent(handle, "let-go", saveLetGo, { sessionId, at, ...(place && { place }) });
}

/** A sub-agent that has ended will not continue. Its tasks are free at once for the next agent, e.g. a fixer. */
export function letGoOfAgent(handle: StoreHandle, { sessionId, agentId = "" }: SessionKey, at: Date): void {
  if (agentId !== "") writeEvent(handle, "let-go", saveLetGo, { sessionId, agentId, at });
}

export function saveLetGo(db: DatabaseSync, ended: EndedHolder): void {
  if (letGoOfTasks(db, ended)) addToOutbox(db, "let-go", () => ended);
}

/** A longer list would no longer be a hint. */
const MOST_OTHERS = 10;

// Claims of a session from which another session was forked.

export interface Holder {
  sessionId: string;
  /** Agent of the newest claim. */
  agent: string;
  /** The client reported the session's end. */
  isEnded: boolean;
  /** Absent: no client has reported its process. */
  process?: ClientProcess;
  /** Newest claim first. */
  tasks: { id: string; title: string }[];
}

/** The client's other sessions that hold tasks; last seen first. */
export function otherHolders(
  handle: StoreHandle,
  { client, sessionId }: { client: string; sessionId: string },
): Holder[] {
  const rows = readStore(handle, (db) => db.prepare(HELD_BY_OTHERS).all(client, sessionId));
  return bySession(rows, (row, claims) => ({
    agent: String(row["agent"]),
    isEnded: row["ended"] !== null,
    tasks: claims.map(({ task, title }) => ({ id: String(task), title: String(title) })),
  }));
}

/**
 * Moves all claims of a session and its sub-agents to another session. `from` and `to`: their agent names. Claims under any other name
 * keep it: that agent has its own name.
 */
export function moveClaims(handle: StoreHandle, moved: MovedSession): void {
  writeEvent(handle, "fork", saveMovedSession, moved);
}

/** Callers must hold the write lock. */
export function saveMovedSession(db: DatabaseSync, moved: MovedSession): void {
  if (moveSession(db, moved)) addToOutbox(db, "fork", () => moved);
}

const HELD_BY_OTHERS = `SELECT c.session_id AS session, c.agent, t.id AS task, t.title, s.ended_at AS ended, s.process_id AS id, s.process_space AS space
FROM claims c JOIN tasks t ON t.seq = c.task JOIN sessions s ON s.session_id = c.session_id AND s.agent_id = ''
WHERE s.client = ? AND c.session_id <> ? ORDER BY s.last_seen_at DESC, c.claimed_at DESC, c.task DESC LIMIT 200`;

// Other running sessions of an agent's name, with the tasks they hold.

export interface OtherSession {
  sessionId: string;
  /** Absent: no client has reported its process. */
  process?: ClientProcess;
  /** Newest first. */
  taskIds: string[];
}

export function otherSessions(db: DatabaseSync, name: string, sessionId: string): OtherSession[] {
  return sessionsOf(db.prepare(CLAIMS).all(name, sessionId));
}

/** Groups claims by session. Each has its `session`, the `task`, and the client's process as `id` and `space`. */
export function sessionsOf(claims: readonly Record<string, unknown>[]): OtherSession[] {
  return bySession(claims, (_, own) => ({ taskIds: own.map(({ task }) => String(task)) }));
}

type ClaimRow = Readonly<Record<string, unknown>>;

/** `more`: from the newest claim of the session and all of them. */
function bySession<More>(claims: readonly ClaimRow[], more: (newest: ClaimRow, all: readonly ClaimRow[]) => More) {
  return [...Map.groupBy(claims, ({ session }) => String(session))].map(([sessionId, own]) => {
    const newest = own[0] as ClaimRow;
    return { sessionId, ...(newest["id"] !== null && { process: processOf(newest) }), ...more(newest, own) };
  });
}

export function processOf({ id, space }: { id?: unknown; space?: unknown }): ClientProcess {
  return { id: Number(id), space: String(space ?? "") };
}

/** Undefined: no client has reported its process. */
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
