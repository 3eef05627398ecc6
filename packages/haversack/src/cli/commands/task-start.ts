import type { Call, CommandSpec, ExitCode } from "../command.ts";
import { TASKS } from "../task-status.ts";
import { CLAIM_JSON, CLAIM_OPTIONS, runClaim } from "./claim.ts";

export const spec: CommandSpec = {
  about:
    "Starts tasks: claims them, so that nobody else works on them. The first agent to claim a task gets it; others are told who has it (exit 1). A claim ends with the task, with `release`, or when its lease runs out without a sign of life.",
  arguments: [TASKS],
  options: CLAIM_OPTIONS,
  examples: [
    { run: "haversack task start T4829 --agent alice", says: "for alice" },
    { run: "haversack task start T4829 --steal 'bob is gone'", says: "take it over" },
  ],
  json: CLAIM_JSON,
};

export function run(call: Call): Promise<ExitCode> {
  return runClaim(call, call.arguments);
}
