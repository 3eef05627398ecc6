/** One session of a run, from its row in the store to its end: started, bound to its tasks, followed, kept. */
import { randomUUID } from "node:crypto";
import type { StreamEvent, Usage } from "../clients/stream-event.ts";
import type { StreamedClient } from "../clients/streamed.ts";
import type { RunSession, SessionPurpose } from "../store/run-store.ts";
import { brakeOf, type StopReason } from "./brakes.ts";
import { type LiveState, type SessionEnd, startSession } from "./client-session.ts";
import { endRequest } from "./prompts.ts";
import type { BriefTask } from "./run-event.ts";
import type { Place, RunOptions } from "./run-parts.ts";
import type { RunRecord } from "./run-record.ts";
import type { SessionHealth } from "./session-health.ts";
import type { StopSwitch } from "./stop-switch.ts";
import { currentBranch } from "./worktrees.ts";

export interface SessionStep {
  purpose: SessionPurpose;
  tasks: readonly BriefTask[];
  place: Place;
  prompt: string;
  role?: string;
  /** When a turn has ended well: a further batch for the same session. */
  next?(session: RunSession, state: Readonly<LiveState>): Promise<NextBatch | undefined>;
}

export interface NextBatch {
  tasks: readonly BriefTask[];
  prompt: string;
  batchSize: number;
}

export interface SessionContext {
  record: RunRecord;
  options: RunOptions;
  stop: StopSwitch;
  health: SessionHealth;
  batchSize: number;
}

