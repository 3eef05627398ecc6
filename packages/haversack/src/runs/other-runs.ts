/** What a run does for other runs of this project: it frees the tasks of dead runs, and renews the expired leases of living ones. */
import { releaseTask } from "../engine/work/claims.ts";
import type { Run } from "../store/run-store.ts";
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
    await freeTasks(run, "its run was ended", parts);
    await parts.runs.updateRun(run.id, { state: "interrupted" });
  }
}

async function freeTasks(run: Run, reason: string, { work: workOf, now }: Pick<RunParts, "work" | "now">) {
  const work = workOf({ name: agentOf(run.id), isNamed: true, isPerson: true, at: now() });
  for (const { taskId, agent } of await work.store.listClaims({ at: work.by.at })) {
    if (isOfRun(agent, run.id)) await releaseTask({ taskId, reason }, work);
  }
}

/** Heartbeats come every 30 seconds, and so do looks. */
const VANISHED_LOOKS = 20;
const SAME_MS = 10_000;

/**
 * Frees the tasks of runs on other machines that give no sign of life for ten minutes: their leases are longer. Counts looks that found the
 * store, not time. While the server is away, nobody's heartbeats arrive, and that must not look like many vanished machines at its return.
 */
export class OtherMachines {
  readonly #silent = new Map<string, { seenAt: number; looks: number }>();

  /** Called with each heartbeat of this run. */
  async look(ownId: string, parts: Pick<RunParts, "runs" | "work" | "isAlive" | "now">): Promise<void> {
    for (const run of await parts.runs.listRuns({ limit: RECENT_RUNS })) {
      // Also a run of this machine that was killed: the next run here frees its tasks at once, but there may be none.
      if (run.id === ownId || run.state !== "running" || parts.isAlive(run.process) === true) continue;
      const seenAt = run.seenAt.getTime();
      const before = this.#silent.get(run.id);
      // A shared store gives this time by our clock, which is not exact to the millisecond.
      const isSame = before !== undefined && Math.abs(seenAt - before.seenAt) < SAME_MS;
      const looks = isSame ? before.looks + 1 : 0;
      this.#silent.set(run.id, { seenAt: isSame ? before.seenAt : seenAt, looks });
      if (looks >= VANISHED_LOOKS) await freeTasks(run, `${run.machine} has sent no heartbeat for 10 minutes`, parts);
    }
  }
}

/**
 * Renews the claims of living runs whose leases expired because the machine slept or its clock was set forward: leases use the wall
 * clock. Otherwise the first process to look would take the tasks and do them a second time. Such a run's last heartbeat is older than a
 * lease.
 */
export async function holdForOthers(ownId: string, parts: RunParts): Promise<void> {
  for (const run of await parts.runs.listRuns({ limit: RECENT_RUNS })) {
    if (run.id === ownId || run.state !== "running" || parts.isAlive(run.process) !== true) continue;
    const work = parts.work({ name: agentOf(run.id), at: parts.now() });
    if (work.by.at.getTime() - run.seenAt.getTime() < work.settings.leaseMs) continue;
    await holdLapsed(await parts.runs.listTasks(run.id), await parts.runs.listSessions(run.id), parts);
  }
}
