import { removeDependency } from "../../engine/work/dependencies.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { TASK } from "../task-status.ts";
import { refuse, withWork } from "../work.ts";
import { AGENT } from "../work-options.ts";

export const spec: CommandSpec = {
  about: "Takes a dependency out: the task no longer waits for the other one. Exit 1 when there was none.",
  arguments: [TASK, { name: "DEPENDS_ON", about: "the task it waited for", required: true }],
  options: { agent: AGENT },
  examples: [{ run: "haversack dep rm T4829 T1207", says: "T4829 no longer waits for T1207" }],
  json: "{id, depends_on}.",
};

export function run(call: Call): Promise<ExitCode> {
  return withWork(call, async (work) => {
    const [taskId = "", dependsOnId = ""] = call.arguments;
    const { removed } = await removeDependency({ taskId, dependsOnId }, work);
    const { id } = await work.store.findId(taskId);
    const { id: other } = await work.store.findId(dependsOnId);
    if (!removed)
      return refuse(call, {
        text: `${id} does not depend on ${other}; \`haversack dep list ${id}\` shows what it has`,
      });
    print(call, { id, depends_on: other }, () => `${id} no longer depends on ${other}.`);
    return 0;
  });
}
