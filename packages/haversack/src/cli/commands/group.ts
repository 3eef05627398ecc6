/** Epics and stories: both are created, changed, listed and shown in the same way. */
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
import type { Listed } from "../../engine/work/work-parts.ts";
import type { TaskCounts } from "../../store/work-store.ts";
import type { Epic, Story } from "../../work/task.ts";
import { viewEpic, viewStory } from "../../work/task-view.ts";
import {
  type Call,
  type Command,
  type ExitCode,
  eachTask,
  type Io,
  type OptionSpec,
  option,
  print,
  several,
} from "../command.ts";
import { block, fields, formatAgo, formatCounts, printList, statusCell } from "../print-work.ts";
import { paint } from "../terminal.ts";
import { inputOf, isNarrowed, LIST_INPUT, type OpenWork, openWork, readText } from "../work.ts";
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

type Group = Epic | Story;
type Shown = { group: Group & { counts: TaskCounts }; view: object };

/** Where epics and stories differ. */
interface Kind {
  noun: "epic" | "story";
  nouns: readonly [string, string];
  id: "epicId" | "storyId";
  /** The first letter of its IDs, for examples. */
  letter: string;
  about: Record<"title" | "create" | "list" | "show" | "update", string>;
  /** The engine's fields and the options they come from. */
  fields: Readonly<Record<string, string>>;
  options: Readonly<Record<string, OptionSpec>>;
  filters: Readonly<Record<string, OptionSpec>>;
  clears: readonly string[];
  examples: Record<"create" | "list" | "update", { run: string; says: string }>;
  json: string;
  create(input: object, work: OpenWork): Promise<Group>;
  list(input: object, work: OpenWork): Promise<Listed<Group>>;
  show(input: object, work: OpenWork): Promise<Shown>;
  update(input: object, work: OpenWork): Promise<Group>;
  view(group: Group): object;
}

const EPICS: Kind = {
  noun: "epic",
  nouns: ["epic", "epics"],
  id: "epicId",
  letter: "E",
  about: {
    title: "what it is about, in one line",
    create: "Creates an epic: stories that belong together. Its priority moves all its tasks in the queue.",
    list: "Lists epics by priority, then by age.",
    show: "its stories and tasks",
    update: "Changes fields of epics. A new priority moves all their tasks in the queue at once.",
  },
  fields: { priority: "priority", description: "description" },
  options: { priority: PRIORITY, description: text("What it is for") },
  filters: {},
  clears: ["description"],
  examples: {
    create: { run: '"Sign in with a passkey" --priority P1', says: "above the rest" },
    list: { run: "--status in_progress", says: "those that have begun" },
    update: { run: "E4829 --priority P0", says: "its tasks come first" },
  },
  json: "{id, title, status, description?, priority, tasks: {status: count}}",
  create: (input, work) => createEpic(input as Parameters<typeof createEpic>[0], work),
  list: listEpics as Kind["list"],
  show: async (input, work) => {
    const { epic, view } = await getEpic(input as Parameters<typeof getEpic>[0], work);
    return { group: epic, view };
  },
  update: (input, work) => updateEpic(input as Parameters<typeof updateEpic>[0], work),
  view: (group) => viewEpic(group as Epic, "minimal"),
};

const STORIES: Kind = {
  noun: "story",
  nouns: ["story", "stories"],
  id: "storyId",
  letter: "S",
  about: {
    title: "what it brings, in one line",
    create: "Creates a story: tasks that together achieve something. It is done when all its tasks are done.",
    list: "Lists stories, oldest first.",
    show: "its tasks",
    update: "Changes fields of stories. If a story moves to another epic, its tasks move too.",
  },
  fields: { epicId: "epic", description: "description", acceptanceCriteria: "criteria" },
  options: {
    epic: option("ID", "The epic it belongs to."),
    description: text("What it is for"),
    criteria: text("How to see that it is done"),
  },
  filters: { epic: EPIC },
  clears: ["epic", "description", "criteria"],
  examples: {
    create: { run: '"Users can reset their password" --epic E4829', says: "in an epic" },
    list: { run: "--epic E4829", says: "those of an epic" },
    update: { run: "S4829 --clear epic", says: "out of its epic" },
  },
  json: "{id, title, status, epic_id?, description?, acceptance_criteria?, tasks: {status: count}}",
  create: (input, work) => createStory(input as Parameters<typeof createStory>[0], work),
  list: listStories as Kind["list"],
  show: async (input, work) => {
    const { story, view } = await getStory(input as Parameters<typeof getStory>[0], work);
    return { group: story, view };
  },
  update: (input, work) => updateStory(input as Parameters<typeof updateStory>[0], work),
  view: (group) => viewStory(group as Story, "minimal"),
};

