/** Tools of epics and stories for `--tools all`. */

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
import { defineTool, type Tool } from "./tool.ts";
import { answer, answerList, DONE, listLine, reading, writing } from "./work-answer.ts";

const TEXT = { type: "string" } as const;
const COUNT = { type: "integer" } as const;
const READS = { readOnlyHint: true } as const;
/** With both, Codex asks nobody before a call (seen in 0.166.0). */
const ADDS = { destructiveHint: false, openWorldHint: false } as const;
/** Of a group only this is set by hand: the rest follows its tasks. */
const GROUP_STATUS = { type: "string", enum: ["archived", "todo"], description: "else it follows the tasks" } as const;
const LIST = { limit: COUNT, offset: COUNT, max_tokens: COUNT } as const;

const createEpicTool = defineTool({
  name: "create_epic",
  description: "Create an epic.",
  inputSchema: {
    type: "object",
    properties: { title: TEXT, description: TEXT, priority: { type: "string", enum: PRIORITIES } },
    required: ["title"],
  },
  // One store is one project.
  unlisted: { project_id: TEXT, source: TEXT },
  annotations: ADDS,
  set: "all",
  run: ({ title, description, priority, source }, call) =>
    writing(call, async (parts) => {
      const { id } = await createEpic({ title, description, priority, source }, parts);
      return answer({ id });
    }),
});

const updateEpicTool = defineTool({
  name: "update_epic",
  description: "Change an epic; its priority moves all its tasks.",
  inputSchema: {
    type: "object",
    properties: {
      epic_id: TEXT,
      title: TEXT,
      description: TEXT,
      priority: { type: "string", enum: PRIORITIES },
      status: GROUP_STATUS,
    },
    required: ["epic_id"],
  },
  annotations: ADDS,
  set: "all",
  run: ({ epic_id: epicId, ...changes }, call) =>
    writing(call, async (parts) => {
      await updateEpic({ epicId, ...changes }, parts);
      return DONE;
    }),
});

const getEpicTool = defineTool({
  name: "get_epic",
  description: "One epic, with its tasks counted.",
  inputSchema: { type: "object", properties: { epic_id: TEXT }, required: ["epic_id"] },
  annotations: READS,
  set: "all",
  run: ({ epic_id: epicId }, call) => reading(call, async (parts) => answer((await getEpic({ epicId }, parts)).view)),
});

const getEpics = defineTool({
  name: "get_epics",
  description: "List epics.",
  inputSchema: {
    type: "object",
    properties: {
      status: { type: "string", enum: GROUP_STATUSES },
      priority: { type: "string", enum: PRIORITIES },
      ...LIST,
    },
  },
  annotations: READS,
  set: "all",
  run: ({ max_tokens: maxTokens, ...query }, call) =>
    reading(call, async (parts) => {
      const line = listLine(query.status);
      return answerList("epics", await listEpics({ ...query, maxTokens, text: line }, parts), { line });
    }),
});

const createStoryTool = defineTool({
  name: "create_story",
  description: "Create a story.",
  inputSchema: {
    type: "object",
    properties: { title: TEXT, epic_id: TEXT, description: TEXT, acceptance_criteria: TEXT },
    required: ["title"],
  },
  unlisted: { source: TEXT },
  annotations: ADDS,
  set: "all",
  run: ({ title, epic_id: epicId, description, acceptance_criteria: acceptanceCriteria, source }, call) =>
    writing(call, async (parts) => {
      const { id } = await createStory({ title, epicId, description, acceptanceCriteria, source }, parts);
      return answer({ id });
    }),
});

const updateStoryTool = defineTool({
  name: "update_story",
  description: "Change a story; an empty text clears a field.",
  inputSchema: {
    type: "object",
    properties: {
      story_id: TEXT,
      title: TEXT,
      description: TEXT,
      acceptance_criteria: TEXT,
      epic_id: TEXT,
      status: GROUP_STATUS,
    },
    required: ["story_id"],
  },
  annotations: ADDS,
  set: "all",
  run: ({ story_id: storyId, epic_id: epicId, acceptance_criteria: acceptanceCriteria, ...changes }, call) =>
    writing(call, async (parts) => {
      await updateStory({ storyId, epicId, acceptanceCriteria, ...changes }, parts);
      return DONE;
    }),
});

const getStoryTool = defineTool({
  name: "get_story",
  description: "One story, with its tasks counted.",
  inputSchema: { type: "object", properties: { story_id: TEXT }, required: ["story_id"] },
  annotations: READS,
  set: "all",
  run: ({ story_id: storyId }, call) =>
    reading(call, async (parts) => answer((await getStory({ storyId }, parts)).view)),
});

const listStoriesTool = defineTool({
  name: "list_stories",
  description: "List stories.",
  inputSchema: {
    type: "object",
    properties: { epic_id: TEXT, status: { type: "string", enum: GROUP_STATUSES }, ...LIST },
  },
  annotations: READS,
  set: "all",
  run: ({ epic_id: epicId, max_tokens: maxTokens, ...query }, call) =>
    reading(call, async (parts) => {
      const line = listLine(query.status);
      return answerList("stories", await listStories({ ...query, epicId, maxTokens, text: line }, parts), { line });
    }),
});

const compactStoryHandoffs = defineTool({
  name: "compact_story_handoffs",
  description: "Move the details of a completed story's handoffs to the archive. Happens by itself.",
  inputSchema: { type: "object", properties: { story_id: TEXT }, required: ["story_id"] },
  annotations: ADDS,
  set: "all",
  run: ({ story_id: storyId }, call) => writing(call, async (parts) => answer(await decayHandoffs({ storyId }, parts))),
});

const deleteEpicHandoffs = defineTool({
  name: "delete_epic_handoffs",
  description: "Move a completed epic's handoffs to the archive; nothing is deleted. Happens by itself.",
  inputSchema: { type: "object", properties: { epic_id: TEXT }, required: ["epic_id"] },
  annotations: ADDS,
  set: "all",
  run: ({ epic_id: epicId }, call) => writing(call, async (parts) => answer(await decayHandoffs({ epicId }, parts))),
});

const restoreHandoffsTool = defineTool({
  name: "restore_handoffs",
  description: "Bring handoffs back out of the archive: one, or all of a task, story or epic.",
  inputSchema: { type: "object", properties: { id: TEXT }, required: ["id"] },
  annotations: ADDS,
  set: "all",
  run: ({ id }, call) => writing(call, async (parts) => answer(await restoreHandoffs({ id }, parts))),
});

export const groupTools: readonly Tool[] = [
  createEpicTool,
  updateEpicTool,
  getEpicTool,
  getEpics,
  createStoryTool,
  updateStoryTool,
  getStoryTool,
  listStoriesTool,
  compactStoryHandoffs,
  deleteEpicHandoffs,
  restoreHandoffsTool,
];
