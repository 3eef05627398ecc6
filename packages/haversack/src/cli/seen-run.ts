/** A run as it is seen from here: its process may be gone, no matter what its row says. */
import { hostname } from "node:os";
import { processSpace } from "../base/process-space.ts";
import { isAlive } from "../engine/events/event-project.ts";
import type { Environment } from "../engine/project.ts";
import { isOfAnyRun, isOfRun } from "../runs/run-agents.ts";
import { isRunAlive } from "../runs/run-record.ts";
import type { Run, RunProcess, RunScope, RunStore } from "../store/run-store.ts";
import type { Claim } from "../work/task.ts";

/** `remedy`: the command that goes on with it. */
export type SeenRun = Run & { remedy?: string };

/** A run whose process is gone was interrupted. */
export function asSeen(run: Run, now: Date): SeenRun {
  const isGone =
    run.state === "interrupted" || (run.state === "running" && !isRunAlive(run, { isAlive: isProcessAlive, now }));
  if (!isGone) return run;
  return { ...run, state: "interrupted", remedy: `haversack work ${scopeWords(run.scope)} --continue` };
}

function scopeWords(scope: RunScope): string {
  return scope.kind === "all" ? "--all" : `--${scope.kind} ${scope.id}`;
}

export function isProcessAlive({ id, space, start: startedAt }: RunProcess): boolean | undefined {
  return space === runSpace() ? isAlive(id, startedAt) : undefined;
}

/** Where a process ID means something. Systems that have no name for that (macOS) are told apart by the machine's. */
export function runSpace(): string {
  return processSpace() || hostname();
}

/** The name of this machine in run records. Containers may give it: their host names change. */
export function machineName(env: Environment): string {
  return env["HAVERSACK_MACHINE"] || hostname();
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
