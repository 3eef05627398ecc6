/**
 * Receipts in opencode: which documents a sub-agent had to read, and which it has. A sub-agent is a session of its own here, and its
 * prompt is the one of the call that started it, so its tool calls count. It cannot be sent back: when the call's result is
 * told, it has ended.
 */
import {
  expectFromPrompt,
  judgeReader,
  noteSeen,
  type Observation,
  type ReaderParts,
} from "../../engine/artifacts/watch-reader.ts";
import type { EventBase, HookEvent } from "../../engine/hook-event.ts";
import type { StoreHandle } from "../../store/sqlite/handle.ts";
import { mayHaveToRead } from "../../store/sqlite/may-have-to-read.ts";
import type { AgentEndEvent, Starter } from "./hook-engine.ts";

interface WatchPlace {
  root: string;
  handle: StoreHandle;
  now: Date;
}

/** A call that is about to start a sub-agent. Only a block in its prompt counts: making one would take a process, and the client waits. */
export function expectReading(event: HookEvent, place: WatchPlace): void {
  if (event.kind === "before-spawn" && event.prompt.includes("Required Artifacts")) {
    expectFromPrompt(event.prompt, event, place);
  }
}

export function noteReading(
  event: EventBase & { observation: Observation; starter: Starter | undefined },
  place: WatchPlace,
): void {
  const { agentId, cwd, observation, starter } = event;
  if (agentId === "" || !mayHaveToRead(place.handle.db, event)) return;
  noteSeen(event, { observation: () => observation, cwd }, partsOf(starter, place));
}

export function judgeReading({ starter, answer, ...base }: AgentEndEvent, place: WatchPlace): void {
  if (!mayHaveToRead(place.handle.db, base)) return;
  judgeReader(base, { root: place.root, answer, sendBack: () => false }, partsOf(starter, place));
}

function partsOf(starter: Starter | undefined, { handle, now }: WatchPlace): ReaderParts {
  return { handle, now, agentType: starter?.agentType ?? "", startedBy: () => starter?.callId };
}
