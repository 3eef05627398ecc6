/**
 * The engine of a project inside opencode's process, without a process per event. The store stays open between events. Errors are thrown; the
 * plugin's guard logs them and continues.
 */
import { errorText } from "../../base/errors.ts";
import { checkTrust, untrustedNotice } from "../../base/project-trust.ts";
import { answerEvent } from "../../engine/events/answer-event.ts";
import type { ClientEvent } from "../../engine/events/client-event.ts";
import {
  clientProcess,
  type EventProject,
  eventProject,
  keptOpen,
  logLine,
  startIndexing,
} from "../../engine/events/event-project.ts";
import { isOffForUser, isSetUp, offReason, projectPaths } from "../../engine/project.ts";
import { isIndexStale } from "../../engine/refresh-index.ts";
import type { StoreHandle } from "../../store/sqlite/access.ts";
import { isCallAwaited } from "../../store/sqlite/sessions/session-state.ts";
import { otherHolders } from "../../store/sqlite/work/events/session-claims.ts";
import type { HookEngine } from "./plugin.ts";
import { opencodeProfile } from "./profile.ts";
import { type IdleSteps, rehearse, runWhenIdle, WARM_UP } from "./warm-up.ts";

/** `cli`: starts with a Node, because the client's own runtime cannot run our CLI. */
type LocalEngineOptions = Pick<EventProject, "root" | "env" | "cli">;

export interface LocalEngine extends HookEngine {
  /** Makes the first prompt as fast as later ones. Starts after this call has returned. */
  warmUp(): IdleSteps;
}

/** How long to wait for a locked store. The client's screen freezes for that time. */
const BUSY_MS = 100;
/** Delay after the first prompt of a session; meanwhile the client sends its request. */
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

  /** Undefined if the project has no store that we may use, or if Haversack is off. */
  const usable = (sessionId?: string) => (offReason(paths, env) ? undefined : store(sessionId));
  /** The handle for an event. An event from the client (not the rehearsal) ends the warm-up. */
  const open = ({ sessionId }: { sessionId: string }): StoreHandle | undefined => {
    if (rehearsed) return rehearsed;
    warming?.stop();
    return usable(sessionId);
  };
  /** Checking 300 files takes 3 ms, so not while a prompt waits. */
  const checkIndexLater = () => {
    const check = () => {
      const handle = store();
      // A read-only index stays as it is.
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

  /** Like `withoutStore` in answer-hook.ts: for a store that is older or gone, or a fresh clone of a project that shares its settings. */
  function makeOrUpgrade({ kind }: ClientEvent): void {
    if (kind !== "session-start" || offReason(paths, env)) return;
    if (!isSetUp(paths)) return;
    if (checkTrust(paths.state, paths.userState).kind !== "untrusted") startIndexing({ root, env, cli });
  }
}
