/**
 * Exports everything as records in a fixed order: by kind, then by id, or by content for records without an id. Run it in a
 * transaction: the kinds are read one after the other.
 */
import type { DatabaseSync } from "node:sqlite";
import { priorityOf } from "../../../../work/task.ts";
import {
  type AgentRecord,
  RECORD_KINDS,
  type RecordKind,
  readRecord,
  type TaskRecord,
  type WorkRecord,
} from "../../../record-fields.ts";
import { holderRecord } from "../last-holders.ts";
import { all, present, statement } from "../rows.ts";

export function* exportRecords(db: DatabaseSync): Generator<WorkRecord> {
  for (const kind of RECORD_KINDS) {
    // Not a cached statement: that could be restarted while this one is still being read.
    for (const row of db.prepare(`${SELECT[kind]} ${ORDER[kind]}`).iterate())
      yield clean(toRecord(db, kind, row as Row));
  }
}

/** The record of one id, as an export would write it now. */
export function storedRecord<Kind extends "epic" | "story" | "task" | "handoff" | "message">(
  db: DatabaseSync,
  kind: Kind,
  id: string,
): Extract<WorkRecord, { kind: Kind }> | undefined {
  const row = statement(db, `${SELECT[kind]} WHERE ${kind[0]}.id = ?`).get(id);
  return row && (clean(toRecord(db, kind, row as Row)) as Extract<WorkRecord, { kind: Kind }>);
}

export function storedAgent(
  db: DatabaseSync,
  { name, branch = "" }: Pick<AgentRecord, "name" | "branch">,
): AgentRecord | undefined {
  const row = statement(db, `${SELECT.agent} WHERE name = ? AND branch = ?`).get(name, branch);
  return row && (clean(toRecord(db, "agent", row as Row)) as AgentRecord);
}

/** Sorts keys and removes columns that are internal to the store. */
function clean(record: WorkRecord): WorkRecord {
  return readRecord(record).record ?? record;
}

type Row = Record<string, string | number | null>;

/** As JSON, `[]` for none. */
const aliasesOf = (id: string) =>
  `(SELECT json_group_array(alias) FROM (SELECT alias FROM aliases WHERE id = ${id} ORDER BY alias)) AS aliases`;

const SELECT: Readonly<Record<RecordKind, string>> = {
  epic: `SELECT e.*, ${aliasesOf("e.id")} FROM epics e`,
  story: `SELECT s.*, e.id AS epic_id, ${aliasesOf("s.id")} FROM stories s LEFT JOIN epics e ON e.seq = s.epic`,
  task: `SELECT t.*, s.id AS story_id, p.id AS parent_id, c.agent, c.session_id, c.agent_id, c.claimed_at, c.heartbeat_at,
      c.lease_until, w.data AS wip, w.updated_at AS wip_updated_at, ${aliasesOf("t.id")}
    FROM tasks t LEFT JOIN stories s ON s.seq = t.story LEFT JOIN tasks p ON p.seq = t.parent
      LEFT JOIN claims c ON c.task = t.seq LEFT JOIN task_wip w ON w.task = t.seq`,
  dependency: `SELECT t.id AS task_id, o.id AS depends_on_id, d.type, d.created_at
    FROM dependencies d JOIN tasks t ON t.seq = d.task JOIN tasks o ON o.seq = d.depends_on`,
  blocker: "SELECT b.*, t.id AS task_id FROM blockers b JOIN tasks t ON t.seq = b.task",
  failure: "SELECT f.*, t.id AS task_id FROM failures f JOIN tasks t ON t.seq = f.task",
  handoff: `SELECT h.*, t.id AS task_id, d.text AS details, ${aliasesOf("h.id")}
    FROM handoffs h JOIN tasks t ON t.seq = h.task LEFT JOIN handoff_details d ON d.handoff = h.seq`,
  agent:
    "SELECT name, branch, nullif(role, '') AS role, client, session_id, worktree, created_at, last_seen_at, removed_at FROM agents",
  message: `SELECT m.seq, m.id, m.sender AS "from", m.text, m.subject, m.created_at, ${aliasesOf("m.id")} FROM messages m`,
  skill_use: "SELECT at, agent, task AS task_id, skill, hash, because FROM skill_history",
  activity: "SELECT at, actor, kind, subject, text FROM activity",
};

