import { restoreHandoffs } from "../../engine/work/handoffs.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { withWork } from "../work.ts";
import { AGENT } from "../work-options.ts";

export const spec: CommandSpec = {
  about: "Brings handoffs back out of the archive: one, or all of a task, a story or an epic.",
  arguments: [{ name: "ID", about: "a handoff, task, story or epic", required: true }],
  options: { agent: AGENT },
  examples: [{ run: "haversack restore S4829", says: "all handoffs of a story" }],
  json: "{id, restored}: how many.",
};

export function run(call: Call): Promise<ExitCode> {
  return withWork(call, async (work) => {
    const { id } = await work.store.findId(call.arguments[0] ?? "");
    const { restored } = await restoreHandoffs({ id }, work);
    print(call, { id, restored }, () => {
      if (restored === 0) return `Nothing of ${id} is in the archive.`;
      return `${restored} ${restored === 1 ? "handoff" : "handoffs"} of ${id} ${restored === 1 ? "is" : "are"} whole again.`;
    });
    return 0;
  });
}
