/** What a session that starts is told, from what the hook knows of its place. Loaded by the hook. */
import type { EventBase, SessionStart } from "../engine/hook-event.ts";
import { type SessionAnswer, wakeSession } from "../engine/wake/wake-session.ts";
import { givenName } from "../engine/work/actor.ts";
import { readHookWorkSettings } from "../engine/work/hook-work-settings.ts";
import type { ClientProcess, TouchedSession } from "../store/local-store.ts";
import type { SkillLookup } from "../store/sqlite/skill-cards.ts";
import { isAlive } from "./claude-code/client-process.ts";
import type { WakePlace } from "./hook-place.ts";
import { wakeParts } from "./wake-parts.ts";

export function answerStart(
  event: EventBase & SessionStart,
  { process, ...touched }: TouchedSession & { process: ClientProcess | undefined },
  index: SkillLookup,
  place: WakePlace,
): SessionAnswer {
  const { env, configFiles, packet, again } = place;
  return wakeSession(event, touched, {
    ...wakeParts(index, place),
    makePacket: (...args) => packet().makePacket(...args),
    wakeAgain: (...args) => again().wakeAgain(...args),
    name: givenName(env),
    isWoken: Boolean(env["HAVERSACK_WOKEN"]),
    process,
    isAlive,
    leaseMs: () => readHookWorkSettings(configFiles()).leaseMs,
  });
}
