import type { Call, CommandSpec, ExitCode } from "../command.ts";
import { runStatus, STATUS_JSON, STATUS_OPTIONS, TASKS } from "../task-status.ts";

export const spec: CommandSpec = {
  about:
    "Takes tasks out of the queue and the counts; other tasks no longer wait for them. `task reopen` brings them back.",
  arguments: [TASKS],
  options: STATUS_OPTIONS,
  examples: [{ run: "haversack task archive T4829", says: "not to be done after all" }],
  json: STATUS_JSON,
};

export function run(call: Call): Promise<ExitCode> {
  return runStatus(call, "archived");
}
