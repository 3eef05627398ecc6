/** Handoffs: stored whole, listed small; details and then the whole of them move to the archive and can be taken back. */
import type { DatabaseSync } from "node:sqlite";
import { checkCount, checkWord, invalid } from "../../../work/clean-input.ts";
import { type Handoff, VERDICTS, type Verdict } from "../../../work/handoff.ts";
import type { Actor, Boundaries, DecayRequest, HandoffQuery, NewHandoff, Page, Scope } from "../../work-store.ts";
import { note } from "./activity.ts";
import { refuseIfLost } from "./claims.ts";
import { findAny, findSeq, findTask, freshId } from "./ids.ts";
import { all, one, run, value } from "./rows.ts";

export function setHandoff(
  db: DatabaseSync,
  { taskId, role, attempt, status, summary, filesChanged = [], details = "" }: NewHandoff,
  by: Actor,
): Handoff {
  checkWord("status", status, VERDICTS);
  if (summary.trim() === "") throw invalid("summary must not be empty");
  if (role.trim() === "") throw invalid("role must not be empty");
  if (attempt !== undefined) checkCount("attempt", attempt);
  const task = findTask(db, taskId);
  // A reviewer may report on a task that another holds; whoever has lost the task may not.
  refuseIfLost(db, task, by);
  const latest = value(
    db,
    "SELECT coalesce(max(attempt), 0) FROM handoffs WHERE task = ? AND role = ?",
    task.seq,
    role,
  );
  const files = filesChanged.length > 0 ? JSON.stringify(filesChanged) : null;
  const known = one<HandoffRow & { seq: number }>(
    db,
    `SELECT ${COLUMNS} WHERE h.task = ? AND h.role = ? AND h.attempt = ?`,
    task.seq,
    role,
    attempt ?? latest,
  );
  if (known) {
    const isSame =
      known.status === status &&
      known.summary === summary &&
      known.files_changed === files &&
      detailsOf(db, known.seq) === details;
    // Sent again, after an answer that did not arrive. Later, or from another, the same words are another attempt.
    const isRepeat = known.actor === by.name && by.at.getTime() - Date.parse(known.created_at) < REPEAT_MS;
    if (isSame && (isRepeat || attempt !== undefined)) return toHandoff(known);
    if (attempt !== undefined) {
      throw invalid(`attempt ${attempt} of ${role} is stored already; leave attempt out and it becomes ${latest + 1}`);
    }
  }
  const number = attempt ?? latest + 1;
  run(
    db,
    "INSERT INTO handoffs (id, task, role, attempt, status, summary, files_changed, details_chars, actor, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    freshId(db, "handoffs"),
    task.seq,
    role,
    number,
    status,
    summary,
    files,
    details.length,
    by.name,
    by.at.toISOString(),
  );
  const seq = value(db, "SELECT seq FROM handoffs WHERE task = ? AND role = ? AND attempt = ?", task.seq, role, number);
  if (details !== "") run(db, "INSERT INTO handoff_details VALUES (?, ?)", seq, details);
  note(db, by, "handoff-stored", task.id, `${role} ${number}: ${status}`);
  return handoffAt(db, seq);
}

const REPEAT_MS = 60_000;

export function getHandoff(db: DatabaseSync, { taskId, role, attempt, status }: HandoffQuery): Handoff | undefined {
  checkWord("status", status, VERDICTS);
  const task = findTask(db, taskId);
  const row = one<HandoffRow>(
    db,
    // By when it was said, not by number: the second reviewer's first attempt is later than the first one's third.
    `SELECT ${COLUMNS} WHERE h.task = ?1 AND (?2 IS NULL OR h.role = ?2) AND (?3 IS NULL OR h.attempt = ?3) AND (?4 IS NULL OR h.status = ?4) ORDER BY h.created_at DESC, h.seq DESC LIMIT 1`,
    task.seq,
    role ?? null,
    attempt ?? null,
    status ?? null,
  );
  return row && toHandoff(row);
}

export function readHandoffDetails(
  db: DatabaseSync,
  { id, from, maxChars }: { id: string; from: number; maxChars: number },
): { text: string; total: number } {
  checkCount("from", from, { minimum: 0 });
  checkCount("max_chars", maxChars);
  const seq = findSeq(db, "handoff", id);
  const text = detailsOf(db, seq);
  return { text: text.slice(from, from + maxChars), total: text.length };
}

function detailsOf(db: DatabaseSync, seq: number): string {
  return one<{ text: string }>(db, "SELECT text FROM handoff_details WHERE handoff = ?", seq)?.text ?? "";
}

export function listHandoffs(
  db: DatabaseSync,
  {
    scope: { taskId, storyId, epicId },
    limit,
    includeArchived = false,
  }: { scope: Scope & { taskId?: string }; limit: number; includeArchived?: boolean },
): Page<Handoff> {
  checkCount("limit", limit);
  const where = [
    "(?1 IS NULL OR h.task = ?1) AND (?2 IS NULL OR t.story = ?2) AND (?3 IS NULL OR t.epic = ?3)",
    ...(includeArchived ? [] : ["h.archived_at IS NULL"]),
  ].join(" AND ");
  const values = [
    taskId === undefined ? null : findSeq(db, "task", taskId),
    storyId === undefined ? null : findSeq(db, "story", storyId),
    epicId === undefined ? null : findSeq(db, "epic", epicId),
  ];
  const rows = all<HandoffRow>(
    db,
    `SELECT ${COLUMNS} WHERE ${where} ORDER BY h.created_at DESC, h.seq DESC LIMIT ?4`,
    ...values,
    limit,
  );
  const total = value(db, `SELECT count(*) FROM handoffs h JOIN tasks t ON t.seq = h.task WHERE ${where}`, ...values);
  return { items: rows.map(toHandoff), total };
}

