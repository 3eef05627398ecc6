/**
 * What the store knows of an agent's work, in a few indexed reads, for the packet that wakes it. Bounded whatever the store
 * holds: a tree is read as a stretch around the task, lists have limits. The hook bundles this file, so it speaks SQL instead of
 * the whole work store.
 */
import type { DatabaseSync } from "node:sqlite";
import type {
  TreeTask,
  WakeActivity,
  WakeAgent,
  WakeHandoff,
  WakeMessage,
  WakeState,
  WakeTask,
} from "../../wake/state.ts";
import type { Verdict } from "../../work/handoff.ts";
import { isSettled, type TaskStatus, type TaskStep, type TaskType } from "../../work/task.ts";
import type { Wip } from "../../work/wip.ts";
import { IS_OPEN } from "./session-tasks.ts";

/** Who is woken: an agent by name, or an agent of a session. */
export interface WakeKey {
  name?: string;
  branch?: string;
  sessionId?: string;
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
  planFile?: string;
  planSection?: string;
  /** The task's ancestors, nearest first. */
  parents: { title: string; description?: string; skill?: string }[];
  /** Skill and pinned content, newest first, of this task. */
  pinned: { skill: string; hash: string }[];
};

const TREE_BEFORE = 10;
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
  const batch = key.sessionId !== undefined && !key.agentId ? lastBatch(db, key.sessionId) : undefined;
  const seqs = tasksInHand(db, key, { name: agent.name, batch });
  const inHand = seqs[0];
  const task = inHand === undefined ? undefined : readTask(db, inHand);
  const story = task?.story;
  const wip =
    inHand === undefined ? undefined : get(db, "SELECT data, updated_at FROM task_wip WHERE task = ?", inHand);
  const suggested = task
    ? undefined
    : get(
        db,
        `SELECT ${TREE_COLUMNS} FROM queue q JOIN tasks t ON t.seq = q.task WHERE q.is_ready = 1 ORDER BY q.order_key DESC, q.task LIMIT 1`,
      );
  return {
    agent: agent.agent,
    ...(agent.seq !== undefined && { agentSeq: agent.seq }),
    ...(task && { task: task.task, ...task.plan }),
    ...(batch && { isCoordinating: true }),
    alsoHolds: seqs.slice(1, 6).flatMap((seq) => readTree(db, "t.seq = ?", seq)),
    tree: inHand === undefined ? [] : readTreeAround(db, inHand, { story, parent: task?.parent }),
    ...(story !== undefined && storyOf(db, story)),
    ...epicOf(db, task?.epic),
    ...(wip && { wip: JSON.parse(String(wip["data"])) as Wip, wipUpdatedAt: new Date(String(wip["updated_at"])) }),
    handoffs: inHand === undefined ? [] : readHandoffs(db, inHand, story),
    messages: agent.seq === undefined ? [] : readMessages(db, agent.seq),
    ...(agent.seq !== undefined && { heard: readHeard(db, agent.seq, { inHand, since: key.heardSince }) }),
    activity: inHand === undefined ? [] : readActivity(db, inHand, story),
    ...(suggested && { suggested: toTree(suggested) }),
    ...(!task && { readyCount: countReady(db) }),
    parents: inHand === undefined ? [] : readParents(db, inHand),
    pinned: task
      ? all(
          db,
          "SELECT skill, hash FROM skill_history WHERE task = ? ORDER BY at DESC, id DESC LIMIT 10",
          task.task.id,
        ).map((pin) => ({
          skill: String(pin["skill"]),
          hash: String(pin["hash"]),
        }))
      : [],
  };
}

interface ReadAgent {
  agent: WakeAgent;
  name: string | undefined;
  seq?: number;
}

