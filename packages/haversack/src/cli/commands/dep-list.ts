import { cleanLine } from "../../base/clean-text.ts";
import { listDependencies } from "../../engine/work/dependencies.ts";
import type { DependencyList } from "../../store/work-store.ts";
import { type Call, type CommandSpec, type ExitCode, type Io, print } from "../command.ts";
import { commandLine, statusCell, table } from "../print-work.ts";
import { TASK } from "../task-status.ts";
import { inputOf, readWork } from "../work.ts";
import { listOptions } from "../work-options.ts";

const { limit, "max-tokens": maxTokens } = listOptions(50);

export const spec: CommandSpec = {
  about: "Lists the tasks that a task depends on, the tasks that need it, and related tasks.",
  arguments: [TASK],
  options: { limit: { ...limit, about: "Show at most N of each kind (default 50)." }, "max-tokens": maxTokens },
  examples: [{ run: "haversack dep list T4829", says: "all three kinds" }],
  json: "{id, depends_on?: [{id, title, status, type}], needed_by?: [{id, title, status, type}], related_to?: [{id, title, status, type}]}. What was left out is reported on standard error.",
};

export function run(call: Call): Promise<ExitCode> {
  return readWork(call, async (work) => {
    const [taskId = ""] = call.arguments;
    const input = inputOf<Parameters<typeof listDependencies>[0]>(call, { limit: "limit", maxTokens: "max-tokens" });
    const { dependsOn, neededBy, relatedTo, view, leftOut } = await listDependencies({ ...input, taskId }, work);
    const { id } = await work.store.findId(taskId);
    const missing = Object.values(leftOut).reduce((sum, count) => sum + count, 0);
    print(call, { id, ...view }, () => {
      if (dependsOn.length + neededBy.length + relatedTo.length + missing === 0)
        return `${id} depends on nothing, and nothing on it.`;
      return [
        ...part(call.io, `${id} depends on`, dependsOn),
        ...part(call.io, `${id} is needed by`, neededBy),
        ...part(call.io, `${id} is related to`, relatedTo),
      ].join("\n");
    });
    if (missing > 0) {
      const shown = Math.max(
        dependsOn.length + (leftOut.depends_on ?? 0),
        neededBy.length + (leftOut.needed_by ?? 0),
        relatedTo.length + (leftOut.related_to ?? 0),
      );
      const more = commandLine("dep list", call, { limit: shown, "max-tokens": undefined });
      const line = `${missing} left out; \`${more}\` shows all`;
      if (call.json) call.io.err(`haversack: ${line}\n`);
      else call.io.out(`\n${line}.\n`);
    }
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
