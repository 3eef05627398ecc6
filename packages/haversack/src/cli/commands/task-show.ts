import { getTask } from "../../engine/work/tasks.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { type Above, formatTask } from "../print-task.ts";
import { TASK } from "../task-status.ts";
import { inputOf, type OpenWork, readWork } from "../work.ts";
import { FIELDS } from "../work-options.ts";

export const spec: CommandSpec = {
  about:
    "Shows a task with what is known around it: who holds it, what it waits for, its sub-tasks, its work in progress.",
  arguments: [TASK],
  options: { fields: { ...FIELDS, about: `${FIELDS.about} Default: standard.` } },
  examples: [
    { run: "haversack task show T4829", says: "for reading" },
    { run: "haversack task show T4829 --json --fields full", says: "everything, for a script" },
  ],
  json: "{id, title, status, description?, acceptance_criteria?, task_type, priority, skill?, files?, steps?, waits_for?, sub_tasks?: [{id, title, status}], blockers?, note?, aliases?, alias_of?}; with --fields full also story_id, epic_id, parent_id, wip, claim, times and the rest; left_out counts tasks around it that are not shown.",
};

export function run(call: Call): Promise<ExitCode> {
  return readWork(call, async (work) => {
    const [taskId = ""] = call.arguments;
    const { task, view, leftOut } = await getTask(
      { taskId, ...inputOf<Parameters<typeof getTask>[0]>(call, { fields: "fields" }) },
      work,
    );
    const above = call.json ? {} : await readAbove(task, work);
    print(call, view, () => formatTask(call.io, task, { ...above, leftOut }, work.by.at));
    return 0;
  });
}

async function readAbove(
  { storyId, epicId, parentId }: { storyId?: string; epicId?: string; parentId?: string },
  { store, by }: OpenWork,
): Promise<Pick<Above, "story" | "epic" | "parent">> {
  return {
    parent: parentId && `${parentId} ${(await store.getTask(parentId, by.at)).title}`,
    story: storyId && `${storyId} ${(await store.getStory(storyId)).title}`,
    epic: epicId && `${epicId} ${(await store.getEpic(epicId)).title}`,
  };
}
