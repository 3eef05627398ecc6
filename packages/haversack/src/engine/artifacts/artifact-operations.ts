/**
 * What artifacts offer and answer, for the library, the CLI and the MCP server. Types alone, without anything of Node's or of the
 * store's driver: the published declarations begin here.
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
} from "../../store/artifact-store.ts";

/** A feature is its folder: absolute, from the project's root, or a name in docs/features. */
export interface ArtifactOperations {
  /** The finished prompt for a role, and what it costs. */
  dispatch(request: DispatchRequest): Promise<DispatchOutcome>;
  /** The reference block alone. */
  refs(request: { role: string; feature: string; phase?: string | undefined }): Promise<ArtifactRefs>;
  /** One section of a Markdown file of the project, by heading, number or anchor. */
  section(request: { file: string; heading: string }): Promise<Section & { path: string }>;
  /** A reviewer's answer: verdict, issues, receipts; adds to `.review-history.md`. */
  recordReview(request: ReviewRequest): Promise<RecordOutcome>;
  /** How the reviews of a feature stand. */
  reviews(request: { feature: string }): Promise<ReviewLoop[]>;
  /** An issue stays, and why. */
  decideIssue(request: DecisionRequest): Promise<TrackedIssue>;
  /** How often documents were not read, and what dispatches have cost. */
  receipts(query?: { since?: Date | undefined }): Promise<ReceiptReport>;
  /** What is wrong with the role map, and with a feature's documents. */
  check(request?: { feature?: string | undefined }): Promise<ArtifactCheck>;
  /** Places in prompt templates that paste documents. */
  audit(request: { folder: string; feature?: string | undefined }): Promise<AuditReport>;
}

export interface DispatchRequest {
  role: string;
  /** The folder: absolute, from the working folder, from the project's root, or a name in docs/features. */
  feature: string;
  phase?: string | undefined;
  /** Default: the one after the last that was recorded. */
  iteration?: number | undefined;
  /** Default: 3, or the iteration when that is higher. */
  maxIterations?: number | undefined;
  /** A heading of tasks.md, its number, or the id of a stored task. */
  task?: string | undefined;
  /** The code that is meant. Default, for sets about code: what git says has changed. */
  files?: readonly string[] | undefined;
  /** Where git starts to look for changes. Default: where this branch left the main one. */
  base?: string | undefined;
  projectContext?: { text: string; path?: string; budgetTokens: number } | undefined;
  /** For a resume: what was done about the issues. */
  fixSummary?: string | undefined;
  /** A resume was tried and failed so. */
  resumeFailure?: string | undefined;
}

export interface Dispatched {
  kind: "dispatched";
  how: "fresh" | "fallback" | "resume";
  /** Why there was no resume, where one could be expected. */
  reason?: string;
  /** Of a fallback: the line for the review history, which `recordReview` writes. */
  note?: string;
  /** The arguments of the client's tool that starts a sub-agent; of a resume, `prompt` is what the agent is sent. */
  call: DispatchPrompt["call"];
  /** The agent to go on with, and how. */
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
  /** As the sub-agent gave it. */
  answer: string;
  /** The sub-agent's id, as its client told it. Default: the newest of that role which hooks have seen. */
  agentId?: string | undefined;
}

export type RecordOutcome =
  | {
      kind: "recorded";
      /** The same answer had been recorded before. */
      isRepeated: boolean;
      loop: LoopKey;
      review: StoredReview;
      issues: TrackedIssue[];
      judgement?: ReceiptJudgement;
      /** Where the answer contradicts itself, or a word was not known. */
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
  /** Of all places that paste: what they add to the prompts made from them, once each. Absent: no sizes are known. */
  tokens?: number;
  problems: string[];
}

export interface ReceiptReport {
  /** The worst first. */
  rates: (ReceiptRate & Pick<ReceiptCount, "share" | "fromEvents">)[];
  total: number;
  missing: number;
  /** Over all; 0 when there are none. */
  rate: number;
  isAboveGate: boolean;
  dispatches: DispatchTotals[];
}
