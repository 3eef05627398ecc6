/** Creating, changing and showing tasks. */
import { isAbsolute } from "node:path";
import { cleanLine } from "../../base/clean-text.ts";
import { HaversackError } from "../../base/errors.ts";
import { createTask, getTask, listTasks, type TaskFields, updateTask } from "../../engine/work/tasks.ts";
import { projectPath } from "../../work/project-path.ts";
import { viewTask } from "../../work/task-view.ts";
import { type Call, flag, option } from "../command.ts";
import { type Above, formatTask, taskRow } from "../print-task.ts";
import { listOutput } from "../print-work.ts";
import { changesOf, defineWork, inputOf, isNarrowed, type OpenWork, readList, requireChanges, TASKS } from "../work.ts";
import { AGENT, EPIC, FIELDS, listOptions, PRIORITY, STORY, TASK_STATUS, TASK_TYPE, text } from "../work-options.ts";
import type { TreeRoot } from "../work-tree.ts";

const TASK_FIELDS = {
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

/** Type and priority always have a value. */
const CLEARS = Object.keys(TASK_FIELDS)
  .filter((name) => name !== "type" && name !== "priority")
  .map((name) => (name === "step" ? "steps" : name));

async function readTaskFields(call: Call, root: string): Promise<TaskFields> {
  const changes = await changesOf(call, "title", ...Object.keys(TASK_FIELDS));
  const files = readList(call.options["files"]);
  if (files) changes["files"] = files.map((file) => (isAbsolute(file) ? projectPath(file, { root }) : file));
  return changes;
}

export const commands = {
  "task create": defineWork("save", {
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
    examples: {
      'haversack task create "Fix the login form" --type bug --priority P1': "an important bug",
      'haversack task create "Add tests" --story S4829 --depends-on T1207 --files src/a.ts,src/b.ts':
        "in a story, after T1207",
      'haversack task create "Rate limits" --description - < notes.md': "its description from a file",
    },
    json: "{id, title, status}.",
    async run(call, work, title) {
      const { "depends-on": dependsOn, source } = call.options;
      const fields = await readTaskFields(call, work.paths.root);
      const task = await createTask({ ...fields, title, dependsOn: readList(dependsOn), source }, work);
      return { data: viewTask(task, "minimal"), text: `Created task ${task.id}: ${cleanLine(task.title)}` };
    },
  }),
  "task update": defineWork("save", {
    about:
      "Changes fields of tasks; the rest stays. Files and steps are replaced as a whole. The status has commands of its own: `task claim`, `done`, `review`, `block`, `unblock`, `reopen` and `archive`.",
    arguments: [TASKS],
    options: {
      title: option("TEXT", "A new title."),
      ...TASK_FIELDS,
      clear: option("FIELD", `Empty a field: ${CLEARS.join(", ")}.`, { repeat: true, choices: CLEARS }),
      agent: AGENT,
    },
    examples: {
      "haversack task update T4829 --priority P0 --skill api-errors": "first in line, with a skill",
      "haversack task update T4829 --clear story --clear estimate": "out of its story, no estimate",
    },
    jsonOfEach: "{id, title, status}",
    several: "lines",
    async run(call, work, taskId) {
      const changes = await readTaskFields(call, work.paths.root);
      requireChanges(call, changes);
      const task = await updateTask({ taskId, ...changes }, work);
      return { data: viewTask(task, "minimal"), text: `Changed task ${task.id}: ${cleanLine(task.title)}` };
    },
  }),
  "task show": defineWork("read", {
    about:
      "Shows tasks with everything around them: who holds a task, what it waits for, its sub-tasks, its work in progress.",
    arguments: [TASKS],
    options: { fields: { ...FIELDS, about: `${FIELDS.about} Default: standard.` } },
    examples: {
      "haversack task show T4829": "for reading",
      "haversack task show T4829 --json --fields full": "everything, for a script",
    },
    jsonOfEach:
      "{id, title, status, description?, acceptance_criteria?, task_type, priority, skill?, files?, steps?, waits_for?, sub_tasks?: [{id, title, status}], blockers?, note?, aliases?, alias_of?}; with --fields full also story_id, epic_id, parent_id, wip, claim, times and the rest; left_out counts tasks around it that are not shown",
    several: "blocks",
    async run({ arguments: [taskId = ""], options, io }, work) {
      const { task, view, leftOut } = await getTask({ taskId, fields: options.fields }, work);
      const text = async () => formatTask(io, task, { ...(await readAbove(task, work)), leftOut }, work.by.at);
      return { data: view, text };
    },
  }),
  "task list": defineWork("read", {
    about:
      "Lists tasks: in progress first, then review, blocked, todo in the queue's order, and done, newest first. --tree shows epics, their stories, tasks and sub-tasks, and only counts what is done. Archived tasks are listed only with --status archived.",
    arguments: [{ name: "ID", about: "epics or stories: only their tasks", many: true }],
    options: {
      tree: flag("Show epics, stories and tasks as a tree; takes --all, --epic, --story and --limit."),
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
    examples: {
      "haversack task list --status todo --limit 10": "the first ten that are to do",
      "haversack task list E4829 --json --fields standard": "those of an epic, for a script",
      "haversack task list --tree": "everything that is open",
    },
    json: "[{id, title, status}]; --fields standard and full add more. With --tree [{kind, id, title, status, done?, stories?: [{…, tasks?: [{id, title, status, tasks?}]}]}]: done counts tasks that are not listed. If some are left out, a note says how to get them.",
    several: "list",
    async run(call, work) {
      refuseMixed(call);
      const input = inputOf(call);
      const root = await findRoot(call, input, work);
      if (call.options.tree) return (await import("../work-tree.ts")).treeOutput(call, root, work);
      const scope = root && { [root.kind === "epic" ? "epicId" : "storyId"]: root.id };
      const listed = await listTasks({ ...input, planFile: call.options.plan, ...scope }, work);
      const claims = call.json ? [] : await work.store.listClaims({ at: work.by.at });
      const holders = new Map(claims.map((claim) => [claim.taskId, claim]));
      return listOutput(call, {
        nouns: ["task", "tasks"],
        listed,
        row: (task) => taskRow(task, holders.get(task.id)),
        none: isNarrowed(call) ? "No tasks match." : 'No tasks yet; `haversack task create "TITLE"` creates one.',
      });
    },
  }),
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

/** The tree has its own order and shows what is open: an option that it cannot follow is refused instead of ignored. */
function refuseMixed({ options }: Pick<Call, "options">): void {
  if (!options["tree"]) {
    if (!options["all"]) return;
    throw new HaversackError("usage", "--all needs --tree", { hint: "without --tree, done tasks are listed anyway" });
  }
  const unfit = Object.keys(options).find((name) => options[name] !== undefined && !OF_TREE.has(name));
  if (unfit === undefined) return;
  throw new HaversackError("usage", `--tree and --${unfit} cannot be used together`, {
    hint: `leave out --tree: a list takes --${unfit}`,
  });
}

const OF_TREE = new Set(["tree", "all", "epic", "story", "limit", "json"]);

/** The epic or story that was named by argument or option. */
async function findRoot(
  { arguments: [named], options }: Pick<Call<{ tree?: boolean }>, "arguments" | "options">,
  { epicId, storyId }: { epicId?: string | undefined; storyId?: string | undefined },
  { store }: OpenWork,
): Promise<TreeRoot | undefined> {
  const wanted = named ?? (options.tree ? (storyId ?? epicId) : undefined);
  if (wanted === undefined) return undefined;
  const { kind, id } = await store.findId(wanted);
  if (kind === "epic" || kind === "story") return { kind, id };
  throw new HaversackError("input-invalid", `task list takes an epic or a story, but ${id} is a ${kind}`);
}
