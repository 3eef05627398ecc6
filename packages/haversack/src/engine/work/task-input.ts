/** The fields of a task as they come from outside, cleaned: for creating and for changing one. */
import type { NewTask } from "../../store/work-store.ts";
import { checkChoice } from "../../work/check-value.ts";
import {
  cleanFiles,
  cleanHours,
  cleanName,
  cleanSteps,
  cleanText,
  cleanTitle,
  splitReference,
} from "../../work/clean-input.ts";
import { PRIORITIES, TASK_TYPES, type TaskStep } from "../../work/task.ts";
import { given } from "./work-parts.ts";

export interface TaskFields {
  title?: string | undefined;
  storyId?: string | undefined;
  parentId?: string | undefined;
  type?: string | undefined;
  priority?: string | undefined;
  description?: string | undefined;
  acceptanceCriteria?: string | undefined;
  files?: readonly string[] | undefined;
  steps?: readonly (string | TaskStep)[] | undefined;
  estimateHours?: number | undefined;
  skill?: string | undefined;
  planFile?: string | undefined;
  planSection?: string | undefined;
  /** `planFile#planSection` */
  traceabilityRef?: string | undefined;
  contextSummary?: string | undefined;
  handoffNotes?: string | undefined;
  assignee?: string | undefined;
}

/** What was not given is not there. */
export function cleanTaskFields(fields: TaskFields): Partial<NewTask> {
  return given({
    title: fields.title === undefined ? undefined : cleanTitle(fields.title),
    storyId: cleanName(fields.storyId, { field: "story_id" }),
    parentId: cleanName(fields.parentId, { field: "parent_id" }),
    type: checkChoice(fields.type, { field: "task_type", choices: TASK_TYPES }),
    priority: checkChoice(fields.priority, { field: "priority", choices: PRIORITIES }),
    description: cleanText(fields.description, { field: "description" }),
    acceptanceCriteria: cleanText(fields.acceptanceCriteria, { field: "acceptance_criteria" }),
    files: cleanFiles(fields.files),
    steps: cleanSteps(fields.steps),
    estimateHours: cleanHours(fields.estimateHours),
    skill: cleanText(fields.skill, { field: "skill", maxChars: 500 }),
    ...splitReference(fields.traceabilityRef),
    ...given({
      planFile: cleanText(fields.planFile, { field: "plan_file", maxChars: 1000 }),
      planSection: cleanText(fields.planSection, { field: "plan_section", maxChars: 1000 }),
    }),
    contextSummary: cleanText(fields.contextSummary, { field: "context_summary" }),
    handoffNotes: cleanText(fields.handoffNotes, { field: "handoff_notes" }),
    assignee: cleanName(fields.assignee, { field: "assignee" }),
  });
}
