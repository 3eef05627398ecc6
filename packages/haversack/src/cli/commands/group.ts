/** Epics and stories: they are made, changed, listed and shown alike. */
import { cleanLine, stripControl } from "../../base/clean-text.ts";
import { HaversackError } from "../../base/errors.ts";
import {
  createEpic,
  createStory,
  getEpic,
  getStory,
  listEpics,
  listStories,
  updateEpic,
  updateStory,
} from "../../engine/work/groups.ts";
import type { TaskCounts } from "../../store/work-store.ts";
import type { Epic, Story } from "../../work/task.ts";
import { viewEpic, viewStory } from "../../work/task-view.ts";
import { type ArgumentSpec, type Call, type Command, type Io, print } from "../command.ts";
import { block, fields, formatAgo, formatCounts, printList, statusCell } from "../print-work.ts";
import { paint } from "../terminal.ts";
import { inputOf, isNarrowed, LIST_INPUT, readText, readWork, withWork } from "../work.ts";
import {
  AGENT,
  EPIC,
  FIELDS,
  GROUP_STATUS,
  GROUP_STATUS_CHANGE,
  listOptions,
  PRIORITY,
  text,
} from "../work-options.ts";

const EPIC_ID: ArgumentSpec = {
  name: "EPIC",
  about: "epic ID or a unique prefix (3+ digits)",
  required: true,
};
const STORY_ID: ArgumentSpec = {
  name: "STORY",
  about: "story ID or a unique prefix (3+ digits)",
  required: true,
};

/** The engine's changes out of the options: texts read, fields of `--clear` null. */
async function readChanges<Input extends object>(
  call: Call,
  command: string,
  names: { readonly [Field in keyof Input]?: string },
): Promise<Partial<Input>> {
  const { options } = call;
  const cleared = new Set(options["clear"] as string[] | undefined);
  const changes: Record<string, unknown> = {};
  for (const [field, name] of Object.entries(names as Record<string, string>)) {
    const value = options[name];
    if (cleared.has(name)) {
      if (value !== undefined) throw new HaversackError("usage", `${name} cannot be both given and cleared`);
      changes[field] = null;
    } else if (value !== undefined) changes[field] = typeof value === "string" ? await readText(call, value) : value;
  }
  if (Object.keys(changes).length === 0) {
    throw new HaversackError("usage", "nothing to change was given", {
      hint: `\`haversack ${command} --help\` lists the fields`,
    });
  }
  return changes as Partial<Input>;
}

function formatGroup(io: Io, group: (Epic | Story) & { counts: TaskCounts }, now: Date): string {
  const { text, style } = statusCell(group.status);
  const texts: [string, string | undefined][] = [
    ["Description", group.description],
    ["Acceptance criteria", "acceptanceCriteria" in group ? group.acceptanceCriteria : undefined],
  ];
  return [
    `${group.id}  ${paint(io, "bold", cleanLine(group.title))}`,
    ...fields(io, [
      ["status", style ? paint(io, style, text) : text],
      ["priority", "priority" in group ? group.priority : undefined],
      ["epic", "epicId" in group ? group.epicId : undefined],
      ["tasks", formatCounts(group.counts)],
      ["source", group.source && cleanLine(group.source)],
      ["times", times(group, now)],
    ]),
    ...texts.flatMap(([heading, body]) => (body ? ["", heading, block(stripControl(body).trimEnd())] : [])),
  ].join("\n");
}

function times({ createdAt, updatedAt, completedAt }: Epic | Story, now: Date): string {
  const last = completedAt ? `completed ${formatAgo(completedAt, now)}` : `changed ${formatAgo(updatedAt, now)}`;
  return `made ${formatAgo(createdAt, now)}, ${last}`;
}

