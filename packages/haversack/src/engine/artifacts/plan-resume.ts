/**
 * Decides whether an iteration resumes the reviewer of the previous one. Off unless the user has switched it on, and then only for a client
 * that was seen to do it. Anything missing or failing leads to a fresh dispatch.
 */
import { relative } from "node:path";
import type { DispatchInput, DispatchPrompt } from "../../artifacts/dispatch-prompt.ts";
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
import { cleanLine } from "../../base/clean-text.ts";
import type { ReviewLoop } from "../../store/artifact-records.ts";
import type { DispatchRequest } from "./artifact-operations.ts";
import type { ArtifactParts } from "./artifact-parts.ts";
import { type Difference, differenceBetween, takeSnapshot } from "./git-snapshot.ts";
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
  request: DispatchRequest;
  input: DispatchInput;
  feature: Feature;
  loop: ReviewLoop;
  iteration: number;
  maxIterations: number;
  /** The dispatch without a resume. */
  fresh: DispatchPrompt;
}

export async function planResume(parts: ArtifactParts, question: ResumeQuestion): Promise<ResumePlan> {
  const { store, isResumeOn, client, countTokens, by, paths } = parts;
  const { request, input, loop, feature, iteration, maxIterations, fresh } = question;
  const { fixSummary = "", resumeFailure: failure } = request;
  if (!isResumeOn) return { how: "fresh", ...(iteration > 1 && { reason: "off" as const }) };
  const snapshot = takeSnapshot(feature.root, paths.state);
  const at = snapshot === undefined ? {} : { snapshot };
  if (iteration <= 1) return { how: "fresh", ...at };

  const state = agentBefore(parts, question);
  const way = state && resumeWay(client, state.agentId);
  if (failure !== undefined) await keepFailure(parts, { loop, failure, name: resumeName(client, way ?? "sub-agent") });
  // A failure just now is reported as a fallback; the stored check keeps later dispatches from trying.
  const canResume = failure !== undefined || (await isSeenToResume(parts, state?.agentId));
  const before = await store.getDispatch(loop, iteration - 1);
  const changes = changesSince(before?.gitCommit, snapshot, { state: paths.state, ...question });
  const prompt = resumePrompt({
    role: input.role,
    iteration,
    maxIterations,
    fixSummary,
    previousIssues: input.iteration?.previousIssues ?? [],
    diffStat: changes?.stat ?? "",
    diff: changes?.diff ?? "",
  });
  const deltaTokens = countTokens(prompt);
  const decision = decideResume({
    role: input.role.name,
    iteration,
    isEnabled: true,
    canResume,
    state,
    callerSession: way === "sub-agent" ? by.sessionId : undefined,
    deltaTokens,
    referenceTokens: documentTokens(fresh, input),
    failure: failure ?? state?.failure ?? (changes ? undefined : "the changes since the last review are not known"),
  });
  const facts: PlanFacts = { deltaTokens, ...at };
  if (decision.kind === "resume") {
    const call = resumeCall(client, { agentId: decision.agentId, description: fresh.call.description });
    return call ? { ...facts, how: "resume", call, prompt } : { ...facts, how: "fresh", reason: "client-cannot" };
  }
  const { reason, isFallback, line = "" } = decision;
  return isFallback ? { ...facts, how: "fallback", reason, line } : { ...facts, how: "fresh", reason };
}

/** Who answered the previous iteration: from its recorded answer, otherwise from what hooks saw of an agent in that role. */
function agentBefore(
  { evidenceOf }: ArtifactParts,
  { loop, input, feature, iteration }: ResumeQuestion,
): ReviewLoop["resume"] {
  const lastIteration = iteration - 1;
  if (loop.resume && loop.resume.lastIteration >= lastIteration) return loop.resume;
  const seen = evidenceOf(feature.path).find(
    (agent) => agent.isSettled && agent.iteration === lastIteration && agent.role === input.role.name,
  );
  if (!seen) return loop.resume;
  return { agentId: seen.agentId, sessionId: seen.sessionId, iteration1PromptChars: 0, lastIteration };
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
  await store.failResume(loop, cleanLine(failure, { maxChars: 200 }));
  if (isAgentGone(failure)) return;
  await store.recordResumeCheck({ client: name, isOk: false, text: cleanLine(failure, { maxChars: 500 }), at: by.at });
}

/** A reviewer of documents sees changes in the feature's folder and in documents elsewhere, not in the code. */
function changesSince(
  from: string | undefined,
  to: string | undefined,
  { state, input: { role, set, documents }, feature }: ResumeQuestion & { state: string },
): Difference | undefined {
  if (from === undefined || to === undefined) return undefined;
  if (set.dispatch !== "phase") return differenceBetween(feature.root, { state, from, to });
  const read = documents.filter(({ file }) => role.documents.includes(file));
  const only = [feature.key, ...read.map(({ path }) => relative(feature.root, path))];
  return differenceBetween(feature.root, { state, from, to, only });
}

/** Tokens of the documents that a fresh reader gets, in the prompt or from disk. */
function documentTokens({ references, inlined }: DispatchPrompt, { documents, countTokens }: DispatchInput): number {
  const files = [...references, ...inlined].map(({ file }) => file);
  return documents
    .filter(({ file }) => files.includes(file))
    .reduce((sum, { text }) => sum + (text === undefined ? 0 : countTokens(text)), 0);
}
