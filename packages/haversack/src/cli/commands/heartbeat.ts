import { heartbeat } from "../../engine/work/claims.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { formatClaim } from "../print-work.ts";
import { refuse, withWork } from "../work.ts";
import { AGENT, LEASE } from "../work-options.ts";

export const spec: CommandSpec = {
  about:
    "A sign of life: prolongs the claim on a task, or all claims of the agent. Exit 1 when the claim is lost: then stop working on it. Sessions that hooks see need none.",
  arguments: [
    {
      name: "TASK",
      about: "task ID or a unique prefix (3+ digits); default: all tasks that the agent holds",
    },
  ],
  options: { agent: AGENT, lease: LEASE },
  examples: [{ run: "haversack heartbeat --agent alice", says: "all of alice's claims" }],
  json: "[{id, lease_until}].",
};

export function run(call: Call): Promise<ExitCode> {
  return withWork(call, async (work) => {
    const [taskId] = call.arguments;
    const outcome = await heartbeat(taskId === undefined ? {} : { taskId }, work);
    if (outcome.kind !== "prolonged") return refuse(call, outcome);
    print(call, outcome.views, () =>
      outcome.claims.map((claim) => `${claim.taskId}: ${formatClaim(claim, work.by.at)}`).join("\n"),
    );
    return 0;
  });
}
