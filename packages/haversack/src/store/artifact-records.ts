/** What is recorded of dispatches and reviews. Types without those of the store's driver: the published declarations need them. */
import type { RequiredDocument } from "../artifacts/receipts.ts";
import type { ResumeState } from "../artifacts/resume-prompt.ts";
import type { ReviewIssue, TrackedIssue } from "../artifacts/review-issue.ts";

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
