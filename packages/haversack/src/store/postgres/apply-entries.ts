/**
 * Applies what a machine has written into its outbox, in order and each entry once: its token is saved in the same transaction. An entry that the rules refuse becomes a conflict and does not hold up the rest.
 */
import { errorText, HaversackError } from "../../base/errors.ts";
import { shortRefusal } from "../../work/explain-outcome.ts";
import { isSettled } from "../../work/task.ts";
import { mergeWip } from "../../work/wip/merge-wip.ts";
import type { Wip, WipPatch } from "../../work/wip/wip.ts";
import type { Conflict, OfflineCall, OutboxEntry, OutboxOps } from "../sqlite/outbox/outbox.ts";
import type { MovedClaimsById, ReadMessages, ToolEntry } from "../sqlite/work/session-work.ts";
import type { Actor } from "../work-store.ts";
import type { Connection } from "./connection.ts";
import { mapEach } from "./each.ts";
import type { Server } from "./server.ts";
import {
  addAgent,
  becomeOrchestrator,
  findAgent,
  markRead,
  recordSkill,
  removeAgent,
  seeAgent,
  sendMessage,
} from "./work/agents.ts";
import {
  claim,
  claimOf,
  heartbeat,
  isHolder,
  prolong,
  refuseIfHeld,
  refuseIfLost,
  regainTasks,
  release,
  settleClaims,
  touchClaims,
} from "./work/claims.ts";
import { addDependency, removeDependency } from "./work/dependencies.ts";
import { createEpic, createStory, updateEpic, updateStory } from "./work/groups.ts";
import { decay, restore, setHandoff } from "./work/handoffs.ts";
import { addAlias, findTask, planIds } from "./work/ids.ts";
import { recordBatch } from "./work/queue.ts";
import { addActivity } from "./work/rows.ts";
import { bindNamed, letGoOfTasks, moveBetweenSessions, moveSession, takeBackTasks } from "./work/session-work.ts";
import { resolveBlockers, setBlocker, setStatus } from "./work/status.ts";
import { createTask, recordFailure, updateTask, updateWip } from "./work/tasks.ts";

export interface EntriesToApply {
  /** Names the outbox. */
  outbox: string;
  entries: readonly OutboxEntry[];
  /** More entries follow. */
  hasMore: boolean;
  /** The last conflict that the machine knows. */
  lastConflict: number;
  /** The machine's time. */
  now: Date;
}

/** A thing that was made offline under an ID that somebody else has used meanwhile. */
export interface Renamed {
  made: string;
  id: string;
}

export interface Applied {
  renamed: readonly Renamed[];
  /** All that the machine does not know yet. */
  conflicts: Omit<Conflict, "number">[];
  lastConflict: number;
}

/** On return, none of the entries need be sent again. */
export function applyEntries(server: Server, sent: EntriesToApply): Promise<Applied> {
  return server.write(async (db, start) => {
    const { outbox, entries, now, hasMore } = sent;
    const tokens = entries.map(({ token }) => token);
    // Sent before, and the answer was lost. Or sent from a copy of the store.
    const known = await db.query("SELECT token FROM applied_entries WHERE token = ANY ($1)", tokens);
    const isKnown = new Set(known.map(({ token }) => String(token)));
    const waiting = entries.filter(({ token }) => !isKnown.has(token));
    if (waiting.length > 0 && !start.isCalm(start.now)) await settleClaims(db, start.now);
    const ids = await readIds(db, outbox);
    const renamed: Renamed[] = [];
    for (const entry of waiting) {
      // The clocks of machines differ, but how long ago something happened does not.
      const ageMs = Math.max(0, now.getTime() - entry.at.getTime());
      const at = server.isServerClock ? new Date(start.now.getTime() - ageMs) : entry.at;
      await db.exec("SAVEPOINT entry");
      try {
        await applyOne(db, withIds(entry, ids), { at, outbox, ids, renamed });
        await db.exec("RELEASE entry");
      } catch (error) {
        if (!isLasting(error, db)) throw error;
        await db.exec("ROLLBACK TO entry; RELEASE entry");
        await keepConflict(db, entry, { outbox, reason: errorText(error), at: start.now });
      }
    }
    if (waiting.length > 0) {
      const applied = waiting.map(({ token }) => token);
      await db.query("INSERT INTO applied_entries (token) SELECT unnest($1::text[])", applied);
      if (hasMore) await keepLeases(db, waiting, start.now);
    }
    return { renamed, ...(await readConflicts(db, sent)) };
  });
}

