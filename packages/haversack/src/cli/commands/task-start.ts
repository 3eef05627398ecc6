import { CLAIM_JSON, CLAIM_OPTIONS, runClaim } from "../claim.ts";
import type { Call, CommandSpec, ExitCode } from "../command.ts";
import { TASK } from "../task-status.ts";

export const spec: CommandSpec = {
  about:
    "Starts a task: claims it, so that nobody else works on it. The first wins; the others are told who has it, exit 1. The claim ends with the task, with `release`, or when no sign of life came for the time of its lease.",
  arguments: [TASK],
  options: CLAIM_OPTIONS,
  examples: [
    { run: "haversack task start T4829 --agent alice", says: "for alice" },
    { run: "haversack task start T4829 --steal 'bob is gone'", says: "take it over" },
  ],
  json: CLAIM_JSON,
};

export function run(call: Call): Promise<ExitCode> {
  return runClaim(call, { taskId: call.arguments[0] ?? "" });
}
