/** A run as seen from this machine: its process may be gone, whatever its row says. */
import { hostname } from "node:os";
import { processSpace } from "../base/process-space.ts";
import { isAlive } from "../engine/events/event-project.ts";
import type { Environment } from "../engine/project.ts";
import { isOfAnyRun, isOfRun } from "../runs/run-agents.ts";
import { isRunAlive } from "../runs/run-record.ts";
import type { Run, RunProcess, RunStore } from "../store/run-store.ts";
import type { Claim } from "../work/task.ts";

/** `remedy`: the command that continues it. isSilent: it is on another machine that sends no heartbeats. */
export type SeenRun = Run & { remedy?: string; isSilent?: boolean };

/** A run whose process is gone was interrupted. */
export function asSeen(run: Run, now: Date): SeenRun {
  const isGone =
    run.state === "interrupted" || (run.state === "running" && !isRunAlive(run, { isAlive: isProcessAlive, now }));
  if (!isGone) return run;
  const isSilent = run.state === "running" && isProcessAlive(run.process) === undefined;
  return { ...run, state: "interrupted", remedy: continueCommand(run), ...(isSilent && { isSilent }) };
}

export function continueCommand({ scope }: Pick<Run, "scope">): string {
  return `haversack work ${scope.kind === "all" ? "--all" : `--${scope.kind} ${scope.id}`} --continue`;
}

export function isProcessAlive({ id, space, start: startedAt }: RunProcess): boolean | undefined {
  return space === runSpace() ? isAlive(id, startedAt) : undefined;
}

/** The space in which process IDs are unique. On systems without a name for it (macOS), the machine's name. */
export function runSpace(): string {
  return processSpace() || hostname();
}

/** The name of this machine in run records. Containers may set it, because their host names change. */
export function machineName(env: Environment): string {
  return env["HAVERSACK_MACHINE"] || hostname();
}

/** A run as shown in lists. */
export function viewRun(run: SeenRun) {
  const { id, state, scope, client, machine, startedAt, seenAt, endedAt, stopped, report, remedy } = run;
  return {
    ...{ id, state, client, machine },
    scope: scope.kind === "all" ? "all" : scope.id,
    started_at: startedAt,
    seen_at: seenAt,
    ...(endedAt && { ended_at: endedAt }),
    ...(stopped !== undefined && { stopped }),
    ...(report !== undefined && { report }),
    ...(remedy !== undefined && { remedy }),
  };
}

export type RunSummary = Awaited<ReturnType<typeof summarizeRun>>;

/** A run with its totals, for the board and `haversack top`. */
export async function summarizeRun(run: Run, { store, now }: { store: RunStore; now: Date }) {
  const sessions = await store.listSessions(run.id);
  const tasks = await store.listTasks(run.id);
  const last = sessions.at(-1);
  const sum = (pick: (session: (typeof sessions)[number]) => number | undefined) =>
    sessions.reduce((total, session) => total + (pick(session) ?? 0), 0);
  return {
    ...viewRun(asSeen(run, now)),
    batch_size: run.batchSize,
    sessions: sessions.length,
    tokens: sum(({ inputTokens = 0, outputTokens = 0 }) => inputTokens + outputTokens),
    cost_usd: sum(({ costUsd }) => costUsd),
    ...(last?.usedTokens && last.windowTokens && { fill: last.usedTokens / last.windowTokens }),
    tasks: tasks.map(({ taskId, title, state }) => ({ id: taskId, title, state })),
  };
}

const RECENT_RUNS = 50;

/** The runs that hold one of these claims. */
export async function holdingRuns(
  claims: readonly Pick<Claim, "agent">[],
  { runs, now }: { runs: Pick<RunStore, "listRuns">; now: Date },
): Promise<SeenRun[]> {
  if (!claims.some(({ agent }) => isOfAnyRun(agent))) return [];
  const recent = await runs.listRuns({ limit: RECENT_RUNS });
  return recent.filter(({ id }) => claims.some(({ agent }) => isOfRun(agent, id))).map((run) => asSeen(run, now));
}