/** Claims whose later signs of life are still on their way must not expire in between. */
const ON_ITS_WAY_MS = 60_000;

async function keepLeases(db: Connection, entries: readonly OutboxEntry[], now: Date): Promise<void> {
  const sessions = new Set<string>();
  const agents = new Set<string>();
  for (const { args } of entries) {
    if ("sessionId" in args && args.sessionId) sessions.add(args.sessionId);
    if ("by" in args && args.by) {
      const { name, sessionId } = args.by as Actor;
      agents.add(name);
      if (sessionId) sessions.add(sessionId);
    }
  }
  const sql =
    "UPDATE claims SET lease_until = $1::bigint WHERE lease_until < $1::bigint AND (session_id = ANY ($2) OR agent = ANY ($3))";
  await db.query(sql, now.getTime() + ON_ITS_WAY_MS, [...sessions], [...agents]);
}

/** Whether the entry would be refused every time. Anything else is tried again. */
function isLasting(error: unknown, db: Connection): boolean {
  if (db.isBroken) return false;
  if (error instanceof HaversackError) return true;
  const code = String((error as { code?: unknown }).code ?? "");
  // The server refuses these values. Or the entry is not what this program writes.
  return /^2[23]/.test(code) || (code === "" && (error instanceof TypeError || error instanceof RangeError));
}

interface Applying {
  at: Date;
  outbox: string;
  ids: Map<string, string>;
  renamed: Renamed[];
}

async function applyOne(db: Connection, entry: OutboxEntry, applying: Applying): Promise<void> {
  const { at } = applying;
  if (entry.op === "call") return applyCall(db, entry.args, applying);
  const apply = EVENTS[entry.op] as ((db: Connection, args: object) => Promise<unknown>) | undefined;
  if (!apply) throw new HaversackError("refused", `this version does not know the operation ${String(entry.op)}`);
  const args: { at: Date; leaseUntil?: number } = { ...entry.args, at };
  if (args.leaseUntil !== undefined) args.leaseUntil += at.getTime() - entry.at.getTime();
  await apply(db, args);
}

const EVENTS: {
  [Op in Exclude<keyof OutboxOps, "call">]: (db: Connection, args: OutboxOps[Op]) => Promise<unknown>;
} = {
  tool: applyTool,
  "take-over": applyTakeOver,
  "take-back": takeBackTasks,
  regain: (db, { leaseMs, at, ...key }) => regainTasks(db, key, { leaseMs: () => leaseMs, at }),
  "let-go": letGoOfTasks,
  fork: moveSession,
  bind: (db, { name, ...key }) => bindNamed(db, key, name),
  orchestrator: (db, { sessionId }) => becomeOrchestrator(db, sessionId),
  seen: (db, { at, ...seen }) => seeAgent(db, seen, at),
  read: applyRead,
};

async function applyTakeOver(db: Connection, { free, move, ...moved }: MovedClaimsById): Promise<void> {
  const withRow = async <Each extends { taskId: string }>(each: Each) => ({
    ...each,
    seq: (await findTask(db, each.taskId)).seq,
  });
  await moveBetweenSessions(db, { ...moved, free: await mapEach(free, withRow), move: await mapEach(move, withRow) });
}

