/** Making, changing and showing tasks. */
import { isAbsolute } from "node:path";
import { cleanLine } from "../../base/clean-text.ts";
import { HaversackError } from "../../base/errors.ts";
import { createTask, getTask, listTasks, type TaskFields, updateTask } from "../../engine/work/tasks.ts";
import { projectPath } from "../../work/project-path.ts";
import { viewTask } from "../../work/task-view.ts";
import { type Call, type Command, type OptionSpec, print } from "../command.ts";
import { TASK } from "../each-task.ts";
import { type Above, formatTask, taskRow } from "../print-task.ts";
import { printList } from "../print-work.ts";
import { inputOf, isNarrowed, LIST_INPUT, type OpenWork, readList, readText, readWork, withWork } from "../work.ts";
import { AGENT, EPIC, FIELDS, listOptions, PRIORITY, STORY, TASK_STATUS, TASK_TYPE, text } from "../work-options.ts";

const TASK_FIELDS: Readonly<Record<string, OptionSpec>> = {
  story: { type: "string", value: "ID", about: "The story it belongs to." },
  parent: { type: "string", value: "ID", about: "The task it is a part of." },
  type: TASK_TYPE,
  priority: PRIORITY,
  description: text("What is to be done"),
  criteria: text("How one sees that it is done"),
  files: {
    type: "string",
    value: "PATH",
    repeat: true,
    about: "A file it will touch, from the project's root; repeat it, or separate several by commas.",
  },
  step: { type: "string", value: "TEXT", repeat: true, about: "A step of it; repeat it for the next one." },
  estimate: { type: "number", value: "HOURS", minimum: 0, about: "How long it will take." },
  skill: { type: "string", value: "NAME", about: "The skill it needs; several, separated by commas." },
  plan: { type: "string", value: "FILE#SECTION", about: "The plan it comes from." },
  context: text("What whoever takes it must know"),
  "handoff-notes": text("What whoever took it leaves behind"),
  assignee: { type: "string", value: "NAME", about: "Who is to do it." },
};

/** Only what was given. */
async function readTaskFields(call: Call, root: string): Promise<TaskFields> {
  const { options } = call;
  const given: Record<string, unknown> = {
    storyId: options["story"],
    parentId: options["parent"],
    type: options["type"],
    priority: options["priority"],
    description: await readText(call, options["description"] as string | undefined),
    acceptanceCriteria: await readText(call, options["criteria"] as string | undefined),
    files: readList(options["files"])?.map((file) => (isAbsolute(file) ? projectPath(file, { root }) : file)),
    steps: options["step"],
    estimateHours: options["estimate"],
    skill: options["skill"],
    traceabilityRef: options["plan"],
    contextSummary: await readText(call, options["context"] as string | undefined),
    handoffNotes: await readText(call, options["handoff-notes"] as string | undefined),
    assignee: options["assignee"],
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

export const taskCreate: Command = {
  spec: {
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
  },
  run(call) {
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
  },
};

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

export const taskUpdate: Command = {
  spec: {
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
  },
  run(call) {
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
  },
};

export const taskShow: Command = {
  spec: {
    about:
      "Shows a task with what is known around it: who holds it, what it waits for, its sub-tasks, its work in progress.",
    arguments: [TASK],
    options: { fields: { ...FIELDS, about: `${FIELDS.about} Default: standard.` } },
    examples: [
      { run: "haversack task show T4829", says: "for reading" },
      { run: "haversack task show T4829 --json --fields full", says: "everything, for a script" },
    ],
    json: "{id, title, status, description?, acceptance_criteria?, task_type, priority, skill?, files?, steps?, waits_for?, sub_tasks?: [{id, title, status}], blockers?, note?, aliases?, alias_of?}; with --fields full also story_id, epic_id, parent_id, wip, claim, times and the rest; left_out counts tasks around it that are not shown.",
  },
  run(call) {
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
  },
};

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

export const taskList: Command = {
  spec: {
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
  },
  run(call) {
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
  },
};
