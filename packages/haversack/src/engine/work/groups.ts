/** Creates, changes, shows and lists epics and stories. */
import type { TaskCounts } from "../../store/work-store.ts";
import { checkChoice, cleanName, cleanText, cleanTitle, invalid } from "../../work/clean-input.ts";
import { type Epic, GROUP_STATUSES, PRIORITIES, type Story } from "../../work/task.ts";
import { FIELD_SETS, type View, viewEpic, viewStory } from "../../work/task-view.ts";
import { checkListInput, type ListInput } from "./tasks.ts";
import { filterPages, given, type Listed, listed, type WorkParts } from "./work-parts.ts";

export interface EpicInput {
  title: string;
  description?: string | undefined;
  priority?: string | undefined;
  source?: string | undefined;
}

export function createEpic(
  { title, description, priority, source }: EpicInput,
  { store, by }: WorkParts,
): Promise<Epic> {
  const fields = given({
    description: cleanText(description, { field: "description" }),
    priority: checkChoice(priority, { field: "priority", choices: PRIORITIES }),
    source: cleanName(source, { field: "source" }),
  });
  return store.createEpic({ title: cleanTitle(title), ...fields }, by);
}

export interface EpicChangesInput {
  epicId: string;
  title?: string | undefined;
  /** Null clears it. */
  description?: string | null | undefined;
  priority?: string | undefined;
  /** Only archived and todo can be set; other statuses follow from the tasks. */
  status?: string | undefined;
}

export async function updateEpic(
  { epicId, title, description, priority, status }: EpicChangesInput,
  { store, by }: WorkParts,
): Promise<Epic> {
  const changes = given({
    title: title === undefined ? undefined : cleanTitle(title),
    description: textOrNull(description, "description"),
    priority: checkChoice(priority, { field: "priority", choices: PRIORITIES }),
    status: checkChoice(status, { field: "status", choices: SET_BY_HAND }),
  });
  if (Object.keys(changes).length === 0) throw invalid("give at least one field to change");
  return store.updateEpic(epicId, changes, by);
}

export const SET_BY_HAND = ["archived", "todo"] as const;

/** Null or an empty text clears the field. */
export function textOrNull(value: string | null | undefined, field: string): string | null | undefined {
  return value === undefined ? undefined : (cleanText(value, { field }) ?? null);
}

export async function getEpic(
  { epicId, fields }: { epicId: string; fields?: string | undefined },
  { store }: WorkParts,
): Promise<{ epic: Epic & { counts: TaskCounts }; view: View }> {
  const set = checkChoice(fields, { field: "fields", choices: FIELD_SETS }) ?? "standard";
  const epic = await store.getEpic(epicId);
  return { epic, view: viewEpic(epic, set) };
}

export async function listEpics(
  input: ListInput & { status?: string | undefined; priority?: string | undefined },
  { store }: WorkParts,
): Promise<Listed<Epic>> {
  const { limit, offset, fields, maxTokens } = checkListInput(input);
  const status = checkChoice(input.status, { field: "status", choices: GROUP_STATUSES });
  const priority = checkChoice(input.priority, { field: "priority", choices: PRIORITIES });
  const read = (page: { limit: number; offset: number }) => store.listEpics({ ...given({ status }), ...page });
  const page = priority
    ? await filterPages(read, (epic) => epic.priority === priority, { limit, offset })
    : await read({ limit, offset });
  return listed(page, { view: viewEpic, fields, maxTokens, offset, text: input.text });
}

export interface StoryInput extends Omit<EpicInput, "priority"> {
  epicId?: string | undefined;
  acceptanceCriteria?: string | undefined;
}

export function createStory(input: StoryInput, { store, by }: WorkParts): Promise<Story> {
  const fields = given({
    epicId: cleanName(input.epicId, { field: "epic_id" }),
    description: cleanText(input.description, { field: "description" }),
    acceptanceCriteria: cleanText(input.acceptanceCriteria, { field: "acceptance_criteria" }),
    source: cleanName(input.source, { field: "source" }),
  });
  return store.createStory({ title: cleanTitle(input.title), ...fields }, by);
}

export interface StoryChangesInput extends Omit<EpicChangesInput, "epicId" | "priority"> {
  storyId: string;
  /** Null takes it out of its epic. */
  epicId?: string | null | undefined;
  /** Null clears it. */
  acceptanceCriteria?: string | null | undefined;
}

export async function updateStory(input: StoryChangesInput, { store, by }: WorkParts): Promise<Story> {
  const { storyId, title, epicId, description, acceptanceCriteria, status } = input;
  const changes = given({
    title: title === undefined ? undefined : cleanTitle(title),
    epicId: epicId === undefined ? undefined : (cleanName(epicId, { field: "epic_id" }) ?? null),
    description: textOrNull(description, "description"),
    acceptanceCriteria: textOrNull(acceptanceCriteria, "acceptance_criteria"),
    status: checkChoice(status, { field: "status", choices: SET_BY_HAND }),
  });
  if (Object.keys(changes).length === 0) throw invalid("give at least one field to change");
  return store.updateStory(storyId, changes, by);
}

export async function getStory(
  { storyId, fields }: { storyId: string; fields?: string | undefined },
  { store }: WorkParts,
): Promise<{ story: Story & { counts: TaskCounts }; view: View }> {
  const set = checkChoice(fields, { field: "fields", choices: FIELD_SETS }) ?? "standard";
  const story = await store.getStory(storyId);
  return { story, view: viewStory(story, set) };
}

export async function listStories(
  input: ListInput & { status?: string | undefined; epicId?: string | undefined },
  { store }: WorkParts,
): Promise<Listed<Story>> {
  const { limit, offset, fields, maxTokens } = checkListInput(input);
  const status = checkChoice(input.status, { field: "status", choices: GROUP_STATUSES });
  const page = await store.listStories({ ...given({ status, epicId: input.epicId }), limit, offset });
  return listed(page, { view: viewStory, fields, maxTokens, offset, text: input.text });
}
