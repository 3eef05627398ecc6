/**
 * A reviewer's answer: its verdict, its issues, and whether it had read what it must. All of it goes into the store in one
 * step, then into `.review-history.md`. Interrupted between the two, the same call again completes it.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { parseReviewAnswer, type ReviewAnswer } from "../../artifacts/parse-review-answer.ts";
import { judgeReceipts, type ReceiptJudgement, requiredDocuments } from "../../artifacts/receipts.ts";
import {
  appendReviewEntry,
  appendReviewNote,
  type Decision,
  type ReviewEntry,
  readReviewHistory,
} from "../../artifacts/review-history.ts";
import { trackIssues } from "../../artifacts/review-issue.ts";
import { type Role, type RoleMap, type RoleSet, referencedDocuments } from "../../artifacts/role-map.ts";
import { HaversackError } from "../../base/errors.ts";
import type { LoopKey, ReviewLoop, ReviewVerdict, StoredDispatch, StoredReview } from "../../store/artifact-store.ts";
import type { AgentEvidence } from "../../store/sqlite/artifacts/artifact-observations.ts";
import { appendHistory, historyPath } from "./append-history.ts";
import type { RecordOutcome, ReviewRequest } from "./artifact-operations.ts";
import type { ArtifactParts } from "./artifact-parts.ts";
import { loadRoleMap, requireRole } from "./load-role-map.ts";
import { type Feature, openFeature, readDocuments } from "./open-feature.ts";
import { entriesOf } from "./previous-issues.ts";
import { judgeEvidence, receiptsOf } from "./settle-agent.ts";

export async function recordReview(request: ReviewRequest, parts: ArtifactParts): Promise<RecordOutcome> {
  const { iteration, answer } = request;
  if (!Number.isSafeInteger(iteration) || iteration < 1) {
    throw new HaversackError("input-invalid", `iteration must be a whole number of at least 1, but is ${iteration}`);
  }
  const { map } = loadRoleMap(parts.paths);
  const feature = openFeature(request.feature, parts);
  const { role, set } = requireRole(map, request.role, { phase: request.phase, open: feature.phase });
  const loop: LoopKey = { feature: feature.key, phase: set.name, role: role.name };
  if (answer.trim() === "")
    return { kind: "refused", text: "there is no answer: nothing came, and nothing was recorded" };

  const reading = parseReviewAnswer(answer);
  if (reading.kind === "unreadable" && givesVerdict(role)) {
    const text = `the answer of ${role.name} cannot be read as a review: ${reading.reason}; nothing was recorded`;
    return { kind: "refused", text };
  }
  const dispatch = await parts.store.getDispatch(loop, iteration);
  const before = await parts.store.getLoop(loop);
  const evidence = findEvidence(parts, { role, feature, request, map, before });
  const judgement = judge({ role, map, feature, dispatch, evidence, answer });
  // A hook may have told already, at the sub-agent's end.
  const warning = evidence?.isWarned ? undefined : judgement?.warning;
  const notes = [
    ...(dispatch?.kind === "fallback" && dispatch.reason !== undefined ? [dispatch.reason] : []),
    ...(warning === undefined ? [] : [warning]),
  ];
  const agent = agentOf(request, { evidence, dispatch, loop: before });
  const context: Context = { parts, loop, feature, role, set, map, evidence, judgement, warning };
  if (reading.kind === "unreadable") return recordReceiptsOnly(iteration, context);
  const outOfTurn = whyOutOfTurn(iteration, before, context);
  if (outOfTurn !== undefined) return { kind: "refused", text: `${outOfTurn}. Nothing was recorded` };

  const outcome = await parts.store.recordReview(
    {
      loop,
      iteration,
      verdict: verdictOf(reading),
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

interface Context {
  parts: ArtifactParts;
  loop: LoopKey;
  feature: Feature;
  role: Role;
  set: RoleSet;
  map: RoleMap;
  evidence: AgentEvidence | undefined;
  judgement: ReceiptJudgement | undefined;
  warning: string | undefined;
}

const DECISIONS: Record<ReviewVerdict, Decision> = {
  approved: "Approved",
  rejected: "Needs Revision",
  blocked: "Blocked",
};

function verdictOf({ approved, isBlocked }: ReviewAnswer): ReviewVerdict {
  return isBlocked ? "blocked" : approved ? "approved" : "rejected";
}

/**
 * Iterations follow one another: one that is left out could never be recorded, because what comes after it is there. In a clone the
 * history knows of those that its store has not.
 */
function whyOutOfTurn(
  iteration: number,
  { reviews }: ReviewLoop,
  { parts, role, set, map, feature }: Context,
): string | undefined {
  if (reviews.some((review) => review.iteration === iteration)) return undefined;
  // In a project without a store the MCP server tries a write in memory first: an entry of this moment is this call's own.
  const entries = entriesOf({ role, set, feature }).filter(({ at }) => at !== parts.by.at.toISOString());
  const last = Math.max(0, ...[...reviews, ...entries].map((known) => known.iteration));
  const next = `the next is ${last + 1}`;
  if (iteration > last + 1) {
    const known = last === 0 ? "none is recorded yet" : `the last one is ${last}`;
    return `iteration ${iteration} of ${role.name} cannot be recorded: ${known}, so ${next}`;
  }
  // Headings that others wrote may count something else: only an entry of this stage is this iteration.
  const stage = stageOf(role, set, map);
  const there = entries.findLast((entry) => entry.iteration === iteration && entry.stage === stage);
  if (!there) return undefined;
  const said = [there.decision, there.at].filter(Boolean).join(", ");
  return `iteration ${iteration} of ${role.name} is recorded already in ${historyPath(feature.path)}${said && ` (${said})`}; ${next}`;
}