export const storyCreate: Command = {
  spec: {
    about: "Makes a story: tasks that together bring something about. It is done when all its tasks are.",
    arguments: [{ name: "TITLE", about: "what it brings, in one line", required: true }],
    options: {
      epic: { type: "string", value: "ID", about: "The epic it belongs to." },
      description: text("What it is for"),
      criteria: text("How one sees that it is done"),
      source: { type: "string", value: "TEXT", about: "Where it comes from." },
      agent: AGENT,
    },
    examples: [{ run: 'haversack story create "Users can reset their password" --epic E4829', says: "in an epic" }],
    json: "{id, title, status}.",
  },
  run(call) {
    return withWork(call, async (work) => {
      const [title = ""] = call.arguments;
      const description = await readText(call, call.options["description"] as string | undefined);
      const acceptanceCriteria = await readText(call, call.options["criteria"] as string | undefined);
      const story = await createStory(
        {
          title,
          ...inputOf<Parameters<typeof createStory>[0]>(call, { epicId: "epic", source: "source" }),
          ...(description !== undefined && { description }),
          ...(acceptanceCriteria !== undefined && { acceptanceCriteria }),
        },
        work,
      );
      print(call, viewStory(story, "minimal"), () => `Made story ${story.id}: ${cleanLine(story.title)}`);
      return 0;
    });
  },
};

export const storyList: Command = {
  spec: {
    about: "Lists stories, oldest first. Archived ones only with --status archived.",
    options: { epic: EPIC, status: GROUP_STATUS, ...listOptions(50), fields: FIELDS },
    examples: [{ run: "haversack story list --epic E4829", says: "those of an epic" }],
    json: "[{id, title, status}]; --fields standard and full add more. What was left out is said on standard error.",
  },
  run(call) {
    return readWork(call, async (work) => {
      const input = inputOf<Parameters<typeof listStories>[0]>(call, {
        epicId: "epic",
        status: "status",
        ...LIST_INPUT,
      });
      printList(call, {
        command: "story list",
        nouns: ["story", "stories"],
        listed: await listStories(input, work),
        row: ({ id, status, epicId, title }) => [
          { text: id },
          statusCell(status),
          { text: epicId ?? "", style: "dim" },
          { text: cleanLine(title) },
        ],
        none: isNarrowed(call)
          ? "No story is like that."
          : 'No stories yet; `haversack story create "TITLE"` makes one.',
      });
      return 0;
    });
  },
};

export const storyShow: Command = {
  spec: {
    about: "Shows a story and how many of its tasks are where. `haversack tree ID` shows its tasks.",
    arguments: [STORY_ID],
    options: { fields: { ...FIELDS, about: `${FIELDS.about} Default: standard.` } },
    examples: [{ run: "haversack story show S4829", says: "with its counts" }],
    json: "{id, title, status, epic_id?, description?, acceptance_criteria?, tasks: {status: count}}; with --fields full also times and source.",
  },
  run(call) {
    return readWork(call, async (work) => {
      const [storyId = ""] = call.arguments;
      const input = inputOf<Parameters<typeof getStory>[0]>(call, { fields: "fields" });
      const { story, view } = await getStory({ storyId, ...input }, work);
      print(call, view, () => formatGroup(call.io, story, work.by.at));
      return 0;
    });
  },
};

const STORY_FIELDS = {
  title: "title",
  epicId: "epic",
  description: "description",
  acceptanceCriteria: "criteria",
  status: "status",
} as const;

const STORY_CLEARS = ["epic", "description", "criteria"];

export const storyUpdate: Command = {
  spec: {
    about: "Changes fields of a story. With another epic its tasks go along.",
    arguments: [STORY_ID],
    options: {
      title: { type: "string", value: "TEXT", about: "A new title." },
      epic: { type: "string", value: "ID", about: "The epic it belongs to." },
      description: text("What it is for"),
      criteria: text("How one sees that it is done"),
      status: GROUP_STATUS_CHANGE,
      clear: {
        type: "string",
        value: "FIELD",
        repeat: true,
        choices: STORY_CLEARS,
        about: `Empty a field: ${STORY_CLEARS.join(", ")}.`,
      },
      agent: AGENT,
    },
    examples: [
      { run: "haversack story update S4829 --epic E1207", says: "into another epic" },
      { run: "haversack story update S4829 --clear epic", says: "out of its epic" },
    ],
    json: "{id, title, status}.",
  },
  run(call) {
    return withWork(call, async (work) => {
      const [storyId = ""] = call.arguments;
      const changes = await readChanges<Parameters<typeof updateStory>[0]>(call, "story update", STORY_FIELDS);
      const story = await updateStory({ storyId, ...changes }, work);
      print(call, viewStory(story, "minimal"), () => `Changed story ${story.id}: ${cleanLine(story.title)}`);
      return 0;
    });
  },
};

