import { cleanLine } from "../../base/clean-text.ts";
import { releaseTask } from "../../engine/work/claims.ts";
import type { Call, CommandSpec, ExitCode } from "../command.ts";
import { eachTask, several, TASKS } from "../task-status.ts";
import { inputOf, withWork } from "../work.ts";
import { AGENT } from "../work-options.ts";

export const spec: CommandSpec = {
  about: "Gives claimed tasks back to the queue, with their work in progress. Exit 1 if one is not yours.",
  arguments: [TASKS],
  options: {
    reason: { type: "string", value: "TEXT", about: "Why; whoever takes it next is told." },
    agent: AGENT,
  },
  examples: [{ run: "haversack release T4829 --agent alice --reason 'needs a database'", says: "for somebody else" }],
  json: several("{id, status}"),
};

export function run(call: Call): Promise<ExitCode> {
  return withWork(call, async (work) => {
    const input = inputOf<Parameters<typeof releaseTask>[0]>(call, { reason: "reason" });
    return eachTask(call, call.arguments, async (taskId) => {
      const outcome = await releaseTask({ ...input, taskId }, work);
      if (outcome.kind === "refused") return outcome;
      const { id, status, title } = outcome.task;
      return { kind: "done", view: { id, status }, text: `${id} is back in the queue: ${cleanLine(title)}` };
    });
  });
}
