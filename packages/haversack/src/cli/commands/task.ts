/** Creating, changing and showing tasks. */
import { isAbsolute } from "node:path";
import { cleanLine } from "../../base/clean-text.ts";
import { HaversackError } from "../../base/errors.ts";
import { createTask, getTask, listTasks, type TaskFields, updateTask } from "../../engine/work/tasks.ts";
import { projectPath } from "../../work/project-path.ts";
import { viewTask } from "../../work/task-view.ts";
import {
  type Call,
  type Command,
  type ExitCode,
  eachOne,
  eachTask,
  flag,
  type OptionSpec,
  option,
  print,
  several,
} from "../command.ts";
import { type Above, formatTask, taskRow } from "../print-task.ts";
import { printList } from "../print-work.ts";
import { inputOf, isNarrowed, LIST_INPUT, type OpenWork, openWork, readList, readText, TASKS } from "../work.ts";
import { AGENT, EPIC, FIELDS, listOptions, PRIORITY, STORY, TASK_STATUS, TASK_TYPE, text } from "../work-options.ts";
import type { TreeRoot } from "../work-tree.ts";

const TASK_FIELDS: Readonly<Record<string, OptionSpec>> = {
  story: option("ID", "The story it belongs to."),
  parent: option("ID", "The task it is a part of."),
  type: TASK_TYPE,
  priority: PRIORITY,
  description: text("What to do"),
  criteria: text("How to see that it is done"),
  files: option("PATH", "A file it will touch, from the project's root; repeat it, or separate several by commas.", {
    repeat: true,
  }),
  step: option("TEXT", "A step of it; repeat it for the next one.", { repeat: true }),
  estimate: option("HOURS", "How long it will take.", { type: "number", minimum: 0 }),
  skill: option("NAME", "The skill it needs; several, separated by commas."),
  plan: option("FILE#SECTION", "The plan it comes from."),
  context: text("What the agent that takes it must know"),
  "handoff-notes": text("What the agent that worked on it leaves behind"),
  assignee: option("NAME", "Who should do it."),
};

/** Contains only the fields that were given. */
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

const taskCreate: Command = {
  spec: {
    about: "Creates a task. A title is enough; `task update` adds the rest later.",
    arguments: [{ name: "TITLE", about: "what to do, in one line", required: true }],
    options: {
      ...TASK_FIELDS,
      "depends-on": option("ID", "A task that must be done first; repeat it, or separate several by commas.", {
        repeat: true,
      }),
      source: option("TEXT", "Where it comes from, such as an issue's address."),
      agent: AGENT,
    },
    examples: [
      { run: 'haversack task create "Fix the login form" --type bug --priority P1', says: "an important bug" },
      {
        run: 'haversack task create "Add tests" --story S4829 --depends-on T1207 --files src/a.ts,src/b.ts',
        says: "in a story, after T1207",
      },
      { run: 'haversack task create "Rate limits" --description - < notes.md', says: "its description from a file" },
    ],
    json: "{id, title, status}.",
  },
  async run(call): Promise<ExitCode> {
    const work = await openWork(call, "save");
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
    print(call, viewTask(task, "minimal"), () => `Created task ${task.id}: ${cleanLine(task.title)}`);
    return 0;
  },
};

/** Values of `--clear` and the fields they clear. Type and priority always have a value. */
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

const taskUpdate: Command = {
  spec: {
    about:
      "Changes fields of tasks; the rest stays. Files and steps are replaced as a whole. The status has commands of its own: `task claim`, `done`, `review`, `block`, `unblock`, `reopen` and `archive`.",
    arguments: [TASKS],
    options: {
      title: option("TEXT", "A new title."),
      ...TASK_FIELDS,
      clear: option("FIELD", `Empty a field: ${Object.keys(CLEARS).join(", ")}.`, {
        repeat: true,
        choices: Object.keys(CLEARS),
      }),
      agent: AGENT,
    },
    examples: [
      { run: "haversack task update T4829 --priority P0 --skill api-errors", says: "first in line, with a skill" },
      { run: "haversack task update T4829 --clear story --clear estimate", says: "out of its story, no estimate" },
    ],
    json: several("{id, title, status}"),
  },
  async run(call) {
    const work = await openWork(call, "save");
    const title = call.options["title"] as string | undefined;
    const given = await readTaskFields(call, work.paths.root);
    const names = (call.options["clear"] as string[] | undefined) ?? [];
    const cleared = Object.fromEntries(names.map((name) => [CLEARS[name], null]));
    const both = names.find((name) => (CLEARS[name] ?? "") in given);
    if (both) throw new HaversackError("usage", `${both} cannot be both given and cleared`);
    if (title === undefined && names.length === 0 && Object.keys(given).length === 0) {
      throw new HaversackError("usage", "give at least one field to change", {
        hint: "`haversack task update --help` lists the fields",
      });
    }
    const changes = { ...(title !== undefined && { title }), ...given, ...cleared };
    return eachTask(call, call.arguments, async (taskId) => {
      const task = await updateTask({ taskId, ...changes }, work);
      return {
        kind: "done",
        view: viewTask(task, "minimal"),
        text: `Changed task ${task.id}: ${cleanLine(task.title)}`,
      };
    });
  },
};

