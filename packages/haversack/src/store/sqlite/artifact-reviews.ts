/** Review loops: iterations, the issues over them, decisions about issues, and the agent that a loop can go on with. */
import type { DatabaseSync } from "node:sqlite";
import type { ReviewIssue, TrackedIssue } from "../../artifacts/review-issue.ts";
import type {
  DecideOutcome,
  LoopKey,
  NewReview,
  ReviewDecision,
  ReviewLoop,
  ReviewOutcome,
  StoredReview,
} from "../artifact-store.ts";
import type { Actor } from "../work-store.ts";
import { all, one, run } from "./work/prepared.ts";

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
