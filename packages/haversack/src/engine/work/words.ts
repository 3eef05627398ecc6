/** The words that surfaces offer as choices. */
export { VERDICTS } from "../../work/handoff.ts";
export { DEPENDENCY_TYPES, GROUP_STATUSES, PRIORITIES, TASK_STATUSES, TASK_TYPES } from "../../work/task.ts";
export { FIELD_SETS } from "../../work/task-view.ts";
