/** Pieces on the task in hand, what it needs, the tasks around it, and their handoffs. */

import { isSettled, type TaskStep } from "../work/task.ts";
import { type Piece, type PieceOptions, Pieces } from "./packet.ts";
import { clock } from "./packet-pieces.ts";
import type { TreeTask, WakeState } from "./state.ts";
import type { Placeholder } from "./templates.ts";
import { cutLine, cutText, deepen, listOf, objectOf, Said, stemsOf, textOf } from "./text.ts";

export function taskPieces(state: WakeState, options: PieceOptions): Piece[] {
  const { task, story, epic, alsoHolds, alsoSent = [], tree } = state;
  const { how } = options;
  const around = new Pieces(["tasks", "task"], { group: "work", how: how.task });
  const { position } = options;
  if (position) {
    const full = `**Current position:** ${position}`;
    // Even the smallest packet names its task, so this is dropped last.
    const forms = { short: `**Task:** ${titleOf(state, 100)}`, name: titleOf(state, 50) };
    around.add(0, "position", full, { ...forms, order: -1, group: undefined });
  }
  if (options.hasTree) {
    const draw = treeOf(tree, { currentId: task?.id, steps: task?.steps ?? [], counts: story });
    const forms = { short: draw(14), name: draw(5), slots: ["tasks"] as const };
    around.add(50, "tree", draw(60), { ...forms, how: how.tree, order: -2 });
  }
  const above = [
    story && `story ${story.id} ${cutLine(story.title, 120)}`,
    epic && `epic ${cutLine(epic.title, 120)} (${epic.priority})`,
  ].filter(Boolean);
  if (above.length > 0) around.add(45, "story", `Part of ${above.join(", ")}.`, { order: 0 });
  storyPieces(state, around, how.tree);
  const sentOut = { what: "other task under way", label: "**Also under way:**", order: 61 };
  for (const sent of alsoSent.slice(0, 10)) around.add(35, `sent ${sent.id}`, formatTask(sent), sentOut);
  const inHand = { what: "other task held", label: "**You also hold:**", order: 60 };
  for (const held of alsoHolds.slice(0, 10))
    around.add(35, `held ${held.id}`, formatTask({ ...held, agent: "" }), inHand);
  return [...around.list, ...ownPieces(state, options)];
}

/** The stories that an orchestrator looks after. */
function storyPieces({ stories = [], moreStories = 0 }: WakeState, into: Pieces, how: string): void {
  for (const [index, { id, title, done, total, planFile, tree }] of stories.entries()) {
    const name = id === undefined ? title : `Story ${id} ${cutLine(title, 120)}`;
    const plan = planFile === undefined ? "" : `, plan ${cutLine(planFile, 200)}`;
    const head = `**${name}** (${done} of ${total} done${plan})`;
    const running = tree.find(({ status }) => status !== "done" && status !== "archived");
    const draw = treeOf(tree, { currentId: running?.id, counts: id === undefined ? undefined : { done, total } });
    // The packet is about the first story, so it comes before the shares are applied.
    into.add(index === 0 ? 15 : 20 + index, `story ${id ?? ""}`, `${head}\n${draw(24)}`, {
      short: `${head}\n${draw(10)}`,
      name: `${head}\n${draw(4)}`,
      ...(index === 0 && { group: undefined }),
      what: "story",
      order: -2 + index / 100,
      how,
    });
  }
  if (moreStories > 0) {
    into.add(28, "more stories", `${moreStories} more ${moreStories === 1 ? "story" : "stories"}: ${how}.`);
  }
}

/** For a part: what the whole task asks for, labelled with its ID. */
function wholePieces({ whole }: WakeState, add: AddText, own: Pieces): void {
  if (!whole) return;
  add(26, 2.5, `description of ${whole.id}`, whole.description, `**${whole.id}:** `);
  addCriteria(own, whole.acceptanceCriteria, { key: "whole", label: `**${whole.id} is done when:**`, order: 3.5 });
  const files = whole.files.length > 0 ? `**Files of ${whole.id}:** ${listed(whole.files, 20)}` : "";
  own.add(29, "files of the whole", files, { order: 5.5 });
}

