import { cleanLine } from "../../base/clean-text.ts";
import { setBlocker } from "../../engine/work/blockers.ts";
import type { Call, CommandSpec, ExitCode } from "../command.ts";
import { printStatus, STATUS_JSON, TASK } from "../task-status.ts";
import { readText, withWork } from "../work.ts";
import { AGENT } from "../work-options.ts";

export const spec: CommandSpec = {
  about:
    "Marks a task as blocked by something that is no task, and keeps the reason; of one that is blocked already it is one more. For tasks that wait for tasks there is `dep add`.",
  arguments: [
    TASK,
    { name: "REASON", about: "what stands in the way; - reads it from standard input", required: true },
  ],
  options: { agent: AGENT },
  examples: [{ run: "haversack task block T4829 'no access to the test server'", says: "until somebody unblocks it" }],
  json: STATUS_JSON,
};

export function run(call: Call): Promise<ExitCode> {
  return withWork(call, async (work) => {
    const [taskId = "", given = ""] = call.arguments;
    const reason = (await readText(call, given)) ?? "";
    const outcome = await setBlocker({ taskId, reason }, work);
    if (outcome.kind === "refused" || outcome.from !== "blocked" || call.json) return printStatus(call, outcome, work);
    const { task } = outcome;
    const open = (await work.store.listBlockers(task.id)).filter(({ resolvedAt }) => !resolvedAt);
    call.io.out(`${task.id} is blocked by one more reason, ${open.length} in all: ${cleanLine(task.title)}\n`);
    return 0;
  });
}
