import { cleanLine } from "../../base/clean-text.ts";
import { HaversackError } from "../../base/errors.ts";
import { updateTask } from "../../engine/work/tasks.ts";
import { viewTask } from "../../work/task-view.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { readTaskFields, TASK_FIELDS } from "../task-fields.ts";
import { TASK } from "../task-status.ts";
import { withWork } from "../work.ts";
import { AGENT } from "../work-options.ts";

/** What `--clear` takes, and the field behind it. Type and priority always have a value. */
const CLEARS: Readonly<Record<string, string>> = {
  story: "storyId",
  parent: "parentId",
  description: "description",
  criteria: "acceptanceCriteria",
  files: "files",
  steps: "steps",
  estimate: "estimateHours",
  skill: "skill",
  plan: "traceabilityRef",
  context: "contextSummary",
  "handoff-notes": "handoffNotes",
  assignee: "assignee",
};

export const spec: CommandSpec = {
  about:
    "Changes fields of a task; the rest stays. Files and steps are replaced as a whole. For its status there are `task start`, `done`, `review`, `block`, `unblock`, `reopen` and `archive`.",
  arguments: [TASK],
  options: {
    title: { type: "string", value: "TEXT", about: "A new title." },
    ...TASK_FIELDS,
    clear: {
      type: "string",
      value: "FIELD",
      repeat: true,
      choices: Object.keys(CLEARS),
      about: `Empty a field: ${Object.keys(CLEARS).join(", ")}.`,
    },
    agent: AGENT,
  },
  examples: [
    { run: "haversack task update T4829 --priority P0 --skill api-errors", says: "first in line, with a skill" },
    { run: "haversack task update T4829 --clear story --clear estimate", says: "out of its story, no estimate" },
  ],
  json: "{id, title, status}.",
};

export function run(call: Call): Promise<ExitCode> {
  return withWork(call, async (work) => {
    const [taskId = ""] = call.arguments;
    const title = call.options["title"] as string | undefined;
    const given = await readTaskFields(call, work.paths.root);
    const names = (call.options["clear"] as string[] | undefined) ?? [];
    const cleared = Object.fromEntries(names.map((name) => [CLEARS[name], null]));
    const both = names.find((name) => (CLEARS[name] ?? "") in given);
    if (both) throw new HaversackError("usage", `${both} cannot be both given and cleared`);
    if (title === undefined && names.length === 0 && Object.keys(given).length === 0) {
      throw new HaversackError("usage", "nothing to change was given", {
        hint: "`haversack task update --help` lists the fields",
      });
    }
    const task = await updateTask({ taskId, ...(title !== undefined && { title }), ...given, ...cleared }, work);
    print(call, viewTask(task, "minimal"), () => `Changed task ${task.id}: ${cleanLine(task.title)}`);
    return 0;
  });
}
