/** A run as it is seen from here: its process may be gone, no matter what its row says. */
import { processSpace } from "../base/process-space.ts";
import { isAlive } from "../engine/events/event-project.ts";
import { isOfRun } from "../runs/run-agents.ts";
import { isRunAlive } from "../runs/run-record.ts";
import type { Run, RunProcess, RunStore } from "../store/run-store.ts";
import type { Claim } from "../work/task.ts";

/** `remedy`: the command that goes on with it. */
export type SeenRun = Run & { remedy?: string };

/** A run whose process is gone was interrupted. */
export function asSeen(run: Run, now: Date): SeenRun {
  const isGone =
    run.state === "interrupted" || (run.state === "running" && !isRunAlive(run, { isAlive: isProcessAlive, now }));
  if (!isGone) return run;
  return { ...run, state: "interrupted", remedy: continueCommand(run) };
}

export function continueCommand({ scope }: Pick<Run, "scope">): string {
  return `haversack work ${scope.kind === "all" ? "--all" : `--${scope.kind} ${scope.id}`} --continue`;
}

export function isProcessAlive({ id, space, start: startedAt }: RunProcess): boolean | undefined {
  return space === processSpace() ? isAlive(id, startedAt) : undefined;
}

const RECENT_RUNS = 50;

/** The runs that hold one of these claims. */
export async function holdingRuns(
  claims: readonly Pick<Claim, "agent">[],
  { runs, now }: { runs: Pick<RunStore, "listRuns">; now: Date },
): Promise<SeenRun[]> {
  if (!claims.some(({ agent }) => agent.startsWith("run-"))) return [];
  const recent = await runs.listRuns({ limit: RECENT_RUNS });
  return recent.filter(({ id }) => claims.some(({ agent }) => isOfRun(agent, id))).map((run) => asSeen(run, now));
}
