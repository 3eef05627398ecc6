/** The ids of tasks that a text names. Loaded by the hook. */

/** Each once, in the order of the text, at most ten: ours (`T` and twelve digits), and imported ones (`task-…`). */
export function taskIdsIn(text: string): string[] {
  const found = text.slice(0, MAX_CHARS).match(/\b(?:T\d{12}|task-\w(?:[\w.-]{0,57}\w)?)\b/g) ?? [];
  return [...new Set(found)].slice(0, 10);
}

const MAX_CHARS = 50_000;
