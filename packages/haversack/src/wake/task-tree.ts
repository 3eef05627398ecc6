/**
 * Tasks as a list with boxes, the current one marked, its steps below it, and the position in one sentence. A long list is a
 * window around the current one that says how many are before and after.
 */
import { isSettled, type TaskStep } from "../work/task.ts";
import type { TreeTask, WakeState } from "./state.ts";
import { clock } from "./talk-pieces.ts";
import { cutLine } from "./text.ts";

export interface TreeOptions {
  currentId?: string | undefined;
  /** Steps of the current one. */
  steps?: readonly TaskStep[];
  /** How many there are with those that are not in the list. */
  counts?: { done: number; total: number } | undefined;
}

/** Draws it in so many lines; the lines are made once for all lengths. */
export function treeOf(
  tasks: readonly TreeTask[],
  { currentId, steps = [], counts }: TreeOptions,
): (maxLines: number) => string {
  const rows = rowsOf(tasks, currentId, steps);
  return (maxLines) => drawRows(rows, { tasks, counts, maxLines });
}

/** `maxLines`: of tasks and steps; the two lines on what is hidden come on top. */
function drawRows(
  rows: readonly Row[],
  { tasks, counts, maxLines }: { tasks: readonly TreeTask[]; counts: TreeOptions["counts"]; maxLines: number },
): string {
  const current = Math.max(
    0,
    rows.findIndex(({ isCurrent }) => isCurrent),
  );
  const isCut = rows.length > maxLines;
  // A third of the window looks back: what comes next matters more.
  const from = isCut ? Math.min(Math.max(0, current - Math.floor(maxLines / 3)), rows.length - maxLines) : 0;
  const shown = rows.slice(from, from + maxLines);
  const lines = shown.map(({ line, depth }) => `${"    ".repeat(depth)}${line}`);
  const hidden = hiddenOf(tasks, { shown, counts, before: new Set(rows.slice(0, from).map(({ id }) => id)) });
  return [hidden.before, ...lines, hidden.after].filter(Boolean).join("\n");
}

export interface PositionOptions {
  /** The next action says which step it is. Default: false. */
  isStepSaid?: boolean;
  /** The tree shows its parts. Default: false. */
  hasTree?: boolean;
  /** The next action says who left it. Default: false. */
  isLeftSaid?: boolean;
}

/**
 * `T48 "…" (of T40 "…") is in progress (3 of 9 tasks of its story done), step 3 of 4: …; Spec review: PASS`. Of one that was left:
 * `T48 "…" was left unfinished by @ann (claim expired 04:43)`.
 */
export function positionOf(
  { task, whole, story, tree, leftBy, now }: WakeState,
  { isStepSaid = false, hasTree = false, isLeftSaid = false }: PositionOptions = {},
): string {
  if (!task) return "";
  const parts = (hasTree ? [] : tree)
    .filter(({ parentId }) => parentId === task.id)
    .slice(0, 6)
    .map(({ title, status, lastVerdict }) => `; ${cutLine(title, 60)}: ${lastVerdict ?? STATUS_WORDS[status]}`);
  const at = task.steps.findIndex(({ done }) => !done);
  const among = story && story.total > 0 ? ` (${story.done} of ${story.total} tasks of its story done)` : "";
  const which = `, step ${at + 1} of ${task.steps.length}`;
  const step = at === -1 ? "" : isStepSaid ? which : `${which}: ${cutLine(task.steps[at]!.text, 200)}`;
  const stands = leftBy ? leftWords(leftBy, { now, isLeftSaid }) : `is ${STATUS_WORDS[task.status]}`;
  return `${titleOf({ task, whole }, 200)} ${stands}${among}${step}${parts.join("")}`;
}

function leftWords(
  { agent, because, at }: NonNullable<WakeState["leftBy"]>,
  { now, isLeftSaid }: { now: Date; isLeftSaid: boolean },
): string {
  const who = isLeftSaid ? "" : ` by @${cutLine(agent, 60)}`;
  const time = at ? ` ${clock(at, now)}` : "";
  return `was left unfinished${who} (${LEFT_BECAUSE[because]}${time})`;
}

const LEFT_BECAUSE: Readonly<Record<NonNullable<WakeState["leftBy"]>["because"], string>> = {
  expired: "claim expired",
  ended: "session ended",
  gone: "client gone, last seen",
};

