/** What an entry of the spool says, by its kind. Types only: every file of the hook that writes refers to them. */
import type { WipPatch } from "../../../work/wip.ts";
import type { SessionKey, SessionTouch } from "../../local-store.ts";
import type { SeenAgent } from "../../work-store.ts";
import type { MarkedAgent, PlacedReader, SeenByAgent, SpawnDocuments } from "../artifact-observations.ts";
import type { StoredReceipts } from "../artifact-receipts.ts";
import type { MovedSession } from "../fork-claims.ts";
import type { NewInjection } from "../injections.ts";
import type { PromptAnswer } from "../prompt-ledger.ts";
import type { EndedHolder, MovedClaims, TakenBack } from "../session-claims.ts";
import type { ToolCall, ToolWork } from "../session-state.ts";
import type { PlacedAgent } from "../session-tasks.ts";
import type { ShownPacket } from "../shown-packet.ts";
import type { ShownSkill, SkillLoad } from "../skill-ledger.ts";
import type { SpawnEvent, UnresolvedSpawn } from "../spawns.ts";
import type { ReadTranscript, SeenCall } from "../transcripts.ts";
import type { DeliveredMessages } from "../unread-messages.ts";
import type { ToldEdits } from "../untold-edits.ts";

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