/** Throws if the agent has lost the task meanwhile. */
async function applyTool(db: Connection, entry: ToolEntry): Promise<void> {
  const { taskId, sessionId, agentId = "", holder, client, patch, leaseMs, at } = entry;
  const task = await findTask(db, taskId);
  const by = { name: holder ?? client, sessionId, agentId, at };
  if (isSettled(task.status)) throw new HaversackError("refused", `${task.id} is ${task.status} already`);
  const held = await claimOf(db, task.seq);
  if (held && isHolder(held, by)) await prolong(db, task.seq, by, leaseMs);
  // It was quiet for longer than its lease, and nobody has taken the task.
  else if (!held && holder !== undefined)
    await regainTasks(db, { sessionId, agentId }, { leaseMs: () => leaseMs, at, only: task.seq });
  await refuseIfHeld(db, task, by);
  await refuseIfLost(db, task, by);
  if (patch) await updateWip(db, { taskId: task.id, merge: (current) => mergeWip(current, patch, { at }) }, by);
}

async function applyRead(db: Connection, { read, at }: ReadMessages): Promise<void> {
  const sql = `UPDATE message_recipients SET read_at = $1 WHERE read_at IS NULL
    AND message = (SELECT seq FROM messages WHERE id = $2) AND agent = (SELECT seq FROM agents WHERE name = $3 AND branch = $4)`;
  for (const { id, name, branch } of read) await db.query(sql, at.toISOString(), id, name, branch);
}

// Changes that were made through WorkStore while the server could not be reached.

type Call = (db: Connection, ...args: never[]) => Promise<unknown>;

const CALLS: Readonly<Record<string, Call>> = {
  createEpic,
  updateEpic,
  createStory,
  updateStory,
  createTask,
  updateTask,
  setStatus,
  addDependency,
  removeDependency,
  setBlocker,
  resolveBlockers,
  recordFailure,
  recordBatch,
  claim,
  heartbeat,
  release,
  updateWip: async (db: Connection, { taskId, patch }: { taskId: string; patch: WipPatch }, by: Actor) => {
    await touchClaims(db, by);
    await updateWip(db, { taskId, merge: (current: Wip) => mergeWip(current, patch, by) }, by);
  },
  setHandoff: async (db: Connection, handoff: Parameters<typeof setHandoff>[1], by: Actor) => {
    await touchClaims(db, by);
    await setHandoff(db, handoff, by);
  },
  decay,
  restore,
  recordActivity: addActivity,
  addAgent,
  seeAgent,
  removeAgent,
  sendMessage,
  markRead: async (db: Connection, { ids, ...agent }: { name: string; ids?: readonly string[] }, at: Date) =>
    markRead(db, (await findAgent(db, agent)).seq, ids, at),
  recordSkill,
};

async function applyCall(
  db: Connection,
  { name, args, by, ids: wanted }: OfflineCall,
  { at, outbox, ids, renamed }: Applying,
): Promise<void> {
  const call = CALLS[name] as ((db: Connection, ...args: unknown[]) => Promise<unknown>) | undefined;
  if (!call) throw new HaversackError("refused", `this version does not know the operation ${name}`);
  const plan = { wanted, made: [] as string[] };
  planIds(db, plan);
  let outcome: unknown;
  try {
    outcome = await call(db, ...args, by ? { ...by, at } : at);
  } finally {
    planIds(db, undefined);
  }
  const refusal = shortRefusal(outcome);
  if (refusal !== undefined) throw new HaversackError("refused", refusal);
  for (const [index, id] of plan.made.entries()) {
    const made = wanted[index];
    if (made === undefined || made === id) continue;
    // Somebody else has used the ID meanwhile.
    ids.set(made, id);
    await db.query("INSERT INTO outbox_ids (outbox, made, id) VALUES ($1, $2, $3)", outbox, made, id);
    await addAlias(db, made, id);
    renamed.push({ made, id });
    const text = `made offline as ${made}, an ID that somebody else used meanwhile`;
    await addActivity(db, {
      at,
      actor: (by as Partial<Actor> | undefined)?.name ?? "haversack",
      kind: "id-changed",
      subject: id,
      text,
    });
  }
}

// IDs that a machine made while the server could not be reached, and that somebody else has used meanwhile.

async function readIds(db: Connection, outbox: string): Promise<Map<string, string>> {
  const rows = await db.query("SELECT made, id FROM outbox_ids WHERE outbox = $1", outbox);
  return new Map(rows.map(({ made, id }) => [String(made), String(id)]));
}

