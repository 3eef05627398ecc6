import type { Call, CommandSpec, ExitCode } from "../command.ts";
import { runStatus, STATUS_JSON, STATUS_OPTIONS, TASK } from "../task-status.ts";

export const spec: CommandSpec = {
  about: "Takes a task out of the queue and the counts; nobody waits for it any more. `task reopen` brings it back.",
  arguments: [TASK],
  options: STATUS_OPTIONS,
  examples: [{ run: "haversack task archive T4829", says: "not to be done after all" }],
  json: STATUS_JSON,
};

export function run(call: Call): Promise<ExitCode> {
  return runStatus(call, "archived");
}
