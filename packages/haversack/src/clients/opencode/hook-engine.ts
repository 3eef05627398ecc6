/**
 * What the opencode plugin asks of the engine, which runs inside the client's own process. Everything is synchronous and short, as in
 * a hook; who implements it opens the store with a short lock time and runs no pattern that is not proven linear (the client
 * runs on Bun, where a time limit does not stop a pattern).
 */
import type { CallKey } from "../../engine/call-key.ts";
import type { ClientEvent, EventAnswer, EventBase } from "../../engine/events/client-event.ts";

/** The call that a sub-agent was started by, and its type. */
export interface Starter {
  callId: string;
  agentType: string;
}

export type FillEvent = EventBase & { usedTokens: number; windowTokens?: number };

export interface HookEngine {
  answer(event: ClientEvent): EventAnswer;
  /** Another session or agent of this process makes the very same call of our server, and the server has not seen it yet. */
  isCallAwaited(event: EventBase, call: CallKey): boolean;
  /** Sessions of this client that hold tasks. */
  holders(): string[];
  fill?(event: FillEvent): void;
  /** What the person should know and the model should not: the store is not used. */
  notice(): string | undefined;
  /** Faults end here, in the project's log. */
  log(level: "warn" | "error", text: string): void;
}