export async function runSession(
  { purpose, tasks, place, prompt, role, next }: SessionStep,
  { record, options, stop, batchSize }: SessionContext,
): Promise<{ end: SessionEnd; session: RunSession }> {
  const { parts } = record;
  const { client, runs, on } = parts;
  const runId = record.run.id;
  const startedAt = parts.now();
  const taskIds = tasks.map(({ id }) => id);
  const session = await record.addSession({ purpose, taskIds, startedAt, ...(role !== undefined && { role }) });
  const { number } = session;
  const { maxChains } = options.limits;
  const progress = { batchSize, chain: record.spent().chains, maxChains };
  on({ kind: "session", number, purpose, ...(role !== undefined && { role }), tasks, ...progress });
  const branch = branchIn(place);
  const sessionId = client.chooseId ? randomUUID() : undefined;
  if (sessionId !== undefined && purpose === "batch") await record.bind(taskIds, sessionId, place);

  const goOn = async () => {
    const batch = await next?.(session, running.state);
    if (!batch) return undefined;
    const more = batch.tasks.map(({ id }) => id);
    const all = [...new Set([...session.taskIds, ...more])];
    Object.assign(session, { taskIds: all });
    await runs.updateSession(runId, number, { taskIds: all });
    const id = running.state.sessionId ?? sessionId;
    if (id !== undefined) await record.bind(more, id, place);
    on({ kind: "batch", number, tasks: batch.tasks, batchSize: batch.batchSize });
    return batch.prompt;
  };
  // A model retries denied tools: show the first call of each tool, and their number.
  const denied = new Map<string, number>();
  const noteDenied = (tool: string, text: string) => {
    const times = (denied.get(tool) ?? 0) + 1;
    denied.set(tool, times);
    if (times === 1) on({ kind: "note", text: `${tool} was not allowed: ${text} (${PERMISSIONS})` });
  };
  const onEvent = (event: StreamEvent) => {
    if (event.kind === "session" && event.id !== "" && event.id !== sessionId) {
      // If the store is locked right now, lose the binding rather than the session.
      void runs.updateSession(runId, number, { sessionId: event.id }).catch(() => undefined);
      if (purpose === "batch") void record.bind(taskIds, event.id, place).catch(() => undefined);
    }
    for (const problem of event.kind === "session" ? (event.problems ?? []) : []) on({ kind: "note", text: problem });
    if (event.kind === "denied") noteDenied(event.tool, event.text);
    on({ kind: "stream", number, event, state: running.state });
  };
  // An earlier session may have ended before it was told to end: this one must not read that. An agent that is new has no messages.
  await parts.forgetTold(place.agent).catch(() => undefined);
  const budget = budgetOf(client, options, record.spent().usage);
  const marked = record.marked("HAVERSACK_RUN_SESSION", number);
  const running = startSession(
    {
      client,
      program: parts.program,
      args: [
        ...client.begin,
        ...(sessionId !== undefined ? (client.chooseId?.(sessionId) ?? []) : []),
        ...(budget ?? []),
        ...options.args,
        ...client.end,
      ],
      cwd: place.cwd,
      env: {
        ...marked.env,
        ...client.env,
        HAVERSACK_AGENT: place.agent,
        HAVERSACK_WOKEN: "1",
      },
      mark: marked.mark,
      prompt,
      limits: { ...parts.settings.sessionLimits, windowTokens: record.windowTokens },
      endRequest: (why) => {
        // If the runner is killed from here on, the session's end is no crash.
        void runs.updateSession(runId, number, { asked: why }).catch(() => undefined);
        // A person who stops the run is told at once, even while the session waits.
        if (why !== "stopped") on({ kind: "asked", number, why });
        return endRequest(why);
      },
      // A session that cannot be told is stopped after the grace period.
      onEndRequest: (text) => void parts.tell(place.agent, text).catch(() => undefined),
      beforeStop: () => {
        try {
          record.keep(place, number);
        } catch {
          // Tried again, and reported, after the session's end.
        }
      },
      ...(next && { onTurnEnd: goOn }),
      ...(parts.readFill && { readFill: (id: string) => parts.readFill?.(id, startedAt) }),
    },
    onEvent,
  );
  record.live.set(number, running);
  const obey = () => {
    if (stop.how === "now") return running.kill();
    if (stop.how === undefined) return;
    on({ kind: "asked", number, why: "stopped" });
    running.askToEnd("stopped");
  };
  const forget = stop.onRequest(obey);
  let brake: StopReason | undefined;
  const watch = setInterval(() => {
    if (brake) return;
    brake = brakeOf({ ...options.limits, maxChains: Infinity }, record.spent());
    if (brake) running.askToEnd("limit");
  }, WATCH_MS);
  try {
    obey();
    const process = parts.processOf(running.pid);
    Object.assign(session, { process });
    await runs.updateSession(runId, number, { process, ...(sessionId !== undefined && { sessionId }) });
    const said = await running.ended;
    // The client may notice the limit of cost first.
    const limit = budget !== undefined && said.reason === "budget" ? "max-cost" : said.endsFor === "limit" && brake;
    const end: SessionEnd = limit
      ? { ...said, kind: "stopped", text: `the run's limit of ${LIMITS[limit] ?? limit} was reached` }
      : said;
    record.live.delete(number);
    await record.endSession(session, end, place);
    if (branchIn(place) !== branch) {
      on({ kind: "note", text: `session ${number} left ${branch} for ${branchIn(place)}: the run goes on there` });
    }
    for (const [tool, times] of denied) {
      if (times > 1) on({ kind: "note", text: `${tool} was not allowed ${times} times in session ${number}` });
    }
    on({ kind: "session-end", number, end });
    return { end, session };
  } finally {
    clearInterval(watch);
    forget();
    record.live.delete(number);
    running.kill();
  }
}

function branchIn({ cwd }: Place): string {
  return currentBranch(cwd) ?? "a detached HEAD";
}

const WATCH_MS = 1_000;
const LIMITS: Partial<Record<StopReason, string>> = {
  "max-cost": "cost",
  "max-tokens": "tokens",
  "max-minutes": "time",
};
const PERMISSIONS = "the client's own options after -- give permissions";

/** What is left of the run's money, for a client that tells its cost only at the end of a turn but can hold a limit itself. */
function budgetOf(
  { limitCost }: StreamedClient,
  { limits: { maxCostUsd }, args }: RunOptions,
  { costUsd = 0 }: Usage,
): readonly string[] | undefined {
  if (!limitCost || maxCostUsd === undefined) return undefined;
  const left = limitCost(Math.max(LEAST_USD, maxCostUsd - costUsd));
  // The user's own limit for each session counts.
  return args.some((word) => word.split("=")[0] === left[0]) ? undefined : left;
}

const LEAST_USD = 0.01;
