/** Whole records into their rows: a new one, or over what is there. Whether that is right was decided before. */
import type { DatabaseSync } from "node:sqlite";
import { rankOf } from "../../../work/queue-order.ts";
import type { Priority } from "../../../work/task.ts";
import type {
  AgentRecord,
  EpicRecord,
  HandoffRecord,
  MessageRecord,
  StoryRecord,
  TaskRecord,
} from "../../work-records.ts";
import { writeHolder } from "./last-holders.ts";
import { one, run } from "./prepared.ts";

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
    description: task.description,
    acceptance_criteria: task.acceptance_criteria,
    steps: task.steps && JSON.stringify(task.steps),
    estimate_hours: task.estimate_hours,
    skill: task.skill,
    plan_file: task.plan_file,
    plan_section: task.plan_section,
    context_summary: task.context_summary,
    handoff_notes: task.handoff_notes,
    assignee: task.assignee,
    source: task.source,
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
