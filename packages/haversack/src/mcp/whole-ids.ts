/**
 * Ids in a call must be whole. A person shortens an id that they see before them; an agent that writes "T4" has made it up, and
 * with a shortened id that happens to begin one, it would change a task that nobody meant.
 */
import type { WorkStore } from "../store/work-store.ts";
import type { ToolCall } from "./tool.ts";
import { reading } from "./work-answer.ts";

/** Undefined: all are whole, or imported ones that look like this. Else what to tell the agent. */
export async function shortenedId(
  input: Readonly<Record<string, unknown>>,
  call: ToolCall,
): Promise<string | undefined> {
  const [short] = ID_FIELDS.flatMap((field) => input[field] ?? [])
    .flat()
    .filter((id): id is string => typeof id === "string" && SHORTENED.test(id.trim()))
    .map((id) => id.trim());
  if (short === undefined) return undefined;
  let problem: string | undefined;
  await reading(call, async ({ store }) => {
    problem = await explain(short, store);
    return { text: "" };
  });
  return problem;
}

/** `agent_id` and `session_id` are the client's. */
const ID_FIELDS = ["task_id", "story_id", "epic_id", "parent_id", "depends_on", "depends_on_task_id", "about", "id"];
/** Whole ones have twelve digits. */
const SHORTENED = /^[TSEHM]\d{1,11}$/i;
/** Newest or most urgent first; more would take longer than the answer is worth. */
const MOST_READ = 1000;
const MOST_NAMED = 3;

async function explain(short: string, store: WorkStore): Promise<string | undefined> {
  const letter = short.charAt(0).toUpperCase();
  const { noun, list, read } = KINDS[letter] ?? TASKS;
  const ids = await read(store);
  if (ids.includes(short)) return undefined;
  const start = letter + short.slice(1);
  const meant = ids.filter((id) => id.startsWith(start)).slice(0, MOST_NAMED);
  const how = meant.length > 0 ? `did you mean ${meant.join(" or ")}?` : `${list} lists them.`;
  return `there is no ${noun} "${short}"; ${how} Ids are never shortened here: a letter and 12 digits.`;
}

interface Kind {
  noun: string;
  /** The tool that lists them. */
  list: string;
  read(store: WorkStore): Promise<string[]>;
}

const page = { limit: MOST_READ } as const;
const idsOf = ({ items }: { items: readonly { id: string }[] }) => items.map(({ id }) => id);

const TASKS: Kind = {
  noun: "task",
  list: "get_tasks",
  read: async (store) => idsOf(await store.listTasks({ ...page, at: new Date() })),
};

const KINDS: Readonly<Record<string, Kind>> = {
  S: { noun: "story", list: "list_stories", read: async (store) => idsOf(await store.listStories(page)) },
  E: { noun: "epic", list: "get_epics", read: async (store) => idsOf(await store.listEpics(page)) },
  H: {
    noun: "handoff",
    list: "get_task_handoff",
    read: async (store) => idsOf(await store.listHandoffs({ ...page, scope: {}, includeArchived: true })),
  },
};
