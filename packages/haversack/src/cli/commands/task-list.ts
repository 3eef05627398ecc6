import { listTasks } from "../../engine/work/tasks.ts";
import type { Call, CommandSpec, ExitCode } from "../command.ts";
import { taskRow } from "../print-task.ts";
import { printList } from "../print-work.ts";
import { inputOf, isNarrowed, LIST_INPUT, readWork } from "../work.ts";
import { EPIC, FIELDS, listOptions, PRIORITY, STORY, TASK_STATUS, TASK_TYPE } from "../work-options.ts";

export const spec: CommandSpec = {
  about:
    "Lists tasks: in progress first, then review, blocked, todo in the queue's order, done newest first. Archived ones only with --status archived.",
  options: {
    status: TASK_STATUS,
    epic: EPIC,
    story: STORY,
    parent: { type: "string", value: "ID", about: "Only parts of this task." },
    priority: { ...PRIORITY, about: "Only this priority, of the task itself." },
    type: { ...TASK_TYPE, about: "Only this type." },
    assignee: { type: "string", value: "NAME", about: "Only those assigned to this name." },
    wip: { type: "boolean", about: "Only those with work in progress." },
    plan: { type: "string", value: "FILE", about: "Only those of this plan." },
    ...listOptions(50),
    fields: FIELDS,
  },
  examples: [
    { run: "haversack task list --status todo --limit 10", says: "the first ten that are to do" },
    { run: "haversack task list --epic E4829 --json --fields standard", says: "those of an epic, for a script" },
  ],
  json: "[{id, title, status}]; --fields standard and full add more. What was left out is said on standard error.",
};

export function run(call: Call): Promise<ExitCode> {
  return readWork(call, async (work) => {
    const input = inputOf<Parameters<typeof listTasks>[0]>(call, {
      status: "status",
      priority: "priority",
      type: "type",
      assignee: "assignee",
      parentId: "parent",
      hasWip: "wip",
      planFile: "plan",
      epicId: "epic",
      storyId: "story",
      ...LIST_INPUT,
    });
    const listed = await listTasks(input, work);
    const claims = call.json ? [] : await work.store.listClaims({ at: work.by.at });
    const holders = new Map(claims.map((claim) => [claim.taskId, claim]));
    printList(call, {
      command: "task list",
      nouns: ["task", "tasks"],
      listed,
      row: (task) => taskRow(task, holders.get(task.id)),
      none: isNarrowed(call) ? "No task is like that." : 'No tasks yet; `haversack task create "TITLE"` makes one.',
    });
    return 0;
  });
}
