/**
 * The engine of a project, inside opencode's own process, without a process per event. The store stays open between events; whatever fails
 * is thrown, and the plugin's guard logs it and goes on in silence.
 */
import { existsSync } from "node:fs";
import { errorText } from "../../base/errors.ts";
import { checkTrust, untrustedNotice } from "../../base/project-trust.ts";
import { answerEvent } from "../../engine/events/answer-event.ts";
import type { ClientEvent } from "../../engine/events/client-event.ts";
import { clientProcess } from "../../engine/events/client-process.ts";
import { eventProject, logLine, startIndexing } from "../../engine/events/event-project.ts";
import { keptOpen } from "../../engine/events/kept-store.ts";
import { isIndexStale } from "../../engine/index-freshness.ts";
import { isOffForUser, offReason, projectPaths } from "../../engine/project.ts";
import type { StoreHandle } from "../../store/sqlite/handle.ts";
import { isCallAwaited } from "../../store/sqlite/sessions/call-notes.ts";
import { otherHolders } from "../../store/sqlite/work/events/session-claims.ts";
import type { HookEngine } from "./hook-engine.ts";
import { type IdleSteps, runWhenIdle } from "./idle-steps.ts";
import { opencodeProfile } from "./profile.ts";
import { rehearse } from "./rehearsal.ts";
import { WARM_UP } from "./warm-up.ts";

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

/** How long the store may be locked by others: the client's own screen waits as long. */
const BUSY_MS = 100;
/** After the prompt that began a session: the client sends its request meanwhile. */
const CHECK_INDEX_MS = 100;

export function localEngine({ root, env, cli }: LocalEngineOptions): LocalEngine {
  const paths = { ...projectPaths(root, env), root };
  const log: HookEngine["log"] = (level, text) => logLine(paths, { level, text, part: "opencode" });
  const store = keptOpen(paths.store, {
    busyMs: BUSY_MS,
    userState: paths.userState,
    warn: (text) => log("warn", text),
  });
  const own = () => clientProcess(process.pid);

  let rehearsed: StoreHandle | undefined;
  let warming: IdleSteps | undefined;
  const logFault = (fault: unknown) => log("error", `opencode: ${errorText(fault)}`);

  /** Undefined when the project has no store that we may use, or Haversack is switched off. */
  const usable = (sessionId?: string) => (offReason(paths, env) ? undefined : store(sessionId));
  /** For an event; one of the client's own ends the warm-up. */
  const open = ({ sessionId }: { sessionId: string }): StoreHandle | undefined => {
    if (rehearsed) return rehearsed;
    warming?.stop();
    return usable(sessionId);
  };
  /** 300 files are 3 ms: not while a prompt waits. */
  const checkIndexLater = () => {
    const check = () => {
      const handle = store();
      // An index that cannot be written stays as it is.
      if (handle && !handle.isReadOnly && isIndexStale(handle.db)) startIndexing({ root, env, cli });
    };
    runWhenIdle([check], { onFault: logFault, delayMs: CHECK_INDEX_MS });
  };

  const engine: LocalEngine = {
    answer(event) {
      const handle = open(event);
      if (!handle) {
        makeOrUpgrade(event);
        return {};
      }
      const host = { env, cli, process: own, part: "opencode" };
      const project = { ...eventProject(paths, handle, host), isRehearsal: rehearsed !== undefined };
      if (event.kind !== "session-start") return answerEvent(event, project);
      const answer = answerEvent({ ...event, isPromptWaiting: true }, project);
      if (!rehearsed && !answer.context && event.source !== "compact") checkIndexLater();
      return answer;
    },

    isCallAwaited({ sessionId, agentId }, call) {
      const handle = open({ sessionId });
      const client = own();
      if (!handle || !client) return false;
      const above = { ids: [client.id], space: client.space };
      return isCallAwaited(handle, call, { by: { sessionId, agentId }, above, at: new Date() });
    },

    holders() {
      const handle = open({ sessionId: "" });
      return handle
        ? otherHolders(handle, { client: "opencode", sessionId: "" }).map(({ sessionId }) => sessionId)
        : [];
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

    notice() {
      const trust = checkTrust(paths.state, paths.userState);
      return trust.kind === "untrusted" && !isOffForUser(paths, env) ? untrustedNotice(trust, paths.state) : undefined;
    },

    log,
  };
  return engine;

  /** As `withoutStore` in answer-hook.ts: an older version's store, or a fresh clone of a project that shares its settings. */
  function makeOrUpgrade({ kind }: ClientEvent): void {
    if (kind !== "session-start" || offReason(paths, env)) return;
    if (!existsSync(paths.store) && !existsSync(paths.config)) return;
    if (checkTrust(paths.state, paths.userState).kind !== "untrusted") startIndexing({ root, env, cli });
  }
}