function addCriteria(
  own: Pieces,
  text: string | undefined,
  { key, label, order }: { key: string; label: string; order: number },
): void {
  for (const [index, criterion] of criteriaOf(text).entries()) {
    own.add(24, `criterion ${key}${index}`, `- ${cutLine(criterion, 500)}`, {
      short: `- ${cutLine(criterion, 140)}`,
      what: "criterion",
      label,
      order,
    });
  }
}

type AddText = (rank: number, order: number, key: string, value: string | undefined, label?: string) => void;

function ownPieces(state: WakeState, { budgetChars, hasTree, isLeftSaid, how }: PieceOptions): Piece[] {
  const { task } = state;
  const own = new Pieces(["task"], { group: "work", how: how.task });
  if (!task) return [];
  const addText = (
    rank: number,
    order: number,
    key: string,
    value: string | undefined,
    label = "",
    slots: readonly Placeholder[] = ["task"],
  ): void => {
    if (!value?.trim()) return;
    const cut = (maxChars: number): string => `${label}${deepen(cutText(value, Math.floor(maxChars)))}`;
    own.add(rank, key, cut(Math.max(4_000, budgetChars / 4)), {
      short: cut(Math.min(Math.max(200, budgetChars * 0.08), 800)),
      name: cut(160),
      rest: `rest of the ${key}`,
      says: value,
      slots,
      order,
    });
  };
  addText(26, 2, "description", task.description);
  const note = task.note && !(isLeftSaid && EXPIRED.test(task.note)) ? task.note : "";
  if (note)
    own.add(25, "note", `**Note:** ${cutLine(note, 400)}`, { short: `**Note:** ${cutLine(note, 140)}`, order: 1 });
  addCriteria(own, task.acceptanceCriteria, { key: "", label: "**Done when:**", order: 3 });
  wholePieces(state, addText, own);
  const current = task.steps.findIndex(({ done }) => !done);
  for (const [index, { text, done }] of (hasTree ? [] : task.steps.slice(0, 40)).entries()) {
    // The position or the next action already has its text.
    if (index === current) continue;
    own.add(done ? 38 : 28, `step ${index}`, `- [${done ? "x" : " "}] ${cutLine(text, 150)}`, {
      what: "step",
      label: current === -1 ? "**Steps:**" : "**Other steps:**",
      order: 4 + index / 100,
    });
  }
  own.add(29, "files", task.files.length > 0 ? `**Files:** ${listed(task.files, 20)}` : "", { order: 5 });
  for (const open of task.waitsFor.slice(0, 10)) {
    own.add(26, `waits ${open.id}`, formatTask(open), { what: "task it waits for", label: "**Waits for:**", order: 6 });
  }
  addText(25, 37, "handoff notes", task.handoffNotes, "**Notes for whoever goes on:** ", ["wip", "task"]);
  addText(35, 38, "context", task.contextSummary, "**Context:** ", ["wip", "task"]);
  return own.list;
}

/** The note that the store writes when a claim expires. */
const EXPIRED = /^The claim of .+ expired at /;

function formatTask({ id, title, status, agent, lastVerdict }: TreeTask): string {
  const who = agent ? `@${cutLine(agent, 60)}, ` : "";
  return `- ${id} ${cutLine(title, 120)} (${who}${STATUS_WORDS[status]}${lastVerdict ? `, ${lastVerdict}` : ""})`;
}

/** One per line, without bullets and numbers, because the packet adds its own. */
function criteriaOf(text = ""): string[] {
  return text
    .slice(0, 20_000)
    .split("\n")
    .flatMap((line) =>
      line === "" ? [] : line.replace(/^\s*(?:[-*+•]|\d+[.)])?\s*(?:\[[ xX]\]\s*)?/, "").trim() || [],
    )
    .slice(0, 40);
}