function readAgent(db: DatabaseSync, { name, branch, sessionId, agentId, role, client, taskId }: WakeKey): ReadAgent {
  const row =
    name !== undefined
      ? (get(db, "SELECT * FROM agents WHERE name = ? AND branch = ?", name, branch ?? "") ??
        get(db, "SELECT * FROM agents WHERE name = ? ORDER BY branch LIMIT 1", name))
      : sessionId && !agentId
        ? get(db, "SELECT * FROM agents WHERE session_id = ? ORDER BY last_seen_at DESC, seq LIMIT 1", sessionId)
        : undefined;
  const found = textOf(row?.["name"]) ?? name;
  const session = sessionId ?? textOf(row?.["session_id"]);
  return {
    agent: {
      name:
        found ??
        holderName(db, sessionId, agentId) ??
        // A sub-agent that is about to start, or a task that nobody holds yet.
        ((role ?? taskId) !== undefined && session === undefined ? "" : undefined) ??
        `${client ?? "agent"}${session ? `-${session.slice(0, 8)}` : ""}`,
      role: role ?? textOf(row?.["role"]) ?? (agentId ? "implementer" : "orchestrator"),
      ...optional("client", client ?? textOf(row?.["client"])),
      ...optional("sessionId", session),
      ...optional("branch", branch ?? textOf(row?.["branch"])),
      ...optional("worktree", textOf(row?.["worktree"])),
    },
    name: found,
    ...(row && { seq: Number(row["seq"]) }),
  };
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
  { taskId, sessionId, agentId = "" }: WakeKey,
  { name, batch = [] }: { name: string | undefined; batch: readonly string[] | undefined },
): number[] {
  const seqs = new Set<number>();
  const add = (rows: Record<string, unknown>[]) => {
    for (const row of rows) seqs.add(Number(row["task"]));
  };
  if (taskId !== undefined) add(all(db, "SELECT seq AS task FROM tasks WHERE id = ?", taskId));
  if (sessionId !== undefined) {
    add(
      all(
        db,
        "SELECT task FROM claims WHERE session_id = ? AND agent_id = ? ORDER BY claimed_at DESC, task DESC LIMIT 6",
        sessionId,
        agentId,
      ),
    );
    if (agentId) {
      add(
        all(
          db,
          "SELECT t.seq AS task FROM agent_tasks a JOIN tasks t ON t.id = a.task WHERE a.session_id = ? AND a.agent_id = ? AND t.status IN ('todo', 'in_progress', 'review')",
          sessionId,
          agentId,
        ),
      );
    }
  }
  if (name !== undefined) {
    add(all(db, "SELECT task FROM claims WHERE agent = ? ORDER BY claimed_at DESC, task DESC LIMIT 6", name));
  }
  if (sessionId !== undefined && agentId === "") {
    add(all(db, "SELECT task FROM claims WHERE session_id = ? ORDER BY claimed_at DESC, task DESC LIMIT 6", sessionId));
    add(
      all(
        db,
        `${OPEN_TASKS} JOIN agent_tasks a ON a.task = t.id WHERE a.session_id = ? AND ${IS_OPEN} ORDER BY a.at DESC LIMIT 6`,
        sessionId,
      ),
    );
    for (const id of batch) add(all(db, `${OPEN_TASKS} WHERE t.id = ? AND ${IS_OPEN}`, id));
  }
  return [...seqs];
}

const OPEN_TASKS = "SELECT t.seq AS task FROM tasks t";

/** The ids of the tasks that this session was given last; undefined when it was given none. */
function lastBatch(db: DatabaseSync, sessionId: string): string[] | undefined {
  const row = get(db, "SELECT tasks FROM batches WHERE session_id = ? ORDER BY id DESC LIMIT 1", sessionId);
  return row && (JSON.parse(String(row["tasks"])) as string[]).slice(0, 6);
}

const TREE_COLUMNS =
  "t.id, t.title, t.status, (SELECT p.id FROM tasks p WHERE p.seq = t.parent) AS parent_id, (SELECT c.agent FROM claims c WHERE c.task = t.seq) AS agent, (SELECT h.status FROM handoffs h WHERE h.task = t.seq ORDER BY h.created_at DESC, h.seq DESC LIMIT 1) AS verdict";

function readTree(db: DatabaseSync, where: string, ...values: (string | number)[]): TreeTask[] {
  return all(db, `SELECT ${TREE_COLUMNS} FROM tasks t WHERE ${where}`, ...values).map(toTree);
}

