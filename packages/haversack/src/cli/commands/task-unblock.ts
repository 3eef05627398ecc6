import { resolveBlockers } from "../../engine/work/blockers.ts";
import type { Call, CommandSpec, ExitCode } from "../command.ts";
import { printStatus, STATUS_JSON, STATUS_OPTIONS, TASK } from "../task-status.ts";
import { readText, withWork } from "../work.ts";

export const spec: CommandSpec = {
  about: "Settles every open reason for which a task is blocked; it goes back into the queue.",
  arguments: [TASK],
  options: STATUS_OPTIONS,
  examples: [{ run: "haversack task unblock T4829 --notes 'access granted'", says: "back to the queue" }],
  json: STATUS_JSON,
};

export function run(call: Call): Promise<ExitCode> {
  return withWork(call, async (work) => {
    const [taskId = ""] = call.arguments;
    const notes = await readText(call, call.options["notes"] as string | undefined);
    return printStatus(call, await resolveBlockers({ taskId, ...(notes !== undefined && { notes }) }, work), work);
  });
}
