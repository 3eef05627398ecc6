/**
 * Merges a stored record with an imported record of the same thing, field by field. The record that was changed later wins, and the
 * other's values are reported. If both are equally old, the import only fills missing values. WIP and the last holder are decided by
 * their own times. WIP histories and message readers are combined. Aliases are added by the import, not here. Whoever holds a task now
 * keeps it: its status and claim stay, whatever the import says.
 */

import type { DatabaseSync } from "node:sqlite";
import { type Priority, rankOf } from "../../../../work/task.ts";
import { FIELDS, type MessageRecord, type RecordOf, type TaskRecord, type WorkRecord } from "../../../record-fields.ts";
import { writeHolder } from "../last-holders.ts";
import { type Columns, insert, one, run } from "../rows.ts";

export interface MergedRecord<T> {
  record: T;
  /** Fields taken from the import. */
  updated: string[];
  /** Fields that differ in the import but are not newer there. */
  kept: string[];
}

export function mergeRecord<T extends WorkRecord>(
  stored: T,
  given: T,
  { timeOf, at }: { timeOf: (record: T) => string; at: Date },
): MergedRecord<T> {
  const held = stored.kind === "task" && isHeld(stored, at) ? heldFields(stored, given as TaskRecord) : [];
  const came = held.length > 0 ? withFieldsOf(stored, given, held) : given;
  const result: MergedRecord<T> = { record: { ...stored }, updated: [], kept: [] };
  const target = result.record as unknown as Fields;
  const before = stored as unknown as Fields;
  const after = came as unknown as Fields;
  const isNewer = timeOf(came) > timeOf(stored);
  const isOlder = timeOf(came) < timeOf(stored);
  for (const field of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (OWN_RULE.has(field) || isEqual(before[field], after[field])) continue;
    const isFilled = !isOlder && before[field] === undefined;
    if (isNewer || isFilled) {
      setField(target, field, after[field]);
      result.updated.push(field);
    } else result.kept.push(field);
  }
  if (stored.kind === "task" && came.kind === "task") {
    mergeClaim(result as unknown as MergedRecord<TaskRecord>, { stored, came, isNewer, isOlder });
    mergeHolder(result as unknown as MergedRecord<TaskRecord>, { stored, came, isNewer, isOlder });
    mergeWork(result as unknown as MergedRecord<TaskRecord>, { stored, came });
  }
  if (stored.kind === "message" && came.kind === "message") {
    mergeReaders(result as unknown as MergedRecord<MessageRecord>, came);
  }
  if (held.includes("status") && stored.kind === "task") {
    // The status waits for the end of the lease, and so does the time: a later import can then still bring the status.
    target["updated_at"] = stored.updated_at;
    result.updated = result.updated.filter((field) => field !== "updated_at");
  }
  result.kept.push(...held);
  result.updated = withoutTime(result.updated);
  result.kept = withoutTime(result.kept);
  return result;
}

/** Somebody works on it: the claim's lease has not ended. */
function isHeld({ claim }: TaskRecord, at: Date): boolean {
  return claim !== undefined && Date.parse(claim.lease_until) > at.getTime();
}

const HELD = ["status", "claim", "started_at", "completed_at", "last_holder"] as const;

/** The fields that an import cannot change while somebody holds the task. */
function heldFields(stored: TaskRecord, came: TaskRecord): string[] {
  return HELD.filter((field) => !isEqual(stored[field], came[field]));
}

/** The import with these fields as they are stored. */
function withFieldsOf<T extends WorkRecord>(stored: T, came: T, fields: readonly string[]): T {
  const result = { ...came } as unknown as Fields;
  for (const field of fields) setField(result, field, (stored as unknown as Fields)[field]);
  return result as unknown as T;
}

type Fields = Record<string, unknown>;

const OWN_RULE = new Set(["aliases", "claim", "last_holder", "wip", "wip_updated_at", "wip_history", "readers"]);

/** A message counts as read if the agent has read it in either store. */
function mergeReaders({ record, updated, kept }: MergedRecord<MessageRecord>, came: MessageRecord): void {
  const readers = (record.readers ?? []).map((reader) => ({ ...reader }));
  let isChanged = false;
  let isKept = false;
  for (const reader of came.readers ?? []) {
    const known = readers.find(({ agent, branch }) => agent === reader.agent && branch === reader.branch);
    if (!known) readers.push(reader);
    else if (reader.read_at === undefined || reader.read_at === known.read_at) continue;
    else if (known.read_at === undefined) known.read_at = reader.read_at;
    else {
      isKept = true;
      continue;
    }
    isChanged = true;
  }
  if (isKept) kept.push("readers");
  if (!isChanged) return;
  record.readers = readers;
  updated.push("readers");
}

