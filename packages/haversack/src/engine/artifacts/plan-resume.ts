/**
 * Whether an iteration goes on with the reviewer of the one before. Off unless the user has switched it on, and then only in a
 * client that was seen to do it; whatever is missing or fails leads back to a fresh dispatch.
 */
import { decideResume, type ResumeDecision, resumePrompt } from "../../artifacts/resume-prompt.ts";
import type { Role } from "../../artifacts/role-map.ts";
import { cleanLine } from "../../base/clean-text.ts";
import type { LoopKey, ReviewLoop } from "../../store/artifact-store.ts";
import type { ArtifactParts } from "./artifact-parts.ts";
import { type Difference, differenceSince, headCommit } from "./git-facts.ts";
import type { Feature } from "./open-feature.ts";

interface PlanFacts {
  /** What the resume prompt would take; absent: none came into question. */
  deltaTokens?: number;
  /** Where the repository stands now. */
  commit?: string;
}

export type ResumePlan = PlanFacts &
  (
    | { how: "resume"; agentId: string; prompt: string }
    | { how: "fresh"; reason?: FreshReason }
    | { how: "fallback"; reason: FreshReason; line: string }
  );

type FreshReason = Extract<ResumeDecision, { kind: "fresh" }>["reason"];

export interface ResumeQuestion {
  loop: ReviewLoop;
  role: Role;
  feature: Feature;
  iteration: number;
  maxIterations: number;
  fixSummary: string;
  failure?: string | undefined;
  /** Of the documents that a fresh dispatch would make its reader take in. */
  documentTokens: number;
}

export async function planResume(
  { store, settings, client, countTokens }: ArtifactParts,
  question: ResumeQuestion,
): Promise<ResumePlan> {
  const { loop, role, feature, iteration, maxIterations, fixSummary, failure, documentTokens } = question;
  if (!settings.resume) return { how: "fresh", ...(iteration > 1 && { reason: "off" as const }) };
  const commit = headCommit(feature.root);
  const at = commit === undefined ? {} : { commit };
  if (iteration <= 1) return { how: "fresh", ...at };

  if (failure !== undefined) {
    await store.failResume(keyOf(loop), cleanLine(failure, { maxChars: 200 }));
    await store.recordResumeCheck({ client, isOk: false, text: cleanLine(failure, { maxChars: 500 }), at: new Date() });
  }
  // A failure just now is a fallback and says so; the check keeps the next ones from trying.
  const canResume = failure !== undefined || ((await store.getResumeCheck(client))?.isOk ?? false);
  const before = await store.getDispatch(keyOf(loop), iteration - 1);
  const changes = before?.gitCommit === undefined ? undefined : differenceSince(feature.root, before.gitCommit);
  const prompt = resumePrompt({ role, iteration, maxIterations, fixSummary, ...texts(changes) });
  const deltaTokens = countTokens(prompt);
  const decision = decideResume({
    role: role.name,
    iteration,
    isEnabled: true,
    canResume,
    state: loop.resume,
    deltaTokens,
    referenceTokens: documentTokens,
    failure:
      failure ?? loop.resume?.failure ?? (changes ? undefined : "the changes since the last review are not known"),
  });
  const facts: PlanFacts = { deltaTokens, ...at };
  if (decision.kind === "resume") return { ...facts, how: "resume", agentId: decision.agentId, prompt };
  const { reason, isFallback, line = "" } = decision;
  return isFallback ? { ...facts, how: "fallback", reason, line } : { ...facts, how: "fresh", reason };
}

function texts(changes: Difference | undefined): { diffStat: string; diff: string } {
  return { diffStat: changes?.stat ?? "", diff: changes?.diff ?? "" };
}

function keyOf({ feature, phase, role }: LoopKey): LoopKey {
  return { feature, phase, role };
}
