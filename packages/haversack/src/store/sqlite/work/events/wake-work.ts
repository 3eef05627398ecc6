/** What the packet of an agent shows of a task in hand, and the agent's messages. */
import type { DatabaseSync } from "node:sqlite";
import type { TreeTask, WakeActivity, WakeHandoff, WakeMessage, WakeState, WholeTask } from "../../../../wake/state.ts";
import type { Verdict } from "../../../../work/handoff.ts";
import { isSettled, type TaskStatus, type TaskStep, type TaskType } from "../../../../work/task.ts";
import type { Wip } from "../../../../work/wip/wip.ts";

/** Longer texts are cut when they are read: a packet has room for none of it. */
export const MOST_CHARS = 40_000;

export function optional<Name extends string, T>(name: Name, value: T | undefined): { [Key in Name]?: T } {
  return (value === undefined ? {} : { [name]: value }) as { [Key in Name]?: T };
}

export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

type Value = string | number | null;

export function get(db: DatabaseSync, sql: string, ...values: Value[]): Record<string, unknown> | undefined {
  return db.prepare(sql).get(...values) as Record<string, unknown> | undefined;
}

export function all(db: DatabaseSync, sql: string, ...values: Value[]): Record<string, unknown>[] {
  return db.prepare(sql).all(...values) as Record<string, unknown>[];
}

// What the store knows of the task in hand and around it. Bounded whatever the store holds: a tree is read as a
// stretch around the task, lists have limits.

/** What the rules on skills look at. */
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
  /** Skills of this task, each with the content it was pinned to last; newest first. */
  pinned: { skill: string; hash: string }[];
}

const TREE_BEFORE = 10;
/** The task itself and those after it, when there are ten before it; else as many more. */
const TREE_AFTER = 20;
const MOST_HANDOFFS = 8;
const MOST_ACTIVITY = 10;

/** What is known of the task in hand and around it. */
export function readWork(db: DatabaseSync, inHand: number): StoredWork {
  const row = get(db, TASK, inHand) as Record<string, unknown>;
  const story = numberOf(row["story"]);
  const parent = numberOf(row["parent"]);
  const whole = parent === undefined ? undefined : readWhole(db, parent);
  const { self, tree } = readAround(db, inHand, { story, parent, hasParts: row["has_parts"] === 1 });
  const isInTree = whole && tree.some(({ id }) => id === whole.task.id);
  // What was done for the whole is what a part such as a review is about.
  const [wip, wipUpdatedAt] = row["wip"] ? [row["wip"], row["wip_updated_at"]] : [whole?.wip, whole?.wipUpdatedAt];
  const planFile = textOf(row["plan_file"]);
  return {
    tree: whole && !isInTree ? [whole.task, ...tree] : tree,
    ...(whole && { whole: whole.task }),
    task: {
      ...self,
      type: String(row["type"]) as TaskType,
      ...optional("description", textOf(row["description"])),
      ...optional("acceptanceCriteria", textOf(row["acceptance_criteria"])),
      files: JSON.parse(String(row["files"])) as string[],
      steps: typeof row["steps"] === "string" ? (JSON.parse(row["steps"]) as TaskStep[]) : [],
      ...optional("skill", textOf(row["skill"])),
      ...optional("contextSummary", textOf(row["context_summary"])),
      ...optional("handoffNotes", textOf(row["handoff_notes"])),
      ...optional("note", textOf(row["note"])),
      blockers: JSON.parse(String(row["blockers"])) as string[],
      waitsFor: row["has_needs"] === 1 ? all(db, AWAITED, inHand).map(toTree) : [],
    },
    // A part follows the plan of the whole.
    ...(planFile !== undefined || whole === undefined
      ? { ...optional("planFile", planFile), ...optional("planSection", textOf(row["plan_section"])) }
      : whole.plan),
    ...(row["story_id"] !== null && {
      story: {
        id: String(row["story_id"]),
        title: String(row["story_title"]),
        status: String(row["story_status"]),
        done: Number(row["story_done"]),
        total: Number(row["story_total"]),
      },
    }),
    ...(row["epic_id"] !== null && {
      epic: {
        id: String(row["epic_id"]),
        title: String(row["epic_title"]),
        priority: `P${Number(row["epic_priority"])}`,
      },
    }),
    ...(Boolean(wip) && { wip: JSON.parse(String(wip)) as Wip, wipUpdatedAt: new Date(String(wipUpdatedAt)) }),
    handoffs: eachOnce([
      ...(self.lastVerdict ? all(db, OWN_HANDOFFS, inHand).map((found) => toHandoff({ ...found, ...self })) : []),
      ...(whole ? all(db, WHOLE_HANDOFFS, parent ?? null, inHand).map(toHandoff) : []),
      ...(Number(row["story_done"]) > 0 ? all(db, SIBLINGS_HANDOFFS, inHand, story ?? null).map(toHandoff) : []),
    ]),
    activity: readActivity(db, inHand, story),
    parents: parent === undefined ? [] : readParents(db, inHand),
    pinned: pinnedOf(JSON.parse(String(row["pinned"])) as [newest: string, skill: string][]),
  };
}