/** Keeps the last ones, which are the newest and matter most. */
export function listed(texts: readonly string[], most: number): string {
  const shown = texts.slice(-most).map((text) => cutLine(text, 150));
  return `${texts.length > most ? `${texts.length - most} more, ` : ""}${shown.join(", ")}`;
}

export const MOST_HANDOFFS = 12;

/** For the task itself, failed handoffs matter most; for siblings, the newest. */
export function handoffPieces({ handoffs, task }: WakeState, { said, how }: PieceOptions): Piece[] {
  const pieces = new Pieces(["handoffs", "task"], { group: "work", what: "handoff", label: "Handed off:" });
  for (const [index, { taskId, taskTitle, role, attempt, status, summary }] of handoffs
    .slice(0, MOST_HANDOFFS)
    .entries()) {
    if (said.has(cutLine(summary, 300))) continue;
    const isOwn = taskId === task?.id;
    const who = `${cutLine(role, 60)} ${status}${attempt > 1 || isOwn ? `, attempt ${attempt}` : ""}`;
    const head = isOwn ? who : `${taskId} ${cutLine(taskTitle, 80)}, ${who}`;
    const rank = isOwn ? (status === "PASS" ? 39 : 19) : 40 + index / 100;
    pieces.add(rank, `handoff ${index}`, `- ${head}: ${cutLine(summary, 500)}`, {
      short: `- ${head}: ${cutLine(summary, 120)}`,
      says: summary,
      order: 70 + index / 100,
      how: how.handoffs,
    });
  }
  return pieces.list;
}

// The work in progress, line by line, without what the next action already says.

export function wipPieces({ wip = {}, task }: WakeState, options: PieceOptions): Piece[] {
  const { said, how } = options;
  // Sentences quote only the beginning of a long text, so compare beginnings.
  const isSaid = (text: string): boolean => said.has(cutLine(text, 300));
  const pieces = new Pieces(["wip", "task"], { group: "work", how: how.wip, order: 50 });
  const addLine = (rank: number, key: string, label: string, value: string, isRed = false): void => {
    if (!value || isSaid(value)) return;
    const cut = (maxChars: number): string => `${label}: ${cutLine(value, maxChars)}`;
    pieces.add(rank, key, cut(isRed ? 300 : 600), {
      short: cut(140),
      says: value,
      order: 40 + rank / 10,
      ...(isRed && RED),
    });
  };

  const tests = objectOf(wip.test_results);
  const command = cutLine(textOf(tests["command"]), 200);
  const failing = cutLine(textOf(tests["failing_test"]), 300);
  const red = new Said();
  red.add(failing);
  if (failing) {
    const forms = { short: `Failing test: ${cutLine(failing, 140)}`, says: failing };
    pieces.add(4, "failing test", `Failing test: ${failing}${command && ` (run: ${command})`}`, { ...RED, ...forms });
  }
  for (const [index, reason] of (task?.blockers ?? []).slice(-3).entries())
    addLine(4, `blocker ${index}`, "Blocked", reason, true);
  for (const [index, entry] of listOf(wip.errors).slice(-10).reverse().entries()) {
    const { type, file, message } = objectOf(entry);
    if (isSaid(textOf(message))) continue;
    // The error is often the failing test's own message.
    const parts = failing && red.has(cutLine(textOf(message), 300)) ? [type, file] : [type, file, message];
    const text = parts.flatMap((part) => cutLine(textOf(part), 300) || []).join(": ");
    addLine(index < 2 ? 4 : 34, `error ${index}`, "Error", textOf(message) && text, index < 2);
  }

  const open = stringsOf(wip.uncommitted_files);
  addLine(20, "next step", "Next", textOf(wip.next_step));
  addLine(20, "worktree", "Worktree", textOf(wip.worktree));
  if (!open.every(isSaid)) addLine(20, "uncommitted files", "Not committed", listed(open, 15));
  addLine(21, "context", "Doing", textOf(wip.context));
  addDecisions(pieces, listOf(wip.decisions), options);
  const files = stringsOf(wip.files_modified).filter((file) => !isSaid(file) && !open.includes(file));
  if (files.length > 0) addLine(29, "changed files", "Changed", listed(files, 15));
  addLine(30, "state", "State", formatState(wip, tests, failing ? "" : command));
  addLine(31, "plan item", "In its own plan", textOf(objectOf(wip.plan)["current"]));
  for (const [field, value] of Object.entries(wip)
    .filter(([field]) => !KNOWN.has(field))
    .slice(0, 20)) {
    const text = typeof value === "string" ? value : value == null ? "" : (JSON.stringify(value) ?? "");
    addLine(33, `field ${cutLine(field, 60)}`, cutLine(field, 60), text);
  }
  return pieces.list;
}