/** The story's tasks around this one, or its parent's children; and its own sub-tasks. */
function readTreeAround(
  db: DatabaseSync,
  seq: number,
  { story, parent }: { story: number | undefined; parent: number | undefined },
): TreeTask[] {
  const [column, group] = story !== undefined ? ["story", story] : parent !== undefined ? ["parent", parent] : [];
  const children = readTree(db, "t.parent = ? AND t.status <> 'archived' ORDER BY t.seq LIMIT 20", seq);
  if (column === undefined || group === undefined) return [...readTree(db, "t.seq = ?", seq), ...children];
  const before = readTree(
    db,
    `t.${column} = ? AND t.seq < ? AND t.status <> 'archived' ORDER BY t.seq DESC LIMIT ${TREE_BEFORE}`,
    group,
    seq,
  );
  const after = readTree(
    db,
    `t.${column} = ? AND t.seq >= ? AND t.status <> 'archived' ORDER BY t.seq LIMIT ${TREE_AFTER}`,
    group,
    seq,
  );
  const known = new Set([...before, ...after].map(({ id }) => id));
  return [...before.reverse(), ...after, ...children.filter(({ id }) => !known.has(id))];
}

interface ReadTask {
  task: WakeTask;
  plan: { planFile?: string; planSection?: string };
  story: number | undefined;
  epic: number | undefined;
  parent: number | undefined;
}

function readTask(db: DatabaseSync, seq: number): ReadTask {
  const row = get(
    db,
    `SELECT t.*, substr(t.description, 1, ${MOST_CHARS}) AS description, ${TREE_COLUMNS} FROM tasks t WHERE t.seq = ?`,
    seq,
  ) as Record<string, unknown>;
  const files = all(db, "SELECT path FROM task_files WHERE task = ? ORDER BY path LIMIT 100", seq);
  const blockers = all(
    db,
    "SELECT reason FROM blockers WHERE task = ? AND resolved_at IS NULL ORDER BY id LIMIT 10",
    seq,
  );
  const waitsFor = readTree(
    db,
    "t.status NOT IN ('done', 'archived') AND t.seq IN (SELECT depends_on FROM dependencies WHERE task = ? AND type IN ('blocks', 'requires')) ORDER BY t.seq LIMIT 10",
    seq,
  );
  return {
    task: {
      ...toTree(row),
      type: String(row["type"]) as TaskType,
      ...optional("description", textOf(row["description"])),
      ...optional("acceptanceCriteria", textOf(row["acceptance_criteria"])?.slice(0, MOST_CHARS)),
      files: files.map(({ path }) => String(path)),
      steps: typeof row["steps"] === "string" ? (JSON.parse(row["steps"]) as TaskStep[]) : [],
      ...optional("skill", textOf(row["skill"])),
      ...optional("contextSummary", textOf(row["context_summary"])?.slice(0, MOST_CHARS)),
      ...optional("handoffNotes", textOf(row["handoff_notes"])?.slice(0, MOST_CHARS)),
      ...optional("note", textOf(row["note"])),
      blockers: blockers.map(({ reason }) => String(reason)),
      waitsFor,
    },
    plan: {
      ...optional("planFile", textOf(row["plan_file"])),
      ...optional("planSection", textOf(row["plan_section"])),
    },
    story: numberOf(row["story"]),
    epic: numberOf(row["epic"]),
    parent: numberOf(row["parent"]),
  };
}

function storyOf(db: DatabaseSync, story: number): Pick<StoredWake, "story"> {
  const row = get(db, "SELECT id, title, status FROM stories WHERE seq = ?", story);
  const counts = all(db, "SELECT status, count(*) AS count FROM tasks WHERE story = ? GROUP BY status", story);
  const sum = (isCounted: (status: TaskStatus) => boolean) =>
    counts.reduce((total, { status, count }) => total + (isCounted(status as TaskStatus) ? Number(count) : 0), 0);
  if (!row) return {};
  return {
    story: {
      id: String(row["id"]),
      title: String(row["title"]),
      status: String(row["status"]),
      done: sum((status) => status === "done"),
      total: sum((status) => status !== "archived"),
    },
  };
}

function epicOf(db: DatabaseSync, epic: number | undefined): Pick<StoredWake, "epic"> {
  const row = epic === undefined ? undefined : get(db, "SELECT id, title, priority FROM epics WHERE seq = ?", epic);
  return row
    ? { epic: { id: String(row["id"]), title: String(row["title"]), priority: `P${Number(row["priority"])}` } }
    : {};
}