/** Which task it is; of a part also what it is a part of. */
export function titleOf({ task, whole }: { task?: TreeTask; whole?: TreeTask | undefined }, maxChars: number): string {
  if (!task) return "";
  const label = ({ id, title }: TreeTask): string => `${id} "${cutLine(title, maxChars)}"`;
  return whole ? `${label(task)} of ${label(whole)}` : label(task);
}

export const STATUS_WORDS: Readonly<Record<TreeTask["status"], string>> = {
  todo: "pending",
  in_progress: "in progress",
  review: "in review",
  done: "done",
  blocked: "blocked",
  archived: "archived",
};

interface Row {
  id: string | undefined;
  line: string;
  depth: number;
  isCurrent: boolean;
}

const MOST_DEPTH = 4;

/** Parents before their children. A task whose parent is not in the list stands by itself; a cycle of parents ends. */
function rowsOf(tasks: readonly TreeTask[], currentId: string | undefined, steps: readonly TaskStep[]): Row[] {
  const ids = new Set(tasks.map(({ id }) => id));
  const children = new Map<string | undefined, TreeTask[]>();
  for (const task of tasks) {
    const parent =
      task.parentId !== undefined && ids.has(task.parentId) && task.parentId !== task.id ? task.parentId : undefined;
    const siblings = children.get(parent);
    if (siblings) siblings.push(task);
    else children.set(parent, [task]);
  }
  const rows: Row[] = [];
  const seen = new Set<string>();
  const visit = (task: TreeTask, depth: number): void => {
    if (seen.has(task.id)) return;
    seen.add(task.id);
    const isCurrent = task.id === currentId;
    rows.push({ id: task.id, line: formatTask(task, isCurrent), depth, isCurrent });
    if (isCurrent) {
      const next = steps.findIndex(({ done }) => !done);
      for (const [at, { text, done }] of steps.entries()) {
        // The position or the next action has its text.
        const words = at === next ? `step ${at + 1} of ${steps.length}: see below` : cutLine(text, 150);
        rows.push({
          id: undefined,
          line: `- [${done ? "x" : " "}] ${words}`,
          depth: depth + 1,
          isCurrent: false,
        });
      }
    }
    for (const child of children.get(task.id) ?? []) visit(child, Math.min(depth + 1, MOST_DEPTH));
  };
  for (const task of [...(children.get(undefined) ?? []), ...tasks]) visit(task, 0);
  return rows;
}

/** The id only of open ones: the others are over. */
function formatTask({ id, title, status, agent, lastVerdict }: TreeTask, isCurrent: boolean): string {
  const isOver = isSettled(status);
  const who = agent ? `@${cutLine(agent, 60)}, ` : "";
  const about = `${who}${STATUS_WORDS[status]}${lastVerdict && !isOver ? `, ${lastVerdict}` : ""}`;
  const name = isOver ? cutLine(title, 120) : `${id} ${cutLine(title, 120)}`;
  return `- [${isOver ? "x" : " "}] ${name} (${about})${isCurrent ? "  <-- CURRENT" : ""}`;
}

/** Those the reader did not bring are taken as done before and pending after: the list it brings is around the current one. */
function hiddenOf(
  tasks: readonly TreeTask[],
  {
    shown,
    counts,
    before,
  }: { shown: readonly Row[]; counts: TreeOptions["counts"]; before: ReadonlySet<string | undefined> },
): { before: string; after: string } {
  const visible = new Set(shown.map(({ id }) => id));
  const counted = { doneBefore: 0, openBefore: 0, doneAfter: 0, openAfter: 0 };
  let doneInList = 0;
  tasks.forEach(({ id, status }) => {
    const isOver = isSettled(status);
    if (isOver) doneInList++;
    if (visible.has(id)) return;
    if (before.has(id)) counted[isOver ? "doneBefore" : "openBefore"]++;
    else counted[isOver ? "doneAfter" : "openAfter"]++;
  });
  const unlisted = Math.max(0, (counts?.total ?? 0) - tasks.length);
  const unlistedDone = Math.min(unlisted, Math.max(0, (counts?.done ?? 0) - doneInList));
  return {
    before: formatHidden(counted.doneBefore + unlistedDone, counted.openBefore, "before"),
    after: formatHidden(counted.doneAfter, counted.openAfter + unlisted - unlistedDone, "after"),
  };
}

function formatHidden(done: number, open: number, where: string): string {
  const words = [done > 0 && `${done} done`, open > 0 && `${open} pending`].filter(Boolean);
  return words.length > 0 ? `… ${words.join(" and ")} ${where}` : "";
}
