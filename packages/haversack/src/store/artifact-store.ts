/**
 * The records of dispatches and reviews. Every operation is atomic. What hooks note about a running sub-agent is local and has
 * its own functions (sqlite/artifact-observations.ts).
 */
import type { RequiredDocument } from "../artifacts/receipts.ts";
import type { ResumeState } from "../artifacts/resume-prompt.ts";
import type { ReviewIssue, TrackedIssue } from "../artifacts/review-issue.ts";
import type { Actor } from "./work-store.ts";

export interface ArtifactStore {
  recordDispatch(dispatch: NewDispatch, by: Actor): Promise<void>;
  /** The newest dispatch of that iteration. */
  getDispatch(loop: LoopKey, iteration: number): Promise<StoredDispatch | undefined>;
  /** The cost of dispatches, by role. */
  sumDispatches(query: { since?: Date }): Promise<DispatchTotals[]>;

  /**
   * Records one iteration of a loop, with its issues, agent and receipts. An iteration is recorded once. The same answer again
   * returns `same`, so an interrupted caller can continue; a different answer is refused.
   */
  recordReview(review: NewReview, by: Actor): Promise<ReviewOutcome>;
  /** Marks the entry as written to the review history. */
  markInHistory(loop: LoopKey, iteration: number): Promise<void>;
  getLoop(loop: LoopKey): Promise<ReviewLoop>;
  /** Loops that have a review, the first reviewed first. */
  listLoops(feature: string): Promise<ReviewLoop[]>;
  /** Records that an issue will not be resolved, and why. */
  decideIssue(loop: LoopKey, decision: { issueId: string; text: string }, by: Actor): Promise<DecideOutcome>;
  /** Records that the loop's agent could not be resumed. */
  failResume(loop: LoopKey, failure: string): Promise<void>;

  /** Replaces receipts of the same agent and iteration. */
  recordReceipts(receipts: NewReceipts, by: Actor): Promise<void>;
  countReceipts(query: { since?: Date }): Promise<ReceiptCount[]>;

  recordResumeCheck(check: ResumeCheck): Promise<void>;
  getResumeCheck(client: string): Promise<ResumeCheck | undefined>;
}

/** The reviews of one phase of a feature by one role. */
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
  /** fallback: a resume was due but not possible. */
  kind: "fresh" | "fallback" | "resume";
  reason?: string;
  documents: readonly RequiredDocument[];
  tokens: DispatchCost;
  /**
   * The cost of the alternative. For a resume: a fresh dispatch with everything it reads. Otherwise: the prompt of a resume.
   * Absent: there was no alternative.
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
  /** Excluding failed ones. */
  resumes: number;
  fallbacks: number;
  /** Tokens saved by resumes, compared with fresh dispatches. */
  saved: number;
}

export const REVIEW_VERDICTS = ["approved", "rejected", "blocked"] as const;
export type ReviewVerdict = (typeof REVIEW_VERDICTS)[number];

export interface NewReview {
  loop: LoopKey;
  iteration: number;
  verdict: ReviewVerdict;
  summary?: string;
  /** As the reviewer reported them. */
  issues: readonly ReviewIssue[];
  /** Computes the loop's issues after this iteration from those before it. Pure; called inside the transaction. */
  track(before: readonly TrackedIssue[]): TrackedIssue[];
  /** Lines for the review history. */
  notes: readonly string[];
  answerHash: string;
  agent?: { agentId: string; sessionId?: string; promptChars: number };
  receipts?: Omit<NewReceipts, "feature" | "role" | "iteration">;
}

export type ReviewOutcome =
  | { kind: "recorded" | "same"; review: StoredReview; issues: TrackedIssue[] }
  /** That iteration, or a later one, was recorded with a different answer. */
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
  /** The mean share that was seen, 0 to 1. */
  share: number;
  /** How many are based on tool calls; the others on a claim. */
  fromEvents: number;
}

export interface ResumeCheck {
  client: string;
  isOk: boolean;
  text: string;
  at: Date;
}
