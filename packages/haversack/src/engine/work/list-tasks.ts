import type { Page, TaskQuery, WorkStore } from "../../store/work-store.ts";
import { checkChoice, checkWhole } from "../../work/check-value.ts";
import { GROUP_STATUSES, type GroupStatus, PRIORITIES, TASK_STATUSES, TASK_TYPES, type Task } from "../../work/task.ts";
import { FIELD_SETS, type View, viewTask } from "../../work/task-view.ts";
import { everyItem, filterPages } from "./filter-pages.ts";
import { withDetails } from "./next-batch.ts";
import { given, type Listed, listed, type WorkParts } from "./work-parts.ts";

/** What every list takes. */
export interface ListInput {
  /** Default: 50. */
  limit?: number | undefined;
  offset?: number | undefined;
  /** Default: minimal. */
  fields?: string | undefined;
  /** A ceiling for the whole answer. Default: none. */
  maxTokens?: number | undefined;
  /** How the answer writes one. Default: JSON. */
  text?: ((view: View) => string) | undefined;
}

export interface ListTasksInput extends ListInput {
  status?: string | undefined;
  /** The task's own. */
  priority?: string | undefined;
  type?: string | undefined;
  assignee?: string | undefined;
  parentId?: string | undefined;
  hasWip?: boolean | undefined;
  planFile?: string | undefined;
  epicId?: string | undefined;
  storyId?: string | undefined;
  /** Only tasks of stories, or epics, of this status. */
  storyStatus?: string | undefined;
  epicStatus?: string | undefined;
}

const DEFAULT_LIMIT = 50;

export async function listTasks(input: ListTasksInput, { store, by }: WorkParts): Promise<Listed<Task>> {
  const { limit, offset, fields, maxTokens } = checkListInput(input);
  const { assignee, parentId, hasWip, planFile, epicId, storyId } = input;
  const query: TaskQuery = {
    ...given({
      status: checkChoice(input.status, { field: "status", choices: TASK_STATUSES }),
      priority: checkChoice(input.priority, { field: "priority", choices: PRIORITIES }),
      type: checkChoice(input.type, { field: "task_type", choices: TASK_TYPES }),
      assignee,
      parentId,
      hasWip,
      planFile,
      epicId,
      storyId,
    }),
    limit,
    offset,
    at: by.at,
  };
  const storyStatus = checkChoice(input.storyStatus, { field: "story_status", choices: GROUP_STATUSES });
  const epicStatus = checkChoice(input.epicStatus, { field: "epic_status", choices: GROUP_STATUSES });
  const page =
    storyStatus || epicStatus ? await byGroup(query, { storyStatus, epicStatus }, store) : await store.listTasks(query);
  const items = await withDetails(page.items, fields, { store, by });
  return listed({ ...page, items }, { view: viewTask, fields, maxTokens, offset, text: input.text });
}

async function byGroup(
  query: TaskQuery,
  { storyStatus, epicStatus }: { storyStatus?: GroupStatus | undefined; epicStatus?: GroupStatus | undefined },
  store: WorkStore,
): Promise<Page<Task>> {
  const stories = storyStatus && (await idsOf((page) => store.listStories({ ...page, status: storyStatus })));
  const epics = epicStatus && (await idsOf((page) => store.listEpics({ ...page, status: epicStatus })));
  const isWanted = ({ storyId = "", epicId = "" }: Task) =>
    (!stories || stories.has(storyId)) && (!epics || epics.has(epicId));
  const { limit, offset = 0 } = query;
  return filterPages((page) => store.listTasks({ ...query, ...page }), isWanted, { limit, offset });
}

async function idsOf(read: Parameters<typeof everyItem<{ id: string }>>[0]): Promise<Set<string>> {
  const ids = new Set<string>();
  for await (const { id } of everyItem(read)) ids.add(id);
  return ids;
}

export function checkListInput({ limit, offset, fields, maxTokens }: ListInput, defaultLimit = DEFAULT_LIMIT) {
  return {
    limit: checkWhole(limit, { field: "limit", fallback: defaultLimit }),
    offset: checkWhole(offset, { field: "offset", minimum: 0, fallback: 0 }),
    fields: checkChoice(fields, { field: "fields", choices: FIELD_SETS }) ?? "minimal",
    maxTokens: maxTokens === undefined ? undefined : checkWhole(maxTokens, { field: "max_tokens", fallback: 0 }),
  };
}
