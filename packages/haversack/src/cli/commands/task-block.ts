import { setBlocker } from "../../engine/work/blockers.ts";
import type { Call, CommandSpec, ExitCode } from "../command.ts";
import { printStatus, STATUS_JSON, TASK } from "../task-status.ts";
import { readText, withWork } from "../work.ts";
import { AGENT } from "../work-options.ts";

export const spec: CommandSpec = {
  about:
    "Marks a task as blocked by something that is no task, and keeps the reason. For tasks that wait for tasks there is `dep add`.",
  arguments: [
    TASK,
    { name: "REASON", about: "what stands in the way; - reads it from standard input", required: true },
  ],
  options: { agent: AGENT },
  examples: [{ run: "haversack task block T48 'no access to the test server'", says: "until somebody unblocks it" }],
  json: STATUS_JSON,
};

export function run(call: Call): Promise<ExitCode> {
  return withWork(call, async (work) => {
    const [taskId = "", given = ""] = call.arguments;
    const reason = (await readText(call, given)) ?? "";
    return printStatus(call, await setBlocker({ taskId, reason }, work), work);
  });
}
