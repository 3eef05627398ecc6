/**
 * The operations and answers of artifacts, for the library, the CLI and the MCP server. Types only, without types of Node or of the store's
 * driver: the published declarations start here.
 */
import type { PastePlace } from "../../artifacts/audit-templates.ts";
import type { DispatchPrompt } from "../../artifacts/dispatch-prompt.ts";
import type { Section } from "../../artifacts/extract-section.ts";
import type { ReceiptJudgement, ReceiptRate } from "../../artifacts/receipts.ts";
import type { DocumentFacts } from "../../artifacts/reference-block.ts";
import type { ResumeCall } from "../../artifacts/resume-prompt.ts";
import type { TrackedIssue } from "../../artifacts/review-issue.ts";
import type { MapFinding } from "../../artifacts/role-map.ts";
import type {
  DispatchCost,
  DispatchTotals,
  LoopKey,
  ReceiptCount,
  ReviewLoop,
  StoredReview,
} from "../../store/artifact-records.ts";

/** A feature is named by its folder: an absolute path, a path from the project's root, or a name in docs/features. */
export interface ArtifactOperations {
  /** Returns the finished prompt for a role, and its cost. */
  dispatch(request: DispatchRequest): Promise<DispatchOutcome>;
  /** Returns only the reference block: which files the role must read. */
  refs(request: { role: string; feature: string; phase?: string | undefined }): Promise<ArtifactRefs>;
  /** Returns one section of a Markdown file in the project, found by heading, number or anchor. */
  section(request: { file: string; heading: string }): Promise<Section & { path: string }>;
  /** Records a reviewer's answer: its verdict, issues and receipts. Adds an entry to `.review-history.md`. */
  recordReview(request: ReviewRequest): Promise<RecordOutcome>;
  /** Returns the reviews of a feature, with their issues. */
  reviews(request: { feature: string }): Promise<ReviewLoop[]>;
  /** Records that an issue stays as it is, and why. */
  decideIssue(request: DecisionRequest): Promise<TrackedIssue>;
  /** Returns how often required documents were not read, and what dispatches cost. */
  receipts(query?: { since?: Date | undefined }): Promise<ReceiptReport>;
  /** Checks the role map, and the documents of a feature. */
  check(request?: { feature?: string | undefined }): Promise<ArtifactCheck>;
  /** Finds the places in prompt templates that paste documents. */
  audit(request: { folder: string; feature?: string | undefined }): Promise<AuditReport>;
}

export interface DispatchRequest {
  role: string;
  /** The feature's folder: an absolute path, a path from the working folder or the project's root, or a name in docs/features. */
  feature: string;
  phase?: string | undefined;
  /** Which iteration of the review. Default: the one after the last recorded iteration. */
  iteration?: number | undefined;
  /** How many iterations there may be. Default: 3, or `iteration` if that is higher. */
  maxIterations?: number | undefined;
  /** For a worker: a heading in tasks.md, its number, or the ID of a stored task. */
  task?: string | undefined;
  /** The code to review. Default, for sets about code: the files that git reports as changed. */
  files?: readonly string[] | undefined;
  /** Where git starts to look for changes. Default: where this branch left the main one. */
  base?: string | undefined;
  projectContext?: { text: string; path?: string; budgetTokens: number } | undefined;
  /** For a resume: what was done about the issues. */
  fixSummary?: string | undefined;
  /** Why an attempted resume failed. */
  resumeFailure?: string | undefined;
}

export interface Dispatched {
  kind: "dispatched";
  how: "fresh" | "fallback" | "resume";
  /** Why there was no resume, if one was expected. */
  reason?: string;
  /** For a fallback: the line for the review history, which `recordReview` writes. */
  note?: string;
  /** The arguments of the client's tool that starts a sub-agent. For a resume, `prompt` is the message to the agent. */
  call: DispatchPrompt["call"];
  /** The agent to resume, and how. */
  resume?: ResumeCall;
  loop: LoopKey;
  iteration: number;
  references: DocumentFacts[];
  inlined: DispatchPrompt["inlined"];
  problems: string[];
  tokens: DispatchCost;
  /** As the store keeps it. */
  otherTokens?: number;
}

export type DispatchOutcome = Dispatched | { kind: "refused"; text: string };

export interface ReviewRequest {
  role: string;
  feature: string;
  phase?: string | undefined;
  iteration: number;
  /** The sub-agent's answer, unchanged. */
  answer: string;
  /** The sub-agent's id, as its client reported it. Default: the newest agent of that role that hooks saw. */
  agentId?: string | undefined;
}

export type RecordOutcome =
  | {
      kind: "recorded";
      /** The same answer was already recorded. */
      isRepeated: boolean;
      loop: LoopKey;
      review: StoredReview;
      issues: TrackedIssue[];
      judgement?: ReceiptJudgement;
      /** Contradictions in the answer, and unknown words. */
      problems: string[];
      history: string;
    }
  /** The role gives no verdict: only its receipts are kept. */
  | { kind: "receipts-only"; loop: LoopKey; judgement?: ReceiptJudgement; history: string }
  | { kind: "refused"; text: string };

export interface DecisionRequest {
  role: string;
  feature: string;
  phase?: string | undefined;
  issueId: string;
  text: string;
}

export interface ArtifactRefs {
  role: string;
  phase: string;
  /** "" when there is nothing to read. */
  block: string;
  documents: DocumentFacts[];
  problems: string[];
}

export interface ArtifactCheck {
  file: string;
  isShipped: boolean;
  sets: number;
  roles: number;
  documents: number;
  findings: MapFinding[];
}

export interface AuditReport {
  files: number;
  places: (PastePlace & { file: string })[];
  /** The tokens that all pasted documents add, counting each place once. Absent if the sizes are not known. */
  tokens?: number;
  problems: string[];
}

export interface ReceiptReport {
  /** The worst first. */
  rates: (ReceiptRate & Pick<ReceiptCount, "share" | "fromEvents">)[];
  total: number;
  missing: number;
  /** Over all receipts; 0 if there are none. */
  rate: number;
  isAboveGate: boolean;
  dispatches: DispatchTotals[];
}