const taskShow: Command = {
  spec: {
    about:
      "Shows tasks with everything around them: who holds a task, what it waits for, its sub-tasks, its work in progress.",
    arguments: [TASKS],
    options: { fields: { ...FIELDS, about: `${FIELDS.about} Default: standard.` } },
    examples: [
      { run: "haversack task show T4829", says: "for reading" },
      { run: "haversack task show T4829 --json --fields full", says: "everything, for a script" },
    ],
    json: several(
      "{id, title, status, description?, acceptance_criteria?, task_type, priority, skill?, files?, steps?, waits_for?, sub_tasks?: [{id, title, status}], blockers?, note?, aliases?, alias_of?}; with --fields full also story_id, epic_id, parent_id, wip, claim, times and the rest; left_out counts tasks around it that are not shown",
    ),
  },
  async run(call) {
    const work = await openWork(call, "read");
    const input = inputOf<Parameters<typeof getTask>[0]>(call, { fields: "fields" });
    const show = async (taskId: string) => {
      const { task, view, leftOut } = await getTask({ taskId, ...input }, work);
      const text = call.json
        ? ""
        : formatTask(call.io, task, { ...(await readAbove(task, work)), leftOut }, work.by.at);
      return { kind: "done" as const, view, text };
    };
    return eachTask(call, call.arguments, show, { isBlock: true });
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

const taskList: Command = {
  spec: {
    about:
      "Lists tasks: in progress first, then review, blocked, todo in the queue's order, and done, newest first. --tree shows epics, their stories, tasks and sub-tasks, and only counts what is done. Archived tasks are listed only with --status archived.",
    arguments: [{ name: "ID", about: "epics or stories: only their tasks", many: true }],
    options: {
      tree: flag("Show epics, stories and tasks as a tree."),
      all: flag("With --tree: include what is done."),
      status: TASK_STATUS,
      epic: EPIC,
      story: STORY,
      parent: option("ID", "Only parts of this task."),
      priority: { ...PRIORITY, about: "Only this priority, of the task itself." },
      type: { ...TASK_TYPE, about: "Only this type." },
      assignee: option("NAME", "Only those assigned to this name."),
      wip: flag("Only those with work in progress."),
      plan: option("FILE", "Only those of this plan."),
      find: option("TEXT", "Only those with this in their ID or title."),
      ...listOptions(50),
      fields: FIELDS,
    },
    examples: [
      { run: "haversack task list --status todo --limit 10", says: "the first ten that are to do" },
      { run: "haversack task list E4829 --json --fields standard", says: "those of an epic, for a script" },
      { run: "haversack task list --tree", says: "everything that is open" },
    ],
    json: "[{id, title, status}]; --fields standard and full add more. With --tree [{kind, id, title, status, done?, stories?: [{…, tasks?: [{id, title, status, tasks?}]}]}]: done counts tasks that are not listed. If some are left out, a note says how to get them.",
  },
  run: eachOne(
    async (call) => {
      const work = await openWork(call, "read");
      const input = inputOf<Parameters<typeof listTasks>[0]>(call, {
        status: "status",
        priority: "priority",
        type: "type",
        assignee: "assignee",
        parentId: "parent",
        hasWip: "wip",
        planFile: "plan",
        find: "find",
        epicId: "epic",
        storyId: "story",
        ...LIST_INPUT,
      });
      const root = await findRoot(call, input, work);
      if (call.options["tree"]) return (await import("../work-tree.ts")).showTree(call, root, work);
      const scope = root && { [root.kind === "epic" ? "epicId" : "storyId"]: root.id };
      const listed = await listTasks({ ...input, ...scope }, work);
      const claims = call.json ? [] : await work.store.listClaims({ at: work.by.at });
      const holders = new Map(claims.map((claim) => [claim.taskId, claim]));
      printList(call, {
        nouns: ["task", "tasks"],
        listed,
        row: (task) => taskRow(task, holders.get(task.id)),
        none: isNarrowed(call) ? "No tasks match." : 'No tasks yet; `haversack task create "TITLE"` creates one.',
      });
      return 0;
    },
    { isList: true },
  ),
};

/** The epic or story that was named by argument or option. */
async function findRoot(
  { arguments: [named], options }: Call,
  { epicId, storyId }: { epicId?: string | undefined; storyId?: string | undefined },
  { store }: OpenWork,
): Promise<TreeRoot | undefined> {
  const wanted = named ?? (options["tree"] ? (storyId ?? epicId) : undefined);
  if (wanted === undefined) return undefined;
  const { kind, id } = await store.findId(wanted);
  if (kind === "epic" || kind === "story") return { kind, id };
  throw new HaversackError("input-invalid", `task list takes an epic or a story, but ${id} is a ${kind}`);
}

export const commands: Readonly<Record<string, Command>> = {
  "task create": taskCreate,
  "task list": taskList,
  "task show": taskShow,
  "task update": taskUpdate,
};
