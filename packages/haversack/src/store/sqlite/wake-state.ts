/**
 * What the store knows of an agent's work, in a few indexed reads, for the packet that wakes it. Bounded whatever the store
 * holds: a tree is read as a stretch around the task, lists have limits. The hook bundles this file, so it speaks SQL instead of
 * the whole work store.
 */
import type { DatabaseSync } from "node:sqlite";
import type { TreeTask, WakeActivity, WakeAgent, WakeHandoff, WakeMessage, WakeState } from "../../wake/state.ts";
import type { Verdict } from "../../work/handoff.ts";
import { isSettled, type TaskStatus, type TaskStep, type TaskType } from "../../work/task.ts";
import type { Wip } from "../../work/wip.ts";
import { agentsNamed, agentsOfSession, type KnownAgent } from "./known-agent.ts";
import { IS_OPEN } from "./session-tasks.ts";
import { agentOn } from "./work/agents.ts";

/** Who is woken: an agent by name, or an agent of a session. */
export interface WakeKey {
  name?: string;
  branch?: string;
  sessionId?: string;
  /** Who the session has just said to be. */
  known?: KnownAgent;
  /** The session has just begun. It may hold a task where no hook has seen it; without one nothing else of it is looked for. */
  isNew?: boolean;
  agentId?: string;
  /** The task it is woken for, whatever it holds. */
  taskId?: string;
  /** What the client calls the role of a sub-agent. */
  role?: string;
  client?: string;
  /** What it was told from then on it may have forgotten. Default: from when it claimed the task in hand. */
  heardSince?: Date;
}

/** All but what comes from files and the skill index. */
export type StoredWake = Omit<WakeState, "now" | "reason" | "plan" | "skills" | "missing"> & {
  /** For the unread messages' marks. */
  agentSeq?: number;
  /** Somebody gave it its name: else nobody else goes by it. */
  isNamed: boolean;
  planFile?: string;
  planSection?: string;
  /** The task's ancestors, nearest first. */
  parents: { title: string; description?: string; skill?: string }[];
  /** Skills of this task, each with the content it was pinned to last; newest first. */
  pinned: { skill: string; hash: string }[];
};

const TREE_BEFORE = 10;
/** The task itself and those after it, when there are ten before it; else as many more. */
const TREE_AFTER = 20;
const MOST_HANDOFFS = 8;
const MOST_MESSAGES = 20;
const MOST_HEARD = 5;
/** So many messages back: of older ones nothing is looked for. */
const HEARD_REACH = 1_000;
const MOST_ACTIVITY = 10;
/** Longer texts are cut when they are read: a packet has room for none of it. */
const MOST_CHARS = 40_000;

export function readWake(db: DatabaseSync, key: WakeKey): StoredWake {
  const agent = readAgent(db, key);
  const claims = all(db, CLAIMS, key.sessionId ?? null, agent.name ?? null);
  const isNew = key.isNew && !claims.some((claim) => claim["session_id"] === key.sessionId);
  const sessionId = isNew ? undefined : key.sessionId;
  const batch = sessionId !== undefined && !key.agentId ? lastBatch(db, sessionId) : undefined;
  const [inHand, ...others] = tasksInHand(db, { ...key, sessionId }, { name: agent.name, claims, batch });
  const { seq } = agent;
  const messages = seq !== undefined && agent.hasMessages ? readMessages(db, seq, inHand, key.heardSince) : undefined;
  const known = {
    agent: agent.agent,
    isNamed: agent.isNamed,
    ...(seq !== undefined && { agentSeq: seq, heard: messages?.heard ?? [] }),
    ...(batch && { isCoordinating: true }),
    messages: messages?.unread ?? [],
  };
  if (inHand !== undefined) return { ...known, ...readWork(db, inHand, others.slice(0, 5)) };
  const suggested = get(
    db,
    `SELECT ${TREE_COLUMNS} FROM queue q JOIN tasks t ON t.seq = q.task WHERE q.is_ready = 1 ORDER BY q.order_key DESC, q.task LIMIT 1`,
  );
  return {
    ...known,
    ...(suggested && { suggested: toTree(suggested) }),
    readyCount: countReady(db),
    alsoHolds: [],
    tree: [],
    handoffs: [],
    activity: [],
    parents: [],
    pinned: [],
  };
}

type StoredWork = Omit<StoredWake, "agent" | "messages" | "isNamed">;