/**
 * When it was, as a text that can be compared, and all are as long: the time as the store keeps it, and behind it the row's number. What
 * stands behind that comes with the greatest.
 */
const MOMENT_CHARS = 36;

function moment(time: string, number: string): string {
  return `${time} || printf('%012d', ${number})`;
}

/** One statement: each that is prepared costs a new process a twentieth of a millisecond. */
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

/** The last verdict without a sorter, which would be made for each row. */
const VERDICT = `(SELECT substr(max(${moment("h.created_at", "h.seq")} || h.status), ${MOMENT_CHARS + 1}) FROM handoffs h WHERE h.task = t.seq)`;

export const TREE_COLUMNS = `t.seq, t.id, t.title, t.status, (SELECT p.id FROM tasks p WHERE p.seq = t.parent) AS parent, (SELECT c.agent FROM claims c WHERE c.task = t.seq) AS holder, ${VERDICT} AS verdict`;

interface Group {
  story: number | undefined;
  parent: number | undefined;
  hasParts: boolean;
}

/** The story's tasks around this one, or its parent's children, and its own sub-tasks. */
function readAround(
  db: DatabaseSync,
  seq: number,
  { story, parent, hasParts }: Group,
): Pick<WakeState, "tree"> & { self: TreeTask } {
  const rows =
    story !== undefined
      ? all(db, around("story"), seq, story)
      : parent !== undefined
        ? all(db, around("parent"), seq, parent)
        : all(db, ONE, seq);
  const [own = get(db, ONE, seq)] = rows.filter((row) => row["seq"] === seq);
  if (!own) throw new Error(`no task in row ${seq}`);
  const parts = hasParts ? all(db, PARTS, seq).filter(({ seq: part }) => rows.every((row) => row["seq"] !== part)) : [];
  return { self: toTree(own), tree: [...rows, ...parts].map(toTree) };
}

/** The task that the one in hand is a part of, and where its plan is. */
function readWhole(
  db: DatabaseSync,
  seq: number,
):
  | { task: WholeTask; plan: Pick<StoredWork, "planFile" | "planSection">; wip: unknown; wipUpdatedAt: unknown }
  | undefined {
  const row = get(db, WHOLE, seq);
  return (
    row && {
      task: {
        ...toTree(row),
        ...optional("description", textOf(row["description"])),
        ...optional("acceptanceCriteria", textOf(row["acceptance_criteria"])),
        files: JSON.parse(String(row["files"])) as string[],
      },
      plan: {
        ...optional("planFile", textOf(row["plan_file"])),
        ...optional("planSection", textOf(row["plan_section"])),
      },
      wip: row["wip"],
      wipUpdatedAt: row["wip_updated_at"],
    }
  );
}

const WHOLE = `SELECT ${TREE_COLUMNS}, substr(t.description, 1, ${MOST_CHARS}) AS description,
  substr(t.acceptance_criteria, 1, ${MOST_CHARS}) AS acceptance_criteria, t.plan_file, t.plan_section,
  w.data AS wip, w.updated_at AS wip_updated_at,
  (SELECT json_group_array(path) FROM (SELECT path FROM task_files WHERE task = t.seq ORDER BY path LIMIT 100)) AS files
FROM tasks t LEFT JOIN task_wip w ON w.task = t.seq WHERE t.seq = ?`;

