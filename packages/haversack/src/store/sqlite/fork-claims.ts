/** Claims of a session that another one was forked from. The hook bundles this file. */
import type { DatabaseSync } from "node:sqlite";
import type { ClientProcess } from "../local-store.ts";
import type { WorkPlace } from "../work-store.ts";
import { readStore, writeEvent } from "./access.ts";
import type { StoreHandle } from "./handle.ts";
import { processOf } from "./other-sessions.ts";
import { note } from "./work/activity.ts";
import { moveHolder } from "./work/last-holders.ts";
import { leaseTime } from "./work/store-clock.ts";

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
  for (const row of readStore(handle, (db) => db.prepare(HELD).all(client, sessionId))) {
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
  db.prepare(MOVE).run(to.sessionId, agent, now.toISOString(), now.getTime() + leaseMs, Number(row["task"]));
  moveHolder(db, Number(row["task"]), { sessionId: to.sessionId, agent, place });
  note(
    db,
    { name: agent, at },
    "task-claimed",
    String(row["id"]),
    `claimed by ${agent}, a fork of ${before}'s session`,
  );
}

const HELD = `SELECT c.session_id AS session, c.agent, t.id AS task, t.title, s.ended_at AS ended, s.process_id AS id, s.process_space AS space
FROM claims c JOIN tasks t ON t.seq = c.task JOIN sessions s ON s.session_id = c.session_id AND s.agent_id = ''
WHERE s.client = ? AND c.session_id <> ? ORDER BY s.last_seen_at DESC, c.claimed_at DESC, c.task DESC LIMIT 200`;

const OF_SESSION = "SELECT c.task, c.agent, t.id FROM claims c JOIN tasks t ON t.seq = c.task WHERE c.session_id = ?";

const MOVE =
  "UPDATE claims SET session_id = ?, agent_id = '', agent = ?, heartbeat_at = ?, lease_until = max(lease_until, ?) WHERE task = ?";
