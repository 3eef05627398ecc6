/** Tasks by status, the first of each. */
import { checkWhole } from "../../work/check-value.ts";
import { fitList, tokensOf } from "../../work/fit-list.ts";
import { TASK_STATUSES, type TaskStatus } from "../../work/task.ts";
import type { WorkParts } from "./work-parts.ts";

export interface KanbanInput {
  includeDone?: boolean | undefined;
  /** Default: 20. */
  limitPerColumn?: number | undefined;
  /** A ceiling for the whole answer. Default: none. */
  maxTokens?: number | undefined;
}

export interface KanbanBoard {
  columns: Partial<Record<TaskStatus, { id: string; title: string }[]>>;
  leftOut: Partial<Record<TaskStatus, number>>;
}

const DEFAULT_PER_COLUMN = 20;
/** Five names of columns, twice, and how to get the rest. */
const AROUND_TOKENS = 70;

/** What is being worked on gets the tokens first. */
const ORDER: readonly TaskStatus[] = ["in_progress", "review", "blocked", "todo", "done"];

export async function kanbanBoard(
  { includeDone = false, limitPerColumn, maxTokens }: KanbanInput,
  { store, by }: WorkParts,
): Promise<KanbanBoard> {
  const limit = checkWhole(limitPerColumn, { field: "limit_per_column", fallback: DEFAULT_PER_COLUMN });
  const ceiling = maxTokens === undefined ? undefined : checkWhole(maxTokens, { field: "max_tokens", fallback: 1 });
  let left = ceiling === undefined ? undefined : Math.max(0, ceiling - AROUND_TOKENS);
  const read = new Map<TaskStatus, { id: string; title: string }[]>();
  const leftOut: KanbanBoard["leftOut"] = {};
  for (const status of ORDER.filter((one) => includeDone || one !== "done")) {
    const { items, total } = await store.listTasks({ status, limit, at: by.at });
    // The column says the status.
    const view = ({ id, title }: { id: string; title: string }) => ({ id, title });
    const { views } = fitList(items, { view, fields: "minimal", maxTokens: left, aroundTokens: 0 });
    if (left !== undefined) for (const shown of views) left -= tokensOf(shown);
    read.set(status, items.slice(0, views.length).map(view));
    if (total > views.length) leftOut[status] = total - views.length;
  }
  // In the order that tasks go through.
  const columns = TASK_STATUSES.flatMap((status) => (read.has(status) ? [[status, read.get(status)]] : []));
  return { columns: Object.fromEntries(columns), leftOut };
}
