/**
 * The position in the client's own plan. Reads the to-do lists of known clients: Claude Code `{todos: [{content, status}]}`
 * and `{tasks: [{id, subject, status}]}`, Codex `{plan: [{step, status}]}`, Gemini `{todos: [{description, status}]}`,
 * opencode `{todos: [{content, status}]}`, or the bare list.
 */
import { safeLine } from "../capture/output-text.ts";
import type { PlanTask, WipPatch, WipPlan } from "../wip/wip.ts";

const ITEMS_MAX = 100;
const TEXT_MAX_CHARS = 200;

/** Undefined: not a list. `isPartial`: the items are single tasks of a list that the client stores elsewhere. */
export function planPosition(
  todos: unknown,
  { isPartial = false }: { isPartial?: boolean } = {},
): WipPatch | undefined {
  const items = readItems(todos);
  if (!items) return undefined;
  if (isPartial) return items.some(({ id }) => id) ? { plan: { tasks: items.filter(({ id }) => id) } } : undefined;
  return positionIn(items);
}

/** Completes a patch with single plan tasks: adds the whole list and the position in it. */
export function completePlan(current: unknown, patch: WipPatch): WipPatch {
  const added = (patch.plan as WipPlan | null | undefined)?.tasks;
  if (!Array.isArray(added)) return patch;
  const known = (current as WipPlan | undefined)?.tasks;
  const tasks = new Map((Array.isArray(known) ? known : []).map((task) => [task.id, task]));
  for (const task of added) tasks.set(task.id, { ...tasks.get(task.id), ...task });
  const kept = [...tasks.values()].filter(({ status }) => status !== "dropped").slice(-ITEMS_MAX);
  const position = positionIn(kept);
  return { ...patch, ...position, plan: kept.length > 0 ? { ...position.plan, tasks: kept } : null };
}

function positionIn(items: readonly PlanTask[]): WipPatch {
  const open = items.filter(({ status }) => status !== "dropped");
  if (open.length === 0) return { plan: null, next_step: null };
  const done = open.filter(({ status }) => status === "completed").length;
  const isCurrent = open.findIndex(({ status }) => status === "in_progress");
  const at = isCurrent === -1 ? open.findIndex(({ status }) => status !== "completed") : isCurrent;
  const plan: WipPlan = { position: at === -1 ? open.length : at + 1, done, total: open.length };
  const current = open[at]?.text;
  const isPending = ({ status = "pending" }: PlanTask): boolean => status === "pending";
  const next = (open.slice(at + 1).find(isPending) ?? open.find((item, index) => index !== at && isPending(item)))
    ?.text;
  if (current) plan.current = current;
  if (current && next) plan.next = next;
  return { plan, next_step: current ?? null };
}

function readItems(todos: unknown): PlanTask[] | undefined {
  const list = Array.isArray(todos)
    ? todos
    : isObject(todos)
      ? (todos["todos"] ?? todos["plan"] ?? todos["tasks"])
      : undefined;
  if (!Array.isArray(list)) return undefined;
  return list.slice(0, ITEMS_MAX).flatMap((item: unknown) => {
    if (!isObject(item)) return [];
    const text = ["content", "step", "subject", "description", "title", "text"]
      .map((key) => item[key])
      .find((value) => typeof value === "string" && value.trim() !== "");
    const id = item["id"] ?? item["taskId"];
    const task: PlanTask = { id: typeof id === "string" || typeof id === "number" ? safeLine(String(id), 50) : "" };
    if (text) task.text = safeLine(text as string, TEXT_MAX_CHARS);
    if (typeof item["status"] === "string") task.status = readStatus(item["status"]);
    return text || task.id ? [task] : [];
  });
}

function readStatus(status: string): string {
  const word = status.toLowerCase();
  if (/^(?:completed?|done|finished)$/.test(word)) return "completed";
  if (/^(?:in[_ -]?progress|active|doing)$/.test(word)) return "in_progress";
  return /^(?:cancell?ed|deleted|removed|skipped)$/.test(word) ? "dropped" : "pending";
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
