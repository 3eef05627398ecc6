/** Sub-agents, calls about to be made and the ends of sessions, for hook.cjs. */
import { existsSync } from "node:fs";
import { handleEvent } from "../engine/handle-event.ts";
import type { HookAnswer, HookEvent } from "../engine/hook-event.ts";
import { readHookWorkSettings } from "../engine/work/hook-work-settings.ts";
import { readHandoffBy } from "../store/sqlite/handoff-by.ts";
import { mayHaveToRead } from "../store/sqlite/may-have-to-read.ts";
import { SessionState } from "../store/sqlite/session-state.ts";
import { SessionTasks } from "../store/sqlite/session-tasks.ts";
import { SkillCards } from "../store/sqlite/skill-cards.ts";
import { SkillLedger } from "../store/sqlite/skill-ledger.ts";
import { Spawns } from "../store/sqlite/spawns.ts";
import { SqliteLocalStore } from "../store/sqlite/sqlite-local-store.ts";
import { readClaudeEvent } from "./claude-code/events.ts";
import type { ClaudeBase } from "./claude-code/prompt-event.ts";
import type { HookPlace } from "./hook-place.ts";

export function answerEvent(payload: Record<string, unknown>, base: ClaudeBase, place: HookPlace): HookAnswer {
  const { root, env, handle, now, client, settings, configFiles } = place;
  const { adapter } = place;
  const event = (adapter ? adapter.event : readClaudeEvent)(payload, { ...base, client: client() });
  if (!event || event.kind === "session-start") return {};
  const stores = {
    index: new SkillCards(handle.db),
    ledger: new SkillLedger(handle),
    state: new SessionState(handle),
    tasks: new SessionTasks(handle),
  };
  const answer = handleEvent(event, {
    ...stores,
    root,
    handle,
    spawns: new Spawns(handle),
    packetFor: (task) => place.wake().packetFor(task, stores.index, place),
    skillsFor: (start) => place.discovery().skillsForAgent(start, place),
    handoffBy: (agentId) => readHandoffBy(handle, agentId),
    workSettings: () => readHookWorkSettings(configFiles()),
    sessions: new SqliteLocalStore(handle),
    settings,
    env,
    now,
  });
  return adapter && !adapter.shown ? answer : { ...answer, ...watchReader(event, answer, { payload, base, place }) };
}

/** Sub-agents with documents to read. Only where the client tells which call started which agent. */
function watchReader(
  event: HookEvent,
  { prompt }: HookAnswer,
  { payload, base, place }: { payload: Record<string, unknown>; base: ClaudeBase; place: HookPlace },
): HookAnswer {
  if (event.kind === "before-spawn") {
    const mayName = event.prompt.includes("Required Artifacts") || existsSync(`${place.state}/artifacts.json`);
    return mayName ? place.artifacts().noteSpawn(event, prompt, place) : {};
  }
  // Claude Code itself tells it at the sub-agent's first call.
  if (
    event.kind === "after-spawn" &&
    place.adapter &&
    mayHaveToRead(place.handle.db, { ...base, agentId: event.childId })
  ) {
    place.artifacts().placeChild(event, place);
  }
  if (event.kind === "agent-stop" && mayHaveToRead(place.handle.db, base)) {
    return place.artifacts().judgeEnd(payload, base, place);
  }
  return {};
}

/** A prompt that begins with a skill's name as a command: the window has the body from the client. */
export function noteCommand(
  prompt: string,
  { sessionId, agentId }: ClaudeBase,
  { handle, now, client }: HookPlace,
): void {
  const name = /^\/(\S+)/.exec(prompt)?.[1];
  if (!name) return;
  const { ownTool } = client();
  const card = new SkillCards(handle.db)
    .listCards()
    .find(({ id, folder, sourceKind: kind }) => id === name || (kind !== "plugin" && folder?.endsWith(`/${name}`)));
  if (!card || card.sourceKind === "rule" || !ownTool?.sees(card)) return;
  const ledger = new SkillLedger(handle);
  const { window, promptCount } = ledger.tracking({ sessionId, agentId });
  ledger.recordLoad({
    sessionId,
    agentId,
    at: now,
    window,
    promptNumber: promptCount + 1,
    skill: card.id,
    hash: card.hash,
    tokens: 0,
    by: "client",
  });
}
