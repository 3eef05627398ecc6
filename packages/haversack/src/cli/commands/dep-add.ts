import { addDependency } from "../../engine/work/dependencies.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { TASK } from "../task-status.ts";
import { inputOf, refuse, withWork } from "../work.ts";
import { AGENT, DEPENDENCY_TYPE } from "../work-options.ts";

export const spec: CommandSpec = {
  about: "Makes a task wait for another one. What would close a circle is refused, and the circle is shown.",
  arguments: [TASK, { name: "DEPENDS_ON", about: "the task that must be done first", required: true }],
  options: { type: DEPENDENCY_TYPE, agent: AGENT },
  examples: [
    { run: "haversack dep add T4829 T1207", says: "T4829 waits for T1207" },
    { run: "haversack dep add T4829 T1207 --type relates_to", says: "only tells that they belong together" },
  ],
  json: "{id, depends_on, type, note?}: the note says that the task no longer waits, when that is so.",
};

export function run(call: Call): Promise<ExitCode> {
  return withWork(call, async (work) => {
    const [taskId = "", dependsOnId = ""] = call.arguments;
    const input = inputOf<Parameters<typeof addDependency>[0]>(call, { type: "type" });
    const outcome = await addDependency({ taskId, dependsOnId, ...input }, work);
    if (outcome.kind === "refused") return refuse(call, outcome);
    const { dependency, kind, weakened } = outcome;
    const { taskId: id, dependsOnId: depends_on, type } = dependency;
    print(call, { id, depends_on, type, ...(weakened && { note: weakened }) }, () => {
      if (weakened) return `${weakened}.`;
      const verb = dependency.type === "relates_to" ? "relates to" : "waits for";
      return `${dependency.taskId} ${verb} ${dependency.dependsOnId}${kind === "unchanged" ? " already" : ""}.`;
    });
    return 0;
  });
}