/** Workers and writers of tests report, they do not judge. */
function givesVerdict({ answer }: Role): boolean {
  return answer === "review" || answer === "simplify";
}

async function writeEntry(review: StoredReview, { parts, loop, feature, role, set, map, evidence, warning }: Context) {
  const { iteration, verdict, issues, summary, notes, at } = review;
  const entry: ReviewEntry = {
    stage: stageOf(role, set, map),
    iteration,
    at,
    reviewer: role.name,
    decision: DECISIONS[verdict],
    issues,
    ...(summary !== undefined && { summary }),
    notes,
  };
  if (!hasEntry(feature, entry)) {
    appendHistory(feature.path, { root: feature.root, change: (text) => appendReviewEntry(text, entry) });
  }
  await parts.store.markInHistory(loop, iteration);
  if (evidence && warning !== undefined) parts.evidence.mark(evidence, "warned_at", parts.by.at);
}

/** Killed after the append and before the mark: the entry's time tells that it is there. */
function hasEntry({ path }: Feature, { at, reviewer, iteration }: ReviewEntry): boolean {
  let text: string;
  try {
    text = readFileSync(historyPath(path), "utf8");
  } catch {
    // Not there, or not to be read: whoever appends says which.
    return false;
  }
  return readReviewHistory(text).entries.some(
    (entry) => entry.at === at.toISOString() && entry.reviewer === reviewer && entry.iteration === iteration,
  );
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
    if (evidence) parts.evidence.mark(evidence, "warned_at", parts.by.at);
  }
  return { kind: "receipts-only", loop, ...(judgement && { judgement }), history: historyPath(feature.path) };
}

/** `Spec` for the reviewer of spec.md; a phase reviewer's is told apart; the phase where no document is under review. */
function stageOf(role: Role, set: RoleSet, map: RoleMap): string {
  const document = map.documents.find(({ file }) => file === role.underReview);
  if (document && role.name !== "phase-reviewer") return document.name;
  const name = set.name.replace(/[-_]+/g, " ");
  const stage = name.slice(0, 1).toUpperCase() + name.slice(1);
  return role.name === "phase-reviewer" ? `${stage} Phase` : stage;
}

/** Undefined: nothing had to be read. */
function judge({
  role,
  map,
  feature,
  dispatch,
  evidence,
  answer,
}: {
  role: Role;
  map: RoleMap;
  feature: Feature;
  dispatch: StoredDispatch | undefined;
  evidence: AgentEvidence | undefined;
  answer: string;
}): ReceiptJudgement | undefined {
  // It has the documents from before; the difference stood in the prompt.
  if (dispatch?.kind === "resume") return undefined;
  if (evidence && evidence.documents.length > 0) return judgeEvidence(evidence, { role: role.name, answer });
  const required =
    dispatch?.documents ?? requiredDocuments(readDocuments(feature, map, referencedDocuments(role)).documents);
  return required.length === 0 ? undefined : judgeReceipts({ role: role.name, required, answer });
}

/**
 * The agent by its id; else the newest that was sent to this feature as this role and in this iteration. A client without the
 * role's own type starts it as another: then the documents tell.
 */
function findEvidence(
  { evidence }: ArtifactParts,
  {
    role,
    feature,
    request,
    map,
    before,
  }: { role: Role; feature: Feature; request: ReviewRequest; map: RoleMap; before: ReviewLoop },
): AgentEvidence | undefined {
  const agents = evidence.of(feature.path);
  if (request.agentId !== undefined) return agents.find(({ agentId }) => agentId === request.agentId);
  // One that has answered an earlier iteration is no witness for this one.
  const used = before.reviews.flatMap(({ iteration, agentId }) => (iteration === request.iteration ? [] : [agentId]));
  const inIteration = agents.filter(
    ({ agentId, iteration = request.iteration }) => iteration === request.iteration && !used.includes(agentId),
  );
  const known = new Set(
    map.sets.flatMap((set) => set.roles.flatMap(({ name, agentType = name }) => [name, agentType])),
  );
  const wanted = [...referencedDocuments(role)].sort().join("\n");
  return (
    inIteration.find((agent) => agent.role === role.name || agent.role === role.agentType) ??
    inIteration.find(
      (agent) =>
        !known.has(agent.role) &&
        agent.documents
          .map(({ file }) => file)
          .sort()
          .join("\n") === wanted,
    )
  );
}

function agentOf(
  { agentId }: ReviewRequest,
  {
    evidence,
    dispatch,
    loop,
  }: {
    evidence: AgentEvidence | undefined;
    dispatch: StoredDispatch | undefined;
    loop: { resume?: { agentId: string } };
  },
): { agentId: string; sessionId?: string; promptChars: number } | undefined {
  const id = agentId ?? evidence?.agentId ?? (dispatch?.kind === "resume" ? loop.resume?.agentId : undefined);
  if (id === undefined || id === "") return undefined;
  return { agentId: id, ...(evidence && { sessionId: evidence.sessionId }), promptChars: dispatch?.promptChars ?? 0 };
}
