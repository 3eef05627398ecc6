/** The output of artifacts for scripts and agents: snake_case, without absent fields. */

import type { ReceiptJudgement } from "../../artifacts/receipts.ts";
import type { DocumentFacts } from "../../artifacts/reference-block.ts";
import type { ResumeCall } from "../../artifacts/resume-prompt.ts";
import type { TrackedIssue } from "../../artifacts/review-issue.ts";
import type { ReviewLoop } from "../../store/artifact-records.ts";
import { present } from "../../work/task-view.ts";
import type { Dispatched, RecordOutcome } from "./artifact-operations.ts";

export function viewDispatch({
  loop,
  iteration,
  how,
  reason,
  note,
  call,
  resume,
  references,
  inlined,
  problems,
  tokens,
  otherTokens,
}: Dispatched): object {
  const { pastedUnpruned, ...cost } = tokens;
  return {
    ...loop,
    iteration,
    how,
    ...present({ reason, note }),
    call: resume ? { description: call.description, prompt: call.prompt } : call,
    ...(resume && { resume: viewResume(resume) }),
    ...present({ references: references.map(viewDocument), inlined, problems }),
    tokens: {
      ...cost,
      pasted_unpruned: pastedUnpruned,
      ...(otherTokens !== undefined && { [resume ? "fresh" : "resumed"]: otherTokens }),
    },
  };
}

function viewResume({ agentId, tool, command, text }: ResumeCall): object {
  return {
    agent_id: agentId,
    ...present({ tool: tool && { ...tool, message: "call.prompt" }, command }),
    how: text,
    if_it_fails: "dispatch again with the error as resume_failed",
  };
}

export function viewDocument({ file, name, path, state, lineCount, sha, isNoPrd }: DocumentFacts): object {
  return {
    file,
    name,
    ...(isNoPrd ? { state: "no-prd" } : { path, state }),
    ...present({ lines: lineCount, sha256: sha }),
  };
}

export function viewRecorded(outcome: Exclude<RecordOutcome, { kind: "refused" }>): object {
  const receipts = outcome.judgement ? { receipts: viewReceipts(outcome.judgement) } : {};
  if (outcome.kind === "receipts-only") return { ...outcome.loop, ...receipts };
  const { loop, review, issues, problems, isRepeated } = outcome;
  return {
    ...loop,
    iteration: review.iteration,
    verdict: review.verdict,
    ...(isRepeated && { repeated: true }),
    open_issues: issues.filter(({ status }) => status === "open").map(viewIssue),
    ...receipts,
    ...(problems.length > 0 && { problems }),
  };
}

function viewReceipts({ source, documents, warning }: ReceiptJudgement): object {
  return {
    source,
    documents: documents.map(({ file, status, share }) => ({ file, status, share: Math.round(share * 1000) / 1000 })),
    ...(warning !== undefined && { warning }),
  };
}

function viewIssue({ id, severity, description, location, status, firstIteration, isReopened }: TrackedIssue): object {
  return {
    id,
    severity,
    description,
    ...(location !== undefined && { location }),
    status,
    since_iteration: firstIteration,
    ...(isReopened && { reopened: true }),
  };
}

export function viewLoop({ feature, phase, role, reviews, issues, decisions, resume }: ReviewLoop): object {
  const { agentId, sessionId, lastIteration, failure } = resume ?? {};
  return {
    feature,
    phase,
    role,
    iterations: reviews.map(({ iteration, verdict, summary, at, by, agentId: agent, issues: found }) => ({
      iteration,
      verdict,
      issues: found.length,
      ...(summary !== undefined && { summary }),
      at: at.toISOString(),
      by,
      ...(agent !== undefined && { agent_id: agent }),
    })),
    ...present({
      issues: issues.map(viewIssue),
      decisions: decisions.map(({ issueId, text, by, at }) => ({ issue: issueId, text, by, at: at.toISOString() })),
      resume: resume && present({ agent_id: agentId, session_id: sessionId, last_iteration: lastIteration, failure }),
    }),
  };
}
