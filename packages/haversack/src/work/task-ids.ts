/** What in a text looks like the id of a task. Whether there is such a task, the store knows. Loaded by the hook. */

/**
 * Each once, in the order of the text: `T` and digits, and imported ids (`task-…`). A short one must stand alone: in a path, a file
 * name or a compound (`fixtures/T1000.json`, `T1000-series`) the same characters are more likely something else.
 */
export function taskIdsIn(text: string): string[] {
  const found = text.slice(0, MAX_CHARS).match(TASK_IDS) ?? [];
  return [...new Set(found.map((id) => id.replace(/^t(?=\d)/, "T")))].slice(0, MOST_IDS);
}

const TASK_IDS = /(?<![\w./\\-])[Tt]\d{4,11}(?![\w/\\-]|\.\w)|\b(?:[Tt]\d{12}|task-\w(?:[\w.-]{0,57}\w)?)\b/g;
const MAX_CHARS = 50_000;
/** A text may be full of part numbers before it names the task. */
const MOST_IDS = 50;