/** What is known of the task in hand and around it. */
function readWork(db: DatabaseSync, inHand: number, alsoHeld: readonly number[]): StoredWork {
  const row = get(db, TASK, inHand) as Record<string, unknown>;
  const story = numberOf(row["story"]);
  const parent = numberOf(row["parent"]);
  const { self, ...around } = readAround(db, inHand, { story, parent, hasParts: row["has_parts"] === 1 });
  const wip = textOf(row["wip"]);
  return {
    ...around,
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
    alsoHolds: alsoHeld.flatMap((seq) => all(db, ONE, seq).map(toTree)),
    ...optional("planFile", textOf(row["plan_file"])),
    ...optional("planSection", textOf(row["plan_section"])),
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
    ...(wip && { wip: JSON.parse(wip) as Wip, wipUpdatedAt: new Date(String(row["wip_updated_at"])) }),
    handoffs: [
      ...(self.lastVerdict ? all(db, OWN_HANDOFFS, inHand).map((found) => toHandoff({ ...found, ...self })) : []),
      ...(Number(row["story_done"]) > 0 ? all(db, SIBLINGS_HANDOFFS, inHand, story ?? null).map(toHandoff) : []),
    ],
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

interface ReadAgent {
  agent: WakeAgent;
  name: string | undefined;
  isNamed: boolean;
  seq?: number;
  /** There are messages, its own or others'. */
  hasMessages?: boolean;
}

function readAgent(db: DatabaseSync, key: WakeKey): ReadAgent {
  const { name, branch, sessionId, agentId, role, client, taskId } = key;
  const known = key.known ?? findKnown(db, key);
  const row = known?.row;
  const found = textOf(row?.name) ?? name;
  const session = sessionId ?? textOf(row?.session_id);
  const given = found ?? holderName(db, sessionId, agentId);
  return {
    agent: {
      name:
        given ??
        // A sub-agent that is about to start, or a task that nobody holds yet.
        ((role ?? taskId) !== undefined && session === undefined ? "" : undefined) ??
        `${client ?? "agent"}${session ? `-${session.slice(0, 8)}` : ""}`,
      role: role ?? textOf(row?.role) ?? (agentId ? "implementer" : "orchestrator"),
      ...optional("client", client ?? textOf(row?.client)),
      ...optional("sessionId", session),
      ...optional("branch", branch ?? textOf(row?.branch)),
      ...optional("worktree", textOf(row?.worktree)),
    },
    name: found,
    isNamed: given !== undefined,
    ...(known && { seq: known.row.seq, hasMessages: known.hasMessages }),
  };
}

function findKnown(
  db: DatabaseSync,
  { name, branch, sessionId, agentId }: WakeKey,
): Pick<KnownAgent, "row" | "hasMessages"> | undefined {
  const rows = name !== undefined ? agentsNamed(db, name) : sessionId && !agentId ? agentsOfSession(db, sessionId) : [];
  const row = agentOn(rows, branch) ?? rows[0];
  return row && { row, hasMessages: row.has_messages === 1 };
}

function holderName(db: DatabaseSync, sessionId: string | undefined, agentId: string | undefined): string | undefined {
  if (sessionId === undefined) return undefined;
  const row = get(
    db,
    "SELECT agent FROM claims WHERE session_id = ? AND agent_id = ? ORDER BY claimed_at DESC LIMIT 1",
    sessionId,
    agentId ?? "",
  );
  return textOf(row?.["agent"]);
}

/**
 * Newest claim first: of this agent of the session, of its name; then what it was started for; then what its sub-agents hold
 * or have worked on, and what is open of the last batch it was given: a coordinator holds nothing itself.
 */
function tasksInHand(
  db: DatabaseSync,
  { taskId, sessionId, agentId = "" }: Omit<WakeKey, "sessionId"> & { sessionId: string | undefined },
  {
    name,
    claims,
    batch = [],
  }: { name: string | undefined; claims: readonly Record<string, unknown>[]; batch: readonly string[] | undefined },
): number[] {
  const seqs = new Set<number>();
  const add = (rows: readonly Record<string, unknown>[]) => {
    for (const row of rows) seqs.add(Number(row["task"]));
  };
  if (taskId !== undefined) add(all(db, "SELECT seq AS task FROM tasks WHERE id = ?", taskId));
  const ofSession = sessionId === undefined ? [] : claims.filter((row) => row["session_id"] === sessionId);
  add(ofSession.filter((row) => row["agent_id"] === agentId).slice(0, MOST_HELD));
  if (sessionId !== undefined && agentId) add(all(db, `${STARTED_FOR} AND a.agent_id = ? LIMIT 6`, sessionId, agentId));
  if (name !== undefined) add(claims.filter((row) => row["agent"] === name).slice(0, MOST_HELD));
  if (sessionId !== undefined && agentId === "") {
    add(ofSession.slice(0, MOST_HELD));
    add(all(db, `${STARTED_FOR} ORDER BY a.at DESC LIMIT ${MOST_HELD}`, sessionId));
    for (const id of batch) add(all(db, `SELECT t.seq AS task FROM tasks t WHERE t.id = ? AND ${IS_OPEN}`, id));
  }
  return [...seqs];
}

const MOST_HELD = 6;

/** More than a session has sub-agents, so that none of its own is pushed out by theirs. */
const CLAIMS =
  "SELECT task, agent, session_id, agent_id FROM claims WHERE session_id = ?1 OR agent = ?2 ORDER BY claimed_at DESC, task DESC LIMIT 1000";

const STARTED_FOR = `SELECT t.seq AS task FROM tasks t JOIN agent_tasks a ON a.task = t.id WHERE a.session_id = ? AND ${IS_OPEN}`;

/** The ids of the tasks that this session was given last; undefined when it was given none. */
function lastBatch(db: DatabaseSync, sessionId: string): string[] | undefined {
  const row = get(db, "SELECT tasks FROM batches WHERE session_id = ? ORDER BY id DESC LIMIT 1", sessionId);
  return row && (JSON.parse(String(row["tasks"])) as string[]).slice(0, 6);
}

/** The last verdict without a sorter, which would be made for each row. */
const VERDICT = `(SELECT substr(max(${moment("h.created_at", "h.seq")} || h.status), ${MOMENT_CHARS + 1}) FROM handoffs h WHERE h.task = t.seq)`;

const TREE_COLUMNS = `t.seq, t.id, t.title, t.status, (SELECT p.id FROM tasks p WHERE p.seq = t.parent) AS parent, (SELECT c.agent FROM claims c WHERE c.task = t.seq) AS holder, ${VERDICT} AS verdict`;

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
): Pick<StoredWake, "tree"> & { self: TreeTask } {
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

const ONE = `SELECT ${TREE_COLUMNS} FROM tasks t WHERE t.seq = ?`;

const PARTS = `SELECT ${TREE_COLUMNS} FROM tasks t WHERE t.parent = ? AND t.status <> 'archived' ORDER BY t.seq LIMIT 20`;

const AWAITED = `SELECT ${TREE_COLUMNS} FROM dependencies n JOIN tasks t ON t.seq = n.depends_on
WHERE n.task = ? AND n.type IN ('blocks', 'requires') AND t.status NOT IN ('done', 'archived') ORDER BY t.seq LIMIT 10`;

function around(column: string): string {
  return `SELECT ${TREE_COLUMNS} FROM tasks t WHERE t.${column} = ?2 AND t.status <> 'archived' AND t.seq >= coalesce(
  (SELECT seq FROM tasks WHERE ${column} = ?2 AND seq < ?1 AND status <> 'archived' ORDER BY seq DESC LIMIT 1 OFFSET ${TREE_BEFORE - 1}), 0)
ORDER BY t.seq LIMIT ${TREE_BEFORE + TREE_AFTER}`;
}

function toHandoff(row: Record<string, unknown>): WakeHandoff {
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

const OWN_HANDOFFS = `SELECT ${HANDOFF_COLUMNS} FROM handoffs h WHERE h.task = ? AND h.archived_at IS NULL
ORDER BY h.created_at DESC, h.seq DESC LIMIT 4`;

/** Of the last done ones only: a story of 10,000 tasks has as many handoffs. */
const SIBLINGS_HANDOFFS = `SELECT t.id, t.title, ${HANDOFF_COLUMNS} FROM (SELECT seq, id, title FROM tasks
  WHERE story = ?2 AND status = 'done' AND seq <> ?1 ORDER BY seq DESC LIMIT 20) t JOIN handoffs h ON h.task = t.seq
WHERE h.archived_at IS NULL ORDER BY h.created_at DESC, h.seq DESC LIMIT ${MOST_HANDOFFS}`;

function pinnedOf(rows: [newest: string, skill: string][]): StoredWake["pinned"] {
  return rows
    .sort(([a], [b]) => (a < b ? 1 : -1))
    .map(([newest, skill]) => ({ skill, hash: newest.slice(MOMENT_CHARS) }));
}

/** Heard: read, in a window that is gone; what was asked for there still holds. */
function readMessages(
  db: DatabaseSync,
  agent: number,
  inHand: number | undefined,
  since: Date | undefined,
): Record<"unread" | "heard", WakeMessage[]> {
  const unread: WakeMessage[] = [];
  const heard: WakeMessage[] = [];
  for (const row of all(db, MESSAGES, agent, inHand ?? null, since?.toISOString() ?? null)) {
    (row["is_read"] === 1 ? heard : unread).push(toMessage(row));
  }
  return { unread, heard };
}

const MESSAGES = `SELECT m.id, m.sender, substr(m.text, 1, ${MOST_CHARS}) AS text, m.subject, m.created_at, r.is_mention,
  r.read_at IS NOT NULL AS is_read
FROM message_recipients r JOIN messages m ON m.seq = r.message WHERE r.agent = ?1 AND r.message IN (
  SELECT message FROM (SELECT message FROM message_recipients WHERE agent = ?1 AND read_at IS NULL ORDER BY message LIMIT ${MOST_MESSAGES})
  UNION ALL SELECT message FROM (SELECT message FROM message_recipients
    WHERE agent = ?1 AND message > (SELECT max(seq) FROM messages) - ${HEARD_REACH}
    AND read_at >= coalesce((SELECT claimed_at FROM claims WHERE task = ?2), ?3) ORDER BY message DESC LIMIT ${MOST_HEARD}))
ORDER BY r.message`;

function toMessage(row: Record<string, unknown>): WakeMessage {
  return {
    id: String(row["id"]),
    from: String(row["sender"]),
    text: String(row["text"]),
    at: new Date(String(row["created_at"])),
    isMention: Number(row["is_mention"]) === 1,
    ...optional("taskId", textOf(row["subject"])),
  };
}

function readActivity(db: DatabaseSync, seq: number, story: number | undefined): WakeActivity[] {
  const rows = story === undefined ? all(db, OWN_ACTIVITY, seq) : all(db, STORY_ACTIVITY, seq, story);
  return rows.map((row) => ({
    at: new Date(String(row["at"])),
    actor: String(row["actor"]),
    kind: String(row["kind"]),
    text: String(row["text"]),
    ...optional("subject", textOf(row["subject"])),
  }));
}

const ACTIVITY = `SELECT a.at, a.actor, a.kind, substr(a.text, 1, 500) AS text, a.subject FROM tasks t JOIN activity a ON a.subject = t.id`;

const OWN_ACTIVITY = `${ACTIVITY} WHERE t.seq = ? ORDER BY a.id DESC LIMIT ${MOST_ACTIVITY}`;

const STORY_ACTIVITY = `${ACTIVITY} WHERE t.story = ?2 AND t.seq BETWEEN ?1 - ${TREE_BEFORE} AND ?1 + ${TREE_AFTER}
AND (a.kind <> 'task-created' OR t.seq = ?1) ORDER BY a.id DESC LIMIT ${MOST_ACTIVITY}`;

function readParents(db: DatabaseSync, seq: number): StoredWake["parents"] {
  const parents: StoredWake["parents"] = [];
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

function countReady(db: DatabaseSync): number {
  const row = get(db, "SELECT count(*) AS count FROM (SELECT 1 FROM queue WHERE is_ready = 1 LIMIT 1000)");
  return Number(row?.["count"] ?? 0);
}

/** Of TREE_COLUMNS. */
function toTree({ id, title, status, parent, holder, verdict }: Record<string, unknown>): TreeTask {
  const task: TreeTask = { id: String(id), title: String(title), status: status as TaskStatus };
  if (holder && !isSettled(task.status)) task.agent = String(holder);
  if (parent) task.parentId = String(parent);
  if (verdict) task.lastVerdict = verdict as Verdict;
  return task;
}

function optional<Name extends string, T>(name: Name, value: T | undefined): { [Key in Name]?: T } {
  return (value === undefined ? {} : { [name]: value }) as { [Key in Name]?: T };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

type Value = string | number | null;

function get(db: DatabaseSync, sql: string, ...values: Value[]): Record<string, unknown> | undefined {
  return db.prepare(sql).get(...values) as Record<string, unknown> | undefined;
}

function all(db: DatabaseSync, sql: string, ...values: Value[]): Record<string, unknown>[] {
  return db.prepare(sql).all(...values) as Record<string, unknown>[];
}