function withIds(entry: OutboxEntry, ids: ReadonlyMap<string, string>): OutboxEntry {
  if (ids.size === 0) return entry;
  const replace = (value: unknown): unknown => {
    if (typeof value === "string") return ids.get(value) ?? value;
    if (Array.isArray(value)) return value.map(replace);
    if (value === null || typeof value !== "object" || value instanceof Date) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, key === "ids" ? each : replace(each)]));
  };
  return { ...entry, args: replace(entry.args) } as OutboxEntry;
}

// What was refused. It is kept here too, because the machine may be gone before it hears of it.

async function keepConflict(
  db: Connection,
  entry: OutboxEntry,
  { outbox, reason, at }: { outbox: string; reason: string; at: Date },
): Promise<void> {
  const { token, op, args, taskId } = entry;
  const { name, sessionId, isPerson } = whoWrote(entry);
  const add =
    "INSERT INTO outbox_conflicts (outbox, token, op, args, at, task, agent, reason, found_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
  const times = [entry.at.toISOString(), at.toISOString()] as const;
  const what = op === "call" ? (args as OfflineCall).name : op;
  const text = JSON.stringify(args);
  await db.query(add, outbox, token, what, text, times[0], taskId ?? null, name ?? null, reason, times[1]);
  if (name === undefined || isPerson || taskId === undefined) return;
  await db.exec("SAVEPOINT message");
  try {
    await tellAgent(db, { name, sessionId, taskId, reason, at });
    await db.exec("RELEASE message");
  } catch (error) {
    // A name that cannot get messages. The conflict itself is kept.
    if (!isLasting(error, db)) throw error;
    await db.exec("ROLLBACK TO message; RELEASE message");
  }
}

function whoWrote({ args }: OutboxEntry): { name?: string; sessionId?: string; isPerson?: boolean } {
  if ("by" in args && args.by) return args.by as Actor;
  const { holder: name, sessionId } = args as { holder?: string; sessionId?: string };
  return { ...(name !== undefined && { name }), ...(sessionId !== undefined && { sessionId }) };
}

/** One message about a task, until it is read: the rest of an outbox may be refused for the same reason. */
async function tellAgent(
  db: Connection,
  {
    name,
    sessionId,
    taskId,
    reason,
    at,
  }: { name: string; sessionId: string | undefined; taskId: string; reason: string; at: Date },
): Promise<void> {
  const unread = `SELECT 1 FROM messages m JOIN message_recipients r ON r.message = m.seq JOIN agents a ON a.seq = r.agent
    WHERE a.name = $1 AND m.subject = $2 AND m.sender = 'haversack' AND r.read_at IS NULL LIMIT 1`;
  if ((await db.query(unread, name, taskId)).length > 0) return;
  await seeAgent(db, { name, ...(sessionId && { sessionId }) }, at);
  const text = `Not saved in the shared store: ${reason}. What was not saved is listed by \`haversack store conflicts\`.`;
  await sendMessage(db, { to: [name], text, subject: taskId }, { name: "haversack", at });
}

async function readConflicts(
  db: Connection,
  { outbox, lastConflict }: EntriesToApply,
): Promise<Omit<Applied, "renamed">> {
  const sql = `SELECT number, token, op, args, at, task, agent, reason, found_at FROM outbox_conflicts
    WHERE outbox = $1 AND number > $2 ORDER BY number`;
  const rows = await db.query(sql, outbox, lastConflict);
  return {
    lastConflict: Number(rows.at(-1)?.["number"] ?? lastConflict),
    conflicts: rows.map(({ token, op, args, at, task, agent, reason, found_at }) => ({
      token: String(token),
      op: String(op),
      args: String(args),
      at: new Date(String(at)),
      ...(task !== null && { taskId: String(task) }),
      ...(agent !== null && { agent: String(agent) }),
      reason: String(reason),
      foundAt: new Date(String(found_at)),
    })),
  };
}
