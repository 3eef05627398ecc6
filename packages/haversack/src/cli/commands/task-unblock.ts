import { resolveBlockers } from "../../engine/work/set-status.ts";
import type { Call, CommandSpec, ExitCode } from "../command.ts";
import { describeStatus, eachTask, STATUS_JSON, STATUS_OPTIONS, TASKS } from "../task-status.ts";
import { readText, withWork } from "../work.ts";

export const spec: CommandSpec = {
  about: "Settles every open reason for which tasks are blocked; they go back into the queue.",
  arguments: [TASKS],
  options: STATUS_OPTIONS,
  examples: [{ run: "haversack task unblock T4829 --notes 'access granted'", says: "back to the queue" }],
  json: STATUS_JSON,
};

export function run(call: Call): Promise<ExitCode> {
  return withWork(call, async (work) => {
    const notes = await readText(call, call.options["notes"] as string | undefined);
    return eachTask(call, call.arguments, async (taskId) =>
      describeStatus(await resolveBlockers({ taskId, ...(notes !== undefined && { notes }) }, work), { call, work }),
    );
  });
}