function commandsOf(kind: Kind): Record<string, Command> {
  const { noun, nouns, about, options, examples } = kind;
  const example = (verb: "create" | "list" | "update") => ({
    run: `haversack ${noun} ${verb} ${examples[verb].run}`,
    says: examples[verb].says,
  });
  const ids = {
    name: noun.toUpperCase(),
    about: `${noun} ID or a unique prefix (3+ digits)`,
    required: true,
    many: true,
  };
  const create: Command = {
    spec: {
      about: about.create,
      arguments: [{ name: "TITLE", about: about.title, required: true }],
      options: { ...options, source: option("TEXT", "Where it comes from."), agent: AGENT },
      examples: [example("create")],
      json: "{id, title, status}.",
    },
    async run(call): Promise<ExitCode> {
      const work = await openWork(call, "save");
      const [title = ""] = call.arguments;
      const given = await readFields(call, { ...kind.fields, source: "source" });
      const group = await kind.create({ title, ...given }, work);
      print(call, kind.view(group), () => `Created ${noun} ${group.id}: ${cleanLine(group.title)}`);
      return 0;
    },
  };
  const list: Command = {
    spec: {
      about: `${about.list} Archived ones are listed only with --status archived.`,
      options: { ...kind.filters, status: GROUP_STATUS, ...listOptions(50), fields: FIELDS },
      examples: [example("list")],
      json: "[{id, title, status}]; --fields standard and full add more. If some are left out, a note says how to get them.",
    },
    async run(call): Promise<ExitCode> {
      const work = await openWork(call, "read");
      const input = inputOf<Record<string, unknown>>(call, { epicId: "epic", status: "status", ...LIST_INPUT });
      printList(call, {
        nouns,
        listed: await kind.list(input, work),
        row: (group) => [
          { text: group.id },
          statusCell(group.status),
          { text: "priority" in group ? group.priority : (group.epicId ?? ""), style: "dim" },
          { text: cleanLine(group.title) },
        ],
        none: isNarrowed(call)
          ? `No ${nouns[1]} match.`
          : `No ${nouns[1]} yet; \`haversack ${noun} create "TITLE"\` creates one.`,
      });
      return 0;
    },
  };
  const show: Command = {
    spec: {
      about: `Shows ${nouns[1]} and the number of their tasks per status. \`haversack task list --tree --${noun} ID\` shows ${about.show}.`,
      arguments: [ids],
      options: { fields: { ...FIELDS, about: `${FIELDS.about} Default: standard.` } },
      examples: [{ run: `haversack ${noun} show ${kind.letter}4829`, says: "with its counts" }],
      json: several(`${kind.json}, with --fields full also times and source`),
    },
    async run(call): Promise<ExitCode> {
      const work = await openWork(call, "read");
      const showOne = async (id: string) => {
        const { group, view } = await kind.show({ [kind.id]: id, ...inputOf(call, { fields: "fields" }) }, work);
        return { kind: "done", view, text: formatGroup(call.io, group, work.by.at) };
      };
      return eachTask(call, call.arguments, showOne, { isBlock: true });
    },
  };
  const update: Command = {
    spec: {
      about: about.update,
      arguments: [ids],
      options: {
        title: option("TEXT", "A new title."),
        ...options,
        status: GROUP_STATUS_CHANGE,
        clear: option("FIELD", `Empty a field: ${kind.clears.join(", ")}.`, { repeat: true, choices: kind.clears }),
        agent: AGENT,
      },
      examples: [
        example("update"),
        { run: `haversack ${noun} update ${kind.letter}4829 --status archived`, says: "put it away" },
      ],
      json: several("{id, title, status}"),
    },
    async run(call): Promise<ExitCode> {
      const work = await openWork(call, "save");
      const changes = await readFields(call, { title: "title", ...kind.fields, status: "status" });
      if (Object.keys(changes).length === 0) {
        throw new HaversackError("usage", "give at least one field to change", {
          hint: `\`haversack ${noun} update --help\` lists the fields`,
        });
      }
      return eachTask(call, call.arguments, async (id) => {
        const group = await kind.update({ [kind.id]: id, ...changes }, work);
        return {
          kind: "done",
          view: kind.view(group),
          text: `Changed ${noun} ${group.id}: ${cleanLine(group.title)}`,
        };
      });
    },
  };
  return { [`${noun} create`]: create, [`${noun} list`]: list, [`${noun} show`]: show, [`${noun} update`]: update };
}

/** Converts options to the engine's fields: reads texts, sets fields of `--clear` to null. */
async function readFields(call: Call, names: Readonly<Record<string, string>>): Promise<Record<string, unknown>> {
  const { options } = call;
  const cleared = new Set(options["clear"] as string[] | undefined);
  const given: Record<string, unknown> = {};
  for (const [field, name] of Object.entries(names)) {
    const value = options[name];
    if (cleared.has(name)) {
      if (value !== undefined) throw new HaversackError("usage", `${name} cannot be both given and cleared`);
      given[field] = null;
    } else if (value !== undefined) given[field] = typeof value === "string" ? await readText(call, value) : value;
  }
  return given;
}

function formatGroup(io: Io, group: Group & { counts: TaskCounts }, now: Date): string {
  const { text: word, style } = statusCell(group.status);
  const texts: [string, string | undefined][] = [
    ["Description", group.description],
    ["Acceptance criteria", "acceptanceCriteria" in group ? group.acceptanceCriteria : undefined],
  ];
  return [
    `${group.id}  ${paint(io, "bold", cleanLine(group.title))}`,
    ...fields(io, [
      ["status", style ? paint(io, style, word) : word],
      ["priority", "priority" in group ? group.priority : undefined],
      ["epic", "epicId" in group ? group.epicId : undefined],
      ["tasks", formatCounts(group.counts)],
      ["source", group.source && cleanLine(group.source)],
      ["times", times(group, now)],
    ]),
    ...texts.flatMap(([heading, body]) => (body ? ["", heading, block(stripControl(body).trimEnd())] : [])),
  ].join("\n");
}

function times({ createdAt, updatedAt, completedAt }: Group, now: Date): string {
  const last = completedAt ? `completed ${formatAgo(completedAt, now)}` : `changed ${formatAgo(updatedAt, now)}`;
  return `created ${formatAgo(createdAt, now)}, ${last}`;
}

export const commands: Readonly<Record<string, Command>> = { ...commandsOf(EPICS), ...commandsOf(STORIES) };
