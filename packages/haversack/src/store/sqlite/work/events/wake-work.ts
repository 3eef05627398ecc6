/** The parts of an agent's packet about its current task, and its messages. */

import type { DatabaseSync } from "node:sqlite";
import type { TreeTask, WakeActivity, WakeHandoff, WakeMessage, WakeState, WholeTask } from "../../../../wake/state.ts";
import { isSettled, type TaskStatus } from "../../../../work/task.ts";
import { all, fromRow, one, type Row } from "../rows.ts";

/** Longer texts are cut when read: a packet has no room for more. */
export const MOST_CHARS = 40_000;

// What the store knows about the current task and its surroundings. The size is bounded: only the part of a tree around the task is
// read, and lists have limits.

/** The fields that skill rules check. */
type SkilledTask = { title: string; description?: string; skill?: string };

export interface StoredWork
  extends Pick<
    WakeState,
    "task" | "whole" | "story" | "epic" | "wip" | "wipUpdatedAt" | "tree" | "handoffs" | "activity"
  > {
  planFile?: string;
  planSection?: string;
  /** The task's ancestors, nearest first. */
  parents: SkilledTask[];
  /** Skills of this task with the content hash they were last pinned to; newest first. */
  pinned: { skill: string; hash: string }[];
}

const TREE_BEFORE = 10;

/** The task and those after it. If fewer than ten come before it, more are read after it. */
const TREE_AFTER = 20;

const MOST_HANDOFFS = 8;

const MOST_ACTIVITY = 10;

/** What is known about the current task and its surroundings. */
export function readWork(db: DatabaseSync, inHand: number): StoredWork {
  const row = one<Row>(db, TASK, inHand) as Row;
  const story = numberOf(row["story"]);
  const parent = numberOf(row["parent"]);
  const whole = parent === undefined ? undefined : readWhole(db, parent);
  const { self, tree } = readAround(db, inHand, { story, parent, hasParts: row["has_parts"] === 1 });
  const isInTree = whole && tree.some(({ id }) => id === whole.task.id);
  // A part such as a review is about the WIP of the whole task.
  const wip = row["wip"] ? row : whole?.row;
  const { type, description, acceptance_criteria, skill, context_summary, handoff_notes, note } = row;
  const { story_id, story_title, story_status, story_done, story_total, epic_id, epic_title, epic_priority } = row;
  const pinned = JSON.parse(String(row["pinned"])) as [newest: string, skill: string][];
  return {
    tree: whole && !isInTree ? [whole.task, ...tree] : tree,
    ...(whole && { whole: whole.task }),
    task: fromRow(
      { type, description, acceptance_criteria, skill, context_summary, handoff_notes, note },
      {
        ...self,
        files: JSON.parse(String(row["files"])),
        steps: typeof row["steps"] === "string" ? JSON.parse(row["steps"]) : [],
        blockers: JSON.parse(String(row["blockers"])),
        waitsFor: row["has_needs"] === 1 ? all<Row>(db, AWAITED, inHand).map(toTree) : [],
      },
    ),
    // A part follows the plan of the whole task.
    ...planOf(row["plan_file"] || !whole ? row : whole.row),
    ...(story_id !== null && {
      story: fromRow({ id: story_id, title: story_title, status: story_status, done: story_done, total: story_total }),
    }),
    ...(epic_id !== null && { epic: fromRow({ id: epic_id, title: epic_title, priority: `P${epic_priority}` }) }),
    ...(wip?.["wip"] && { wip: JSON.parse(String(wip["wip"])), wipUpdatedAt: new Date(String(wip["wip_updated_at"])) }),
    handoffs: eachOnce([
      ...(self.lastVerdict ? ownHandoffs(db, inHand, self) : []),
      ...(whole ? all<Row>(db, WHOLE_HANDOFFS, parent ?? null, inHand).map(toHandoff) : []),
      ...(Number(story_done) > 0 ? all<Row>(db, SIBLINGS_HANDOFFS, inHand, story ?? null).map(toHandoff) : []),
    ]),
    activity: (story === undefined
      ? all<Row>(db, OWN_ACTIVITY, inHand)
      : all<Row>(db, STORY_ACTIVITY, inHand, story)
    ).map(toActivity),
    parents: parent === undefined ? [] : readParents(db, inHand),
    pinned: pinned
      .sort(([a], [b]) => (a < b ? 1 : -1))
      .map(([newest, name]) => ({ skill: name, hash: newest.slice(MOMENT_CHARS) })),
  };
}

