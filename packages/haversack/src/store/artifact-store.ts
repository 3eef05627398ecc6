/**
 * What is kept of dispatches and reviews: whole operations, each of which either happens or does not. What hooks note about a
 * running sub-agent is local and has functions of its own (sqlite/artifact-observations.ts).
 */
import type { RequiredDocument } from "../artifacts/receipts.ts";
import type { ResumeState } from "../artifacts/resume-prompt.ts";
import type { ReviewIssue, TrackedIssue } from "../artifacts/review-issue.ts";
import type { Actor } from "./work-store.ts";

export interface ArtifactStore {
  recordDispatch(dispatch: NewDispatch, by: Actor): Promise<void>;
  /** The newest of that iteration. */
  getDispatch(loop: LoopKey, iteration: number): Promise<StoredDispatch | undefined>;
  /** What dispatches have cost, by role. */
  sumDispatches(query: { since?: Date }): Promise<DispatchTotals[]>;

  /**
   * One iteration of a loop, with its issues, its agent and its receipts. An iteration is recorded once: the same answer again
   * is `same` (so that a caller who was interrupted can go on), another one is refused.
   */
  recordReview(review: NewReview, by: Actor): Promise<ReviewOutcome>;
  /** The entry stands in the review history. */
  markInHistory(loop: LoopKey, iteration: number): Promise<void>;
  getLoop(loop: LoopKey): Promise<ReviewLoop>;
  /** Those that have a review, the first reviewed first. */
  listLoops(feature: string): Promise<ReviewLoop[]>;
  /** An issue will not be resolved, and why. */
  decideIssue(loop: LoopKey, decision: { issueId: string; text: string }, by: Actor): Promise<DecideOutcome>;
  /** Going on with the loop's agent failed. */
  failResume(loop: LoopKey, failure: string): Promise<void>;

  /** Those of the same agent and iteration are replaced. */
  recordReceipts(receipts: NewReceipts, by: Actor): Promise<void>;
  countReceipts(query: { since?: Date }): Promise<ReceiptCount[]>;

  recordResumeCheck(check: ResumeCheck): Promise<void>;
  getResumeCheck(client: string): Promise<ResumeCheck | undefined>;
}

/** One role's reviews of one phase of a feature. */
export interface LoopKey {
  /** The feature's folder, relative to the repository. */
  feature: string;
  phase: string;
  role: string;
}

export interface DispatchCost {
  sent: number;
  reads: number;
  pasted: number;
  pastedUnpruned: number;
}

export interface NewDispatch {
  loop: LoopKey;
  iteration: number;
  task?: string;
  /** fallback: a resume was due and could not be had. */
  kind: "fresh" | "fallback" | "resume";
  reason?: string;
  documents: readonly RequiredDocument[];
  tokens: DispatchCost;
  /**
   * What the way not taken would have cost: of a resume, a fresh dispatch with all that it reads; of another, the prompt of a
   * resume. Absent: no other way came into question.
   */
  otherTokens?: number;
  promptChars: number;
  gitCommit?: string;
}

export interface StoredDispatch extends NewDispatch {
  at: Date;
  by: string;
}

export interface DispatchTotals extends DispatchCost {
  role: string;
  dispatches: number;
  /** Without those that failed. */
  resumes: number;
  fallbacks: number;
  /** By resumes, against fresh dispatches. */
  saved: number;
}

export const REVIEW_VERDICTS = ["approved", "rejected", "blocked"] as const;
export type ReviewVerdict = (typeof REVIEW_VERDICTS)[number];

export interface NewReview {
  loop: LoopKey;
  iteration: number;
  verdict: ReviewVerdict;
  summary?: string;
  /** As they were found. */
  issues: readonly ReviewIssue[];
  /** The loop's issues after this iteration, from those before; a pure function, called inside the transaction. */
  track(before: readonly TrackedIssue[]): TrackedIssue[];
  /** Lines for the review history. */
  notes: readonly string[];
  answerHash: string;
  agent?: { agentId: string; sessionId?: string; promptChars: number };
  receipts?: Omit<NewReceipts, "feature" | "role" | "iteration">;
}

export type ReviewOutcome =
  | { kind: "recorded" | "same"; review: StoredReview; issues: TrackedIssue[] }
  /** That iteration, or a later one, is there with another answer. */
  | { kind: "already-recorded"; review: StoredReview; last: number };

export interface StoredReview {
  iteration: number;
  verdict: ReviewVerdict;
  summary?: string;
  issues: ReviewIssue[];
  notes: string[];
  agentId?: string;
  sessionId?: string;
  by: string;
  at: Date;
  isInHistory: boolean;
}

export interface ReviewLoop extends LoopKey {
  reviews: StoredReview[];
  issues: TrackedIssue[];
  decisions: ReviewDecision[];
  resume?: ResumeState & { failure?: string };
}

export interface ReviewDecision {
  issueId: string;
  text: string;
  by: string;
  at: Date;
}

export type DecideOutcome =
  | { kind: "decided"; issue: TrackedIssue }
  | { kind: "no-issue"; known: string[] }
  | { kind: "no-loop" };

export interface NewReceipts {
  feature: string;
  role: string;
  iteration?: number;
  source: "events" | "claim";
  agent?: { sessionId: string; agentId: string };
  documents: readonly { file: string; lineCount: number; share: number; isMissing: boolean; claimedLines?: number }[];
}

export interface ReceiptCount {
  role: string;
  file: string;
  total: number;
  missing: number;
  /** The mean of what was seen, 0 to 1. */
  share: number;
  /** How many rest on tool calls; the others on a claim. */
  fromEvents: number;
}

export interface ResumeCheck {
  client: string;
  isOk: boolean;
  text: string;
  at: Date;
}
