/** What was put into the windows of a session, newest first, and why. For `why`. */
import { gitPlace } from "../base/git-place.ts";
import type { Session } from "../store/local-store.ts";
import type { StoreHandle } from "../store/sqlite/handle.ts";
import { SqliteLocalStore } from "../store/sqlite/sessions/sqlite-local-store.ts";
import { type Injection, latestInjected, readInjections } from "../store/sqlite/skills/injections.ts";
import type { WorkStore } from "../store/work-store.ts";
import { type Explained, explainInjection } from "./explain-injection.ts";

export interface ExplainSessionInput {
  /** Default: the session that was last seen in the work tree of `cwd`, else in the project. */
  sessionId?: string | undefined;
  /** Only this sub-agent of it. Default: the main agent and all sub-agents. */
  agentId?: string | undefined;
  limit: number;
  cwd: string;
}

export interface ExplainedSession {
  sessionId: string;
  /** Absent: no event of it was seen, only what was shown to it. */
  session?: Session;
  entries: (Injection & Explained)[];
  total: number;
  tokens: number;
}

/** Undefined: there is no such session, or none at all. */
export async function explainSession(
  { sessionId: wanted, agentId, limit, cwd }: ExplainSessionInput,
  { handle, store }: { handle: StoreHandle; store: Pick<WorkStore, "listActivity"> },
): Promise<ExplainedSession | undefined> {
  const sessions = new SqliteLocalStore(handle);
  const sessionId = wanted ?? latestIn(cwd, sessions)?.sessionId ?? latestInjected(handle);
  if (sessionId === undefined) return undefined;
  const session = sessions.getSession({ sessionId });
  const { injections, total, tokens } = readInjections(handle, { sessionId, agentId, limit });
  if (!session && total === 0) return undefined;
  const claims = await claimsOf(injections, store);
  const entries = injections.map((injection) => ({
    ...injection,
    ...explainInjection(injection, {
      claimedAt: (taskId, { agent, before }) =>
        claims.find((claim) => claim.taskId === taskId && claim.agent === agent && claim.at <= before)?.at,
    }),
  }));
  return { sessionId, ...(session && { session }), entries, total, tokens };
}

/** Sub-agents have rows of their own, so one session can fill many of them. */
const MOST_ROWS = 2_000;

function latestIn(cwd: string, sessions: SqliteLocalStore): Session | undefined {
  const main = sessions.listSessions({ limit: MOST_ROWS }).filter(({ agentId }) => agentId === "");
  const place = gitPlace(cwd).worktree ?? cwd;
  return (
    main.find((session) => session.cwd !== "" && (gitPlace(session.cwd).worktree ?? session.cwd) === place) ?? main[0]
  );
}

/** When the tasks of these packets were claimed, newest first. */
async function claimsOf(
  injections: readonly Injection[],
  store: Pick<WorkStore, "listActivity">,
): Promise<{ taskId: string; agent: string; at: string }[]> {
  const ids = injections.flatMap(({ because }) =>
    because?.kind === "packet" && because.task?.holder ? because.task.id : [],
  );
  const pages = [...new Set(ids)].map(async (taskId) => {
    const { activity } = await store.listActivity({ subject: taskId, kind: "task-claimed", limit: 50 });
    return activity.map(({ actor, at }) => ({ taskId, agent: actor, at: at.toISOString() }));
  });
  return (await Promise.all(pages)).flat();
}
