import { CLAIM_JSON, CLAIM_OPTIONS, runClaim } from "../claim.ts";
import type { Call, CommandSpec, ExitCode } from "../command.ts";
import { TASKS } from "../task-status.ts";
import { EPIC, STORY } from "../work-options.ts";

export const spec: CommandSpec = {
  about:
    "Claims tasks for an agent: those named, or the next one that is ready. The first agent to claim a task gets it, from whatever process or machine. Exit 1 if nothing is ready or another agent has it.",
  arguments: [{ ...TASKS, about: `${TASKS.about} (default: the next that is ready)`, required: false }],
  options: { ...CLAIM_OPTIONS, epic: EPIC, story: STORY },
  examples: [
    { run: "haversack claim --agent alice", says: "the next one for alice" },
    { run: "haversack claim T4829 --agent alice --lease 30", says: "this one, for half an hour" },
  ],
  json: CLAIM_JSON,
};

export function run(call: Call): Promise<ExitCode> {
  const { epic, story } = call.options as { epic?: string; story?: string };
  return runClaim(call, call.arguments, {
    ...(epic !== undefined && { epicId: epic }),
    ...(story !== undefined && { storyId: story }),
  });
}