/** Comes before the shares are applied. */
const RED = { group: undefined, order: 40.4 };

const KNOWN: ReadonlySet<string> = new Set([
  "phase",
  "worktree",
  "files_modified",
  "uncommitted_changes",
  "uncommitted_files",
  "last_commit",
  "decisions",
  "test_results",
  "errors",
  "context",
  "next_step",
  "plan",
  "updated_at",
]);

export const MOST_DECISIONS = 30;
const FIRST_DECISIONS = 8;
const NEWEST_DECISIONS = 3;

/** The newest first, then those about the current work, because a decision's age does not say whether it still holds. */
function addDecisions(pieces: Pieces, entries: readonly unknown[], { about }: PieceOptions): void {
  const decisions = entries.slice(-MOST_DECISIONS).flatMap((entry, index, { length }) => {
    const { decision, reason } = typeof entry === "string" ? { decision: entry, reason: "" } : objectOf(entry);
    const text = cutLine(textOf(decision), 300);
    if (!text) return [];
    const why = cutLine(textOf(reason), 200);
    const age = length - index;
    const words = [...stemsOf(text)];
    const hits = age <= NEWEST_DECISIONS ? 99 : words.filter((word) => about.has(word)).length;
    return { text, full: why ? `${text} (${why})` : text, index, age, hits };
  });
  for (const [place, { text, full, index }] of decisions.sort((a, b) => b.hits - a.hits || a.age - b.age).entries()) {
    pieces.add((place < FIRST_DECISIONS ? 22 : 36) + place / 100, `decision ${index}`, `- ${full}`, {
      short: `- ${text}`,
      what: "decision",
      label: "Decided:",
      order: 60 + index / 100,
    });
  }
}

function formatState(
  wip: Record<string, unknown>,
  { ran, passed, failed }: Record<string, unknown>,
  command: string,
): string {
  const plan = objectOf(wip["plan"]);
  const count = (value: unknown, word: string): string => (typeof value === "number" ? `${value} ${word}` : "");
  const [phase, commit] = [cutLine(textOf(wip["phase"]), 60), cutLine(textOf(wip["last_commit"]), 60)];
  return [
    phase && `phase ${phase}`,
    // Agents often omit `ran`.
    (ran === true || (ran !== false && (typeof passed === "number" || typeof failed === "number"))) &&
      `tests ${[count(passed, "passed"), count(failed, "failed")].filter(Boolean).join(", ") || "ran"}${command && ` (${command})`}`,
    typeof plan["total"] === "number" && `own plan ${Number(plan["done"] ?? 0)} of ${plan["total"]} done`,
    commit && `last commit ${commit}`,
  ]
    .filter(Boolean)
    .join("; ");
}

function stringsOf(value: unknown): string[] {
  return listOf(value).flatMap((entry) => textOf(entry) || []);
}

// Tasks as a checklist, with the current one marked and its steps below it, and the position in one sentence. A long list is cut to a
// window around the current task that says how many tasks are before and after.

export interface TreeOptions {
  currentId?: string | undefined;
  /** Steps of the current task. */
  steps?: readonly TaskStep[];
  /** Totals, including tasks that are not in the list. */
  counts?: { done: number; total: number } | undefined;
}

/** Returns a function that draws the tree in a given number of lines. The lines are made once for all lengths. */
export function treeOf(
  tasks: readonly TreeTask[],
  { currentId, steps = [], counts }: TreeOptions,
): (maxLines: number) => string {
  const rows = rowsOf(tasks, currentId, steps);
  return (maxLines) => drawRows(rows, { tasks, counts, maxLines });
}

