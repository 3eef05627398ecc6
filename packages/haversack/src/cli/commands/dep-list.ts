import { cleanLine } from "../../base/clean-text.ts";
import { listDependencies } from "../../engine/work/dependencies.ts";
import type { DependencyList } from "../../store/work-store.ts";
import { type Call, type CommandSpec, type ExitCode, type Io, print } from "../command.ts";
import { statusCell, table } from "../print-work.ts";
import { TASK } from "../task-status.ts";
import { withWork } from "../work.ts";

export const spec: CommandSpec = {
  about: "Lists what a task depends on, and which tasks depend on it.",
  arguments: [TASK],
  examples: [{ run: "haversack dep list T48", says: "both directions" }],
  json: "{id, depends_on?: [{id, title, status, type}], needed_by?: [{id, title, status, type}]}.",
};

export function run(call: Call): Promise<ExitCode> {
  return withWork(call, async (work) => {
    const [taskId = ""] = call.arguments;
    const { dependsOn, neededBy, view } = await listDependencies({ taskId }, work);
    const { id } = await work.store.findId(taskId);
    print(call, { id, ...view }, () => {
      if (dependsOn.length + neededBy.length === 0) return `${id} depends on nothing, and nothing on it.`;
      return [...part(call.io, `${id} depends on`, dependsOn), ...part(call.io, `${id} is needed by`, neededBy)].join(
        "\n",
      );
    });
    return 0;
  });
}

function part(io: Io, heading: string, tasks: DependencyList["dependsOn"]): string[] {
  if (tasks.length === 0) return [];
  const rows = tasks.map(({ id, status, type, title }) => [
    { text: `  ${id}` },
    statusCell(status),
    { text: type, style: "dim" as const },
    { text: cleanLine(title) },
  ]);
  return [heading, ...table(io, rows)];
}