export const epicCreate: Command = {
  spec: {
    about: "Makes an epic: stories that belong together. Its priority moves all its tasks in the queue.",
    arguments: [{ name: "TITLE", about: "what it is about, in one line", required: true }],
    options: {
      priority: PRIORITY,
      description: text("What it is for"),
      source: { type: "string", value: "TEXT", about: "Where it comes from." },
      agent: AGENT,
    },
    examples: [{ run: 'haversack epic create "Sign in with a passkey" --priority P1', says: "above the rest" }],
    json: "{id, title, status}.",
  },
  run(call) {
    return withWork(call, async (work) => {
      const [title = ""] = call.arguments;
      const description = await readText(call, call.options["description"] as string | undefined);
      const input = inputOf<Parameters<typeof createEpic>[0]>(call, { priority: "priority", source: "source" });
      const epic = await createEpic({ title, ...input, ...(description !== undefined && { description }) }, work);
      print(call, viewEpic(epic, "minimal"), () => `Made epic ${epic.id}: ${cleanLine(epic.title)}`);
      return 0;
    });
  },
};

export const epicList: Command = {
  spec: {
    about: "Lists epics by priority, then age. Archived ones only with --status archived.",
    options: { status: GROUP_STATUS, ...listOptions(50), fields: FIELDS },
    examples: [{ run: "haversack epic list --status in_progress", says: "those that have begun" }],
    json: "[{id, title, status}]; --fields standard and full add more. What was left out is said on standard error.",
  },
  run(call) {
    return readWork(call, async (work) => {
      const input = inputOf<Parameters<typeof listEpics>[0]>(call, { status: "status", ...LIST_INPUT });
      printList(call, {
        command: "epic list",
        nouns: ["epic", "epics"],
        listed: await listEpics(input, work),
        row: ({ id, status, priority, title }) => [
          { text: id },
          statusCell(status),
          { text: priority },
          { text: cleanLine(title) },
        ],
        none: isNarrowed(call) ? "No epic is like that." : 'No epics yet; `haversack epic create "TITLE"` makes one.',
      });
      return 0;
    });
  },
};

export const epicShow: Command = {
  spec: {
    about: "Shows an epic and how many of its tasks are where. `haversack tree ID` shows its stories and tasks.",
    arguments: [EPIC_ID],
    options: { fields: { ...FIELDS, about: `${FIELDS.about} Default: standard.` } },
    examples: [{ run: "haversack epic show E4829", says: "with its counts" }],
    json: "{id, title, status, description?, priority, tasks: {status: count}}; with --fields full also times and source.",
  },
  run(call) {
    return readWork(call, async (work) => {
      const [epicId = ""] = call.arguments;
      const input = inputOf<Parameters<typeof getEpic>[0]>(call, { fields: "fields" });
      const { epic, view } = await getEpic({ epicId, ...input }, work);
      print(call, view, () => formatGroup(call.io, epic, work.by.at));
      return 0;
    });
  },
};

const EPIC_FIELDS = { title: "title", priority: "priority", description: "description", status: "status" } as const;

export const epicUpdate: Command = {
  spec: {
    about: "Changes fields of an epic. A new priority moves all its tasks in the queue at once.",
    arguments: [EPIC_ID],
    options: {
      title: { type: "string", value: "TEXT", about: "A new title." },
      priority: { ...PRIORITY, about: "P0 (first) to P3." },
      description: text("What it is for"),
      status: GROUP_STATUS_CHANGE,
      clear: {
        type: "string",
        value: "FIELD",
        repeat: true,
        choices: ["description"],
        about: "Empty a field: description.",
      },
      agent: AGENT,
    },
    examples: [
      { run: "haversack epic update E4829 --priority P0", says: "its tasks come first" },
      { run: "haversack epic update E4829 --status archived", says: "put away" },
    ],
    json: "{id, title, status}.",
  },
  run(call) {
    return withWork(call, async (work) => {
      const [epicId = ""] = call.arguments;
      const changes = await readChanges<Parameters<typeof updateEpic>[0]>(call, "epic update", EPIC_FIELDS);
      const epic = await updateEpic({ epicId, ...changes }, work);
      print(call, viewEpic(epic, "minimal"), () => `Changed epic ${epic.id}: ${cleanLine(epic.title)}`);
      return 0;
    });
  },
};
