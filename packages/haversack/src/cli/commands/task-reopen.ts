import type { Call, CommandSpec, ExitCode } from "../command.ts";
import { runStatus, STATUS_JSON, STATUS_OPTIONS, TASKS } from "../task-status.ts";

export const spec: CommandSpec = {
  about: "Puts tasks that are done, archived, in review or in progress back into the queue.",
  arguments: [TASKS],
  options: STATUS_OPTIONS,
  examples: [{ run: "haversack task reopen T4829 --notes 'breaks on Safari'", says: "back to the queue" }],
  json: STATUS_JSON,
};

export function run(call: Call): Promise<ExitCode> {
  return runStatus(call, "todo");
}
