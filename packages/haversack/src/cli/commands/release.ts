import { cleanLine } from "../../base/clean-text.ts";
import { releaseTask } from "../../engine/work/claims.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { TASK } from "../task-status.ts";
import { inputOf, refuse, withWork } from "../work.ts";
import { AGENT } from "../work-options.ts";

export const spec: CommandSpec = {
  about: "Gives a claimed task back to the queue, with its work in progress. Exit 1 when it is not yours.",
  arguments: [TASK],
  options: {
    reason: { type: "string", value: "TEXT", about: "Why; whoever takes it next is told." },
    agent: AGENT,
  },
  examples: [{ run: "haversack release T4829 --agent alice --reason 'needs a database'", says: "for somebody else" }],
  json: "{id, status}.",
};

export function run(call: Call): Promise<ExitCode> {
  return withWork(call, async (work) => {
    const [taskId = ""] = call.arguments;
    const input = inputOf<Parameters<typeof releaseTask>[0]>(call, { reason: "reason" });
    const outcome = await releaseTask({ taskId, ...input }, work);
    if (outcome.kind === "refused") return refuse(call, outcome);
    const { id, status, title } = outcome.task;
    print(call, { id, status }, () => `${id} is back in the queue: ${cleanLine(title)}`);
    return 0;
  });
}
