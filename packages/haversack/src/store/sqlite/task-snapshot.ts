/**
 * A task for the hook's packet, and the handoff that a sub-agent stored: a few statements instead of the whole work store, which
 * would not fit into the hook. The hook bundles this file.
 */
import type { PacketTask } from "../../work/task-packet.ts";
import { readStore } from "./access.ts";
import type { StoreHandle } from "./handle.ts";
import { taskWip } from "./session-tasks.ts";

export interface TaskSnapshot extends PacketTask {
  /** When its WIP last changed. */
  wipUpdatedAt?: string;
}

export interface StoredHandoff {
  id: string;
  taskId: string;
  status: string;
  summary: string;
  hasDetails: boolean;
}

export function readTaskSnapshot(handle: StoreHandle, taskId: string): TaskSnapshot | undefined {
  return readStore(handle, (db) => {
    const row = db.prepare("SELECT * FROM tasks WHERE id = ?").get(taskId);
    if (!row) return undefined;
    const seq = Number(row["seq"]);
    const text = (column: string, name: string) =>
      typeof row[column] === "string" && row[column] !== "" ? { [name]: row[column] as string } : {};
    const wip = taskWip(db, seq);
    const plan = [row["plan_file"], row["plan_section"]].filter(Boolean).join("#");
    const files = db.prepare("SELECT path FROM task_files WHERE task = ? ORDER BY path LIMIT 100").all(seq);
    const handoffs = db
      .prepare(
        "SELECT role, status, summary FROM handoffs WHERE task = ? AND archived_at IS NULL ORDER BY created_at DESC, seq DESC LIMIT 3",
      )
      .all(seq);
    return {
      id: taskId,
      title: String(row["title"]),
      status: String(row["status"]),
      type: String(row["type"]),
      ...text("skill", "skill"),
      ...text("note", "note"),
      ...text("description", "description"),
      ...text("acceptance_criteria", "acceptanceCriteria"),
      ...text("context_summary", "contextSummary"),
      ...text("handoff_notes", "handoffNotes"),
      ...(plan && { plan }),
      files: files.map(({ path }) => String(path)),
      steps: typeof row["steps"] === "string" ? (JSON.parse(row["steps"]) as PacketTask["steps"]) : [],
      ...(wip && { wip: JSON.parse(wip.data) as Record<string, unknown>, wipUpdatedAt: wip.updatedAt }),
      handoffs: handoffs.map(({ role, status, summary }) => ({
        role: String(role),
        status: String(status),
        summary: String(summary),
      })),
    };
  });
}

/**
 * The latest handoff that this sub-agent stored. Whoever works for a session's sub-agent has a name that ends with the
 * beginning of its id (engine/work/actor.ts). Looks at the newest only: it was stored a moment ago.
 */
export function readHandoffBy(handle: StoreHandle, agentId: string): StoredHandoff | undefined {
  const ending = `.${agentId.replace(/[^A-Za-z0-9]/g, "").slice(0, 8)}`;
  return readStore(handle, (db) => {
    const row = db
      .prepare(NEWEST_HANDOFFS)
      .all()
      .find(({ actor }) => String(actor).endsWith(ending));
    return (
      row && {
        id: String(row["id"]),
        taskId: String(row["task_id"]),
        status: String(row["status"]),
        summary: String(row["summary"]),
        hasDetails: Number(row["details_chars"]) > 0,
      }
    );
  });
}

const NEWEST_HANDOFFS = `SELECT h.id, t.id AS task_id, h.status, h.summary, h.details_chars, h.actor
FROM (SELECT * FROM handoffs ORDER BY seq DESC LIMIT 200) h JOIN tasks t ON t.seq = h.task ORDER BY h.created_at DESC, h.seq DESC`;