const ORDER: Readonly<Record<RecordKind, string>> = {
  epic: "ORDER BY e.id",
  story: "ORDER BY s.id",
  task: "ORDER BY t.id",
  dependency: "ORDER BY t.id, o.id",
  // Not by row number: that depends on the order of insertion.
  blocker: "ORDER BY t.id, b.created_at, b.actor, b.reason, b.resolved_at NULLS FIRST, b.resolved_by NULLS FIRST",
  failure: "ORDER BY t.id, f.created_at, f.actor, f.summary, f.details NULLS FIRST",
  handoff: "ORDER BY h.id",
  agent: "ORDER BY name, branch",
  message: "ORDER BY m.id",
  skill_use: "ORDER BY at, agent, task NULLS FIRST, skill, hash, because",
  activity: "ORDER BY at, actor, kind, subject NULLS FIRST, text",
};

function toRecord(db: DatabaseSync, kind: RecordKind, { aliases, ...row }: Row): WorkRecord {
  return { ...fieldsOf(db, kind, row), ...listField("aliases", aliases) } as WorkRecord;
}

function fieldsOf(db: DatabaseSync, kind: RecordKind, row: Row): WorkRecord {
  switch (kind) {
    case "epic":
      return { kind, ...present(row), priority: priorityOf(Number(row["priority"])) } as WorkRecord;
    case "task":
      return toTaskRecord(db, row);
    case "handoff": {
      const { files_changed, ...rest } = row;
      return { kind, ...present(rest), ...listField("files_changed", files_changed) } as WorkRecord;
    }
    case "agent":
      return { kind, ...present({ ...row, branch: row["branch"] || null }) } as WorkRecord;
    case "message":
      return { kind, ...present(row), readers: readersOf(db, Number(row["seq"])) } as WorkRecord;
    case "activity": {
      const { kind: activity, ...rest } = row;
      return { kind, ...present(rest), activity } as WorkRecord;
    }
    default:
      return { kind, ...present(row) } as WorkRecord;
  }
}

function toTaskRecord(db: DatabaseSync, row: Row): TaskRecord {
  const { agent, session_id, agent_id, claimed_at, heartbeat_at, lease_until, wip, steps, ...rest } = row;
  const seq = Number(row["seq"]);
  const files = all<{ path: string }>(db, "SELECT path FROM task_files WHERE task = ? ORDER BY path", seq);
  const holder = holderRecord(db, seq);
  const sql = "SELECT at, actor, path, before, after FROM task_wip_changes WHERE task = ? ORDER BY id";
  const history = all<Row>(db, sql, seq);
  return {
    kind: "task",
    ...present(rest),
    priority: priorityOf(Number(row["priority"])),
    ...(files.length > 0 && { files: files.map(({ path }) => path) }),
    ...listField("steps", steps),
    ...(agent !== null && {
      claim: {
        ...present({ agent, session_id, agent_id: agent_id || null, claimed_at, heartbeat_at }),
        lease_until: new Date(Number(lease_until)).toISOString(),
      },
    }),
    ...(holder && { last_holder: holder }),
    ...(typeof wip === "string" && { wip: JSON.parse(wip) }),
    ...(history.length > 0 && { wip_history: history.map(toHistory) }),
  } as TaskRecord;
}

function readersOf(db: DatabaseSync, message: number): object[] {
  const sql =
    "SELECT a.name AS agent, a.branch, r.is_mention, r.read_at FROM message_recipients r JOIN agents a ON a.seq = r.agent WHERE r.message = ? ORDER BY a.name, a.branch";
  const rows = all<Row>(db, sql, message);
  return rows.map(({ agent, branch, is_mention, read_at }) => ({
    ...present({ agent, branch: branch || null }),
    is_mention: is_mention === 1,
    ...present({ read_at }),
  }));
}

function toHistory({ before, after, ...entry }: Row): object {
  return {
    ...entry,
    ...(typeof before === "string" && { before: JSON.parse(before) }),
    ...(typeof after === "string" && { after: JSON.parse(after) }),
  };
}

function listField(name: string, stored: string | number | null | undefined): Record<string, unknown> {
  const list = typeof stored === "string" ? (JSON.parse(stored) as unknown[]) : [];
  return list.length > 0 ? { [name]: list } : {};
}
