/** What a claim or the end of a task means for its sub-tasks, in one line. */
import { cleanLine } from "../../base/clean-text.ts";
import { isSettled, type TaskPart } from "../../work/task.ts";

const MOST_NAMED = 5;

/** `2 sub-tasks are still open: T22 "Spec review" (in progress, held by rev), …`. Undefined: none is open. */
export function openPartsWarning(parts: readonly TaskPart[]): string | undefined {
  const open = parts.filter(({ status }) => !isSettled(status));
  if (open.length === 0) return undefined;
  // Who is at work first: that work is lost on whoever thinks the task is over, or does it again.
  const sorted = open.toSorted((a, b) => Number(b.agent !== undefined) - Number(a.agent !== undefined));
  const named = sorted.slice(0, MOST_NAMED).map(({ id, title, status, agent }) => {
    const holder = agent === undefined ? "" : `, held by ${cleanLine(agent)}`;
    return `${id} "${cleanLine(title)}" (${status.replaceAll("_", " ")}${holder})`;
  });
  const more = open.length > MOST_NAMED ? ` and ${open.length - MOST_NAMED} more` : "";
  return `${open.length === 1 ? "a sub-task is" : `${open.length} sub-tasks are`} still open: ${named.join(", ")}${more}`;
}

/** The task's own note, and what is left to do where all sub-tasks are done. */
export function claimNote(note: string | undefined, parts: readonly TaskPart[]): string | undefined {
  const isClosing = parts.length > 0 && parts.every(({ status }) => isSettled(status));
  const closing = isClosing ? "All sub-tasks are done: check the task as a whole and close it." : undefined;
  return note && closing ? `${note.replace(/\.?$/, ".")} ${closing}` : (note ?? closing);
}
