/** What sessions hear that go on, for hook.cjs: loaded with hook-start.cjs after a compaction, and when one is resumed or forked. */
import * as again from "../engine/wake/wake-again.ts";
import type { SessionAnswer, StartedSession, WakeAgainParts } from "../engine/wake/wake-session.ts";
import type { TouchedSession } from "../store/local-store.ts";
import { SessionState } from "../store/sqlite/session-state.ts";
import { SessionTasks } from "../store/sqlite/session-tasks.ts";
import { SkillLedger } from "../store/sqlite/skill-ledger.ts";

export function wakeAgain(event: StartedSession, touched: TouchedSession, parts: WakeAgainParts): SessionAnswer {
  const { handle } = parts;
  return again.wakeAgain(event, touched, parts, {
    ledger: new SkillLedger(handle),
    state: new SessionState(handle),
    tasks: new SessionTasks(handle),
  });
}
