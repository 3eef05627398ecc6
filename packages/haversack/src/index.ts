/** The library's main entry. */
export { type FaultCode, HaversackError } from "./base/errors.ts";
export type {
  ArtifactCheck,
  ArtifactOperations,
  ArtifactRefs,
  AuditReport,
  DecisionRequest,
  Dispatched,
  DispatchOutcome,
  DispatchRequest,
  ReceiptReport,
  RecordOutcome,
  ReviewRequest,
} from "./engine/artifacts/artifact-operations.ts";
export type { Haversack, OpenOptions } from "./engine/haversack.ts";
export { openHaversack } from "./engine/open-haversack.ts";
export type { WorkOperations } from "./engine/work/work-operations.ts";
export type { Activity, ActivityPage, ActivityQuery, NewActivity, WorkStore } from "./store/work-store.ts";
export { estimateTokens } from "./tokens/estimate.ts";
export const version: string = __VERSION__;
