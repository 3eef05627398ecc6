/** The library's entry: `import { openProject } from "haversack"`. */
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
export { openProject } from "./engine/library.ts";
export type {
  AgentDetails,
  Agents,
  ClientName,
  FoundSkillInfo,
  InboxRequest,
  LoadOptions,
  MatchedSkill,
  MatchOptions,
  OpenOptions,
  Project,
  ResourceText,
  SkillAnswer,
  SkillInfo,
  Skills,
  SkillText,
  WakeAnswer,
  WakeRequest,
} from "./engine/library-types.ts";
export type { WorkOperations } from "./engine/work/work-operations.ts";
export { estimateTokens } from "./tokens/estimate.ts";
export type { Agent, Message } from "./wake/text.ts";
export type { Handoff } from "./work/handoff.ts";
export type { Claim, Epic, Story, Task, TaskDetails } from "./work/task.ts";
export type { Wip } from "./work/wip/wip.ts";
export const version: string = __VERSION__;
