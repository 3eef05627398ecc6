import { CLAIM_JSON, CLAIM_OPTIONS, runClaim } from "../claim.ts";
import type { Call, CommandSpec, ExitCode } from "../command.ts";
import { EPIC, STORY } from "../work-options.ts";

export const spec: CommandSpec = {
  about:
    "Claims a task for an agent: the one named, else the next that is ready. The first wins, whatever process or machine asks. Exit 1 when nothing is ready or somebody has it.",
  arguments: [
    {
      name: "TASK",
      about: "task ID or a unique prefix (3+ digits); default: the next ready task",
    },
  ],
  options: { ...CLAIM_OPTIONS, epic: EPIC, story: STORY },
  examples: [
    { run: "haversack claim --agent alice", says: "the next one for alice" },
    { run: "haversack claim T4829 --agent alice --lease 30", says: "this one, for half an hour" },
  ],
  json: CLAIM_JSON,
};

export function run(call: Call): Promise<ExitCode> {
  const [taskId] = call.arguments;
  const { epic, story } = call.options as { epic?: string; story?: string };
  return runClaim(call, {
    ...(taskId !== undefined && { taskId }),
    ...(epic !== undefined && { epicId: epic }),
    ...(story !== undefined && { storyId: story }),
  });
}
