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
import { hidden, needed } from "./tool-input.ts";
import { answer, answerList, ID, listLine, PAGE, TEXT, viewed } from "./work-answer.ts";

const PRIORITY = { type: "string", enum: PRIORITIES } as const;
const STATUS = { type: "string", enum: GROUP_STATUSES } as const;
/** The only status values of a group that are set by hand; all others follow from its tasks. */
const SET_STATUS = { type: "string", enum: ["archived", "todo"], description: "else it follows the tasks" } as const;
const EPIC = { epic_id: ID } as const;
const STORY = { story_id: ID } as const;

/** Tells only the ID: the agent knows the rest. */
const created = ({ id }: { id: string }) => answer({ id });

export const groupTools: readonly Tool[] = [
  writes(
    "create_epic",
    "Create an epic.",
    // Accepted but not listed: one store is one project.
    { title: needed(TEXT), description: TEXT, priority: PRIORITY, project_id: hidden(TEXT), source: hidden(TEXT) },
    createEpic,
    created,
  ),
  writes(
    "update_epic",
    "Change an epic; its priority moves all its tasks.",
    { ...EPIC, title: TEXT, description: TEXT, priority: PRIORITY, status: SET_STATUS },
    updateEpic,
  ),
  reads("get_epic", "One epic, with its tasks counted.", EPIC, getEpic, viewed),
  reads("get_epics", "List epics.", { status: STATUS, priority: PRIORITY, ...PAGE }, async (query, parts) => {
    const line = listLine(query.status);
    return answerList("epics", await listEpics({ ...query, text: line }, parts), { line });
  }),
  writes(
    "create_story",
    "Create a story.",
    { title: needed(TEXT), epic_id: TEXT, description: TEXT, acceptance_criteria: TEXT, source: hidden(TEXT) },
    createStory,
    created,
  ),
  writes(
    "update_story",
    "Change a story; an empty text clears a field.",
    { ...STORY, title: TEXT, description: TEXT, acceptance_criteria: TEXT, epic_id: TEXT, status: SET_STATUS },
    updateStory,
  ),
  reads("get_story", "One story, with its tasks counted.", STORY, getStory, viewed),
  reads("list_stories", "List stories.", { epic_id: TEXT, status: STATUS, ...PAGE }, async (query, parts) => {
    const line = listLine(query.status);
    return answerList("stories", await listStories({ ...query, text: line }, parts), { line });
  }),
  writes(
    "compact_story_handoffs",
    "Move the details of a completed story's handoffs to the archive. Happens by itself.",
    STORY,
    decayHandoffs,
    answer,
  ),
  writes(
    "delete_epic_handoffs",
    "Move a completed epic's handoffs to the archive; nothing is deleted. Happens by itself.",
    EPIC,
    decayHandoffs,
    answer,
  ),
  writes(
    "restore_handoffs",
    "Bring handoffs back out of the archive: one, or all of a task, story or epic.",
    { id: ID },
    restoreHandoffs,
    answer,
  ),
];
