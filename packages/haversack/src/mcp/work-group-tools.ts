/** Epic and story tools for `--tools all`. */

import {
  createEpic,
  createStory,
  getEpic,
  getStory,
  listEpics,
  listStories,
  updateEpic,
  updateStory,
} from "../engine/work/groups.ts";
import { decayHandoffs, restoreHandoffs } from "../engine/work/handoffs.ts";
import { GROUP_STATUSES, PRIORITIES } from "../engine/work/words.ts";
import { reads, type Tool, writes } from "./tool.ts";
import { answer, answerList, DONE, listLine, PAGE, TEXT } from "./work-answer.ts";

const PRIORITY = { type: "string", enum: PRIORITIES } as const;
const STATUS = { type: "string", enum: GROUP_STATUSES } as const;
/** The only status values of a group that are set by hand; all others follow from its tasks. */
const SET_STATUS = { type: "string", enum: ["archived", "todo"], description: "else it follows the tasks" } as const;
const EPIC = { takes: { epic_id: TEXT }, required: ["epic_id"] } as const;
const STORY = { takes: { story_id: TEXT }, required: ["story_id"] } as const;

export const groupTools: readonly Tool[] = [
  writes(
    "create_epic",
    "Create an epic.",
    {
      takes: { title: TEXT, description: TEXT, priority: PRIORITY },
      required: ["title"],
      // Accepted but not listed: one store is one project.
      unlisted: { project_id: TEXT, source: TEXT },
    },
    async (input, parts) => answer({ id: (await createEpic(input, parts)).id }),
  ),
  writes(
    "update_epic",
    "Change an epic; its priority moves all its tasks.",
    {
      takes: { epic_id: TEXT, title: TEXT, description: TEXT, priority: PRIORITY, status: SET_STATUS },
      required: ["epic_id"],
    },
    async (input, parts) => {
      await updateEpic(input, parts);
      return DONE;
    },
  ),
  reads("get_epic", "One epic, with its tasks counted.", EPIC, async (input, parts) =>
    answer((await getEpic(input, parts)).view),
  ),
  reads(
    "get_epics",
    "List epics.",
    { takes: { status: STATUS, priority: PRIORITY, ...PAGE } },
    async (query, parts) => {
      const line = listLine(query.status);
      return answerList("epics", await listEpics({ ...query, text: line }, parts), { line });
    },
  ),
  writes(
    "create_story",
    "Create a story.",
    {
      takes: { title: TEXT, epic_id: TEXT, description: TEXT, acceptance_criteria: TEXT },
      required: ["title"],
      unlisted: { source: TEXT },
    },
    async (input, parts) => answer({ id: (await createStory(input, parts)).id }),
  ),
  writes(
    "update_story",
    "Change a story; an empty text clears a field.",
    {
      takes: {
        story_id: TEXT,
        title: TEXT,
        description: TEXT,
        acceptance_criteria: TEXT,
        epic_id: TEXT,
        status: SET_STATUS,
      },
      required: ["story_id"],
    },
    async (input, parts) => {
      await updateStory(input, parts);
      return DONE;
    },
  ),
  reads("get_story", "One story, with its tasks counted.", STORY, async (input, parts) =>
    answer((await getStory(input, parts)).view),
  ),
  reads(
    "list_stories",
    "List stories.",
    { takes: { epic_id: TEXT, status: STATUS, ...PAGE } },
    async (query, parts) => {
      const line = listLine(query.status);
      return answerList("stories", await listStories({ ...query, text: line }, parts), { line });
    },
  ),
  writes(
    "compact_story_handoffs",
    "Move the details of a completed story's handoffs to the archive. Happens by itself.",
    STORY,
    async (input, parts) => answer(await decayHandoffs(input, parts)),
  ),
  writes(
    "delete_epic_handoffs",
    "Move a completed epic's handoffs to the archive; nothing is deleted. Happens by itself.",
    EPIC,
    async (input, parts) => answer(await decayHandoffs(input, parts)),
  ),
  writes(
    "restore_handoffs",
    "Bring handoffs back out of the archive: one, or all of a task, story or epic.",
    { takes: { id: TEXT }, required: ["id"] },
    async (input, parts) => answer(await restoreHandoffs(input, parts)),
  ),
];