/** The claim follows the status that won. If the statuses are equal, the newer heartbeat wins. */
function mergeClaim(result: MergedRecord<TaskRecord>, { stored, came, isNewer, isOlder }: Sides): void {
  if (isEqual(stored.claim, came.claim)) return;
  const isFresher = (came.claim?.heartbeat_at ?? "") > (stored.claim?.heartbeat_at ?? "");
  const isTaken = stored.status === came.status ? isFresher || (isNewer && !stored.claim) : isNewer && !isOlder;
  decide(result, "claim", came.claim, isTaken && !(result.record.status !== "in_progress" && came.claim));
}

interface Sides {
  stored: TaskRecord;
  came: TaskRecord;
  isNewer: boolean;
  isOlder: boolean;
}

function decide(result: MergedRecord<TaskRecord>, field: string, value: unknown, isTaken: boolean): void {
  if (isTaken) setField(result.record as unknown as Fields, field, value);
  (isTaken ? result.updated : result.kept).push(field);
}

/** The holder with the latest sign of life wins. If one side has no holder, the side that was changed later wins. */
function mergeHolder(result: MergedRecord<TaskRecord>, { stored, came, isNewer, isOlder }: Sides): void {
  const [before, after] = [stored.last_holder, came.last_holder];
  if (isEqual(before, after)) return;
  const isLater = before && after ? after.last_seen_at > before.last_seen_at : after && !isOlder;
  decide(result, "last_holder", after, isNewer || Boolean(isLater));
}

function mergeWork(
  { record, updated, kept }: MergedRecord<TaskRecord>,
  { stored, came }: { stored: TaskRecord; came: TaskRecord },
): void {
  if (came.wip !== undefined && !isEqual(stored.wip, came.wip)) {
    if (stored.wip === undefined || (came.wip_updated_at ?? "") > (stored.wip_updated_at ?? "")) {
      record.wip = came.wip;
      record.wip_updated_at = came.wip_updated_at ?? came.updated_at;
      updated.push("wip");
    } else kept.push("wip");
  }
  const known = new Map<string, number>();
  for (const entry of stored.wip_history ?? []) known.set(keyOf(entry), (known.get(keyOf(entry)) ?? 0) + 1);
  const added = (came.wip_history ?? []).filter((entry) => {
    const left = known.get(keyOf(entry)) ?? 0;
    known.set(keyOf(entry), left - 1);
    return left <= 0;
  });
  if (added.length === 0) return;
  // The sort is stable: changes of the same time keep their order.
  record.wip_history = [...(stored.wip_history ?? []), ...added].sort((a, b) =>
    a.at < b.at ? -1 : a.at > b.at ? 1 : 0,
  );
  updated.push("wip_history");
}

function setField(target: Fields, field: string, value: unknown): void {
  if (value === undefined) delete target[field];
  else target[field] = value;
}

/** A different change time is reported only if nothing else differs. */
function withoutTime(fields: string[]): string[] {
  const others = fields.filter((field) => field !== "updated_at");
  return others.length > 0 ? others : fields;
}

export function isEqual(one: unknown, other: unknown): boolean {
  return one === other || keyOf(one) === keyOf(other);
}

/** Equal for equal values, regardless of field order. */
export function keyOf(value: unknown): string {
  return (
    JSON.stringify(value, (_, inner: unknown) =>
      typeof inner === "object" && inner !== null && !Array.isArray(inner)
        ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
        : inner,
    ) ?? ""
  );
}

// Writes whole records, as new rows or over existing ones. The caller has decided that this is right.

/** Writes everything except the parent, which may be imported later. */
function writeTask(db: DatabaseSync, task: TaskRecord): void {
  const story = seqOf(db, "stories", task.story_id);
  const epic =
    story === null ? null : one<{ epic: number | null }>(db, "SELECT epic FROM stories WHERE seq = ?", story)?.epic;
  const elsewhere = ["files", "claim", "last_holder", "wip", "wip_updated_at", "wip_history"];
  upsert(db, "tasks", {
    ...columnsOf(task, "story_id", "parent_id", ...elsewhere),
    story,
    epic,
    priority: rankOf(task.priority as Priority),
    steps: task.steps && JSON.stringify(task.steps),
  });
  const seq = seqOf(db, "tasks", task.id) as number;
  for (const table of ["task_files", "claims", "task_wip", "task_wip_changes"]) {
    run(db, `DELETE FROM ${table} WHERE task = ?`, seq);
  }
  for (const path of task.files ?? []) run(db, "INSERT OR IGNORE INTO task_files VALUES (?, ?)", seq, path);
  if (task.claim) {
    insert(db, "claims", { agent_id: "", ...task.claim, task: seq, lease_until: Date.parse(task.claim.lease_until) });
  }
  // A task that is finished or in review has not been abandoned by anyone.
  writeHolder(db, seq, task.status === "todo" || task.status === "in_progress" ? task.last_holder : undefined);
  if (task.wip) {
    const at = task.wip_updated_at ?? task.updated_at;
    run(db, "INSERT INTO task_wip VALUES (?, ?, ?)", seq, JSON.stringify(task.wip), at);
  }
  for (const { at, actor, path, before, after } of task.wip_history ?? []) {
    const sides = { before: JSON.stringify(before), after: JSON.stringify(after) };
    insert(db, "task_wip_changes", { task: seq, at, actor, path, ...sides });
  }
}

