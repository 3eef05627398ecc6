/**
 * Dispatches, reviews and receipts. Every operation is atomic. Open the handle with `durability: "full"`. What hooks note about a running
 * sub-agent has functions of its own (artifact-observations.ts).
 */

import type { DatabaseSync } from "node:sqlite";
import type { TrackedIssue } from "../../../artifacts/review-issue.ts";
import type {
  DecideOutcome,
  DispatchTotals,
  LoopKey,
  NewDispatch,
  NewReceipts,
  NewReview,
  ReceiptCount,
  ResumeCheck,
  ReviewDecision,
  ReviewLoop,
  ReviewOutcome,
  StoredDispatch,
  StoredReview,
} from "../../artifact-records.ts";
import type { Actor } from "../../work-store.ts";
import { Operations } from "../access.ts";
import { all, fromRow, insert, one, type Row, run } from "../work/rows.ts";
import { insertReceipts } from "./artifact-observations.ts";

export class SqliteArtifactStore extends Operations {
  recordDispatch = this.writes((db, dispatch: NewDispatch, by: Actor) => {
    const { loop, iteration, task, kind, reason, documents, tokens, otherTokens, promptChars, gitCommit } = dispatch;
    const { feature, phase, role } = loop;
    const { sent, reads, pasted, pastedUnpruned: pasted_unpruned } = tokens;
    const what = { feature, phase, role, iteration, task, kind, reason, documents: JSON.stringify(documents) };
    const cost = { sent, reads, pasted, pasted_unpruned, resumed: otherTokens, prompt_chars: promptChars };
    insert(db, "dispatches", { ...what, ...cost, git_commit: gitCommit, by: by.name, at: by.at.toISOString() });
  });

  /** The newest dispatch of that iteration. */
  getDispatch = this.reads((db, { feature, phase, role }: LoopKey, iteration: number) => {
    const sql = `SELECT * FROM dispatches ${OF_LOOP} AND iteration = ? ORDER BY seq DESC LIMIT 1`;
    const row = one<Row>(db, sql, feature, phase, role, iteration);
    return row && toDispatch(row);
  });

