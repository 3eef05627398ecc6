/** The names under which a run holds its tasks, and how it holds on to them. */
import type { RunSession, RunTask } from "../store/run-store.ts";
import type { RunParts } from "./run-parts.ts";

export function agentOf(runId: string): string {
  return `run-${runId.toLowerCase()}`;
}

export function isOfAnyRun(agent: string): boolean {
  return agent.startsWith("run-");
}

/** Whether the agent belongs to the run: its own, a worktree's, or a sub-agent of those. */
export function isOfRun(agent: string, runId: string): boolean {
  const own = agentOf(runId);
  return agent.startsWith(own) && !/^[a-z0-9]/i.test(agent.slice(own.length));
}

/** Claims again, for their run and its session, the tasks that nobody holds. */
export async function holdLapsed(
  tasks: readonly RunTask[],
  sessions: readonly RunSession[],
  { work: workOf, now }: Pick<RunParts, "work" | "now">,
): Promise<void> {
  for (const task of tasks) {
    if (task.state !== "claimed") continue;
    const { taskId } = task;
    const open = sessions.findLast(({ endedAt, taskIds }) => !endedAt && taskIds.includes(taskId));
    const sessionId = open?.purpose === "batch" ? open.sessionId : undefined;
    const work = workOf({
      ...{ name: holderOf(task), isNamed: true, at: now() },
      ...(sessionId !== undefined && { sessionId }),
    });
    const { status, claim } = await work.store.getTask(taskId, work.by.at);
    if (status !== "todo" || claim) continue;
    await work.store.claim({ taskId, leaseMs: work.settings.leaseMs }, work.by);
  }
}

/** The agent in whose name the run holds the task: the run's own, or that of the task's worktree. */
export function holderOf({ runId, taskId, worktree }: RunTask): string {
  return worktree === undefined ? agentOf(runId) : `${agentOf(runId)}-${taskId.toLowerCase()}`;
}
