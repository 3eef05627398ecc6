/** What waking needs of a place, for the files of the hook that wake. */
import { userStateFolder } from "../base/project-trust.ts";
import type { WakeParts } from "../engine/wake/gather-wake.ts";
import { readHookWakeSettings } from "../engine/wake/hook-wake-settings.ts";
import { readForPacket } from "../engine/wake/read-inside.ts";
import type { SessionWakeParts } from "../engine/wake/wake-session.ts";
import { givenName } from "../engine/work/actor.ts";
import { readHookWorkSettings } from "../engine/work/hook-work-settings.ts";
import type { ClientProcess } from "../store/local-store.ts";
import type { SkillLookup } from "../store/sqlite/skill-cards.ts";
import { isAlive } from "./claude-code/client-process.ts";
import type { WakePlace } from "./hook-place.ts";

export function wakeParts(index: SkillLookup, { handle, root, env, configFiles, now }: WakePlace): WakeParts {
  return {
    handle,
    index,
    root,
    settings: readHookWakeSettings(configFiles()),
    readText: (path) => readForPacket(root, path, userStateFolder(env)),
    now,
  };
}

/** `process`: the client's. */
export function sessionParts(
  process: ClientProcess | undefined,
  index: SkillLookup,
  place: WakePlace,
): SessionWakeParts {
  const { env, configFiles, packet } = place;
  return {
    ...wakeParts(index, place),
    makePacket: (...args) => packet().makePacket(...args),
    name: givenName(env),
    isWoken: Boolean(env["HAVERSACK_WOKEN"]),
    process,
    isAlive,
    leaseMs: () => readHookWorkSettings(configFiles()).leaseMs,
  };
}
