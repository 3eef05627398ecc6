/** Sessions, sub-agents, compactions and calls about to be made, for hook.cjs. */
import { existsSync, statSync } from "node:fs";
import type { DiscoverSettings } from "../engine/discover.ts";
import { handleEvent } from "../engine/handle-event.ts";
import type { HookAnswer, HookEvent } from "../engine/hook-event.ts";
import { isIndexStale } from "../engine/index-freshness.ts";
import { readHookWorkSettings } from "../engine/work/hook-work-settings.ts";
import type { ClientProfile } from "../skills/activation.ts";
import type { StoreHandle } from "../store/sqlite/handle.ts";
import { readHandoffBy } from "../store/sqlite/handoff-by.ts";
import { mayHaveToRead } from "../store/sqlite/may-have-to-read.ts";
import { SessionState } from "../store/sqlite/session-state.ts";
import { SessionTasks } from "../store/sqlite/session-tasks.ts";
import { SkillCards } from "../store/sqlite/skill-cards.ts";
import { SkillLedger } from "../store/sqlite/skill-ledger.ts";
import { Spawns } from "../store/sqlite/spawns.ts";
import { SqliteLocalStore } from "../store/sqlite/sqlite-local-store.ts";
import { claudeProcess } from "./claude-code/client-process.ts";
import { readClaudeEvent } from "./claude-code/events.ts";
import type { ClaudeBase } from "./claude-code/prompt-event.ts";
import type { HookAdapter } from "./hook-adapter.ts";

export interface HookPlace {
  /** Absent: Claude Code. */
  adapter?: HookAdapter;
  root: string;
  /** `.haversack/` */
  state: string;
  env: NodeJS.ProcessEnv;
  handle: StoreHandle;
  now: Date;
  client(): ClientProfile;
  settings(): DiscoverSettings;
  /** What the config files hold, the user's first. */
  configFiles(): unknown[];
  /** Loads what waking and messages need. */
  wake(): typeof import("./hook-wake.ts");
  packet(): typeof import("./hook-packet.ts");
  log(): typeof import("./hook-log.ts");
  /** Loads what receipts need. */
  artifacts(): typeof import("./hook-artifacts.ts");
}

/** What hook-wake.cjs needs of it. */
export type WakePlace = Omit<HookPlace, "log" | "artifacts" | "wake">;

export function answerEvent(payload: Record<string, unknown>, base: ClaudeBase, place: HookPlace): HookAnswer {
  const { root, state, env, handle, now, client, settings, configFiles } = place;
  const { adapter } = place;
  const event = (adapter ? adapter.event : readClaudeEvent)(payload, { ...base, client: client() });
  if (!event) return {};
  const process = () => (adapter ? adapter.process?.() : claudeProcess(env));
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
    packetFor: (task) => place.wake().packetFor(task, stores, place),
    process,
    wakeSession: (start, before) => {
      const { problems, ...answer } = place.wake().answerStart(start, { before, process: process() }, stores, place);
      for (const problem of problems) place.log().logLine(state, "warn", problem);
      return answer;
    },
    handoffBy: (agentId) => readHandoffBy(handle, agentId),
    workSettings: () => readHookWorkSettings(configFiles()),
    sessions: new SqliteLocalStore(handle),
    settings,
    env,
    now,
    checkIndex: () => {
      // Where a start is answered with the first prompt, hook-main.ts has looked at the client's own start.
      if (!adapter?.startBefore) checkIndex(place);
    },
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

export function checkIndex({ env, handle, root }: HookPlace): void {
  // `doctor` sends a test event and wants no process to outlive it.
  if (!env["HAVERSACK_DOCTOR"] && isIndexStale(handle.db)) startIndexing(root);
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

/**
 * The one thing that needs a process: a stale index is rebuilt by the CLI, and an old store upgraded, detached, while the session
 * goes on. The module that starts processes is loaded only then, never on the way of a prompt or a tool.
 */
export function startIndexing(root: string): void {
  const cli = `${__dirname}/haversack.cjs`;
  if (!statSync(cli, { throwIfNoEntry: false })) return;
  const { spawn } = process.getBuiltinModule("node:child_process");
  spawn(process.execPath, [cli, "skills", "index", "--changed"], {
    cwd: root,
    detached: true,
    stdio: "ignore",
  }).unref();
}