/** The task's own, then those of finished siblings. */
function readHandoffs(db: DatabaseSync, seq: number, story: number | undefined): WakeHandoff[] {
  const columns =
    "t.id AS task_id, t.title, h.role, h.attempt, h.status, substr(h.summary, 1, 2000) AS summary, h.created_at FROM handoffs h JOIN tasks t ON t.seq = h.task";
  const own = all(
    db,
    `SELECT ${columns} WHERE h.task = ? AND h.archived_at IS NULL ORDER BY h.created_at DESC, h.seq DESC LIMIT 4`,
    seq,
  );
  const siblings =
    story === undefined
      ? []
      : all(
          db,
          // The newest done ones only: a story of 10,000 tasks has as many handoffs.
          `SELECT ${columns} WHERE h.task IN (SELECT seq FROM tasks WHERE story = ? AND status = 'done' AND seq <> ? ORDER BY seq DESC LIMIT 20) AND h.archived_at IS NULL ORDER BY h.created_at DESC, h.seq DESC LIMIT ${MOST_HANDOFFS}`,
          story,
          seq,
        );
  return [...own, ...siblings].map((row) => ({
    taskId: String(row["task_id"]),
    taskTitle: String(row["title"]),
    role: String(row["role"]),
    attempt: Number(row["attempt"]),
    status: String(row["status"]) as Verdict,
    summary: String(row["summary"]),
    at: new Date(String(row["created_at"])),
  }));
}

const MESSAGES = `SELECT m.id, m.sender, substr(m.text, 1, ${MOST_CHARS}) AS text, m.subject, m.created_at, r.is_mention FROM message_recipients r JOIN messages m ON m.seq = r.message WHERE r.agent = ?`;

function readMessages(db: DatabaseSync, agent: number): WakeMessage[] {
  return all(db, `${MESSAGES} AND r.read_at IS NULL ORDER BY r.message LIMIT ${MOST_MESSAGES}`, agent).map(toMessage);
}

/** Read, in a window that is gone: what was asked for there still holds. */
function readHeard(
  db: DatabaseSync,
  agent: number,
  { inHand, since }: { inHand: number | undefined; since: Date | undefined },
): WakeMessage[] {
  if (inHand === undefined && since === undefined) return [];
  const near = `r.message > (SELECT max(seq) FROM messages) - ${HEARD_REACH}`;
  const from = "coalesce((SELECT claimed_at FROM claims WHERE task = ?), ?)";
  const rows = all(
    db,
    `${MESSAGES} AND ${near} AND r.read_at >= ${from} ORDER BY r.message DESC LIMIT ${MOST_HEARD}`,
    agent,
    inHand ?? null,
    since?.toISOString() ?? null,
  );
  return rows.reverse().map(toMessage);
}

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
  const ids =
    story === undefined
      ? "SELECT id FROM tasks WHERE seq = ?1"
      : `SELECT id FROM tasks WHERE seq = ?1 UNION SELECT id FROM (SELECT id FROM tasks WHERE story = ?2 AND seq BETWEEN ?1 - ${TREE_BEFORE} AND ?1 + ${TREE_AFTER})`;
  const rows = all(
    db,
    `SELECT at, actor, kind, substr(text, 1, 500) AS text, subject FROM activity WHERE subject IN (${ids}) AND (kind <> 'task-created' OR subject = (SELECT id FROM tasks WHERE seq = ?1)) ORDER BY id DESC LIMIT ${MOST_ACTIVITY}`,
    seq,
    ...(story === undefined ? [] : [story]),
  );
  return rows.map((row) => ({
    at: new Date(String(row["at"])),
    actor: String(row["actor"]),
    kind: String(row["kind"]),
    text: String(row["text"]),
    ...optional("subject", textOf(row["subject"])),
  }));
}

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

function toTree(row: Record<string, unknown>): TreeTask {
  const status = String(row["status"]) as TaskStatus;
  const agent = isSettled(status) ? undefined : textOf(row["agent"]);
  return {
    id: String(row["id"]),
    title: String(row["title"]),
    status,
    ...optional("agent", agent),
    ...optional("parentId", textOf(row["parent_id"])),
    ...optional("lastVerdict", textOf(row["verdict"]) as Verdict | undefined),
  };
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
