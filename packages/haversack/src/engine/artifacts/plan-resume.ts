/**
 * Decides whether an iteration resumes the reviewer of the previous one. Off unless the user has switched it on, and then only for a client
 * that was seen to do it. Anything missing or failing leads to a fresh dispatch.
 */
import { relative } from "node:path";
import type { PreviousIssue } from "../../artifacts/reference-block.ts";
import {
  decideResume,
  isAgentGone,
  type ResumeCall,
  type ResumeDecision,
  resumeCall,
  resumeName,
  resumePrompt,
  resumeWay,
} from "../../artifacts/resume-prompt.ts";
import type { Role, RoleSet } from "../../artifacts/role-map.ts";
import { cleanLine } from "../../base/clean-text.ts";
import type { LoopKey, ReviewLoop } from "../../store/sqlite/artifacts/artifact-store.ts";
import type { ArtifactParts } from "./artifact-parts.ts";
import type { Difference } from "./git-snapshot.ts";
import { differenceBetween, takeSnapshot } from "./git-snapshot.ts";
import type { Feature } from "./open-feature.ts";

interface PlanFacts {
  /** Tokens of the resume prompt. Absent: no resume was considered. */
  deltaTokens?: number;
  /** The current files: the next iteration's difference starts here. */
  snapshot?: string;
}

export type ResumePlan = PlanFacts &
  (
    | { how: "resume"; call: ResumeCall; prompt: string }
    | { how: "fresh"; reason?: FreshReason }
    | { how: "fallback"; reason: FreshReason; line: string }
  );

type FreshReason = Extract<ResumeDecision, { kind: "fresh" }>["reason"];

export interface ResumeQuestion {
  loop: ReviewLoop;
  role: Role;
  set: RoleSet;
  feature: Feature;
  /** Absolute paths of the documents that the role reads. */
  documents: readonly string[];
  iteration: number;
  maxIterations: number;
  /** The client shows this text for the call. */
  description: string;
  fixSummary: string;
  previousIssues: readonly PreviousIssue[];
  failure?: string | undefined;
  /** Tokens of the documents that a fresh dispatch would make its reader read. */
  documentTokens: number;
}

export async function planResume(parts: ArtifactParts, question: ResumeQuestion): Promise<ResumePlan> {
  const { store, isResumeOn, client, countTokens, by, paths } = parts;
  const { loop, role, feature, iteration, maxIterations, description, failure, documentTokens } = question;
  const { fixSummary, previousIssues } = question;
  if (!isResumeOn) return { how: "fresh", ...(iteration > 1 && { reason: "off" as const }) };
  const snapshot = takeSnapshot(feature.root, paths.state);
  const at = snapshot === undefined ? {} : { snapshot };
  if (iteration <= 1) return { how: "fresh", ...at };

  const state = agentBefore(parts, question);
  const way = state && resumeWay(client, state.agentId);
  if (failure !== undefined) await keepFailure(parts, { loop, failure, name: resumeName(client, way ?? "sub-agent") });
  // A failure just now is reported as a fallback; the stored check keeps later dispatches from trying.
  const canResume = failure !== undefined || (await isSeenToResume(parts, state?.agentId));
  const before = await store.getDispatch(keyOf(loop), iteration - 1);
  const changes = changesSince(before?.gitCommit, snapshot, { state: paths.state, ...question });
  const prompt = resumePrompt({ role, iteration, maxIterations, fixSummary, previousIssues, ...texts(changes) });
  const deltaTokens = countTokens(prompt);
  const decision = decideResume({
    role: role.name,
    iteration,
    isEnabled: true,
    canResume,
    state,
    callerSession: way === "sub-agent" ? by.sessionId : undefined,
    deltaTokens,
    referenceTokens: documentTokens,
    failure: failure ?? state?.failure ?? (changes ? undefined : "the changes since the last review are not known"),
  });
  const facts: PlanFacts = { deltaTokens, ...at };
  const call = decision.kind === "resume" ? resumeCall(client, { agentId: decision.agentId, description }) : undefined;
  if (call) return { ...facts, how: "resume", call, prompt };
  if (decision.kind === "resume") return { ...facts, how: "fresh", reason: "client-cannot" };
  const { reason, isFallback, line = "" } = decision;
  return isFallback ? { ...facts, how: "fallback", reason, line } : { ...facts, how: "fresh", reason };
}

/** Who answered the previous iteration: from its recorded answer, otherwise from what hooks saw of an agent in that role. */
function agentBefore(
  { evidence }: ArtifactParts,
  { loop, role, feature, iteration }: ResumeQuestion,
): ReviewLoop["resume"] {
  if (loop.resume && loop.resume.lastIteration >= iteration - 1) return loop.resume;
  const seen = evidence
    .of(feature.path)
    .find((agent) => agent.isSettled && agent.iteration === iteration - 1 && agent.role === role.name);
  if (!seen) return loop.resume;
  const { agentId, sessionId } = seen;
  return { agentId, sessionId, iteration1PromptChars: 0, lastIteration: iteration - 1 };
}

/** Without a known agent, one working way is enough: then the fallback says what is missing. */
async function isSeenToResume({ store, client }: ArtifactParts, agentId: string | undefined): Promise<boolean> {
  const way = agentId === undefined ? undefined : resumeWay(client, agentId);
  if (agentId !== undefined && !way) return false;
  for (const each of way ? [way] : (["sub-agent", "session"] as const)) {
    if ((await store.getResumeCheck(resumeName(client, each)))?.isOk) return true;
  }
  return false;
}

/** A missing agent says nothing about the client. Any other failure keeps later dispatches from trying. */
async function keepFailure(
  { store, by }: ArtifactParts,
  { loop, failure, name }: { loop: ReviewLoop; failure: string; name: string },
): Promise<void> {
  await store.failResume(keyOf(loop), cleanLine(failure, { maxChars: 200 }));
  if (isAgentGone(failure)) return;
  await store.recordResumeCheck({ client: name, isOk: false, text: cleanLine(failure, { maxChars: 500 }), at: by.at });
}

/** A reviewer of documents sees changes in the feature's folder and in documents elsewhere, not in the code. */
function changesSince(
  from: string | undefined,
  to: string | undefined,
  { state, set, feature, documents }: ResumeQuestion & { state: string },
): Difference | undefined {
  if (from === undefined || to === undefined) return undefined;
  const only =
    set.dispatch === "phase" ? [feature.key, ...documents.map((path) => relative(feature.root, path))] : undefined;
  return differenceBetween(feature.root, { state, from, to, ...(only && { only }) });
}

function texts(changes: Difference | undefined): { diffStat: string; diff: string } {
  return { diffStat: changes?.stat ?? "", diff: changes?.diff ?? "" };
}

function keyOf({ feature, phase, role }: LoopKey): LoopKey {
  return { feature, phase, role };
}
