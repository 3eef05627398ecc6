/** What sessions hear that go on, for hook.cjs: loaded after a compaction, and when one is resumed or forked. */

import type { NotedSession, SessionAnswer, StartedSession } from "../engine/start-session.ts";
import { wakeAgain } from "../engine/wake/wake-again.ts";
import type { ClientProcess } from "../store/local-store.ts";
import { SessionState } from "../store/sqlite/session-state.ts";
import { SessionTasks } from "../store/sqlite/session-tasks.ts";
import { SkillCards, type SkillLookup } from "../store/sqlite/skill-cards.ts";
import { SkillLedger } from "../store/sqlite/skill-ledger.ts";
import type { HookPlace, WakePlace } from "./hook-place.ts";
import { sessionParts } from "./wake-parts.ts";

export function answerAgain(
  event: StartedSession,
  { process, ...noted }: NotedSession & { process: ClientProcess | undefined },
  place: WakePlace & Pick<HookPlace, "wake">,
  index: SkillLookup = new SkillCards(place.handle.db),
): SessionAnswer {
  const { handle, wake } = place;
  const parts = {
    ...sessionParts(process, index, place),
    showPacket: (...args: Parameters<ReturnType<typeof wake>["showPacket"]>) => wake().showPacket(...args),
  };
  return wakeAgain(event, noted, parts, {
    ledger: new SkillLedger(handle),
    state: new SessionState(handle),
    tasks: new SessionTasks(handle),
  });
}
