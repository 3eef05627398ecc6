/** What a task waits for. */
import { cleanLine } from "../../base/clean-text.ts";
import { addDependency, listDependencies, removeDependency } from "../../engine/work/dependencies.ts";
import type { DependencyList } from "../../store/work-store.ts";
import { type Command, type Io, print } from "../command.ts";
import { TASK } from "../each-task.ts";
import { commandLine, statusCell, table } from "../print-work.ts";
import { inputOf, readWork, refuse, withWork } from "../work.ts";
import { AGENT, DEPENDENCY_TYPE, listOptions } from "../work-options.ts";

export const depAdd: Command = {
  spec: {
    about: "Makes a task wait for another one. What would close a circle is refused, and the circle is shown.",
    arguments: [TASK, { name: "DEPENDS_ON", about: "the task that must be done first", required: true }],
    options: { type: DEPENDENCY_TYPE, agent: AGENT },
    examples: [
      { run: "haversack dep add T4829 T1207", says: "T4829 waits for T1207" },
      { run: "haversack dep add T4829 T1207 --type relates_to", says: "only tells that they belong together" },
    ],
    json: "{id, depends_on, type, note?}: the note says that the task no longer waits, when that is so.",
  },
  run(call) {
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
  },
};

export const depRm: Command = {
  spec: {
    about: "Takes a dependency out: the task no longer waits for the other one. Exit 1 when there was none.",
    arguments: [TASK, { name: "DEPENDS_ON", about: "the task it waited for", required: true }],
    options: { agent: AGENT },
    examples: [{ run: "haversack dep rm T4829 T1207", says: "T4829 no longer waits for T1207" }],
    json: "{id, depends_on}.",
  },
  run(call) {
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
  },
};

const { limit, "max-tokens": maxTokens } = listOptions(50);

export const depList: Command = {
  spec: {
    about: "Lists the tasks that a task depends on, the tasks that need it, and related tasks.",
    arguments: [TASK],
    options: { limit: { ...limit, about: "Show at most N of each kind (default 50)." }, "max-tokens": maxTokens },
    examples: [{ run: "haversack dep list T4829", says: "all three kinds" }],
    json: "{id, depends_on?: [{id, title, status, type}], needed_by?: [{id, title, status, type}], related_to?: [{id, title, status, type}]}. What was left out is reported on standard error.",
  },
  run(call) {
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
  },
};

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
