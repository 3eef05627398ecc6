/** What an entry of the spool says, by its kind. Types only: every file of the hook that writes refers to them. */
import type { WipPatch } from "../../../work/wip/wip.ts";
import type { SessionKey, SessionTouch } from "../../local-store.ts";
import type { SeenAgent } from "../../work-store.ts";
import type {
  MarkedAgent,
  PlacedReader,
  SeenByAgent,
  SpawnDocuments,
  StoredReceipts,
} from "../artifacts/artifact-observations.ts";
import type { ToldEdits, ToolCall, ToolWork } from "../sessions/session-state.ts";
import type { ReadTranscript, SeenCall } from "../sessions/transcripts.ts";
import type { NewInjection } from "../skills/injections.ts";
import type { PromptAnswer } from "../skills/prompt-ledger.ts";
import type { ShownSkill, SkillLoad } from "../skills/skill-ledger.ts";
import type { EndedHolder, MovedClaims, MovedSession, TakenBack } from "../work/events/session-claims.ts";
import type { PlacedAgent, SpawnEvent, UnresolvedSpawn } from "../work/events/session-tasks.ts";
import type { DeliveredMessages } from "../work/events/unread-messages.ts";
import type { ShownPacket } from "../work/events/wake-state.ts";

/** Plain data, but for `at`, which is a Date and the time of the event. */
export interface SpoolKinds {
  answer: PromptAnswer;
  load: SkillLoad;
  shown: ShownSkill;
  tool: SpooledTool;
  "tool-call": ToolCall;
  transcript: ReadTranscript;
  "seen-call": SeenCall;
  touch: SessionTouch;
  start: SessionTouch & { seen?: SeenAgent & { sessionId: string } };
  "take-over": MovedClaims;
  "take-back": TakenBack;
  "let-go": EndedHolder;
  regain: TakenBack & SessionKey;
  fork: MovedSession;
  injection: NewInjection;
  "left-edits": ToldEdits;
  spawn: SpawnEvent;
  "unresolved-spawn": UnresolvedSpawn;
  "place-agent": PlacedAgent;
  packet: ShownPacket;
  messages: DeliveredMessages;
  "spawn-documents": SpawnDocuments;
  "place-reader": PlacedReader;
  seen: SeenByAgent;
  "mark-agent": MarkedAgent;
  receipts: StoredReceipts;
}

export interface SpooledTool extends Omit<ToolWork, "merge" | "leaseMs"> {
  patch?: WipPatch;
  leaseMs: number;
}

export type SpoolKind = keyof SpoolKinds;
export type SpoolArgs<Kind extends SpoolKind> = SpoolKinds[Kind];
export type SpoolEntry = { [Kind in SpoolKind]: { kind: Kind; args: SpoolKinds[Kind] } }[SpoolKind];