/** The import has checked that the readers exist. */
function writeMessage(db: DatabaseSync, message: MessageRecord): void {
  const { id, from: sender, text } = message;
  // Whether a person sent it is known only for messages sent here, and only while they are unchanged.
  const sql = "SELECT is_person FROM messages WHERE id = ? AND sender = ? AND text = ?";
  const known = one<{ is_person: number }>(db, sql, id, sender, text);
  upsert(db, "messages", { ...columnsOf(message, "from", "readers"), sender, is_person: known?.is_person ?? 0 });
  const seq = seqOf(db, "messages", id) as number;
  run(db, "DELETE FROM message_recipients WHERE message = ?", seq);
  for (const { agent, branch, is_mention, read_at } of message.readers ?? []) {
    const mark = { message: seq, agent: agentSeq(db, { agent, branch }), is_mention: is_mention ? 1 : 0, read_at };
    insert(db, "message_recipients", mark, "INSERT OR IGNORE");
  }
}

export function agentSeq(
  db: DatabaseSync,
  { agent, branch = "" }: { agent: string; branch?: string | undefined },
): number | null {
  return one<{ seq: number }>(db, "SELECT seq FROM agents WHERE name = ? AND branch = ?", agent, branch)?.seq ?? null;
}

export function seqOf(
  db: DatabaseSync,
  table: "epics" | "stories" | "tasks" | "handoffs" | "messages",
  id: string | undefined,
): number | null {
  if (id === undefined) return null;
  return one<{ seq: number }>(db, `SELECT seq FROM ${table} WHERE id = ?`, id)?.seq ?? null;
}

function upsert(db: DatabaseSync, table: string, columns: Columns, key: readonly string[] = ["id"]): void {
  const names = Object.keys(columns);
  const changes = names.filter((name) => !key.includes(name)).map((name) => `${name} = excluded.${name}`);
  const sql = `INSERT INTO ${table} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")}) ON CONFLICT (${key.join(", ")}) DO UPDATE SET ${changes.join(", ")}`;
  run(db, sql, ...names.map((name) => columns[name] ?? null));
}

/** Writes a whole record, as a new row or over an existing one. The caller has decided that this is right. */
export const WRITERS: { readonly [Kind in WrittenKind]: (db: DatabaseSync, record: RecordOf<Kind>) => void } = {
  epic: (db, epic) => upsert(db, "epics", { ...columnsOf(epic), priority: rankOf(epic.priority as Priority) }),
  story(db, story) {
    upsert(db, "stories", { ...columnsOf(story, "epic_id"), epic: seqOf(db, "epics", story.epic_id) });
  },
  task: writeTask,
  handoff(db, handoff) {
    const { id, task_id, files_changed: files, details = "" } = handoff;
    upsert(db, "handoffs", {
      ...columnsOf(handoff, "task_id", "details"),
      task: seqOf(db, "tasks", task_id),
      files_changed: files && JSON.stringify(files),
      details_chars: details.length,
    });
    const seq = seqOf(db, "handoffs", id) as number;
    run(db, "DELETE FROM handoff_details WHERE handoff = ?", seq);
    if (details !== "") run(db, "INSERT INTO handoff_details VALUES (?, ?)", seq, details);
  },
  agent(db, agent) {
    const { branch = "", role = "" } = agent;
    upsert(db, "agents", { ...columnsOf(agent), branch, role }, ["name", "branch"]);
  },
  message: writeMessage,
};

type WrittenKind = "epic" | "story" | "task" | "handoff" | "agent" | "message";

/** The fields that map directly to columns. Absent fields are cleared. */
function columnsOf(record: RecordOf<WrittenKind>, ...others: string[]): Record<string, string | number | undefined> {
  const names = Object.keys(FIELDS[record.kind]).filter((name) => name !== "aliases" && !others.includes(name));
  return Object.fromEntries(names.map((name) => [name, (record as Record<string, unknown>)[name]])) as never;
}
