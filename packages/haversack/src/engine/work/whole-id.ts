/** What an id that was shortened may have meant. */
import type { WorkStore } from "../../store/work-store.ts";
import type { WorkParts } from "./work-parts.ts";

/** Newest or most urgent first; more would take longer than the answer is worth. */
const MOST_READ = 1000;
const MOST_NAMED = 3;

/** Undefined: something has just this id, as imported things may. */
export async function explainShortId(short: string, { store }: Pick<WorkParts, "store">): Promise<string | undefined> {
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