function planOf({ plan_file, plan_section }: Row): Pick<StoredWork, "planFile" | "planSection"> {
  return fromRow({ plan_file, plan_section });
}

export function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

export function toActivity(row: Row): WakeActivity {
  return fromRow(row);
}

/**
 * A sortable text of fixed length: the stored time, then the row number. Text appended to it is returned with the maximum.
 */
const MOMENT_CHARS = 36;

function moment(time: string, number: string): string {
  return `${time} || printf('%012d', ${number})`;
}

/** One statement: preparing each one costs a new process 0.05 ms. */
const TASK = `SELECT t.type, substr(t.description, 1, ${MOST_CHARS}) AS description,
  substr(t.acceptance_criteria, 1, ${MOST_CHARS}) AS acceptance_criteria, t.steps, t.skill, t.plan_file, t.plan_section,
  substr(t.context_summary, 1, ${MOST_CHARS}) AS context_summary, substr(t.handoff_notes, 1, ${MOST_CHARS}) AS handoff_notes,
  t.note, t.story, t.parent, w.data AS wip, w.updated_at AS wip_updated_at,
  s.id AS story_id, s.title AS story_title, s.status AS story_status,
  (SELECT count(*) FROM tasks WHERE story = t.story AND status = 'done') AS story_done,
  (SELECT count(*) FROM tasks WHERE story = t.story AND status <> 'archived') AS story_total,
  e.id AS epic_id, e.title AS epic_title, e.priority AS epic_priority,
  (SELECT json_group_array(path) FROM (SELECT path FROM task_files WHERE task = t.seq ORDER BY path LIMIT 100)) AS files,
  (SELECT json_group_array(reason) FROM (SELECT reason FROM blockers WHERE task = t.seq AND resolved_at IS NULL ORDER BY id LIMIT 10)) AS blockers,
  (SELECT json_group_array(json_array(newest, skill)) FROM (SELECT skill, max(${moment("at", "id")} || hash) AS newest FROM skill_history WHERE task = t.id GROUP BY skill)) AS pinned,
  EXISTS (SELECT 1 FROM tasks WHERE parent = t.seq) AS has_parts, EXISTS (SELECT 1 FROM dependencies WHERE task = t.seq) AS has_needs
FROM tasks t LEFT JOIN task_wip w ON w.task = t.seq LEFT JOIN stories s ON s.seq = t.story LEFT JOIN epics e ON e.seq = t.epic
WHERE t.seq = ?`;

/** The last verdict, without a sorter: SQLite would create one for each row. */
const VERDICT = `(SELECT substr(max(${moment("h.created_at", "h.seq")} || h.status), ${MOMENT_CHARS + 1}) FROM handoffs h WHERE h.task = t.seq)`;

export const TREE_COLUMNS = `t.seq, t.id, t.title, t.status, (SELECT p.id FROM tasks p WHERE p.seq = t.parent) AS parent, (SELECT c.agent FROM claims c WHERE c.task = t.seq) AS holder, ${VERDICT} AS verdict`;

interface Group {
  story: number | undefined;
  parent: number | undefined;
  hasParts: boolean;
}

/** The story's tasks around this one, or its siblings, and its own sub-tasks. */
function readAround(
  db: DatabaseSync,
  seq: number,
  { story, parent, hasParts }: Group,
): Pick<WakeState, "tree"> & { self: TreeTask } {
  const rows =
    story !== undefined
      ? all<Row>(db, around("story"), seq, story)
      : parent !== undefined
        ? all<Row>(db, around("parent"), seq, parent)
        : all<Row>(db, ONE, seq);
  const [own = one<Row>(db, ONE, seq)] = rows.filter((row) => row["seq"] === seq);
  if (!own) throw new Error(`no task in row ${seq}`);
  const parts = hasParts
    ? all<Row>(db, PARTS, seq).filter(({ seq: part }) => rows.every((row) => row["seq"] !== part))
    : [];
  return { self: toTree(own), tree: [...rows, ...parts].map(toTree) };
}

