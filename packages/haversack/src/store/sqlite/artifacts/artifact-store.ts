/** Dispatches, reviews and receipts in SQLite. Open its handle with `durability: "full"`. */
import type { DatabaseSync } from "node:sqlite";
import type { RequiredDocument } from "../../../artifacts/receipts.ts";
import type { ReviewIssue, TrackedIssue } from "../../../artifacts/review-issue.ts";
import type {
  ArtifactStore,
  DecideOutcome,
  DispatchTotals,
  LoopKey,
  NewReview,
  ReceiptCount,
  ResumeCheck,
  ReviewDecision,
  ReviewLoop,
  ReviewOutcome,
  StoredDispatch,
  StoredReview,
} from "../../artifact-store.ts";
import type { Actor } from "../../work-store.ts";
import { readStore, writeStore } from "../access.ts";
import type { StoreHandle } from "../handle.ts";
import { all, one, run } from "../work/rows.ts";
import { insertReceipts } from "./artifact-observations.ts";

type Operations = { [Name in keyof ArtifactStore]: ArtifactStore[Name] };

export class SqliteArtifactStore implements ArtifactStore {
  readonly #handle: StoreHandle;

  constructor(handle: StoreHandle) {
    this.#handle = handle;
  }

  recordDispatch: Operations["recordDispatch"] = async (dispatch, by) =>
    this.#write((db) => {
      const { loop, iteration, task, kind, reason, documents, tokens, otherTokens, promptChars, gitCommit } = dispatch;
      run(
        db,
        `INSERT INTO dispatches (feature, phase, role, iteration, task, kind, reason, documents, sent, reads, pasted,
          pasted_unpruned, resumed, prompt_chars, git_commit, by, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        ...keyOf(loop),
        iteration,
        task ?? null,
        kind,
        reason ?? null,
        JSON.stringify(documents),
        tokens.sent,
        tokens.reads,
        tokens.pasted,
        tokens.pastedUnpruned,
        otherTokens ?? null,
        promptChars,
        gitCommit ?? null,
        by.name,
        by.at.toISOString(),
      );
    });

  getDispatch: Operations["getDispatch"] = async (loop, iteration) =>
    this.#read((db) => {
      const row = one<DispatchRow>(
        db,
        "SELECT * FROM dispatches WHERE feature = ? AND phase = ? AND role = ? AND iteration = ? ORDER BY seq DESC LIMIT 1",
        ...keyOf(loop),
        iteration,
      );
      return row && toDispatch(row);
    });

  sumDispatches: Operations["sumDispatches"] = async ({ since }) =>
    this.#read((db) =>
      all<DispatchTotals>(
        db,
        // A resume that was followed by another dispatch of its iteration has failed, and saved nothing.
        `SELECT role, count(*) AS dispatches, sum(is_resumed) AS resumes, sum(kind = 'fallback') AS fallbacks,
          sum(sent) AS sent, sum(reads) AS reads, sum(pasted) AS pasted, sum(pasted_unpruned) AS pastedUnpruned,
          sum(iif(is_resumed AND resumed IS NOT NULL, resumed - sent - reads, 0)) AS saved
        FROM (SELECT *, kind = 'resume' AND NOT EXISTS (SELECT 1 FROM dispatches AS later
          WHERE later.feature = one.feature AND later.phase = one.phase AND later.role = one.role
            AND later.iteration = one.iteration AND later.seq > one.seq) AS is_resumed FROM dispatches AS one WHERE at >= ?)
        GROUP BY role ORDER BY role`,
        since?.toISOString() ?? "",
      ).map((row) => ({ ...row })),
    );

  recordReview: Operations["recordReview"] = async (review, by) =>
    this.#write((db) => {
      const outcome = recordReview(db, review, by);
      const { loop, iteration, receipts } = review;
      if (outcome.kind === "recorded" && receipts) {
        insertReceipts(db, { ...receipts, feature: loop.feature, role: loop.role, iteration }, by.at);
      }
      return outcome;
    });

  markInHistory: Operations["markInHistory"] = async (loop, iteration) =>
    this.#write((db) => {
      const sql = "UPDATE reviews SET is_in_history = 1 WHERE feature = ? AND phase = ? AND role = ? AND iteration = ?";
      run(db, sql, ...keyOf(loop), iteration);
    });

  getLoop: Operations["getLoop"] = async (loop) => this.#read((db) => findLoop(db, loop));
  listLoops: Operations["listLoops"] = async (feature) => this.#read((db) => listLoops(db, feature));
  decideIssue: Operations["decideIssue"] = async (loop, decision, by) =>
    this.#write((db) => decideIssue(db, loop, decision, by));

  failResume: Operations["failResume"] = async (loop, failure) =>
    this.#write((db) => {
      const sql = "UPDATE review_agents SET failure = ? WHERE feature = ? AND phase = ? AND role = ?";
      run(db, sql, failure, ...keyOf(loop));
    });

  recordReceipts: Operations["recordReceipts"] = async (receipts, by) =>
    this.#write((db) => insertReceipts(db, receipts, by.at));

  countReceipts: Operations["countReceipts"] = async ({ since }) =>
    this.#read((db) =>
      all<ReceiptCount>(
        db,
        `SELECT role, file, count(*) AS total, sum(is_missing) AS missing, avg(share) AS share,
          sum(source = 'events') AS fromEvents
        FROM receipts WHERE at >= ? GROUP BY role, file ORDER BY role, file`,
        since?.toISOString() ?? "",
      ).map((row) => ({ ...row })),
    );

  recordResumeCheck: Operations["recordResumeCheck"] = async ({ client, isOk, text, at }) =>
    this.#write((db) => {
      run(db, "INSERT OR REPLACE INTO resume_checks VALUES (?, ?, ?, ?)", client, isOk ? 1 : 0, text, at.toISOString());
    });

  getResumeCheck: Operations["getResumeCheck"] = async (client) =>
    this.#read((db): ResumeCheck | undefined => {
      const row = one<{ is_ok: number; text: string; at: string }>(
        db,
        "SELECT * FROM resume_checks WHERE client = ?",
        client,
      );
      return row && { client, isOk: row.is_ok === 1, text: row.text, at: new Date(row.at) };
    });

  #write<T>(change: (db: DatabaseSync) => T): T {
    return writeStore(this.#handle, change);
  }

  #read<T>(read: (db: DatabaseSync) => T): T {
    return readStore(this.#handle, read);
  }
}

function keyOf({ feature, phase, role }: LoopKey): [string, string, string] {
  return [feature, phase, role];
}

interface DispatchRow {
  feature: string;
  phase: string;
  role: string;
  iteration: number;
  task: string | null;
  kind: StoredDispatch["kind"];
  reason: string | null;
  documents: string;
  sent: number;
  reads: number;
  pasted: number;
  pasted_unpruned: number;
  /** Of the way not taken. */
  resumed: number | null;
  prompt_chars: number;
  git_commit: string | null;
  by: string;
  at: string;
}

function toDispatch(row: DispatchRow): StoredDispatch {
  return {
    loop: { feature: row.feature, phase: row.phase, role: row.role },
    iteration: row.iteration,
    ...(row.task !== null && { task: row.task }),
    kind: row.kind,
    ...(row.reason !== null && { reason: row.reason }),
    documents: JSON.parse(row.documents) as RequiredDocument[],
    tokens: { sent: row.sent, reads: row.reads, pasted: row.pasted, pastedUnpruned: row.pasted_unpruned },
    ...(row.resumed !== null && { otherTokens: row.resumed }),
    promptChars: row.prompt_chars,
    ...(row.git_commit !== null && { gitCommit: row.git_commit }),
    by: row.by,
    at: new Date(row.at),
  };
}

// Review loops: iterations, the issues over them, decisions about issues, and the agent that a loop can go on with.

const OF_LOOP = "WHERE feature = ? AND phase = ? AND role = ?";

/** For callers that hold the write lock. */
export function recordReview(db: DatabaseSync, review: NewReview, by: Actor): ReviewOutcome {
  const { loop, iteration, verdict, summary, issues, track, notes, answerHash, agent } = review;
  const key = [loop.feature, loop.phase, loop.role] as const;
  const last = one<ReviewRow>(db, `SELECT * FROM reviews ${OF_LOOP} ORDER BY iteration DESC LIMIT 1`, ...key);
  if (last && last.iteration >= iteration) {
    const there = one<ReviewRow>(db, `SELECT * FROM reviews ${OF_LOOP} AND iteration = ?`, ...key, iteration);
    if (there?.answer_hash === answerHash) {
      return { kind: "same", review: toReview(there), issues: listIssues(db, loop) };
    }
    return { kind: "already-recorded", review: toReview(there ?? last), last: last.iteration };
  }
  const tracked = track(listIssues(db, loop));
  run(
    db,
    `INSERT INTO reviews (feature, phase, role, iteration, verdict, summary, issues, notes, answer_hash, session_id,
      agent_id, by, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ...key,
    iteration,
    verdict,
    summary ?? null,
    JSON.stringify(issues),
    JSON.stringify(notes),
    answerHash,
    agent?.sessionId ?? null,
    agent?.agentId ?? null,
    by.name,
    by.at.toISOString(),
  );
  for (const issue of tracked) writeIssue(db, loop, issue);
  if (agent) keepAgent(db, loop, agent, iteration);
  const row = one<ReviewRow>(db, `SELECT * FROM reviews ${OF_LOOP} AND iteration = ?`, ...key, iteration)!;
  return { kind: "recorded", review: toReview(row), issues: tracked };
}

export function findLoop(db: DatabaseSync, loop: LoopKey): ReviewLoop {
  const key = [loop.feature, loop.phase, loop.role] as const;
  const decisions = all<{ issue: string; text: string; by: string; at: string }>(
    db,
    `SELECT issue, text, by, at FROM review_decisions ${OF_LOOP} ORDER BY seq`,
    ...key,
  );
  const agent = one<AgentRow>(db, `SELECT * FROM review_agents ${OF_LOOP}`, ...key);
  return {
    feature: loop.feature,
    phase: loop.phase,
    role: loop.role,
    reviews: all<ReviewRow>(db, `SELECT * FROM reviews ${OF_LOOP} ORDER BY iteration`, ...key).map(toReview),
    issues: listIssues(db, loop),
    decisions: decisions.map(
      ({ issue, at, ...rest }): ReviewDecision => ({ issueId: issue, ...rest, at: new Date(at) }),
    ),
    ...(agent && {
      resume: {
        agentId: agent.agent_id,
        ...(agent.session_id !== null && { sessionId: agent.session_id }),
        iteration1PromptChars: agent.prompt_chars,
        lastIteration: agent.last_iteration,
        ...(agent.failure !== null && { failure: agent.failure }),
      },
    }),
  };
}

export function listLoops(db: DatabaseSync, feature: string): ReviewLoop[] {
  const keys = all<LoopKey>(
    db,
    "SELECT feature, phase, role FROM reviews WHERE feature = ? GROUP BY phase, role ORDER BY min(seq)",
    feature,
  );
  return keys.map((key) => findLoop(db, key));
}

export function decideIssue(
  db: DatabaseSync,
  loop: LoopKey,
  { issueId, text }: { issueId: string; text: string },
  by: Actor,
): DecideOutcome {
  const issues = listIssues(db, loop);
  if (issues.length === 0) return { kind: "no-loop" };
  const issue = issues.find(({ id }) => id.toLowerCase() === issueId.trim().toLowerCase());
  if (!issue) return { kind: "no-issue", known: issues.map(({ id }) => id) };
  const accepted: TrackedIssue = { ...issue, status: "accepted" };
  writeIssue(db, loop, accepted);
  run(
    db,
    "INSERT INTO review_decisions (feature, phase, role, issue, text, by, at) VALUES (?, ?, ?, ?, ?, ?, ?)",
    loop.feature,
    loop.phase,
    loop.role,
    issue.id,
    text,
    by.name,
    by.at.toISOString(),
  );
  return { kind: "decided", issue: accepted };
}

/** The length of the first prompt and the session stay; with another agent a new chain begins. */
function keepAgent(
  db: DatabaseSync,
  { feature, phase, role }: LoopKey,
  { agentId, sessionId, promptChars }: NonNullable<NewReview["agent"]>,
  iteration: number,
): void {
  run(
    db,
    `INSERT INTO review_agents VALUES (?, ?, ?, ?, ?, ?, ?, NULL)
    ON CONFLICT DO UPDATE SET
      prompt_chars = CASE WHEN agent_id = excluded.agent_id THEN prompt_chars ELSE excluded.prompt_chars END,
      session_id = coalesce(excluded.session_id, CASE WHEN agent_id = excluded.agent_id THEN session_id END),
      agent_id = excluded.agent_id, last_iteration = excluded.last_iteration,
      failure = NULL`,
    feature,
    phase,
    role,
    agentId,
    sessionId ?? null,
    promptChars,
    iteration,
  );
}

function listIssues(db: DatabaseSync, { feature, phase, role }: LoopKey): TrackedIssue[] {
  // By number: R10 comes after R9.
  const rows = all<IssueRow>(
    db,
    `SELECT * FROM review_issues ${OF_LOOP} ORDER BY first_iteration, length(id), id`,
    feature,
    phase,
    role,
  );
  return rows.map((row) => ({
    id: row.id,
    severity: row.severity,
    ...(row.category !== null && { category: row.category }),
    description: row.description,
    ...(row.location !== null && { location: row.location }),
    ...(row.suggestion !== null && { suggestion: row.suggestion }),
    status: row.status,
    firstIteration: row.first_iteration,
    lastIteration: row.last_iteration,
    ...(row.is_reopened === 1 && { isReopened: true }),
  }));
}

function writeIssue(db: DatabaseSync, { feature, phase, role }: LoopKey, issue: TrackedIssue): void {
  run(
    db,
    "INSERT OR REPLACE INTO review_issues VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    feature,
    phase,
    role,
    issue.id,
    issue.severity,
    issue.category ?? null,
    issue.description,
    issue.location ?? null,
    issue.suggestion ?? null,
    issue.status,
    issue.firstIteration,
    issue.lastIteration,
    issue.isReopened ? 1 : 0,
  );
}

interface ReviewRow {
  iteration: number;
  verdict: StoredReview["verdict"];
  summary: string | null;
  issues: string;
  notes: string;
  answer_hash: string;
  session_id: string | null;
  agent_id: string | null;
  by: string;
  at: string;
  is_in_history: number;
}

interface AgentRow {
  agent_id: string;
  session_id: string | null;
  prompt_chars: number;
  last_iteration: number;
  failure: string | null;
}

interface IssueRow {
  id: string;
  severity: TrackedIssue["severity"];
  category: string | null;
  description: string;
  location: string | null;
  suggestion: string | null;
  status: TrackedIssue["status"];
  first_iteration: number;
  last_iteration: number;
  is_reopened: number;
}

function toReview(row: ReviewRow): StoredReview {
  return {
    iteration: row.iteration,
    verdict: row.verdict,
    ...(row.summary !== null && { summary: row.summary }),
    issues: JSON.parse(row.issues) as ReviewIssue[],
    notes: JSON.parse(row.notes) as string[],
    ...(row.agent_id !== null && { agentId: row.agent_id }),
    ...(row.session_id !== null && { sessionId: row.session_id }),
    by: row.by,
    at: new Date(row.at),
    isInHistory: row.is_in_history === 1,
  };
}
