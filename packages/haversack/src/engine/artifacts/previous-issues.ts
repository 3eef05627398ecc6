/** What earlier iterations found: from the store, and from a review history that somebody else has written. */
import { readFileSync } from "node:fs";
import type { PreviousIssue } from "../../artifacts/reference-block.ts";
import { readReviewHistory } from "../../artifacts/review-history.ts";
import type { TrackedIssue } from "../../artifacts/review-issue.ts";
import type { Role } from "../../artifacts/role-map.ts";
import type { LoopKey, ReviewDecision, ReviewLoop } from "../../store/artifact-store.ts";
import { historyPath } from "./append-history.ts";
import type { ArtifactParts } from "./artifact-parts.ts";
import type { Feature } from "./open-feature.ts";

/** Open ones; and those that were decided to stay, so that nobody raises them again. */
export function previousIssues(
  loop: ReviewLoop,
  { role, feature, iteration }: { role: Role; feature: Feature; iteration: number },
): PreviousIssue[] {
  if (iteration <= 1) return [];
  if (loop.reviews.length === 0) return fromHistory(role, feature, iteration);
  return loop.issues
    .filter(({ status }) => status !== "resolved")
    .map((issue) => toPrevious(issue, issue.status === "accepted" ? loop.decisions : []));
}

/** For a role that fixes: what all reviewers of its phase still hold against it. */
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

function fromHistory(role: Role, feature: Feature, iteration: number): PreviousIssue[] {
  let text: string;
  try {
    text = readFileSync(historyPath(feature.path), "utf8");
  } catch {
    // No history, or none that can be read: then nothing is known of earlier iterations.
    return [];
  }
  const names = [role.name, role.agentType].map((name) => name?.toLowerCase());
  const entry = readReviewHistory(text).entries.findLast(
    (candidate) => candidate.iteration === iteration - 1 && names.includes(candidate.reviewer?.toLowerCase()),
  );
  return (entry?.issues ?? []).map(({ severity, description, location }) => ({
    severity,
    description,
    ...(location !== undefined && { location }),
  }));
}