  /** The cost of dispatches, by role. A resume followed by another dispatch of the same iteration has failed and saved nothing. */
  sumDispatches = this.reads((db, { since }: { since?: Date }) =>
    all<DispatchTotals>(
      db,
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

  /**
   * Records one iteration of a loop, with its issues, agent and receipts. An iteration is recorded once. The same answer again
   * returns `same`, so an interrupted caller can continue; a different answer is refused.
   */
  recordReview = this.writes((db, review: NewReview, by: Actor) => {
    const outcome = recordReview(db, review, by);
    const { loop, iteration, receipts } = review;
    if (outcome.kind === "recorded" && receipts) {
      insertReceipts(db, { ...receipts, feature: loop.feature, role: loop.role, iteration }, by.at);
    }
    return outcome;
  });

  /** Marks the entry as written to the review history. */
  markInHistory = this.writes((db, { feature, phase, role }: LoopKey, iteration: number) => {
    const sql = `UPDATE reviews SET is_in_history = 1 ${OF_LOOP} AND iteration = ?`;
    run(db, sql, feature, phase, role, iteration);
  });

  getLoop = this.reads(findLoop);
  /** Loops that have a review, the first reviewed first. */
  listLoops = this.reads(listLoops);
  /** Records that an issue will not be resolved, and why. */
  decideIssue = this.writes(decideIssue);

  /** Records that the loop's agent could not be resumed. */
  failResume = this.writes((db, { feature, phase, role }: LoopKey, failure: string) => {
    run(db, `UPDATE review_agents SET failure = ?4 ${OF_LOOP}`, feature, phase, role, failure);
  });

  /** Replaces receipts of the same agent and iteration. */
  recordReceipts = this.writes((db, receipts: NewReceipts, by: Actor) => insertReceipts(db, receipts, by.at));

  countReceipts = this.reads((db, { since }: { since?: Date }) => {
    const sql = `SELECT role, file, count(*) AS total, sum(is_missing) AS missing, avg(share) AS share,
        sum(source = 'events') AS fromEvents FROM receipts WHERE at >= ? GROUP BY role, file ORDER BY role, file`;
    return all<ReceiptCount>(db, sql, since?.toISOString() ?? "").map((row) => ({ ...row }));
  });

  recordResumeCheck = this.writes((db, { client, isOk, text, at }: ResumeCheck) => {
    run(db, "INSERT OR REPLACE INTO resume_checks VALUES (?, ?, ?, ?)", client, isOk ? 1 : 0, text, at.toISOString());
  });

  getResumeCheck = this.reads((db, client: string) => {
    const row = one<Row>(db, "SELECT * FROM resume_checks WHERE client = ?", client);
    return row && fromRow<ResumeCheck>(row);
  });
}

function toDispatch(row: Row): StoredDispatch {
  const {
    feature,
    phase,
    role,
    documents,
    sent,
    reads,
    pasted,
    pasted_unpruned: pastedUnpruned,
    resumed,
    ...rest
  } = row;
  return fromRow(rest, {
    loop: { feature, phase, role },
    documents: JSON.parse(String(documents)),
    tokens: { sent, reads, pasted, pastedUnpruned },
    ...(resumed !== null && { otherTokens: resumed }),
  });
}

// Review loops: iterations, their issues, decisions about issues, and the agent that can be resumed.

const OF_LOOP = "WHERE feature = ?1 AND phase = ?2 AND role = ?3";

/** Callers must hold the write lock. */
export function recordReview(db: DatabaseSync, review: NewReview, by: Actor): ReviewOutcome {
  const { loop, iteration, verdict, summary, issues, track, notes, answerHash, agent } = review;
  const key = [loop.feature, loop.phase, loop.role] as const;
  const stored = (at: number) => one<Row>(db, `SELECT * FROM reviews ${OF_LOOP} AND iteration = ?`, ...key, at);
  const last = one<Row>(db, `SELECT * FROM reviews ${OF_LOOP} ORDER BY iteration DESC LIMIT 1`, ...key);
  if (last && Number(last["iteration"]) >= iteration) {
    const there = stored(iteration);
    if (there?.["answer_hash"] === answerHash) {
      return { kind: "same", review: toReview(there), issues: listIssues(db, loop) };
    }
    return { kind: "already-recorded", review: toReview(there ?? last), last: Number(last["iteration"]) };
  }
  const tracked = track(listIssues(db, loop));
  const { feature, phase, role } = loop;
  const said = {
    verdict,
    summary,
    issues: JSON.stringify(issues),
    notes: JSON.stringify(notes),
    answer_hash: answerHash,
  };
  const who = { session_id: agent?.sessionId, agent_id: agent?.agentId, by: by.name, at: by.at.toISOString() };
  insert(db, "reviews", { feature, phase, role, iteration, ...said, ...who });
  for (const issue of tracked) writeIssue(db, loop, issue);
  if (agent) keepAgent(db, loop, agent, iteration);
  return { kind: "recorded", review: toReview(stored(iteration)!), issues: tracked };
}

export function findLoop(db: DatabaseSync, { feature, phase, role }: LoopKey): ReviewLoop {
  const key = [feature, phase, role] as const;
  const decisions = `SELECT issue AS issue_id, text, by, at FROM review_decisions ${OF_LOOP} ORDER BY seq`;
  const agents = `SELECT agent_id, session_id, prompt_chars AS iteration1_prompt_chars, last_iteration, failure
    FROM review_agents ${OF_LOOP}`;
  const agent = one<Row>(db, agents, ...key);
  return {
    feature,
    phase,
    role,
    reviews: all<Row>(db, `SELECT * FROM reviews ${OF_LOOP} ORDER BY iteration`, ...key).map(toReview),
    issues: listIssues(db, { feature, phase, role }),
    decisions: all<Row>(db, decisions, ...key).map((row) => fromRow<ReviewDecision>(row)),
    ...(agent && { resume: fromRow<NonNullable<ReviewLoop["resume"]>>(agent) }),
  };
}

export function listLoops(db: DatabaseSync, feature: string): ReviewLoop[] {
  const sql = "SELECT feature, phase, role FROM reviews WHERE feature = ? GROUP BY phase, role ORDER BY min(seq)";
  return all<LoopKey>(db, sql, feature).map((key) => findLoop(db, key));
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
  const { feature, phase, role } = loop;
  const at = by.at.toISOString();
  insert(db, "review_decisions", { feature, phase, role, issue: issue.id, text, by: by.name, at });
  return { kind: "decided", issue: accepted };
}

/** Keeps the length of the first prompt and the session. Another agent starts a new chain. */
function keepAgent(
  db: DatabaseSync,
  { feature, phase, role }: LoopKey,
  { agentId, sessionId, promptChars }: NonNullable<NewReview["agent"]>,
  iteration: number,
): void {
  const sql = `INSERT INTO review_agents VALUES (?, ?, ?, ?, ?, ?, ?, NULL)
    ON CONFLICT DO UPDATE SET
      prompt_chars = CASE WHEN agent_id = excluded.agent_id THEN prompt_chars ELSE excluded.prompt_chars END,
      session_id = coalesce(excluded.session_id, CASE WHEN agent_id = excluded.agent_id THEN session_id END),
      agent_id = excluded.agent_id, last_iteration = excluded.last_iteration,
      failure = NULL`;
  run(db, sql, feature, phase, role, agentId, sessionId ?? null, promptChars, iteration);
}

function listIssues(db: DatabaseSync, { feature, phase, role }: LoopKey): TrackedIssue[] {
  // Sorted by number: R10 comes after R9.
  const sql = `SELECT id, severity, category, description, location, suggestion, status, first_iteration, last_iteration,
    nullif(is_reopened, 0) AS is_reopened FROM review_issues ${OF_LOOP} ORDER BY first_iteration, length(id), id`;
  return all<Row>(db, sql, feature, phase, role).map((row) => fromRow<TrackedIssue>(row));
}

function writeIssue(db: DatabaseSync, { feature, phase, role }: LoopKey, issue: TrackedIssue): void {
  const { id, severity, category, description, location, suggestion, status } = issue;
  const said = { id, severity, category, description, location, suggestion, status };
  const { firstIteration: first_iteration, lastIteration: last_iteration, isReopened } = issue;
  const when = { first_iteration, last_iteration, is_reopened: isReopened ? 1 : 0 };
  insert(db, "review_issues", { feature, phase, role, ...said, ...when }, "INSERT OR REPLACE");
}

function toReview({ feature: _, phase: __, role: ___, answer_hash: ____, issues, notes, ...row }: Row): StoredReview {
  return fromRow(row, { issues: JSON.parse(String(issues)), notes: JSON.parse(String(notes)) });
}
