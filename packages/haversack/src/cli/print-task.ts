/** One task for people: everything known about it, short things first. */
import { cleanLine, stripControl } from "../base/clean-text.ts";
import type { AroundLeftOut } from "../engine/work/tasks.ts";
import type { Claim, Task, TaskBrief, TaskDetails } from "../work/task.ts";
import { traceabilityRef } from "../work/task-view.ts";
import { formatWip } from "../work/wip/wip.ts";
import type { Io } from "./command.ts";
import {
  block,
  type Cell,
  dim,
  fields,
  formatAgo,
  formatClaim,
  paintedStatus,
  statusCell,
  statusWord,
} from "./print-work.ts";
import { counted, paint } from "./terminal.ts";

/** The task's story and epic, with titles, and how many nearby tasks the details leave out. */
export interface Above {
  story?: string | undefined;
  epic?: string | undefined;
  parent?: string | undefined;
  leftOut?: AroundLeftOut;
}

export function formatTask(io: Io, task: TaskDetails, { story, epic, parent, leftOut = {} }: Above, now: Date): string {
  const { claim, blockers, waitsFor, waitedForBy, relatesTo } = task;
  const { failureCount, estimateHours, aliases, aliasOf = [] } = task;
  const shown = paintedStatus(io, task.status);
  const texts: [heading: string, text: string | undefined][] = [
    ["Description", task.description],
    ["Acceptance criteria", task.acceptanceCriteria],
    ["Steps", task.steps.map(({ text, done }) => `[${done ? "x" : " "}] ${cleanLine(text)}`).join("\n")],
    ["Sub-tasks", partLines(task, leftOut.sub_tasks)],
    ["Context", task.contextSummary],
    ["Handoff notes", task.handoffNotes],
    ["Work in progress", task.wip && wipLines(task.wip).join("\n")],
  ];
  return [
    `${task.id}  ${paint(io, "bold", cleanLine(task.title))}`,
    ...fields(io, [
      ["status", claim ? `${shown}: ${formatClaim(claim, now)}` : shown],
      ["type", `${task.type}, ${task.priority}`],
      ["blocked by", blockers.map(({ reason, at }) => `${cleanLine(reason)} (${formatAgo(at, now)})`).join("; ")],
      ["waits for", briefs(task, waitsFor, leftOut.waits_for)],
      ["needed by", briefs(task, waitedForBy, leftOut.waited_for_by)],
      ["relates to", briefs(task, relatesTo, leftOut.relates_to)],
      ["note", line(task.note)],
      ["aliases", aliases?.join(", ")],
      ["alias of", briefs(task, aliasOf)],
      ["failed", failureCount > 0 ? counted(failureCount, "time") : undefined],
      ["story", line(story)],
      ["epic", line(epic)],
      ["parent", line(parent)],
      ["skill", line(task.skill)],
      ["assignee", line(task.assignee)],
      ["estimate", estimateHours === undefined ? undefined : `${estimateHours} h`],
      ["plan", line(traceabilityRef(task))],
      ["files", task.files.map((file) => cleanLine(file)).join(", ")],
      ["source", line(task.source)],
      ["times", times(task, now)],
    ]),
    ...texts.flatMap(([heading, text]) => (text ? ["", heading, block(stripControl(text).trimEnd())] : [])),
  ].join("\n");
}

/** For lists: the holder comes before the title. */
export function taskRow(task: Task, holder?: Claim): Cell[] {
  return [
    task.id,
    statusCell(task.status),
    task.priority,
    dim(task.type),
    dim(holder ? `${cleanLine(holder.agent)}${holder.isUnconfirmed ? " (unconfirmed)" : ""}` : ""),
    cleanLine(task.title),
  ];
}

export function brief({ id, title, status }: TaskBrief): string {
  return `${id} ${cleanLine(title)} (${statusWord(status)})`;
}

function briefs({ id }: Task, tasks: readonly TaskBrief[], more = 0): string {
  const rest = more > 0 ? [`and ${more} more (\`haversack task dep ${id}\`)`] : [];
  return [...tasks.map(brief), ...rest].join("; ");
}

function partLines({ id, parts }: TaskDetails, more = 0): string {
  const rest = more > 0 ? [`and ${more} more (\`haversack task list --parent ${id}\`)`] : [];
  const lines = parts.map((part) => {
    const holder = part.agent === undefined ? "" : `, ${cleanLine(part.agent)}`;
    return `${part.id} ${cleanLine(part.title)} (${statusWord(part.status)}${holder})`;
  });
  return [...lines, ...rest].join("\n");
}

function line(text: string | undefined): string | undefined {
  return text === undefined ? undefined : cleanLine(text);
}

function times({ createdAt, startedAt, completedAt, updatedAt }: Task, now: Date): string {
  return [
    `made ${formatAgo(createdAt, now)}`,
    startedAt && `started ${formatAgo(startedAt, now)}`,
    completedAt ? `completed ${formatAgo(completedAt, now)}` : `changed ${formatAgo(updatedAt, now)}`,
  ]
    .filter(Boolean)
    .join(", ");
}

/** Shown by `formatWip`, or not useful to a reader. */
const SAID = new Set([
  "context",
  "phase",
  "worktree",
  "plan",
  "files_modified",
  "uncommitted_files",
  "uncommitted_changes",
  "last_commit",
  "test_results",
  "errors",
  "decisions",
  "next_step",
  "updated_at",
]);

export function wipLines(wip: Readonly<Record<string, unknown>>): string[] {
  const others = Object.entries(wip).filter(([field]) => !SAID.has(field));
  return [
    // Without its heading, because the caller prints one.
    ...stripControl(formatWip(wip)).split("\n").slice(1),
    ...others.map(([field, value]) => {
      const text = typeof value === "string" ? value : JSON.stringify(value);
      return `- ${cleanLine(field, { maxChars: 60 })}: ${cleanLine(text, { maxChars: 600 })}`;
    }),
  ];
}
