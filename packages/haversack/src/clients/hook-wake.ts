/** Packets and messages, for hook.cjs: loaded when a session may have something to go on with, or a message waits. */
import type { EventBase, HookAnswer, SessionStart } from "../engine/hook-event.ts";
import { deliverMessages } from "../engine/wake/deliver-messages.ts";
import type { WakeParts } from "../engine/wake/gather-wake.ts";
import { readHookWakeSettings } from "../engine/wake/hook-wake-settings.ts";
import { readInside } from "../engine/wake/read-inside.ts";
import { type MakePacket, wakeSession } from "../engine/wake/wake-session.ts";
import { type StartedAgent, subAgentPacket } from "../engine/wake/wake-sub-agent.ts";
import { givenName } from "../engine/work/actor.ts";
import { readHookWorkSettings } from "../engine/work/hook-work-settings.ts";
import type { ClientProcess, Session } from "../store/local-store.ts";
import type { SessionState } from "../store/sqlite/session-state.ts";
import type { SessionTasks } from "../store/sqlite/session-tasks.ts";
import type { SkillLookup } from "../store/sqlite/skill-cards.ts";
import type { SkillLedger } from "../store/sqlite/skill-ledger.ts";
import { isAlive } from "./claude-code/client-process.ts";
import type { WakePlace } from "./hook-session.ts";

/** What hook-session.cjs has anyway, so that this file need not. */
export interface SessionStores {
  index: SkillLookup;
  ledger: SkillLedger;
  state: SessionState;
  tasks: SessionTasks;
}

export function answerStart(
  event: EventBase & SessionStart,
  { before, process }: { before: Session | undefined; process: ClientProcess | undefined },
  stores: SessionStores,
  place: WakePlace,
): HookAnswer & { problems: string[] } {
  const { env, configFiles } = place;
  return wakeSession(event, before, {
    ...wakeParts(stores, place),
    ...stores,
    name: givenName(env),
    isWoken: Boolean(env["HAVERSACK_WOKEN"]),
    process,
    isAlive,
    leaseMs: () => readHookWorkSettings(configFiles()).leaseMs,
  });
}

export function packetFor(
  start: Omit<StartedAgent, "client">,
  stores: Pick<SessionStores, "index" | "ledger">,
  place: WakePlace,
): string {
  return subAgentPacket({ ...start, client: place.client() }, { ...wakeParts(stores, place), ledger: stores.ledger });
}

/** `used`: what the answer has already. */
export function messagesFor(
  sessionId: string,
  { event, used }: { event: string; used: number },
  { handle, now, client }: WakePlace,
): string {
  const isMentionOnly = event === "Stop";
  const { maxChars, sizeOf } = client();
  return deliverMessages({ sessionId, maxChars: maxChars - used, sizeOf, isMentionOnly, event }, { handle, now });
}

function wakeParts(
  { index }: Pick<SessionStores, "index">,
  { handle, root, configFiles, now, packet }: WakePlace,
): WakeParts & { makePacket: MakePacket } {
  return {
    handle,
    index,
    makePacket: (...args) => packet().makePacket(...args),
    root,
    settings: readHookWakeSettings(configFiles()),
    readText: (path) => readInside(root, path),
    now,
  };
}