/** The task that the current one is a part of, and the row with its plan and WIP. */
function readWhole(db: DatabaseSync, seq: number): { task: WholeTask; row: Row } | undefined {
  const row = one<Row>(db, WHOLE, seq);
  if (!row) return undefined;
  const { description, acceptance_criteria } = row;
  const task = { ...toTree(row), files: JSON.parse(String(row["files"])) };
  return { task: fromRow({ description, acceptance_criteria }, task), row };
}

const WHOLE = `SELECT ${TREE_COLUMNS}, substr(t.description, 1, ${MOST_CHARS}) AS description,
  substr(t.acceptance_criteria, 1, ${MOST_CHARS}) AS acceptance_criteria, t.plan_file, t.plan_section,
  w.data AS wip, w.updated_at AS wip_updated_at,
  (SELECT json_group_array(path) FROM (SELECT path FROM task_files WHERE task = t.seq ORDER BY path LIMIT 100)) AS files
FROM tasks t LEFT JOIN task_wip w ON w.task = t.seq WHERE t.seq = ?`;

/** Tasks as shown in a tree, in this order. */
export function readTree(db: DatabaseSync, seqs: readonly number[]): TreeTask[] {
  return seqs.flatMap((seq) => all<Row>(db, ONE, seq).map(toTree));
}

export const ONE = `SELECT ${TREE_COLUMNS} FROM tasks t WHERE t.seq = ?`;

export const PARTS = `SELECT ${TREE_COLUMNS} FROM tasks t WHERE t.parent = ? AND t.status <> 'archived' ORDER BY t.seq LIMIT 20`;

const AWAITED = `SELECT ${TREE_COLUMNS} FROM dependencies n JOIN tasks t ON t.seq = n.depends_on
WHERE n.task = ? AND n.type IN ('blocks', 'requires') AND t.status NOT IN ('done', 'archived') ORDER BY t.seq LIMIT 10`;

export function around(column: string): string {
  return `SELECT ${TREE_COLUMNS} FROM tasks t WHERE t.${column} = ?2 AND t.status <> 'archived' AND t.seq >= coalesce(
  (SELECT seq FROM tasks WHERE ${column} = ?2 AND seq < ?1 AND status <> 'archived' ORDER BY seq DESC LIMIT 1 OFFSET ${TREE_BEFORE - 1}), 0)
ORDER BY t.seq LIMIT ${TREE_BEFORE + TREE_AFTER}`;
}

/** A done part is also a sibling, so it may be listed twice. */
function eachOnce(handoffs: readonly WakeHandoff[]): WakeHandoff[] {
  const seen = new Set<string>();
  return handoffs.filter(({ taskId, role, attempt }) => {
    const key = `${taskId} ${role} ${attempt}`;
    return !seen.has(key) && seen.add(key);
  });
}

export function toHandoff(row: Row): WakeHandoff {
  return fromRow(row);
}

/** The latest handoffs of the task itself. */
export function ownHandoffs(
  db: DatabaseSync,
  seq: number,
  { id, title }: Pick<TreeTask, "id" | "title">,
): WakeHandoff[] {
  return all<Row>(db, OWN_HANDOFFS, seq).map((row) => fromRow(row, { taskId: id, taskTitle: title }));
}

const HANDOFF_COLUMNS = "h.role, h.attempt, h.status, substr(h.summary, 1, 2000) AS summary, h.created_at AS at";

const OWN_HANDOFFS = `SELECT ${HANDOFF_COLUMNS} FROM handoffs h WHERE h.task = ? AND h.archived_at IS NULL
ORDER BY h.created_at DESC, h.seq DESC LIMIT 4`;

/** Handoffs of the whole task and of its other parts. */
const WHOLE_HANDOFFS = `SELECT t.id AS task_id, t.title AS task_title, ${HANDOFF_COLUMNS} FROM (SELECT seq, id, title FROM tasks WHERE seq = ?1
  UNION ALL SELECT * FROM (SELECT seq, id, title FROM tasks WHERE parent = ?1 AND seq <> ?2 ORDER BY seq LIMIT 20)) t
JOIN handoffs h ON h.task = t.seq WHERE h.archived_at IS NULL ORDER BY h.created_at DESC, h.seq DESC LIMIT ${MOST_HANDOFFS}`;

