/** A project after months of work, for the board: tasks in every column, claims, agents with messages, runs, and sessions with their texts. */
import type { DatabaseSync } from "node:sqlite";
import { inTransaction, type StoreHandle } from "../../packages/haversack/src/store/sqlite/access.ts";
import { addAgent, sendMessage } from "../../packages/haversack/src/store/sqlite/work/agents.ts";
import {
  addSession,
  createRun,
  setTask,
  updateRun,
  updateSession,
} from "../../packages/haversack/src/store/sqlite/work/runs.ts";
import { setStatus } from "../../packages/haversack/src/store/sqlite/work/status.ts";
import { fillWork } from "./work-queue-store.ts";

const AGENTS = 20;
const MESSAGES = 1_000;
const RUNS = 60;
const SESSIONS_PER_RUN = 20;
const TASKS_PER_RUN = 100;
const SESSIONS = 300;
const PROMPTS_PER_SESSION = 60;

export interface FilledBoard {
  /** A task that is to do, the first of its column. */
  firstId: string;
  epicId: string;
}

/** `skills`: the IDs that its sessions used. */
export function fillBoard(handle: StoreHandle, tasks: number, skills: readonly string[]): FilledBoard {
  const { epicId, firstId } = fillWork(handle, tasks);
  const { db } = handle;
  const now = Date.now();
  const by = (name: string) => ({ name, at: new Date(now) });
  inTransaction(db, () => {
    const ids = db
      .prepare("SELECT id FROM tasks ORDER BY seq")
      .all()
      .map(({ id }) => String(id));
    ids.slice(1).forEach((taskId, at) => {
      const notes = `waits for an answer to question ${at}`;
      const status = statusAt(at);
      if (status === "todo") return;
      if (status === "blocked") setStatus(db, { taskId, status, notes, leaseMs: 0 }, by("bench"));
      else setStatus(db, { taskId, status, leaseMs: 3_600_000, isForced: true }, by(`agent-${at % AGENTS}`));
    });
    for (let agent = 0; agent < AGENTS; agent++)
      addAgent(db, { name: `agent-${agent}`, role: "implementer" }, by("bench"));
    for (let number = 0; number < MESSAGES; number++) {
      const text = `Message ${number}: ${"what I found, and where to look. ".repeat(6)}`;
      sendMessage(db, { to: [`agent-${number % AGENTS}`], text }, by("bench"));
    }
    for (let number = 0; number < RUNS; number++)
      addRun(db, ids, { startedAt: new Date(now - (RUNS - number) * 3_600_000) });
    addSessions(db, skills, now);
  });
  return { epicId, firstId };
}

/** Half of them are done; 3% are in progress, 2% in review, 5% blocked. */
function statusAt(at: number) {
  const share = (at * 37) % 100;
  if (share < 50) return "done" as const;
  if (share < 53) return "in_progress" as const;
  if (share < 55) return "review" as const;
  return share < 60 ? ("blocked" as const) : ("todo" as const);
}

function addRun(db: DatabaseSync, ids: readonly string[], { startedAt }: { startedAt: Date }): void {
  const { id: runId } = createRun(db, {
    ...{ scope: { kind: "all" }, client: "claude-code", options: {}, machine: "here", startedAt },
    process: { id: 1, space: "elsewhere" },
  });
  for (let number = 1; number <= SESSIONS_PER_RUN; number++) {
    addSession(db, { runId, purpose: "batch", taskIds: ids.slice(0, 5), startedAt });
    const text = "What the session said last. ".repeat(40);
    updateSession(db, runId, number, {
      usedTokens: 90_000,
      windowTokens: 200_000,
      inputTokens: 400_000,
      costUsd: 1.2,
      text,
    });
  }
  for (let at = 0; at < TASKS_PER_RUN; at++) {
    const task = { taskId: ids[at]!, title: `Task ${at}`, fixes: 0, reviewFailures: 0, tokens: 4_000, sessions: 1 };
    setTask(db, { ...task, runId, state: "done", summary: "What was done, and how. ".repeat(20), at: startedAt });
  }
  updateRun(db, runId, { state: "ended", endedAt: startedAt });
}

function addSessions(db: DatabaseSync, skills: readonly string[], now: number): void {
  const session =
    db.prepare(`INSERT INTO sessions (session_id, client, cwd, started_at, last_seen_at, window, prompt_count)
    VALUES (?, 'claude-code', '/project', ?, ?, 2, ?)`);
  const injection = db.prepare(`INSERT INTO injections (at, session_id, agent_id, window, event, format, tokens, text)
    VALUES (?, ?, '', ?, 'prompt', 'full', 90, ?)`);
  const use = db.prepare(`INSERT INTO skill_uses (at, session_id, agent_id, window, skill, event, tokens)
    VALUES (?, ?, '', ?, ?, ?, 40)`);
  const text = "Skills that fit this prompt, with what each is for. ".repeat(8);
  for (let number = 0; number < SESSIONS; number++) {
    const id = `session-${number}`;
    const at = new Date(now - number * 3_600_000).toISOString();
    session.run(id, at, at, PROMPTS_PER_SESSION);
    for (let prompt = 0; prompt < PROMPTS_PER_SESSION; prompt++) {
      const window = prompt < PROMPTS_PER_SESSION / 2 ? 1 : 2;
      const skill = skills[(number * 7 + prompt) % skills.length]!;
      injection.run(at, id, window, text);
      use.run(at, id, window, skill, "shown");
      if (prompt % 3 === 0) use.run(at, id, window, skill, "loaded");
    }
  }
}
