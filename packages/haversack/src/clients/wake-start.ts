/** What a session that starts is told, from what the hook knows of its place. Loaded by the hook. */
import type { EventBase, HookAnswer, SessionStart } from "../engine/hook-event.ts";
import { wakeSession } from "../engine/wake/wake-session.ts";
import { givenName } from "../engine/work/actor.ts";
import { readHookWorkSettings } from "../engine/work/hook-work-settings.ts";
import type { ClientProcess, Session } from "../store/local-store.ts";
import type { SessionState } from "../store/sqlite/session-state.ts";
import type { SessionTasks } from "../store/sqlite/session-tasks.ts";
import type { SkillLookup } from "../store/sqlite/skill-cards.ts";
import type { SkillLedger } from "../store/sqlite/skill-ledger.ts";
import { isAlive } from "./claude-code/client-process.ts";
import type { WakePlace } from "./hook-place.ts";
import { wakeParts } from "./wake-parts.ts";

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
  const { env, configFiles, packet } = place;
  return wakeSession(event, before, {
    ...wakeParts(stores.index, place),
    ...stores,
    makePacket: (...args) => packet().makePacket(...args),
    name: givenName(env),
    isWoken: Boolean(env["HAVERSACK_WOKEN"]),
    process,
    isAlive,
    leaseMs: () => readHookWorkSettings(configFiles()).leaseMs,
  });
}
