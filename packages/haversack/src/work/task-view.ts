/**
 * Tasks, epics, stories and handoffs as agents and scripts read them: snake_case, without unset fields. The caller chooses how much is
 * shown:
 *
 * - minimal: only id, title and status. For lists.
 * - standard: what an agent needs to start. For one task.
 * - full: what an agent needs to continue work that another began.
 */
import type { Handoff } from "./handoff.ts";
import {
  type Claim,
  type Epic,
  type Story,
  TASK_FIELDS,
  type Task,
  type TaskBrief,
  type TaskDetails,
  type TaskField,
  type TaskStatus,
} from "./task.ts";

export const FIELD_SETS = ["minimal", "standard", "full"] as const;
export type FieldSet = (typeof FIELD_SETS)[number];

export interface View {
  id: string;
  [field: string]: unknown;
}

type Counts = Readonly<Record<TaskStatus, number>>;

export function viewTask(task: Task | TaskDetails, fields: FieldSet): View {
  const unconfirmed = task.isUnconfirmed ? { unconfirmed: true } : {};
  if (fields === "minimal") return { ...viewBrief(task), ...(task.isWaiting && { waiting: true }), ...unconfirmed };
  const around = task as Partial<TaskDetails>;
  const standard = {
    ...viewBrief(task),
    ...unconfirmed,
    ...viewFields(task, ["description", "acceptanceCriteria", "type", "priority", "skill", "files"]),
    steps: task.steps.map(({ text, done }) => (done ? { text, done } : { text })),
    waits_for: around.waitsFor?.map(viewBrief),
    sub_tasks: around.parts?.map(viewBrief),
    blockers: around.blockers?.map(({ reason }) => reason),
    note: task.note,
    aliases: around.aliases,
    alias_of: around.aliasOf?.map(viewBrief),
  };
  if (fields === "standard") return present(standard);
  return present({
    ...standard,
    ...viewFields(task, ["storyId"]),
    epic_id: task.epicId,
    ...viewFields(task, ["parentId", "estimateHours"]),
    traceability_ref: traceabilityRef(task),
    ...viewFields(task, ["contextSummary", "handoffNotes", "assignee", "source"]),
    wip: around.wip,
    wip_updated_at: around.wipUpdatedAt,
    claim: around.claim && viewClaim(around.claim),
    waited_for_by: around.waitedForBy?.map(viewBrief),
    relates_to: around.relatesTo?.map(viewBrief),
    failures: around.failureCount || undefined,
    created_at: task.createdAt,
    updated_at: task.updatedAt,
    started_at: task.startedAt,
    completed_at: task.completedAt,
  });
}

/** Uses the names from the table of fields. */
function viewFields(task: Task, names: readonly TaskField[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [TASK_FIELDS[name].key, task[name]]));
}

export function viewEpic(epic: Epic & { counts?: Counts }, fields: FieldSet): View {
  if (fields === "minimal") return viewBrief(epic);
  return present({
    ...viewBrief(epic),
    description: epic.description,
    priority: epic.priority,
    tasks: epic.counts && viewCounts(epic.counts),
    ...(fields === "full" && { source: epic.source, ...times(epic) }),
  });
}

export function viewStory(story: Story & { counts?: Counts }, fields: FieldSet): View {
  if (fields === "minimal") return viewBrief(story);
  return present({
    ...viewBrief(story),
    epic_id: story.epicId,
    description: story.description,
    acceptance_criteria: story.acceptanceCriteria,
    tasks: story.counts && viewCounts(story.counts),
    ...(fields === "full" && { source: story.source, ...times(story) }),
  });
}

/** minimal: role, verdict, summary. The details are read separately, in pages. */
export function viewHandoff(handoff: Handoff, fields: FieldSet): View {
  const { id, taskId, role, attempt, status, summary } = handoff;
  if (fields === "minimal") return { id, task_id: taskId, role, attempt, status, summary };
  return present({
    id,
    task_id: taskId,
    role,
    attempt,
    status,
    summary,
    files_changed: handoff.filesChanged,
    details_chars: handoff.detailsChars || undefined,
    ...(fields === "full" && {
      state: handoff.state,
      actor: handoff.actor,
      created_at: handoff.createdAt,
    }),
  });
}

export function viewBrief({ id, title, status }: Omit<TaskBrief, "status"> & { status: string }): View {
  return { id, title, status };
}

export interface ClaimShown {
  agent: string;
  lease_until: Date;
  /** Made while the shared store could not be reached. */
  unconfirmed?: true;
}

export function viewClaim({ agent, leaseUntil, isUnconfirmed }: Claim): ClaimShown {
  return { agent, lease_until: leaseUntil, ...(isUnconfirmed && { unconfirmed: true }) };
}

/** Omits zeros. */
export function viewCounts(counts: Counts): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}

export function traceabilityRef({ planFile, planSection }: Pick<Task, "planFile" | "planSection">): string | undefined {
  if (planFile === undefined) return planSection && `#${planSection}`;
  return planSection === undefined ? planFile : `${planFile}#${planSection}`;
}

/** Omits unset fields: no nulls, no empty lists. */
export function present<Fields extends object>(fields: Fields): { [Name in keyof Fields]: NonNullable<Fields[Name]> } {
  const entries = Object.entries(fields).filter(
    ([, value]) => value !== undefined && value !== null && value !== "" && !isEmpty(value),
  );
  return Object.fromEntries(entries) as never;
}

function isEmpty(value: unknown): boolean {
  if (typeof value !== "object" || value === null || value instanceof Date) return false;
  return Object.keys(value).length === 0;
}

function times({ createdAt, updatedAt, completedAt }: Epic | Story): Record<string, unknown> {
  return { created_at: createdAt, updated_at: updatedAt, completed_at: completedAt };
}
