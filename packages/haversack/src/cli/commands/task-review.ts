import type { Call, CommandSpec, ExitCode } from "../command.ts";
import { runStatus, STATUS_JSON, STATUS_OPTIONS, TASK } from "../task-status.ts";

export const spec: CommandSpec = {
  about: "Marks a task as ready for review: the work is finished, the verdict is not there yet.",
  arguments: [TASK],
  options: STATUS_OPTIONS,
  examples: [{ run: "haversack task review T4829", says: "hands it to a reviewer" }],
  json: STATUS_JSON,
};

export function run(call: Call): Promise<ExitCode> {
  return runStatus(call, "review");
}
