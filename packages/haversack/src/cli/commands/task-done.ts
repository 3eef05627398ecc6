import type { Call, CommandSpec, ExitCode } from "../command.ts";
import { runStatus, STATUS_JSON, STATUS_OPTIONS, TASK } from "../task-status.ts";

export const spec: CommandSpec = {
  about:
    "Marks a task as done: whoever waited for it may go on, and its claim ends. Says so when that completes its story or epic.",
  arguments: [TASK],
  options: STATUS_OPTIONS,
  examples: [{ run: "haversack task done T4829 --notes 'merged as 4f2a91c'", says: "with a note" }],
  json: STATUS_JSON,
};

export function run(call: Call): Promise<ExitCode> {
  return runStatus(call, "done");
}
