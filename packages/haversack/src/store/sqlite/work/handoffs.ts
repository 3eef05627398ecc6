/** Handoffs: stored in full, listed as summaries. First the details and later everything moves to the archive, and can be restored. */

import type { DatabaseSync } from "node:sqlite";
import { checkCount, checkWord, invalid } from "../../../work/clean-input.ts";
import { type Handoff, VERDICTS, type Verdict } from "../../../work/handoff.ts";
import type { Actor, Boundaries, DecayRequest, HandoffQuery, NewHandoff, Page, WorkStore } from "../../work-store.ts";
import { refuseIfLost } from "./claims.ts";
import { findAny, findSeq, findTask, freshId } from "./ids.ts";
import { all, fromRow, insert, note, one, run, value, whereGiven } from "./rows.ts";

export function setHandoff(db: DatabaseSync, handoff: NewHandoff, by: Actor): Handoff {
  const { taskId, role, attempt, status, summary, filesChanged = [], details = "" } = handoff;
  checkWord("status", status, VERDICTS);
  if (summary.trim() === "") throw invalid("summary must not be empty");
  if (role.trim() === "") throw invalid("role must not be empty");
  if (attempt !== undefined) checkCount("attempt", attempt);
  const task = findTask(db, taskId);
  // A reviewer may report on a task that another agent holds. An agent that has lost the task may not.
  refuseIfLost(db, task, by);
  const last = "SELECT coalesce(max(attempt), 0) FROM handoffs WHERE task = ? AND role = ?";
  const latest = value(db, last, task.seq, role);
  const files = filesChanged.length > 0 ? JSON.stringify(filesChanged) : null;
  const same = `SELECT ${COLUMNS} WHERE h.task = ? AND h.role = ? AND h.attempt = ?`;
  const known = one<HandoffRow>(db, same, task.seq, role, attempt ?? latest);
  if (known) {
    const isSame =
      known.status === status &&
      known.summary === summary &&
      known.files_changed === files &&
      detailsOf(db, known.seq) === details;
    // The agent sent it again because our answer was lost. The same text later, or from another agent, is a new attempt.
    const isRepeat = known.actor === by.name && by.at.getTime() - Date.parse(known.created_at) < REPEAT_MS;
    if (isSame && (isRepeat || attempt !== undefined)) return toHandoff(known);
    if (attempt !== undefined) {
      throw invalid(`attempt ${attempt} of ${role} is stored already; leave attempt out and it becomes ${latest + 1}`);
    }
  }
  const number = attempt ?? latest + 1;
  const said = { task: task.seq, role, attempt: number, status, summary, files_changed: files, actor: by.name };
  const created = { id: freshId(db, "handoffs"), details_chars: details.length, created_at: by.at.toISOString() };
  const seq = insert(db, "handoffs", { ...said, ...created });
  if (details !== "") insert(db, "handoff_details", { handoff: seq, text: details });
  note(db, by, "handoff-stored", task.id, `${role} ${number}: ${status}`);
  return toHandoff(one<HandoffRow>(db, `SELECT ${COLUMNS} WHERE h.seq = ?`, seq) as HandoffRow);
}

const REPEAT_MS = 60_000;

export function getHandoff(db: DatabaseSync, { taskId, role, attempt, status }: HandoffQuery): Handoff | undefined {
  checkWord("status", status, VERDICTS);
  const task = findTask(db, taskId);
  // Sorted by time, not by attempt: the second reviewer's first attempt is later than the first reviewer's third.
  const sql = `SELECT ${COLUMNS} WHERE h.task = ?1 AND (?2 IS NULL OR h.role = ?2) AND (?3 IS NULL OR h.attempt = ?3)
    AND (?4 IS NULL OR h.status = ?4) ORDER BY h.created_at DESC, h.seq DESC LIMIT 1`;
  const row = one<HandoffRow>(db, sql, task.seq, role ?? null, attempt ?? null, status ?? null);
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

export function listHandoffs(db: DatabaseSync, query: Parameters<WorkStore["listHandoffs"]>[0]): Page<Handoff> {
  const { taskId, storyId, epicId } = query.scope;
  checkCount("limit", query.limit);
  const { where, values } = whereGiven({
    "h.task = ?": taskId === undefined ? undefined : findSeq(db, "task", taskId),
    "t.story = ?": storyId === undefined ? undefined : findSeq(db, "story", storyId),
    "t.epic = ?": epicId === undefined ? undefined : findSeq(db, "epic", epicId),
  });
  const all_ = [query.includeArchived ? "1" : "h.archived_at IS NULL", ...(where ? [where] : [])].join(" AND ");
  const sql = `SELECT ${COLUMNS} WHERE ${all_} ORDER BY h.created_at DESC, h.seq DESC LIMIT ?`;
  const count = `SELECT count(*) FROM handoffs h JOIN tasks t ON t.seq = h.task WHERE ${all_}`;
  return {
    items: all<HandoffRow>(db, sql, ...values, query.limit).map(toHandoff),
    total: value(db, count, ...values),
  };
}

/** Shrinks the handoffs of a completed story and epic. Failed and blocked handoffs stay whole. */
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
  const sql = `UPDATE handoffs SET compacted_at = NULL, archived_at = NULL WHERE ${of} AND (compacted_at IS NOT NULL OR archived_at IS NOT NULL)`;
  const restored = run(db, sql, seq);
  if (restored > 0) note(db, by, "handoffs-restored", whole, `${restored} restored from the archive`);
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
  const sql = `UPDATE handoffs SET ${mark} = ? WHERE ${mark} IS NULL ${isPassed} AND task IN (SELECT seq FROM tasks WHERE ${column} = ?)`;
  const changed = run(db, sql, by.at.toISOString(), seq);
  if (changed > 0) {
    const table = column === "story" ? "stories" : "epics";
    const id = one<{ id: string }>(db, `SELECT id FROM ${table} WHERE seq = ?`, seq)?.id;
    const what = mark === "compacted_at" ? "details of handoffs" : "handoffs";
    note(db, by, "handoffs-archived", id ?? "", `${changed} ${what} went to the archive`);
  }
  return changed;
}

export function lastVerdict(db: DatabaseSync, task: number): Verdict | undefined {
  const sql = "SELECT status FROM handoffs WHERE task = ? ORDER BY created_at DESC, seq DESC LIMIT 1";
  return one<{ status: Verdict }>(db, sql, task)?.status;
}

interface HandoffRow {
  seq: number;
  status: Verdict;
  summary: string;
  files_changed: string | null;
  actor: string;
  created_at: string;
  compacted_at: string | null;
  archived_at: string | null;
}

const COLUMNS = "h.*, t.id AS task_id FROM handoffs h JOIN tasks t ON t.seq = h.task";

function toHandoff(row: HandoffRow): Handoff {
  const { files_changed: files, compacted_at, archived_at, ...rest } = row;
  const { task: _, ...fields } = rest as typeof rest & { task: number };
  const state = archived_at !== null ? "archived" : compacted_at !== null ? "compacted" : "whole";
  return fromRow(fields, { filesChanged: files === null ? [] : JSON.parse(files), state });
}