/** Only of the tasks done last: a story of 10,000 tasks has as many handoffs. */
const SIBLINGS_HANDOFFS = `SELECT t.id AS task_id, t.title AS task_title, ${HANDOFF_COLUMNS} FROM (SELECT seq, id, title FROM tasks
  WHERE story = ?2 AND status = 'done' AND seq <> ?1 ORDER BY seq DESC LIMIT 20) t JOIN handoffs h ON h.task = t.seq
WHERE h.archived_at IS NULL ORDER BY h.created_at DESC, h.seq DESC LIMIT ${MOST_HANDOFFS}`;

const ACTIVITY = `SELECT a.at, a.actor, a.kind, substr(a.text, 1, 500) AS text, a.subject FROM tasks t JOIN activity a ON a.subject = t.id`;

const OWN_ACTIVITY = `${ACTIVITY} WHERE t.seq = ? ORDER BY a.id DESC LIMIT ${MOST_ACTIVITY}`;

const STORY_ACTIVITY = `${ACTIVITY} WHERE t.story = ?2 AND t.seq BETWEEN ?1 - ${TREE_BEFORE} AND ?1 + ${TREE_AFTER}
AND (a.kind <> 'task-created' OR t.seq = ?1) ORDER BY a.id DESC LIMIT ${MOST_ACTIVITY}`;

function readParents(db: DatabaseSync, seq: number): StoredWork["parents"] {
  const sql =
    "SELECT p.seq, p.title, p.description, p.skill FROM tasks t JOIN tasks p ON p.seq = t.parent WHERE t.seq = ?";
  const parents: StoredWork["parents"] = [];
  for (let row = one<Row>(db, sql, seq); row && parents.length < 10; row = one<Row>(db, sql, Number(row["seq"]))) {
    parents.push(fromRow<SkilledTask>(row));
  }
  return parents;
}

/** Converts a row of TREE_COLUMNS. */
export function toTree({ id, title, status, parent, holder, verdict }: Row): TreeTask {
  const agent = isSettled(status as TaskStatus) ? null : holder;
  return fromRow({ id, title, status, agent, parent_id: parent, last_verdict: verdict });
}

// The messages shown in an agent's packet.

const MOST_MESSAGES = 20;

/** Counting beyond this helps nobody. */
const MOST_COUNTED = 10_000;

const MOST_HEARD = 5;

/** Only this many of the newest messages are searched for heard ones. */
const HEARD_REACH = 1_000;

/** Heard: messages read in a window that is gone. Their requests still apply. */
export function readMessages(
  db: DatabaseSync,
  agent: number,
  inHand: number | undefined,
  since: Date | undefined,
): Record<"unread" | "heard", WakeMessage[]> & { unreadCount: number } {
  const unread: WakeMessage[] = [];
  const heard: WakeMessage[] = [];
  for (const row of all<Row>(db, MESSAGES, agent, inHand ?? null, since?.toISOString() ?? null)) {
    (row["is_read"] === 1 ? heard : unread).push(toMessage(row));
  }
  const isAll = unread.length < MOST_MESSAGES;
  return { unread, heard, unreadCount: isAll ? unread.length : Number(one<Row>(db, UNREAD_COUNT, agent)?.["count"]) };
}

const UNREAD_COUNT = `SELECT count(*) AS count FROM (SELECT 1 FROM message_recipients
  WHERE agent = ? AND read_at IS NULL LIMIT ${MOST_COUNTED})`;

/** Keeps the newest unread messages: a later one may revoke an earlier one. */
const MESSAGES = `SELECT m.id, m.sender AS "from", nullif(m.is_person, 0) AS is_person, substr(m.text, 1, ${MOST_CHARS}) AS text,
  m.subject AS task_id, m.created_at AS at, r.is_mention, r.read_at IS NOT NULL AS is_read
FROM message_recipients r JOIN messages m ON m.seq = r.message WHERE r.agent = ?1 AND r.message IN (
  SELECT message FROM (SELECT message FROM message_recipients WHERE agent = ?1 AND read_at IS NULL ORDER BY message DESC LIMIT ${MOST_MESSAGES})
  UNION ALL SELECT message FROM (SELECT message FROM message_recipients
    WHERE agent = ?1 AND message > (SELECT max(seq) FROM messages) - ${HEARD_REACH}
    AND read_at >= coalesce((SELECT claimed_at FROM claims WHERE task = ?2), ?3) ORDER BY message DESC LIMIT ${MOST_HEARD}))
ORDER BY r.message`;

function toMessage({ is_read: _, ...row }: Row): WakeMessage {
  return fromRow(row);
}
