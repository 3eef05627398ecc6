/**
 * Records a reviewer's answer: its verdict, its issues, and whether it read the required documents. Stores everything in one step, then
 * appends to `.review-history.md`. If it is interrupted in between, repeating the call completes it.
 */
import { createHash } from "node:crypto";
import { parseReviewAnswer } from "../../artifacts/parse-review-answer.ts";
import { judgeReceipts, type ReceiptJudgement, requiredDocuments } from "../../artifacts/receipts.ts";
import {
  appendReviewEntry,
  appendReviewNote,
  type Decision,
  type ReviewEntry,
} from "../../artifacts/review-history.ts";
import { type TrackedIssue, trackIssues } from "../../artifacts/review-issue.ts";
import { referencedDocuments } from "../../artifacts/role-map.ts";
import { cleanLine } from "../../base/clean-text.ts";
import { HaversackError } from "../../base/errors.ts";
import { nearest } from "../../base/nearest.ts";
import type { ReviewLoop, ReviewVerdict, StoredDispatch, StoredReview } from "../../store/artifact-records.ts";
import type { AgentEvidence } from "../../store/sqlite/artifacts/artifact-observations.ts";
import { appendHistory, historyPath } from "./append-history.ts";
import type { DecisionRequest, RecordOutcome, ReviewRequest } from "./artifact-operations.ts";
import type { ArtifactParts } from "./artifact-parts.ts";
import { type OpenRole, openRole } from "./load-role-map.ts";
import { readDocuments } from "./open-feature.ts";
import { entriesOf, historyOf } from "./previous-issues.ts";
import { judgeEvidence, receiptsOf } from "./watch-reader.ts";

export async function recordReview(request: ReviewRequest, parts: ArtifactParts): Promise<RecordOutcome> {
  const { iteration, answer } = request;
  if (!Number.isSafeInteger(iteration) || iteration < 1) {
    throw new HaversackError("input-invalid", `iteration must be a whole number of at least 1, but is ${iteration}`);
  }
  const opened = openRole(request, parts);
  const { feature, role, loop } = opened;
  if (answer.trim() === "") return { kind: "refused", text: "the answer is empty; nothing was recorded" };

  const reading = parseReviewAnswer(answer);
  // Workers and test writers report; they give no verdict.
  if (reading.kind === "unreadable" && (role.answer === "review" || role.answer === "simplify")) {
    const text = `the answer of ${role.name} cannot be read as a review: ${reading.reason}; nothing was recorded`;
    return { kind: "refused", text };
  }
  const dispatch = await parts.store.getDispatch(loop, iteration);
  const before = await parts.store.getLoop(loop);
  const evidence = findEvidence(opened, { request, before, parts });
  const judgement = judge(opened, { evidence, dispatch, answer });
  // A hook may have warned already when the sub-agent ended.
  const warning = evidence?.isWarned ? undefined : judgement?.warning;
  const notes = [
    ...(dispatch?.kind === "fallback" && dispatch.reason !== undefined ? [dispatch.reason] : []),
    ...(warning === undefined ? [] : [warning]),
  ];
  const agent = agentOf(request, evidence, { dispatch, loop: before });
  const context: Context = { ...opened, parts, evidence, judgement, warning };
  if (reading.kind === "unreadable") return recordReceiptsOnly(iteration, context);
  const outOfTurn = whyOutOfTurn(iteration, before, context);
  if (outOfTurn !== undefined) return { kind: "refused", text: `${outOfTurn}. Nothing was recorded` };

  const outcome = await parts.store.recordReview(
    {
      loop,
      iteration,
      verdict: reading.isBlocked ? "blocked" : reading.approved ? "approved" : "rejected",
      ...(reading.summary !== undefined && { summary: reading.summary }),
      issues: reading.issues,
      track: (before) => trackIssues(before, reading.issues, { iteration }),
      notes,
      answerHash: createHash("sha256").update(answer).digest("hex"),
      ...(agent && { agent }),
      ...(judgement && { receipts: receiptsOf(judgement, evidence) }),
    },
    parts.by,
  );
  if (outcome.kind === "already-recorded") {
    const { review, last } = outcome;
    const what =
      review.iteration === iteration
        ? `iteration ${iteration} of ${role.name} is recorded already (${DECISIONS[review.verdict]}, ${review.at.toISOString()})`
        : `iteration ${last} of ${role.name} is recorded already, so ${iteration} comes too late`;
    return { kind: "refused", text: `${what}; the next is ${last + 1}. Nothing was recorded` };
  }
  if (!outcome.review.isInHistory) await writeEntry(outcome.review, context);
  return {
    kind: "recorded",
    isRepeated: outcome.kind === "same",
    loop,
    review: outcome.review,
    issues: outcome.issues,
    ...(judgement && { judgement }),
    problems: reading.problems,
    history: historyPath(feature.path),
  };
}