/** Tasks as a tree shows them, in this order. */
export function readTree(db: DatabaseSync, seqs: readonly number[]): TreeTask[] {
  return seqs.flatMap((seq) => all(db, ONE, seq).map(toTree));
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

/** A done part is a sibling as well. */
function eachOnce(handoffs: readonly WakeHandoff[]): WakeHandoff[] {
  const seen = new Set<string>();
  return handoffs.filter(({ taskId, role, attempt }) => {
    const key = `${taskId} ${role} ${attempt}`;
    return !seen.has(key) && seen.add(key);
  });
}

export function toHandoff(row: Record<string, unknown>): WakeHandoff {
  return {
    taskId: String(row["id"]),
    taskTitle: String(row["title"]),
    role: String(row["role"]),
    attempt: Number(row["attempt"]),
    status: row["verdict"] as Verdict,
    summary: String(row["summary"]),
    at: new Date(String(row["created_at"])),
  };
}

const HANDOFF_COLUMNS = "h.role, h.attempt, h.status AS verdict, substr(h.summary, 1, 2000) AS summary, h.created_at";

export const OWN_HANDOFFS = `SELECT ${HANDOFF_COLUMNS} FROM handoffs h WHERE h.task = ? AND h.archived_at IS NULL
ORDER BY h.created_at DESC, h.seq DESC LIMIT 4`;

/** Of the whole that a part belongs to, and of its other parts. */
const WHOLE_HANDOFFS = `SELECT t.id, t.title, ${HANDOFF_COLUMNS} FROM (SELECT seq, id, title FROM tasks WHERE seq = ?1
  UNION ALL SELECT * FROM (SELECT seq, id, title FROM tasks WHERE parent = ?1 AND seq <> ?2 ORDER BY seq LIMIT 20)) t
JOIN handoffs h ON h.task = t.seq WHERE h.archived_at IS NULL ORDER BY h.created_at DESC, h.seq DESC LIMIT ${MOST_HANDOFFS}`;

/** Of the last done ones only: a story of 10,000 tasks has as many handoffs. */
const SIBLINGS_HANDOFFS = `SELECT t.id, t.title, ${HANDOFF_COLUMNS} FROM (SELECT seq, id, title FROM tasks
  WHERE story = ?2 AND status = 'done' AND seq <> ?1 ORDER BY seq DESC LIMIT 20) t JOIN handoffs h ON h.task = t.seq
WHERE h.archived_at IS NULL ORDER BY h.created_at DESC, h.seq DESC LIMIT ${MOST_HANDOFFS}`;

function pinnedOf(rows: [newest: string, skill: string][]): StoredWork["pinned"] {
  return rows
    .sort(([a], [b]) => (a < b ? 1 : -1))
    .map(([newest, skill]) => ({ skill, hash: newest.slice(MOMENT_CHARS) }));
}

function readActivity(db: DatabaseSync, seq: number, story: number | undefined): WakeActivity[] {
  const rows = story === undefined ? all(db, OWN_ACTIVITY, seq) : all(db, STORY_ACTIVITY, seq, story);
  return rows.map(toActivity);
}

export function toActivity(row: Record<string, unknown>): WakeActivity {
  return {
    at: new Date(String(row["at"])),
    actor: String(row["actor"]),
    kind: String(row["kind"]),
    text: String(row["text"]),
    ...optional("subject", textOf(row["subject"])),
  };
}

const ACTIVITY = `SELECT a.at, a.actor, a.kind, substr(a.text, 1, 500) AS text, a.subject FROM tasks t JOIN activity a ON a.subject = t.id`;

const OWN_ACTIVITY = `${ACTIVITY} WHERE t.seq = ? ORDER BY a.id DESC LIMIT ${MOST_ACTIVITY}`;

const STORY_ACTIVITY = `${ACTIVITY} WHERE t.story = ?2 AND t.seq BETWEEN ?1 - ${TREE_BEFORE} AND ?1 + ${TREE_AFTER}
AND (a.kind <> 'task-created' OR t.seq = ?1) ORDER BY a.id DESC LIMIT ${MOST_ACTIVITY}`;

function readParents(db: DatabaseSync, seq: number): StoredWork["parents"] {
  const parents: StoredWork["parents"] = [];
  for (let at: number | undefined = seq; parents.length < 10; ) {
    const row: Record<string, unknown> | undefined = get(
      db,
      "SELECT p.seq, p.title, p.description, p.skill FROM tasks t JOIN tasks p ON p.seq = t.parent WHERE t.seq = ?",
      at,
    );
    if (!row) break;
    at = Number(row["seq"]);
    parents.push({
      title: String(row["title"]),
      ...optional("description", textOf(row["description"])),
      ...optional("skill", textOf(row["skill"])),
    });
  }
  return parents;
}

/** Of TREE_COLUMNS. */
export function toTree({ id, title, status, parent, holder, verdict }: Record<string, unknown>): TreeTask {
  const task: TreeTask = { id: String(id), title: String(title), status: status as TaskStatus };
  if (holder && !isSettled(task.status)) task.agent = String(holder);
  if (parent) task.parentId = String(parent);
  if (verdict) task.lastVerdict = verdict as Verdict;
  return task;
}

// The messages of an agent that its packet shows.

const MOST_MESSAGES = 20;
/** Nobody needs to know whether it is 10,000 or more. */
const MOST_COUNTED = 10_000;
const MOST_HEARD = 5;
/** So many messages back: of older ones nothing is looked for. */
const HEARD_REACH = 1_000;

/** Heard: read, in a window that is gone; what was asked for there still holds. */
export function readMessages(
  db: DatabaseSync,
  agent: number,
  inHand: number | undefined,
  since: Date | undefined,
): Record<"unread" | "heard", WakeMessage[]> & { unreadCount: number } {
  const unread: WakeMessage[] = [];
  const heard: WakeMessage[] = [];
  for (const row of all(db, MESSAGES, agent, inHand ?? null, since?.toISOString() ?? null)) {
    (row["is_read"] === 1 ? heard : unread).push(toMessage(row));
  }
  const isAll = unread.length < MOST_MESSAGES;
  return { unread, heard, unreadCount: isAll ? unread.length : Number(get(db, UNREAD_COUNT, agent)?.["count"]) };
}

const UNREAD_COUNT = `SELECT count(*) AS count FROM (SELECT 1 FROM message_recipients
  WHERE agent = ? AND read_at IS NULL LIMIT ${MOST_COUNTED})`;

/** The newest unread: what was said last may take back what was said before. */
const MESSAGES = `SELECT m.id, m.sender, m.is_person, substr(m.text, 1, ${MOST_CHARS}) AS text, m.subject, m.created_at, r.is_mention,
  r.read_at IS NOT NULL AS is_read
FROM message_recipients r JOIN messages m ON m.seq = r.message WHERE r.agent = ?1 AND r.message IN (
  SELECT message FROM (SELECT message FROM message_recipients WHERE agent = ?1 AND read_at IS NULL ORDER BY message DESC LIMIT ${MOST_MESSAGES})
  UNION ALL SELECT message FROM (SELECT message FROM message_recipients
    WHERE agent = ?1 AND message > (SELECT max(seq) FROM messages) - ${HEARD_REACH}
    AND read_at >= coalesce((SELECT claimed_at FROM claims WHERE task = ?2), ?3) ORDER BY message DESC LIMIT ${MOST_HEARD}))
ORDER BY r.message`;

function toMessage(row: Record<string, unknown>): WakeMessage {
  return {
    id: String(row["id"]),
    from: String(row["sender"]),
    ...(row["is_person"] === 1 && { isPerson: true }),
    text: String(row["text"]),
    at: new Date(String(row["created_at"])),
    isMention: Number(row["is_mention"]) === 1,
    ...optional("taskId", textOf(row["subject"])),
  };
}
