import { cleanLine } from "../../base/clean-text.ts";
import { createTask } from "../../engine/work/tasks.ts";
import { viewTask } from "../../work/task-view.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { readTaskFields, TASK_FIELDS } from "../task-fields.ts";
import { readList, withWork } from "../work.ts";
import { AGENT } from "../work-options.ts";

export const spec: CommandSpec = {
  about: "Makes a task. A title is enough; story, epic and the rest can come later with `task update`.",
  arguments: [{ name: "TITLE", about: "what is to be done, in one line", required: true }],
  options: {
    ...TASK_FIELDS,
    "depends-on": {
      type: "string",
      value: "ID",
      repeat: true,
      about: "A task that must be done first; repeat it, or separate several by commas.",
    },
    source: { type: "string", value: "TEXT", about: "Where it comes from, such as an issue's address." },
    agent: AGENT,
  },
  examples: [
    { run: 'haversack task create "Fix the login form" --type bug --priority P1', says: "a bug, high up" },
    {
      run: 'haversack task create "Add tests" --story S4829 --depends-on T1207 --files src/a.ts,src/b.ts',
      says: "in a story, after T1207",
    },
    { run: 'haversack task create "Rate limits" --description - < notes.md', says: "its description from a file" },
  ],
  json: "{id, title, status}.",
};

export function run(call: Call): Promise<ExitCode> {
  return withWork(call, async (work) => {
    const [title = ""] = call.arguments;
    const dependsOn = readList(call.options["depends-on"]);
    const source = call.options["source"] as string | undefined;
    const task = await createTask(
      {
        ...(await readTaskFields(call, work.paths.root)),
        title,
        ...(dependsOn && { dependsOn }),
        ...(source !== undefined && { source }),
      },
      work,
    );
    print(call, viewTask(task, "minimal"), () => `Made task ${task.id}: ${cleanLine(task.title)}`);
    return 0;
  });
}