interface Context extends OpenRole {
  parts: ArtifactParts;
  evidence: AgentEvidence | undefined;
  judgement: ReceiptJudgement | undefined;
  warning: string | undefined;
}

const DECISIONS: Record<ReviewVerdict, Decision> = {
  approved: "Approved",
  rejected: "Needs Revision",
  blocked: "Blocked",
};

/**
 * Iterations must be consecutive: a skipped one could never be recorded later. In a clone, the history knows iterations that the store does
 * not.
 */
function whyOutOfTurn(iteration: number, { reviews }: ReviewLoop, context: Context): string | undefined {
  const { parts, role, feature } = context;
  if (reviews.some((review) => review.iteration === iteration)) return undefined;
  // In a project without a store, the MCP server first tries a write in memory. An entry with this call's time is therefore its own.
  const entries = entriesOf(context).filter(({ at }) => at !== parts.by.at.toISOString());
  const last = Math.max(0, ...[...reviews, ...entries].map((known) => known.iteration));
  const next = `the next is ${last + 1}`;
  if (iteration > last + 1) {
    const known = last === 0 ? "none is recorded yet" : `the last one is ${last}`;
    return `iteration ${iteration} of ${role.name} cannot be recorded: ${known}, so ${next}`;
  }
  // Headings by other authors may count something else: only an entry of this stage is this iteration.
  const stage = stageOf(context);
  const there = entries.findLast((entry) => entry.iteration === iteration && entry.stage === stage);
  if (!there) return undefined;
  const said = [there.decision, there.at].filter(Boolean).join(", ");
  return `iteration ${iteration} of ${role.name} is recorded already in ${historyPath(feature.path)}${said && ` (${said})`}; ${next}`;
}

async function writeEntry(review: StoredReview, context: Context) {
  const { parts, loop, feature, role, evidence, warning } = context;
  const { iteration, verdict, issues, summary, notes, at } = review;
  // After a kill between append and mark, the entry's time shows that it was written.
  const isWritten = historyOf(feature).some(
    (entry) => entry.at === at.toISOString() && entry.reviewer === role.name && entry.iteration === iteration,
  );
  if (!isWritten) {
    const entry: ReviewEntry = {
      stage: stageOf(context),
      iteration,
      at,
      reviewer: role.name,
      decision: DECISIONS[verdict],
      issues,
      ...(summary !== undefined && { summary }),
      notes,
    };
    appendHistory(feature.path, { root: feature.root, change: (text) => appendReviewEntry(text, entry) });
  }
  await parts.store.markInHistory(loop, iteration);
  if (evidence && warning !== undefined) parts.markAgent(evidence, "warned_at");
}

async function recordReceiptsOnly(
  iteration: number,
  { parts, loop, feature, evidence, judgement, warning }: Context,
): Promise<RecordOutcome> {
  if (judgement) {
    await parts.store.recordReceipts(
      { ...receiptsOf(judgement, evidence), feature: loop.feature, role: loop.role, iteration },
      parts.by,
    );
  }
  if (warning !== undefined) {
    appendHistory(feature.path, { root: feature.root, change: (text) => appendReviewNote(text, warning) });
    if (evidence) parts.markAgent(evidence, "warned_at");
  }
  return { kind: "receipts-only", loop, ...(judgement && { judgement }), history: historyPath(feature.path) };
}

/** `Spec` for the reviewer of spec.md. Without a document under review, the phase. A phase reviewer gets ` Phase` added. */
function stageOf({ role, set, map }: OpenRole): string {
  const document = map.documents.find(({ file }) => file === role.underReview);
  if (document && role.name !== "phase-reviewer") return document.name;
  const name = set.name.replace(/[-_]+/g, " ");
  const stage = name.slice(0, 1).toUpperCase() + name.slice(1);
  return role.name === "phase-reviewer" ? `${stage} Phase` : stage;
}

