/** What a run does for the others of this project: it frees the tasks of dead ones, and holds those of living ones whose leases expired. */
import { releaseTask } from "../engine/work/claims.ts";
import { agentOf, holdLapsed, isOfRun } from "./run-agents.ts";
import type { RunParts } from "./run-parts.ts";
import { endLeftovers } from "./run-record.ts";

const RECENT_RUNS = 50;

/** For runs of this machine whose process is gone: frees their tasks and ends the processes they left running. */
export async function freeDeadRuns(
  parts: Pick<RunParts, "runs" | "work" | "isAlive" | "now" | "project">,
  { except }: { except?: string | undefined },
): Promise<void> {
  for (const run of await parts.runs.listRuns({ limit: RECENT_RUNS })) {
    if (run.id === except || run.state !== "running" || parts.isAlive(run.process) !== false) continue;
    endLeftovers(run, await parts.runs.listSessions(run.id), parts);
    const work = parts.work({ name: agentOf(run.id), isNamed: true, isPerson: true, at: parts.now() });
    for (const { taskId, agent } of await work.store.listClaims({ at: work.by.at })) {
      if (isOfRun(agent, run.id)) await releaseTask({ taskId, reason: "its run was ended" }, work);
    }
    await parts.runs.updateRun(run.id, { state: "interrupted" });
  }
}

/**
 * Leases are counted by the wall clock. When the machine slept, or its clock was set forward, they may have expired although their run
 * lives: whoever looks first would take its tasks and do them a second time. Such a run sent its last heartbeat longer ago than a lease.
 */
export async function holdForOthers(ownId: string, parts: RunParts): Promise<void> {
  for (const run of await parts.runs.listRuns({ limit: RECENT_RUNS })) {
    if (run.id === ownId || run.state !== "running" || parts.isAlive(run.process) !== true) continue;
    const work = parts.work({ name: agentOf(run.id), at: parts.now() });
    if (work.by.at.getTime() - run.seenAt.getTime() < work.settings.leaseMs) continue;
    await holdLapsed(await parts.runs.listTasks(run.id), await parts.runs.listSessions(run.id), parts);
  }
}
