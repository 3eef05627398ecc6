/** An issue that stays as it is, with the reason: kept, written into the history, and told to the next iteration. */
import { appendReviewNote } from "../../artifacts/review-history.ts";
import type { TrackedIssue } from "../../artifacts/review-issue.ts";
import { cleanLine } from "../../base/clean-text.ts";
import { HaversackError } from "../../base/errors.ts";
import { nearest } from "../../base/nearest.ts";
import type { LoopKey } from "../../store/artifact-store.ts";
import { appendHistory } from "./append-history.ts";
import type { DecisionRequest } from "./artifact-operations.ts";
import type { ArtifactParts } from "./artifact-parts.ts";
import { loadRoleMap, requireRole } from "./load-role-map.ts";
import { openFeature } from "./open-feature.ts";

const TEXT_MAX_CHARS = 1_000;

export async function decideIssue(request: DecisionRequest, parts: ArtifactParts): Promise<TrackedIssue> {
  const text = cleanLine(request.text, { maxChars: TEXT_MAX_CHARS });
  if (text === "") throw new HaversackError("input-invalid", "the reason must not be empty");
  const { map } = loadRoleMap(parts.paths);
  const feature = openFeature(request.feature, parts);
  const { role, set } = requireRole(map, request.role, { phase: request.phase, open: feature.phase });
  const loop: LoopKey = { feature: feature.key, phase: set.name, role: role.name };
  const outcome = await parts.store.decideIssue(loop, { issueId: request.issueId, text }, parts.by);
  if (outcome.kind === "no-loop") {
    throw new HaversackError("not-found", `${role.name} has found nothing in ${feature.key} yet`);
  }
  if (outcome.kind === "no-issue") {
    const [guess = outcome.known.join(", ")] = nearest(request.issueId, outcome.known);
    throw new HaversackError("not-found", `There is no issue ${cleanLine(request.issueId)}; did you mean ${guess}?`);
  }
  const line = `DECISION: ${role.name} ${outcome.issue.id} — ${text}`;
  appendHistory(feature.path, { root: feature.root, change: (history) => appendReviewNote(history, line) });
  return outcome.issue;
}