/** Undefined: nothing had to be read. */
function judge(
  { role, map, feature }: OpenRole,
  { evidence, dispatch, answer }: Pick<Context, "evidence"> & { dispatch: StoredDispatch | undefined; answer: string },
): ReceiptJudgement | undefined {
  // A resumed reviewer has the documents already; its prompt contained the difference.
  if (dispatch?.kind === "resume") return undefined;
  if (evidence && evidence.documents.length > 0) return judgeEvidence(evidence, { role: role.name, answer });
  const required =
    dispatch?.documents ?? requiredDocuments(readDocuments(feature, map, referencedDocuments(role)).documents);
  return required.length === 0 ? undefined : judgeReceipts({ role: role.name, required, answer });
}

/**
 * The agent by its id; otherwise the newest one sent to this feature in this role and iteration. A client without the role's agent type
 * starts it as another type: then the documents identify it.
 */
function findEvidence(
  { role, feature, map }: OpenRole,
  { request, before, parts }: { request: ReviewRequest; before: ReviewLoop; parts: ArtifactParts },
): AgentEvidence | undefined {
  const agents = parts.evidenceOf(feature.path);
  if (request.agentId !== undefined) return agents.find(({ agentId }) => agentId === request.agentId);
  // An agent that answered an earlier iteration is no evidence for this one.
  const used = before.reviews.flatMap(({ iteration, agentId }) => (iteration === request.iteration ? [] : [agentId]));
  const inIteration = agents.filter(
    ({ agentId, iteration = request.iteration }) => iteration === request.iteration && !used.includes(agentId),
  );
  const known = map.sets.flatMap((set) => set.roles.flatMap(({ name, agentType = name }) => [name, agentType]));
  const sorted = (files: readonly string[]) => files.toSorted().join("\n");
  const wanted = sorted(referencedDocuments(role));
  const hasWanted = ({ documents }: AgentEvidence) => sorted(documents.map(({ file }) => file)) === wanted;
  return (
    inIteration.find((agent) => agent.role === role.name || agent.role === role.agentType) ??
    inIteration.find((agent) => !known.includes(agent.role) && hasWanted(agent))
  );
}

function agentOf(
  { agentId }: ReviewRequest,
  evidence: AgentEvidence | undefined,
  { dispatch, loop }: { dispatch: StoredDispatch | undefined; loop: ReviewLoop },
): { agentId: string; sessionId?: string; promptChars: number } | undefined {
  const id = agentId ?? evidence?.agentId ?? (dispatch?.kind === "resume" ? loop.resume?.agentId : undefined);
  if (id === undefined || id === "") return undefined;
  return { agentId: id, ...(evidence && { sessionId: evidence.sessionId }), promptChars: dispatch?.promptChars ?? 0 };
}

// Decides that an issue stays, with the reason: stored, written into the history, and told to the next iteration.

const TEXT_MAX_CHARS = 1_000;

export async function decideIssue(request: DecisionRequest, parts: ArtifactParts): Promise<TrackedIssue> {
  const text = cleanLine(request.text, { maxChars: TEXT_MAX_CHARS });
  if (text === "") throw new HaversackError("input-invalid", "the reason must not be empty");
  const { feature, role, loop } = openRole(request, parts);
  const outcome = await parts.store.decideIssue(loop, { issueId: request.issueId, text }, parts.by);
  if (outcome.kind === "no-loop") {
    throw new HaversackError("not-found", `${role.name} has no issues in ${feature.key} yet`);
  }
  if (outcome.kind === "no-issue") {
    const [guess = outcome.known.join(", ")] = nearest(request.issueId, outcome.known);
    throw new HaversackError("not-found", `there is no issue "${cleanLine(request.issueId)}"; did you mean ${guess}?`);
  }
  const line = `DECISION: ${role.name} ${outcome.issue.id} — ${text}`;
  appendHistory(feature.path, { root: feature.root, change: (history) => appendReviewNote(history, line) });
  return outcome.issue;
}
