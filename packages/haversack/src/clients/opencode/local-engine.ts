/**
 * The engine of a project, inside opencode's own process: the same rules and stores as hook.cjs, without a process per event. The store
 * stays open between events; whatever fails is thrown, and the plugin's guard logs it and goes on in silence.
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { readConfigFiles } from "../../base/config-files.ts";
import { appendLog } from "../../base/log.ts";
import { maskSecrets } from "../../base/mask.ts";
import { findProjectRoot, STATE_FOLDER } from "../../base/project-root.ts";
import { checkTrust, untrustedNotice, userStateFolder } from "../../base/project-trust.ts";
import { readHead } from "../../base/read-head.ts";
import { discover } from "../../engine/discover.ts";
import { handleEvent } from "../../engine/handle-event.ts";
import type { EventBase, HookAnswer, HookEvent } from "../../engine/hook-event.ts";
import { readHookSettings } from "../../engine/hook-settings.ts";
import { isIndexStale } from "../../engine/index-freshness.ts";
import { recordTool } from "../../engine/record-tool.ts";
import { startSession } from "../../engine/start-session.ts";
import { readHookWorkSettings } from "../../engine/work/hook-work-settings.ts";
import { noteGitChanges } from "../../engine/work/note-git-changes.ts";
import { matchRules } from "../../skills/match-rules.ts";
import { isCallAwaited } from "../../store/sqlite/call-notes.ts";
import { otherHolders } from "../../store/sqlite/fork-claims.ts";
import { mayHaveChanged } from "../../store/sqlite/git-states.ts";
import type { StoreHandle } from "../../store/sqlite/handle.ts";
import { readHandoffBy } from "../../store/sqlite/handoff-by.ts";
import { hasUnread } from "../../store/sqlite/has-unread.ts";
import { PromptIndex } from "../../store/sqlite/prompt-index.ts";
import { PromptLedger } from "../../store/sqlite/prompt-ledger.ts";
import { SessionState } from "../../store/sqlite/session-state.ts";
import { SessionTasks } from "../../store/sqlite/session-tasks.ts";
import { SqliteSkillIndex } from "../../store/sqlite/skill-index.ts";
import { SkillLedger } from "../../store/sqlite/skill-ledger.ts";
import { Spawns } from "../../store/sqlite/spawns.ts";
import { SqliteLocalStore } from "../../store/sqlite/sqlite-local-store.ts";
import { clientProcess } from "../claude-code/client-process.ts";
import { answerAgain } from "../hook-again.ts";
import { messagesFor as waitingMessages } from "../hook-messages.ts";
import { makePacket } from "../hook-packet.ts";
import type { WakePlace } from "../hook-place.ts";
import * as wake from "../hook-wake.ts";
import type { HookEngine } from "./hook-engine.ts";
import { type IdleSteps, runWhenIdle } from "./idle-steps.ts";
import { BUSY_MS, keptOpen } from "./kept-open.ts";
import { opencodeProfile } from "./profile.ts";
import { rehearse } from "./rehearsal.ts";
import { WARM_UP } from "./warm-up.ts";
import { expectReading, judgeReading, noteReading } from "./watch-reader.ts";

export interface LocalEngineOptions {
  root: string;
  env: Readonly<Record<string, string | undefined>>;
  /** How Node is started with our CLI, without its arguments; empty: not known. The client's own runtime cannot run it. */
  cli: readonly string[];
}

export interface LocalEngine extends HookEngine {
  /** Makes the first prompt as fast as the later ones; begins after this call has returned. */
  warmUp(): IdleSteps;
}

/** After the prompt that began a session: the client sends its request meanwhile. */
const CHECK_INDEX_MS = 100;

