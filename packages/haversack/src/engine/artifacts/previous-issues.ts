/** The issues of earlier iterations: from the store, and from a review history by another author. */
import type { PreviousIssue } from "../../artifacts/reference-block.ts";
import { type FoundEntry, readReviewHistory } from "../../artifacts/review-history.ts";
import type { TrackedIssue } from "../../artifacts/review-issue.ts";
import type { Role, RoleSet } from "../../artifacts/role-map.ts";
import { readBounded } from "../../base/clean-text.ts";
import type { LoopKey, ReviewDecision, ReviewLoop } from "../../store/artifact-records.ts";
import { historyPath } from "./append-history.ts";
import type { ArtifactParts } from "./artifact-parts.ts";
import type { Feature } from "./open-feature.ts";

export interface Reviewer {
  role: Role;
  set: RoleSet;
  feature: Feature;
}

/** The iteration after the last one: from the store, otherwise from the history, as in a clone without a store. */
export function nextIteration(loop: ReviewLoop, reviewer: Reviewer): number {
  const last = loop.reviews.at(-1) ?? entriesOf(reviewer).at(-1);
  return (last?.iteration ?? 0) + 1;
}

/** Open issues, and those decided to stay, so that nobody raises them again. */
export function previousIssues(
  loop: ReviewLoop,
  { iteration, ...reviewer }: Reviewer & { iteration: number },
): PreviousIssue[] {
  if (iteration <= 1) return [];
  if (loop.reviews.length === 0) return fromHistory(reviewer, iteration);
  return loop.issues
    .filter(({ status }) => status !== "resolved")
    .map((issue) => toPrevious(issue, issue.status === "accepted" ? loop.decisions : []));
}

/** For a role that fixes: the open issues of all reviewers of its phase. */
export async function issuesToFix(
  { store }: Pick<ArtifactParts, "store">,
  { feature, phase, role }: LoopKey,
): Promise<PreviousIssue[]> {
  const loops = (await store.listLoops(feature)).filter((loop) => loop.phase === phase && loop.role !== role);
  return loops.flatMap((loop) =>
    loop.issues
      .filter(({ status }) => status === "open")
      // Each loop counts its issues from 1.
      .map((issue) => ({ ...toPrevious(issue), id: `${loop.role}/${issue.id}` })),
  );
}

function toPrevious(
  { id, severity, description, location }: TrackedIssue,
  decisions: readonly ReviewDecision[] = [],
): PreviousIssue {
  const decided = decisions.findLast(({ issueId }) => issueId === id)?.text;
  return {
    id,
    severity,
    description: decided === undefined ? description : `${description} (decided, do not raise it again: ${decided})`,
    ...(location !== undefined && { location }),
  };
}

function fromHistory(reviewer: Reviewer, iteration: number): PreviousIssue[] {
  const entry = entriesOf(reviewer).findLast((candidate) => candidate.iteration === iteration - 1);
  return (entry?.issues ?? []).map(({ severity, description, location }) => ({
    severity,
    description,
    ...(location !== undefined && { location }),
  }));
}

/** This reviewer's entries in `.review-history.md`, in order. */
export function entriesOf({ role, set, feature }: Reviewer): FoundEntry[] {
  const names = [role.name, role.agentType].map((name) => name?.toLowerCase());
  // Each phase has its own phase reviewer; the stage identifies it: "Create plan Phase".
  const phase = role.name === "phase-reviewer" ? set.name.replace(/[-_]+/g, " ").toLowerCase() : "";
  return historyOf(feature).filter(
    ({ reviewer, stage }) =>
      reviewer !== undefined && names.includes(reviewer.toLowerCase()) && stage.toLowerCase().startsWith(phase),
  );
}

/** Every entry of `.review-history.md`. Empty if the file is missing or cannot be read. */
export function historyOf({ path }: Feature): FoundEntry[] {
  return readReviewHistory(readBounded(historyPath(path), HISTORY_MAX_BYTES)?.text ?? "").entries;
}

const HISTORY_MAX_BYTES = 50_000_000;
