/**
 * One record of the store and one of an import that speak of the same thing. Field by field: the record that was changed later
 * wins, the other's values are named. Where both are equally old, what came only fills what is missing. WIP and the last
 * holder have times of their own and are decided by them; the history of WIP is united, and so are the readers of a message. Aliases are
 * not decided here: an import adds them.
 */

import type { DatabaseSync } from "node:sqlite";
import { rankOf } from "../../../../work/queue-order.ts";
import { columnOf, PLAIN_TASK_FIELDS, type Priority, TASK_FIELDS } from "../../../../work/task.ts";
import type {
  AgentRecord,
  EpicRecord,
  HandoffRecord,
  MessageRecord,
  StoryRecord,
  TaskRecord,
  WorkRecord,
} from "../../../work-records.ts";
import { writeHolder } from "../last-holders.ts";
import { one, run } from "../rows.ts";

export interface MergedRecord<T> {
  record: T;
  /** Taken from the import. */
  updated: string[];
  /** Different in the import, and older or not newer there. */
  kept: string[];
}

export function mergeRecord<T extends WorkRecord>(stored: T, came: T, timeOf: (record: T) => string): MergedRecord<T> {
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
  result.updated = withoutTime(result.updated);
  result.kept = withoutTime(result.kept);
  return result;
}

type Fields = Record<string, unknown>;

const OWN_RULE = new Set(["aliases", "claim", "last_holder", "wip", "wip_updated_at", "wip_history", "readers"]);

/** A message counts as read if an agent has read it in either of the two stores. */
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

/** A claim goes with the status that won. Of one status the newer heartbeat counts. */
function mergeClaim(
  { record, updated, kept }: MergedRecord<TaskRecord>,
  { stored, came, isNewer, isOlder }: { stored: TaskRecord; came: TaskRecord; isNewer: boolean; isOlder: boolean },
): void {
  if (isEqual(stored.claim, came.claim)) return;
  const isFresher = (came.claim?.heartbeat_at ?? "") > (stored.claim?.heartbeat_at ?? "");
  const isTaken = stored.status === came.status ? isFresher || (isNewer && !stored.claim) : isNewer && !isOlder;
  if (isTaken && !(record.status !== "in_progress" && came.claim)) {
    setField(record as unknown as Fields, "claim", came.claim);
    updated.push("claim");
  } else kept.push("claim");
}

/** Whoever gave the last sign of life held it last. Where one side has none, the side that was changed later is right. */
function mergeHolder(
  { record, updated, kept }: MergedRecord<TaskRecord>,
  { stored, came, isNewer, isOlder }: { stored: TaskRecord; came: TaskRecord; isNewer: boolean; isOlder: boolean },
): void {
  const before = stored.last_holder;
  const after = came.last_holder;
  if (isEqual(before, after)) return;
  const isTaken =
    before && after ? after.last_seen_at > before.last_seen_at || isNewer : isNewer || (after && !isOlder);
  if (isTaken) {
    setField(record as unknown as Fields, "last_holder", after);
    updated.push("last_holder");
  } else kept.push("last_holder");
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
  // Stable: what happened at one time stays in its order.
  record.wip_history = [...(stored.wip_history ?? []), ...added].sort((a, b) =>
    a.at < b.at ? -1 : a.at > b.at ? 1 : 0,
  );
  updated.push("wip_history");
}

function setField(target: Fields, field: string, value: unknown): void {
  if (value === undefined) delete target[field];
  else target[field] = value;
}

/** That the time of the change differs says nothing, unless it is all that does. */
function withoutTime(fields: string[]): string[] {
  const others = fields.filter((field) => field !== "updated_at");
  return others.length > 0 ? others : fields;
}

export function isEqual(one: unknown, other: unknown): boolean {
  return one === other || keyOf(one) === keyOf(other);
}

/** Equal for equal values, whatever the order of their fields. */
export function keyOf(value: unknown): string {
  return (
    JSON.stringify(value, (_, inner: unknown) =>
      typeof inner === "object" && inner !== null && !Array.isArray(inner)
        ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
        : inner,
    ) ?? ""
  );
}

// Whole records into their rows: a new one, or over what is there. Whether that is right was decided before.

export function writeEpic(db: DatabaseSync, epic: EpicRecord): void {
  upsert(db, "epics", {
    id: epic.id,
    title: epic.title,
    description: epic.description,
    priority: rankOf(epic.priority as Priority),
    status: epic.status,
    source: epic.source,
    created_at: epic.created_at,
    updated_at: epic.updated_at,
    completed_at: epic.completed_at,
  });
}

export function writeStory(db: DatabaseSync, story: StoryRecord): void {
  upsert(db, "stories", {
    id: story.id,
    epic: seqOf(db, "epics", story.epic_id),
    title: story.title,
    description: story.description,
    acceptance_criteria: story.acceptance_criteria,
    status: story.status,
    source: story.source,
    created_at: story.created_at,
    updated_at: story.updated_at,
    completed_at: story.completed_at,
  });
}

