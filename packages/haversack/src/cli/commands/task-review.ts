import type { Call, CommandSpec, ExitCode } from "../command.ts";
import { runStatus, STATUS_JSON, STATUS_OPTIONS, TASKS } from "../task-status.ts";

export const spec: CommandSpec = {
  about: "Marks tasks as ready for review: the work is finished, and there is no verdict yet.",
  arguments: [TASKS],
  options: STATUS_OPTIONS,
  examples: [{ run: "haversack task review T4829", says: "hands it to a reviewer" }],
  json: STATUS_JSON,
};

export function run(call: Call): Promise<ExitCode> {
  return runStatus(call, "review");
}
