/** Epics and stories: both are created, changed, listed and shown in the same way. */
import { cleanLine, stripControl } from "../../base/clean-text.ts";
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
import { type Command, type Io, type OptionSpecs, option } from "../command.ts";
import { block, dim, fields, formatAgo, formatCounts, listOutput, paintedStatus, statusCell } from "../print-work.ts";
import { paint } from "../terminal.ts";
import { changesOf, defineWork, inputOf, isNarrowed, type OpenWork, requireChanges } from "../work.ts";
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
type Counted = Group & { counts: TaskCounts };

/** Where epics and stories differ. */
interface Kind {
  noun: "epic" | "story";
  nouns: readonly [string, string];
  id: "epicId" | "storyId";
  /** The first letter of its IDs, for examples. */
  letter: string;
  about: Record<"title" | "create" | "list" | "show" | "update", string>;
  options: OptionSpecs;
  filters: OptionSpecs;
  clears: readonly string[];
  examples: Record<"create" | "list" | "update", [words: string, says: string]>;
  json: string;
  create(input: object, work: OpenWork): Promise<Group>;
  list(input: object, work: OpenWork): Promise<Listed<Group>>;
  show(input: object, work: OpenWork): Promise<{ epic?: Counted; story?: Counted; view: object }>;
  update(input: object, work: OpenWork): Promise<Group>;
  view(group: Group, fields: "minimal"): object;
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
  options: { priority: PRIORITY, description: text("What it is for") },
  filters: {},
  clears: ["description"],
  examples: {
    create: ['"Sign in with a passkey" --priority P1', "above the rest"],
    list: ["--status in_progress", "those that have begun"],
    update: ["E4829 --priority P0", "its tasks come first"],
  },
  json: "{id, title, status, description?, priority, tasks: {status: count}}",
  create: createEpic as Kind["create"],
  list: listEpics as Kind["list"],
  show: getEpic as Kind["show"],
  update: updateEpic as Kind["update"],
  view: viewEpic as Kind["view"],
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
  options: {
    epic: option("ID", "The epic it belongs to."),
    description: text("What it is for"),
    criteria: text("How to see that it is done"),
  },
  filters: { epic: EPIC },
  clears: ["epic", "description", "criteria"],
  examples: {
    create: ['"Users can reset their password" --epic E4829', "in an epic"],
    list: ["--epic E4829", "those of an epic"],
    update: ["S4829 --clear epic", "out of its epic"],
  },
  json: "{id, title, status, epic_id?, description?, acceptance_criteria?, tasks: {status: count}}",
  create: createStory as Kind["create"],
  list: listStories as Kind["list"],
  show: getStory as Kind["show"],
  update: updateStory as Kind["update"],
  view: viewStory as Kind["view"],
};

function commandsOf(kind: Kind): Record<string, Command> {
  const { noun, nouns, about, options, examples } = kind;
  const example = (verb: "create" | "list" | "update") => {
    const [words, says] = examples[verb];
    return { [`haversack ${noun} ${verb} ${words}`]: says };
  };
  const ids = {
    name: noun.toUpperCase(),
    about: `${noun} ID or a unique prefix (3+ digits)`,
    required: true,
    many: true,
  };
  const changed = (verb: string, group: Group) => ({
    data: kind.view(group, "minimal"),
    text: `${verb} ${noun} ${group.id}: ${cleanLine(group.title)}`,
  });
  return {
    [`${noun} create`]: defineWork("save", {
      about: about.create,
      arguments: [{ name: "TITLE", about: about.title, required: true }],
      options: { ...options, source: option("TEXT", "Where it comes from."), agent: AGENT },
      examples: example("create"),
      json: "{id, title, status}.",
      async run(call, work, title) {
        const given = await changesOf(call, ...Object.keys(options), "source");
        return changed("Created", await kind.create({ title, ...given }, work));
      },
    }),
    [`${noun} list`]: defineWork("read", {
      about: `${about.list} Archived ones are listed only with --status archived.`,
      options: { ...kind.filters, status: GROUP_STATUS, ...listOptions(50), fields: FIELDS },
      examples: example("list"),
      json: "[{id, title, status}]; --fields standard and full add more. If some are left out, a note says how to get them.",
      async run(call, work) {
        return listOutput(call, {
          nouns,
          listed: await kind.list(inputOf(call), work),
          row: (group) => [
            group.id,
            statusCell(group.status),
            dim("priority" in group ? group.priority : (group.epicId ?? "")),
            cleanLine(group.title),
          ],
          none: isNarrowed(call)
            ? `No ${nouns[1]} match.`
            : `No ${nouns[1]} yet; \`haversack ${noun} create "TITLE"\` creates one.`,
        });
      },
    }),
    [`${noun} show`]: defineWork("read", {
      about: `Shows ${nouns[1]} and the number of their tasks per status. \`haversack task list --tree --${noun} ID\` shows ${about.show}.`,
      arguments: [ids],
      options: { fields: { ...FIELDS, about: `${FIELDS.about} Default: standard.` } },
      examples: { [`haversack ${noun} show ${kind.letter}4829`]: "with its counts" },
      jsonOfEach: `${kind.json}, with --fields full also times and source`,
      several: "blocks",
      async run(call, work) {
        const { view, ...found } = await kind.show({ [kind.id]: call.arguments[0], ...inputOf(call) }, work);
        return { data: view, text: formatGroup(call.io, found[noun]!, work.by.at) };
      },
    }),
    [`${noun} update`]: defineWork("save", {
      about: about.update,
      arguments: [ids],
      options: {
        title: option("TEXT", "A new title."),
        ...options,
        status: GROUP_STATUS_CHANGE,
        clear: option("FIELD", `Empty a field: ${kind.clears.join(", ")}.`, { repeat: true, choices: kind.clears }),
        agent: AGENT,
      },
      examples: {
        ...example("update"),
        [`haversack ${noun} update ${kind.letter}4829 --status archived`]: "put it away",
      },
      jsonOfEach: "{id, title, status}",
      several: "lines",
      async run(call, work) {
        const changes = await changesOf(call, "title", ...Object.keys(options), "status");
        requireChanges(call, changes);
        return changed("Changed", await kind.update({ [kind.id]: call.arguments[0], ...changes }, work));
      },
    }),
  };
}

function formatGroup(io: Io, group: Counted, now: Date): string {
  const texts: [string, string | undefined][] = [
    ["Description", group.description],
    ["Acceptance criteria", "acceptanceCriteria" in group ? group.acceptanceCriteria : undefined],
  ];
  return [
    `${group.id}  ${paint(io, "bold", cleanLine(group.title))}`,
    ...fields(io, [
      ["status", paintedStatus(io, group.status)],
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

export const commands = { ...commandsOf(EPICS), ...commandsOf(STORIES) };
