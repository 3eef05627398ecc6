import type { TaskQuery } from "../../store/work-store.ts";
import { checkChoice, checkWhole } from "../../work/check-value.ts";
import { PRIORITIES, TASK_STATUSES, TASK_TYPES, type Task } from "../../work/task.ts";
import { FIELD_SETS, viewTask } from "../../work/task-view.ts";
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
  return listed(await store.listTasks(query), { view: viewTask, fields, maxTokens, offset });
}

export function checkListInput({ limit, offset, fields, maxTokens }: ListInput, defaultLimit = DEFAULT_LIMIT) {
  return {
    limit: checkWhole(limit, { field: "limit", fallback: defaultLimit }),
    offset: checkWhole(offset, { field: "offset", minimum: 0, fallback: 0 }),
    fields: checkChoice(fields, { field: "fields", choices: FIELD_SETS }) ?? "minimal",
    maxTokens: maxTokens === undefined ? undefined : checkWhole(maxTokens, { field: "max_tokens", fallback: 0 }),
  };
}