/** All but the parent: it may come later. */
export function writeTask(db: DatabaseSync, task: TaskRecord): void {
  const story = seqOf(db, "stories", task.story_id);
  const epic =
    story === null ? null : one<{ epic: number | null }>(db, "SELECT epic FROM stories WHERE seq = ?", story)?.epic;
  upsert(db, "tasks", {
    id: task.id,
    story,
    epic,
    title: task.title,
    type: task.type,
    status: task.status,
    priority: rankOf(task.priority as Priority),
    steps: task.steps && JSON.stringify(task.steps),
    ...Object.fromEntries(PLAIN_TASK_FIELDS.map((name) => [columnOf(name), task[TASK_FIELDS[name].key]])),
    note: task.note,
    created_at: task.created_at,
    updated_at: task.updated_at,
    started_at: task.started_at,
    completed_at: task.completed_at,
  });
  const seq = seqOf(db, "tasks", task.id) as number;
  for (const table of ["task_files", "claims", "task_wip", "task_wip_changes"]) {
    run(db, `DELETE FROM ${table} WHERE task = ?`, seq);
  }
  for (const path of task.files ?? []) run(db, "INSERT OR IGNORE INTO task_files VALUES (?, ?)", seq, path);
  if (task.claim) writeClaim(db, seq, task.claim);
  // Of a task that is finished, or waits for a review, nobody has left anything.
  writeHolder(db, seq, task.status === "todo" || task.status === "in_progress" ? task.last_holder : undefined);
  if (task.wip) {
    const at = task.wip_updated_at ?? task.updated_at;
    run(db, "INSERT INTO task_wip VALUES (?, ?, ?)", seq, JSON.stringify(task.wip), at);
  }
  for (const { at, actor, path, before, after } of task.wip_history ?? []) {
    run(
      db,
      "INSERT INTO task_wip_changes (task, at, actor, path, before, after) VALUES (?, ?, ?, ?, ?, ?)",
      seq,
      at,
      actor,
      path,
      toJson(before),
      toJson(after),
    );
  }
}

function writeClaim(db: DatabaseSync, seq: number, claim: NonNullable<TaskRecord["claim"]>): void {
  run(
    db,
    "INSERT INTO claims VALUES (?, ?, ?, ?, ?, ?, ?)",
    seq,
    claim.agent,
    claim.session_id ?? null,
    claim.agent_id ?? "",
    claim.claimed_at,
    claim.heartbeat_at,
    Date.parse(claim.lease_until),
  );
}

export function writeHandoff(db: DatabaseSync, handoff: HandoffRecord): void {
  const { details = "" } = handoff;
  upsert(db, "handoffs", {
    id: handoff.id,
    task: seqOf(db, "tasks", handoff.task_id),
    role: handoff.role,
    attempt: handoff.attempt,
    status: handoff.status,
    summary: handoff.summary,
    files_changed: handoff.files_changed && JSON.stringify(handoff.files_changed),
    details_chars: details.length,
    actor: handoff.actor,
    created_at: handoff.created_at,
    compacted_at: handoff.compacted_at,
    archived_at: handoff.archived_at,
  });
  const seq = seqOf(db, "handoffs", handoff.id) as number;
  run(db, "DELETE FROM handoff_details WHERE handoff = ?", seq);
  if (details !== "") run(db, "INSERT INTO handoff_details VALUES (?, ?)", seq, details);
}

export function writeAgent(db: DatabaseSync, agent: AgentRecord): void {
  upsert(
    db,
    "agents",
    {
      name: agent.name,
      branch: agent.branch ?? "",
      role: agent.role ?? "",
      client: agent.client,
      session_id: agent.session_id,
      worktree: agent.worktree,
      created_at: agent.created_at,
      last_seen_at: agent.last_seen_at,
      removed_at: agent.removed_at,
    },
    ["name", "branch"],
  );
}

/** Its readers exist: whoever imports has looked. */
export function writeMessage(db: DatabaseSync, message: MessageRecord): void {
  // Whether the person sent it is known for what was sent here, and only as long as it is unchanged.
  const known = one<{ is_person: number }>(
    db,
    "SELECT is_person FROM messages WHERE id = ? AND sender = ? AND text = ?",
    message.id,
    message.from,
    message.text,
  );
  upsert(db, "messages", {
    id: message.id,
    sender: message.from,
    is_person: known?.is_person ?? 0,
    text: message.text,
    subject: message.subject,
    created_at: message.created_at,
  });
  const seq = seqOf(db, "messages", message.id) as number;
  run(db, "DELETE FROM message_recipients WHERE message = ?", seq);
  for (const { agent, branch, is_mention, read_at } of message.readers ?? []) {
    run(
      db,
      "INSERT OR IGNORE INTO message_recipients VALUES (?, ?, ?, ?)",
      seq,
      agentSeq(db, { agent, branch }),
      is_mention ? 1 : 0,
      read_at ?? null,
    );
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

function upsert(
  db: DatabaseSync,
  table: string,
  columns: Readonly<Record<string, string | number | null | undefined>>,
  key: readonly string[] = ["id"],
): void {
  const names = Object.keys(columns);
  const changes = names.filter((name) => !key.includes(name)).map((name) => `${name} = excluded.${name}`);
  run(
    db,
    `INSERT INTO ${table} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")}) ON CONFLICT (${key.join(", ")}) DO UPDATE SET ${changes.join(", ")}`,
    ...names.map((name) => columns[name] ?? null),
  );
}

function toJson(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}
