/** What git said when a task was claimed, and who else works in a worktree. The hook bundles this file. */
import type { DatabaseSync } from "node:sqlite";
import type { GitState } from "../../../../work/wip/git-changes.ts";
import type { SessionKey } from "../../../local-store.ts";
import { readStore, writeStore } from "../../access.ts";
import type { StoreHandle } from "../../handle.ts";
import { boundTask, taskWip } from "./session-tasks.ts";

export interface KeptGitState extends GitState {
  at: string;
}

export function keepGitState(
  handle: StoreHandle,
  { taskId, worktree }: { taskId: string; worktree: string },
  { head, files }: GitState,
  at: Date,
): void {
  writeStore(handle, (db) => {
    db.prepare("INSERT OR REPLACE INTO git_states (task, worktree, head, files, at) VALUES (?, ?, ?, ?, ?)").run(
      taskId,
      worktree,
      head,
      JSON.stringify(files),
      at.toISOString(),
    );
  });
}

export function keptGitState(
  handle: StoreHandle,
  { taskId, worktree }: { taskId: string; worktree: string },
): KeptGitState | undefined {
  return readStore(handle, (db) => {
    const row = db
      .prepare("SELECT head, files, at FROM git_states WHERE task = ? AND worktree = ?")
      .get(taskId, worktree);
    return row && { head: String(row["head"]), files: JSON.parse(String(row["files"])), at: String(row["at"]) };
  });
}

/** What an agent works on, and what is known of it. */
export interface WorkAtHand {
  /** Absent: it works on no task. */
  taskId?: string;
  wip: Record<string, unknown>;
}

export function workAtHand(handle: StoreHandle, { sessionId, agentId = "" }: SessionKey): WorkAtHand {
  return readStore(handle, (db) => {
    const bound = boundTask(db, { sessionId, agentId });
    const text = bound
      ? taskWip(db, bound.seq)?.data
      : db.prepare("SELECT data FROM session_wip WHERE session_id = ? AND agent_id = ?").get(sessionId, agentId)?.[
          "data"
        ];
    const wip = text === undefined ? {} : JSON.parse(String(text));
    return bound ? { taskId: bound.id, wip } : { wip };
  });
}

/**
 * Whether a file that nobody was seen to change may be this task's. Not when another agent has touched it since, of this session or
 * another; and where others have worked on tasks in the same worktree meanwhile, only when the task itself names it.
 */
export function whoseFile(
  handle: StoreHandle,
  {
    taskId,
    worktree,
    sessionId,
    agentId = "",
    since,
  }: SessionKey & { taskId: string; worktree: string; since: string },
): (path: string) => boolean {
  return readStore(handle, (db) => {
    const touched = db
      .prepare("SELECT path FROM session_files WHERE NOT (session_id = ? AND agent_id = ?) AND at >= ?")
      .all(sessionId, agentId, since);
    const theirs = new Set(touched.map(({ path }) => String(path)));
    const isShared = db.prepare(OTHERS).get(worktree, taskId, since) !== undefined;
    const own = db.prepare(OWN_FILES).all(taskId);
    const named = own.map(({ path }) => String(path).replace(/\/+$/, ""));
    const isNamed = (path: string) => named.some((file) => path === file || path.startsWith(`${file}/`));
    return (path) => !theirs.has(path) && (!isShared || isNamed(path));
  });
}

/** Held by somebody now, or begun since. */
const OTHERS = `SELECT 1 FROM git_states g JOIN tasks t ON t.id = g.task
WHERE g.worktree = ? AND g.task <> ? AND (g.at >= ? OR EXISTS (SELECT 1 FROM claims c WHERE c.task = t.seq)) LIMIT 1`;

const OWN_FILES = "SELECT f.path FROM task_files f JOIN tasks t ON t.seq = f.task WHERE t.id = ?";

/** Whether asking git may be worth it: somebody of this session works on a task, or has left something uncommitted. */
export function mayHaveChanged(db: DatabaseSync, { sessionId, agentId = "" }: SessionKey): boolean {
  return db.prepare(ASK).get({ sessionId, agentId }) !== undefined;
}

const ASK = `SELECT 1 FROM claims WHERE session_id = :sessionId
UNION ALL SELECT 1 FROM agent_tasks WHERE session_id = :sessionId AND agent_id = :agentId AND task <> ''
UNION ALL SELECT 1 FROM session_wip WHERE session_id = :sessionId AND agent_id = :agentId AND data LIKE '%"uncommitted_files":["%' LIMIT 1`;
