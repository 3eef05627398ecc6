/** Saves a spool entry the way its event would have been saved. The hook bundles this file as a separate chunk. */
import type { DatabaseSync } from "node:sqlite";
import { mergeWip } from "../../../work/wip/merge-wip.ts";
import type { Wip, WipPatch } from "../../../work/wip/wip.ts";
import type { SeenAgent } from "../../work-store.ts";
import {
  saveMark,
  savePlacedReader,
  saveReceipts,
  saveSeen,
  saveSpawnDocuments,
} from "../artifacts/artifact-observations.ts";
import { saveTold, saveTool, saveToolCall, type ToolWork } from "../sessions/session-state.ts";
import { type SessionTouch, saveSeenCall, saveTranscript, touchSession } from "../sessions/sqlite-local-store.ts";
import { recordInjection } from "../skills/injections.ts";
import { type PromptAnswer, saveAnswer } from "../skills/prompt-ledger.ts";
import { saveLoad, saveShown } from "../skills/skill-ledger.ts";
import { saveDelivered } from "../work/events/running-session.ts";
import { saveLetGo, saveMovedSession, saveRegain, saveTakeBack, saveTakeOver } from "../work/events/session-claims.ts";
import { savePlace, saveSpawn, saveUnresolvedSpawn } from "../work/events/session-tasks.ts";
import { becomeKnown, savePacket } from "../work/events/wake-state.ts";

/** `isBlind`: the process that wrote the entry could not read the store. For callers that hold the write lock. */
export function saveEntry(db: DatabaseSync, { kind, args }: SpoolEntry, { isBlind }: { isBlind: boolean }): void {
  const save = SAVE[kind] as ((db: DatabaseSync, args: unknown) => unknown) | undefined;
  if (!save) throw new Error(`unknown kind ${String(kind)}`);
  save(db, isBlind && kind === "answer" ? inItsWindow(db, args as PromptAnswer) : args);
}

/** The kinds of entries. The arguments of each are plain data, except `at`: a Date, the time of the event. */
const SAVE = {
  answer: saveAnswer,
  load: saveLoad,
  shown: saveShown,
  tool(
    db: DatabaseSync,
    { patch, leaseMs, ...work }: Omit<ToolWork, "merge" | "leaseMs"> & { patch?: WipPatch; leaseMs: number },
  ) {
    const merge = patch && ((current: Wip) => mergeWip(current, patch, work));
    saveTool(db, { ...work, merge, patch, leaseMs: () => leaseMs });
  },
  "tool-call": saveToolCall,
  transcript: saveTranscript,
  "seen-call": saveSeenCall,
  touch: touchSession,
  start(db: DatabaseSync, { seen, ...touch }: SessionTouch & { seen?: SeenAgent & { sessionId: string } }) {
    touchSession(db, touch);
    if (seen) becomeKnown(db, seen, touch.at);
  },
  "take-over": saveTakeOver,
  "take-back": saveTakeBack,
  "let-go": saveLetGo,
  regain: saveRegain,
  fork: saveMovedSession,
  injection: recordInjection,
  "left-edits": saveTold,
  spawn: saveSpawn,
  "unresolved-spawn": saveUnresolvedSpawn,
  "place-agent": savePlace,
  packet: savePacket,
  messages: saveDelivered,
  "spawn-documents": saveSpawnDocuments,
  "place-reader": savePlacedReader,
  seen: saveSeen,
  "mark-agent": saveMark,
  receipts: saveReceipts,
};

export type SpoolKind = keyof typeof SAVE;
export type SpoolArgs<Kind extends SpoolKind> = Parameters<(typeof SAVE)[Kind]>[1];
export type SpoolEntry = { [Kind in SpoolKind]: { kind: Kind; args: SpoolArgs<Kind> } }[SpoolKind];

/** A prompt answered without the store got no text. It counts in its session's current window and resets nothing. */
function inItsWindow(db: DatabaseSync, answer: PromptAnswer): PromptAnswer {
  const row = db
    .prepare("SELECT window, domain_history FROM sessions WHERE session_id = ? AND agent_id = ?")
    .get(answer.sessionId, answer.agentId ?? "");
  if (!row) return answer;
  const domainHistory = JSON.parse(String(row["domain_history"])) as string[];
  const explanation = { ...(answer.explanation as object), status: "the store was locked" };
  return { ...answer, window: Number(row["window"]), isFreshStart: false, domainHistory, explanation };
}