/** `maxLines`: for tasks and steps; the two lines on hidden tasks are extra. */
function drawRows(
  rows: readonly Row[],
  { tasks, counts, maxLines }: { tasks: readonly TreeTask[]; counts: TreeOptions["counts"]; maxLines: number },
): string {
  const marked = rows.findIndex(({ isCurrent }) => isCurrent);
  const current = Math.max(0, marked);
  const isCut = rows.length > maxLines;
  // A third of the window shows earlier tasks, because later ones matter more.
  const from = isCut ? Math.min(Math.max(0, current - Math.floor(maxLines / 3)), rows.length - maxLines) : 0;
  const shown = rows.slice(from, from + maxLines);
  const lines = shown.map(({ line, depth }) => `${"    ".repeat(depth)}${line}`);
  const hidden = hiddenOf(tasks, { shown, counts, before: new Set(rows.slice(0, from).map(({ id }) => id)) });
  return [hidden.before, ...lines, hidden.after].filter(Boolean).join("\n");
}

export interface PositionOptions {
  /** The next action already names the step, so it is not repeated. Default: false. */
  isStepSaid?: boolean;
  /** The tree shows the task's parts. Default: false. */
  hasTree?: boolean;
  /** The next action says who left it. Default: false. */
  isLeftSaid?: boolean;
}

/**
 * `T48 "…" (of T40 "…") is in progress (3 of 9 tasks of its story done), step 3 of 4: …; Spec review: PASS`. If the task was left:
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

/** Names the task; for a part, also the whole. */
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

/** Parents before their children. A task whose parent is not in the list is a root. Cycles of parents are cut. */
function rowsOf(tasks: readonly TreeTask[], currentId: string | undefined, steps: readonly TaskStep[]): Row[] {
  const ids = new Set(tasks.map(({ id }) => id));
  const children = new Map<string | undefined, TreeTask[]>();
  for (const task of tasks) {
    const parent =
      task.parentId !== undefined && ids.has(task.parentId) && task.parentId !== task.id ? task.parentId : undefined;
    const siblings = children.get(parent) ?? [];
    children.set(parent, siblings);
    siblings.push(task);
  }
  const rows: Row[] = [];
  const seen = new Set<string>();
  const visit = (task: TreeTask, depth: number): void => {
    if (seen.has(task.id)) return;
    seen.add(task.id);
    const isCurrent = task.id === currentId;
    rows.push({ id: task.id, line: treeLine(task, isCurrent), depth, isCurrent });
    if (isCurrent) {
      const next = steps.findIndex(({ done }) => !done);
      for (const [at, { text, done }] of steps.entries()) {
        // The position or the next action already has its text.
        const words = at === next ? `step ${at + 1} of ${steps.length}: see below` : cutLine(text, 150);
        const line = `- [${done ? "x" : " "}] ${words}`;
        rows.push({ id: undefined, line, depth: depth + 1, isCurrent: false });
      }
    }
    for (const child of children.get(task.id) ?? []) visit(child, Math.min(depth + 1, MOST_DEPTH));
  };
  for (const task of [...(children.get(undefined) ?? []), ...tasks]) visit(task, 0);
  return rows;
}

/** Shows the ID only for open tasks, because nobody acts on finished ones. */
function treeLine({ id, title, status, agent, lastVerdict }: TreeTask, isCurrent: boolean): string {
  const isOver = isSettled(status);
  const who = agent ? `@${cutLine(agent, 60)}, ` : "";
  const about = `${who}${STATUS_WORDS[status]}${lastVerdict && !isOver ? `, ${lastVerdict}` : ""}`;
  const name = isOver ? cutLine(title, 120) : `${id} ${cutLine(title, 120)}`;
  return `- [${isOver ? "x" : " "}] ${name} (${about})${isCurrent ? "  <-- CURRENT" : ""}`;
}

/** Tasks that were not loaded count as done before and pending after the list, because the list is around the current task. */
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