/** What the completed story and epic allow; failed and blocked ones stay whole. */
export function decayCompleted(db: DatabaseSync, { storyCompleted, epicCompleted }: Boundaries, by: Actor): void {
  if (storyCompleted) shrink(db, "compacted_at", { column: "story", seq: findSeq(db, "story", storyCompleted) }, by);
  if (epicCompleted) shrink(db, "archived_at", { column: "epic", seq: findSeq(db, "epic", epicCompleted) }, by);
}

export function decay(
  db: DatabaseSync,
  { epicId, storyId, isForced = false, includeFailed = false }: DecayRequest,
  by: Actor,
): { compacted: number; archived: number } {
  const epic = epicId === undefined ? undefined : findSeq(db, "epic", epicId);
  const story = storyId === undefined ? undefined : findSeq(db, "story", storyId);
  const within = (table: "stories" | "epics"): { seq: number }[] => {
    const isDone = isForced ? "" : "AND status = 'done'";
    if (story !== undefined) {
      return table === "stories" ? all(db, `SELECT seq FROM stories WHERE seq = ? ${isDone}`, story) : [];
    }
    if (epic !== undefined) {
      return table === "epics"
        ? all(db, `SELECT seq FROM epics WHERE seq = ? ${isDone}`, epic)
        : all(db, `SELECT seq FROM stories WHERE epic = ? ${isDone}`, epic);
    }
    return all(db, `SELECT seq FROM ${table} WHERE 1 ${isDone}`);
  };
  let compacted = 0;
  let archived = 0;
  for (const { seq } of within("stories")) {
    compacted += shrink(db, "compacted_at", { column: "story", seq }, by, includeFailed);
  }
  for (const { seq } of within("epics")) {
    archived += shrink(db, "archived_at", { column: "epic", seq }, by, includeFailed);
  }
  return { compacted, archived };
}

export function restore(db: DatabaseSync, id: string, by: Actor): { restored: number } {
  const { kind, seq, id: whole } = findAny(db, id);
  const of = {
    handoff: "seq = ?",
    task: "task = ?",
    story: "task IN (SELECT seq FROM tasks WHERE story = ?)",
    epic: "task IN (SELECT seq FROM tasks WHERE epic = ?)",
  }[kind];
  const restored = run(
    db,
    `UPDATE handoffs SET compacted_at = NULL, archived_at = NULL WHERE ${of} AND (compacted_at IS NOT NULL OR archived_at IS NOT NULL)`,
    seq,
  );
  if (restored > 0) note(db, by, "handoffs-restored", whole, `${restored} taken back from the archive`);
  return { restored };
}

function shrink(
  db: DatabaseSync,
  mark: "compacted_at" | "archived_at",
  { column, seq }: { column: "story" | "epic"; seq: number },
  by: Actor,
  includeFailed = false,
): number {
  const isPassed = includeFailed ? "" : "AND status = 'PASS'";
  const changed = run(
    db,
    `UPDATE handoffs SET ${mark} = ? WHERE ${mark} IS NULL ${isPassed} AND task IN (SELECT seq FROM tasks WHERE ${column} = ?)`,
    by.at.toISOString(),
    seq,
  );
  if (changed > 0) {
    const id = one<{ id: string }>(
      db,
      `SELECT id FROM ${column === "story" ? "stories" : "epics"} WHERE seq = ?`,
      seq,
    )?.id;
    const what = mark === "compacted_at" ? "details of handoffs" : "handoffs";
    note(db, by, "handoffs-archived", id ?? "", `${changed} ${what} went to the archive`);
  }
  return changed;
}

export function lastVerdict(db: DatabaseSync, task: number): Verdict | undefined {
  return one<{ status: Verdict }>(
    db,
    "SELECT status FROM handoffs WHERE task = ? ORDER BY created_at DESC, seq DESC LIMIT 1",
    task,
  )?.status;
}

interface HandoffRow {
  id: string;
  task_id: string;
  role: string;
  attempt: number;
  status: Verdict;
  summary: string;
  files_changed: string | null;
  details_chars: number;
  actor: string;
  created_at: string;
  compacted_at: string | null;
  archived_at: string | null;
}

const COLUMNS = "h.*, t.id AS task_id FROM handoffs h JOIN tasks t ON t.seq = h.task";

function handoffAt(db: DatabaseSync, seq: number): Handoff {
  return toHandoff(one<HandoffRow>(db, `SELECT ${COLUMNS} WHERE h.seq = ?`, seq) as HandoffRow);
}

function toHandoff(row: HandoffRow): Handoff {
  return {
    id: row.id,
    taskId: row.task_id,
    role: row.role,
    attempt: row.attempt,
    status: row.status,
    summary: row.summary,
    filesChanged: row.files_changed === null ? [] : (JSON.parse(row.files_changed) as string[]),
    detailsChars: row.details_chars,
    actor: row.actor,
    createdAt: new Date(row.created_at),
    state: row.archived_at !== null ? "archived" : row.compacted_at !== null ? "compacted" : "whole",
  };
}