export function localEngine({ root, env, cli }: LocalEngineOptions): LocalEngine {
  const state = `${root}/${STATE_FOLDER}`;
  const file = `${state}/haversack.db`;
  const userFolder = `${env["XDG_CONFIG_HOME"] || `${env["HOME"]}/.config`}/haversack`;
  const userState = userStateFolder(env);
  const configFiles = () => readConfigFiles({ state, user: userFolder, userState });
  const log: HookEngine["log"] = (level, text) => {
    // Nothing is written into a folder that came with a clone.
    if (checkTrust(state, userState).kind === "untrusted") return;
    appendLog(`${state}/log`, { at: new Date(), level, part: "opencode", text });
  };
  const store = keptOpen(file, { userState, warn: (text) => log("warn", text) });

  let rehearsed: StoreHandle | undefined;
  let warming: IdleSteps | undefined;
  const logFault = (fault: unknown) =>
    log("error", `opencode: ${fault instanceof Error ? fault.message : String(fault)}`);

  /** Undefined when the project has no store that we may use, or Haversack is switched off. */
  const usable = (sessionId?: string) =>
    existsSync(`${state}/off`) || existsSync(`${userFolder}/off`) ? undefined : store(sessionId);
  /** For an event; one of the client's own ends the warm-up. */
  const open = ({ sessionId }: { sessionId: string }): StoreHandle | undefined => {
    if (rehearsed) return rehearsed;
    warming?.stop();
    return usable(sessionId);
  };
  const startIndexing = () => {
    const [program, ...args] = cli;
    if (!program || env["HAVERSACK_DOCTOR"]) return;
    const child = spawn(program, [...args, "skills", "index", "--changed"], {
      cwd: root,
      detached: true,
      stdio: "ignore",
    });
    child.on("error", (fault) => log("warn", `the index was not rebuilt: ${fault.message}`)).unref();
  };
  /** 300 files are 3 ms: not while a prompt waits. */
  const checkIndexLater = () => {
    if (rehearsed) return;
    const check = () => {
      const handle = store();
      // An index that cannot be written stays as it is.
      if (handle && !handle.isReadOnly && isIndexStale(handle.db)) startIndexing();
    };
    runWhenIdle([check], { onFault: logFault, delayMs: CHECK_INDEX_MS });
  };
  const placeFor = (handle: StoreHandle, { client }: EventBase): WakePlace => ({
    root,
    state,
    env,
    handle,
    now: new Date(),
    client: () => client,
    settings: () => readHookSettings(configFiles()),
    configFiles,
    packet: () => ({ makePacket }),
  });
  const leaseMs = () => readHookWorkSettings(configFiles()).leaseMs;

  /** Whatever is wrong with git, the event is answered. */
  const noteChanges = (event: EventBase, { handle, now }: WakePlace) => {
    const { worktree } = findProjectRoot(event.cwd);
    try {
      noteGitChanges({ ...event, client: event.client.name }, { handle, root, worktree, leaseMs, now });
    } catch (fault) {
      logFault(fault);
    }
  };

  const engine: LocalEngine = {
    prompt(event) {
      const handle = open(event);
      if (!handle) return {};
      const place = placeFor(handle, event);
      const { text, skills, slowPatterns } = discover(
        {
          ...event,
          root,
          at: place.now,
          env,
          readHead: (path) => readHead(path.startsWith("/") ? path : `${root}/${path}`),
        },
        {
          index: new PromptIndex(handle.db),
          ledger: new PromptLedger(handle),
          settings: place.settings(),
          // On Bun it runs those patterns only that are proven linear: see run-patterns.ts.
          matchRules,
          maskSecrets,
        },
      );
      for (const source of slowPatterns)
        log("warn", `the pattern /${source}/ took too long and is left out from now on`);
      const context = [text, messagesFor(event, text.length, place)].filter(Boolean).join("\n\n");
      return { considered: skills.length, ...(context && { context }) };
    },

    tool({ observation, starter, ...event }) {
      const handle = open(event);
      if (!handle) return;
      const now = new Date();
      const { worktree } = findProjectRoot(event.cwd);
      const parts = { ...storesOf(handle), root, worktree, startedBy: () => starter?.callId, leaseMs, now };
      recordTool({ ...event, client: event.client.name }, parts);
      if (observation) noteReading({ ...event, observation, starter }, { root, handle, now });
    },

    judgeAgent(event) {
      const handle = open(event);
      if (handle) judgeReading(event, { root, handle, now: new Date() });
    },

    isCallAwaited({ sessionId, agentId }, call) {
      const handle = open({ sessionId });
      const own = clientProcess(process.pid);
      if (!handle || !own) return false;
      const above = { ids: [own.id], space: own.space };
      return isCallAwaited(handle, call, { by: { sessionId, agentId }, above, at: new Date() });
    },

    holders() {
      const handle = open({ sessionId: "" });
      return handle
        ? otherHolders(handle, { client: "opencode", sessionId: "" }).map(({ sessionId }) => sessionId)
        : [];
    },

    session(event): HookAnswer {
      const handle = open(event);
      if (!handle) {
        // Most likely of an older version: without this it would stay so until somebody calls the CLI.
        const isOlder = event.kind === "session-start" && existsSync(file);
        if (isOlder && checkTrust(state, userState).kind !== "untrusted") startIndexing();
        return {};
      }
      const place = placeFor(handle, event);
      const stores = storesOf(handle);
      const process_ = () => clientProcess(process.pid);
      expectReading(event, place);
      if (isPause(event) && !rehearsed && mayHaveChanged(handle.db, event)) noteChanges(event, place);
      const common = {
        handle,
        sessions: new SqliteLocalStore(handle),
        settings: place.settings,
        env,
        now: place.now,
      };
      if (event.kind === "session-start") {
        const ways = { ...place, wake: () => wake };
        return startSession(event, {
          ...common,
          process: process_,
          leftEdits: (start) => wake.tellLeftEdits(start, process_()?.space ?? "", place),
          becomeKnown: (start) => wake.becomeKnown(start, place),
          wakeSession: (start, noted) =>
            wake.answerStart(start, { ...noted, process: process_() }, place, stores.index),
          wakeAgain: (start, noted) => answerAgain(start, { ...noted, process: process_() }, ways, stores.index),
          warn: (problem) => log("warn", problem),
          checkIndex: checkIndexLater,
        });
      }
      return handleEvent(event, {
        ...common,
        ...stores,
        root,
        spawns: new Spawns(handle),
        packetFor: (task) => wake.packetFor(task, stores.index, place),
        // The client reports a sub-agent's prompt as `chat.message` of its session.
        skillsFor: () => "",
        handoffBy: (agentId) => readHandoffBy(handle, agentId),
        workSettings: () => readHookWorkSettings(configFiles()),
      });
    },

    warmUp() {
      const steps = WARM_UP.map((step) => () => {
        const handle = usable();
        if (!handle) return;
        const act = (inside: StoreHandle) => {
          rehearsed = inside;
          try {
            step(engine, { client: opencodeProfile(), sessionId: "warm-up", agentId: "", cwd: root }, inside);
          } finally {
            rehearsed = undefined;
          }
        };
        rehearse(handle, act, { busyMs: BUSY_MS });
      });
      warming = runWhenIdle(steps, { onFault: logFault });
      return warming;
    },

    notice: () => (checkTrust(state, userState).kind === "untrusted" ? untrustedNotice(state) : undefined),

    log,
  };
  return engine;
}

/** Somebody stops here, or is told next what it had in hand: the events at which git may be asked what has changed. */
function isPause(event: HookEvent): boolean {
  const { kind } = event;
  return kind === "session-end" || kind === "agent-stop" || (kind === "session-start" && event.source === "compact");
}

function storesOf(handle: StoreHandle) {
  return {
    index: new SqliteSkillIndex(handle.db),
    ledger: new SkillLedger(handle),
    state: new SessionState(handle),
    tasks: new SessionTasks(handle),
  };
}

/** A message that waits for the agent of this session comes with its prompt. */
function messagesFor({ sessionId, agentId }: EventBase, used: number, place: WakePlace): string {
  if (agentId || !hasUnread(place.handle.db, sessionId, { isMentionOnly: false })) return "";
  return waitingMessages(sessionId, { event: "UserPromptSubmit", used: used + 2 }, place);
}
