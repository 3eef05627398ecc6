import type { Call, CommandSpec, ExitCode } from "../command.ts";
import { runStatus, STATUS_JSON, STATUS_OPTIONS, TASKS } from "../task-status.ts";

export const spec: CommandSpec = {
  about:
    "Marks tasks as done: tasks that wait for them become ready, and their claims end. Reports a story or epic that this completes.",
  arguments: [TASKS],
  options: STATUS_OPTIONS,
  examples: [
    { run: "haversack task done T4829 --notes 'merged as 4f2a91c'", says: "with a note" },
    { run: "haversack task done T4829 T7713", says: "several at once" },
  ],
  json: STATUS_JSON,
};

export function run(call: Call): Promise<ExitCode> {
  return runStatus(call, "done");
}
