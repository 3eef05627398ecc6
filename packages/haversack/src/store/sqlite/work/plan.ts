/** Creates or updates the tasks of a plan. Runs in the caller's transaction. */

import type { DatabaseSync } from "node:sqlite";
import type { PlannedTask } from "../../../work/plan/parse-plan.ts";
import { matchPlan, planNumber } from "../../../work/plan/parse-plan.ts";
import { columnOf, isSettled, type Story, type Task, type TaskField } from "../../../work/task.ts";
import type { Actor, PlanImport, PlanReport, TaskChanges } from "../../work-store.ts";
import { addDependency } from "./dependencies.ts";
import { createStory, updateStory } from "./groups.ts";
import { findEpic, findSeq, findStory, findTask } from "./ids.ts";
import { all, one, TASK_COLUMNS, type TaskRow, toStory, toTasks } from "./rows.ts";
import { applyStatus } from "./status.ts";
import { createTask, updateTask } from "./tasks.ts";

export function importPlan(db: DatabaseSync, plan: PlanImport, by: Actor): PlanReport {
  if (!plan.isDryRun) return takePlan(db, plan, by);
  db.exec("SAVEPOINT import_plan");
  try {
    return takePlan(db, plan, by);
  } finally {
    db.exec("ROLLBACK TO import_plan");
    db.exec("RELEASE import_plan");
  }
}

function takePlan(db: DatabaseSync, plan: PlanImport, by: Actor): PlanReport {
  const report: PlanReport = { created: [], updated: [], unchanged: [], gone: [], behind: [], problems: [] };
  if (plan.tasks.length === 0) return report;
  const stored = toTasks(
    db,
    all<TaskRow>(db, `SELECT ${TASK_COLUMNS} WHERE t.plan_file = ? ORDER BY t.seq`, plan.file),
  );
  const { story, isNew } = storyOf(db, plan, stored, by);
  report.story = { id: story.id, title: story.title, isNew };
  const { pairs, gone } = matchPlan(plan.tasks, stored);

  const ids = new Map<PlannedTask, string>();
  const fields = new Map<PlannedTask, string[]>();
  for (const { planned, task } of pairs) {
    if (task) fields.set(planned, update(db, planned, task, by));
    ids.set(planned, task?.id ?? create(db, planned, { plan, storyId: story.id, by }));
    if (task && planned.isDone && !isSettled(task.status)) {
      report.behind.push({ id: task.id, number: planned.number, title: planned.title, status: task.status });
    }
  }
  for (const [at, planned] of plan.tasks.entries()) {
    const named = planned.dependsOn.map((number) => plan.tasks.find((other) => other.number === number));
    const targets = new Set([...named, plan.isSequential ? plan.tasks[at - 1] : undefined]);
    const dependsOn = [...targets].flatMap((target) => (target ? [ids.get(target) as string] : []));
    const { isAdded, problems } = depend(db, ids.get(planned) as string, dependsOn, by);
    report.problems.push(...problems.map((text) => ({ where: `Task ${planned.number}`, text })));
    if (isAdded) fields.get(planned)?.push("depends_on");
  }
  for (const { planned } of pairs) {
    const brief = { id: ids.get(planned) as string, number: planned.number, title: planned.title };
    const changed = fields.get(planned);
    if (!changed) report.created.push(brief);
    else if (changed.length > 0) report.updated.push({ ...brief, fields: changed });
    else report.unchanged.push(brief);
  }
  report.gone = gone.map(({ id, title, status, planSection = "" }) => ({
    id,
    number: planNumber(planSection) ?? "",
    title,
    status,
  }));
  return report;
}

/** The given story, else the story of the plan's tasks, else a new one. */
function storyOf(
  db: DatabaseSync,
  { title, storyId, epicId }: PlanImport,
  stored: readonly Task[],
  by: Actor,
): { story: Story; isNew: boolean } {
  const counts = new Map<string, number>();
  for (const { storyId: id } of stored) if (id) counts.set(id, (counts.get(id) ?? 0) + 1);
  const usual = [...counts].sort(([, a], [, b]) => b - a)[0]?.[0];
  const known = storyId ?? usual;
  if (known === undefined) {
    return { story: createStory(db, { title, source: "plan", ...(epicId && { epicId }) }, by), isNew: true };
  }
  const story = toStory(findStory(db, known));
  const isOurs = storyId === undefined && story.source === "plan";
  const epic = epicId === undefined ? undefined : findEpic(db, epicId).id;
  const changes = {
    ...(isOurs && story.title !== title && { title }),
    ...(epic !== undefined && epic !== story.epicId && { epicId: epic }),
  };
  return { story: Object.keys(changes).length > 0 ? updateStory(db, story.id, changes, by) : story, isNew: false };
}

function create(
  db: DatabaseSync,
  planned: PlannedTask,
  { plan, storyId, by }: { plan: PlanImport; storyId: string; by: Actor },
): string {
  const { section, title, description, acceptanceCriteria, files, steps, skill, isDone } = planned;
  const { id } = createTask(
    db,
    {
      title,
      storyId,
      planFile: plan.file,
      planSection: section,
      source: "plan",
      files,
      steps,
      ...(description !== undefined && { description }),
      ...(acceptanceCriteria !== undefined && { acceptanceCriteria }),
      ...(skill !== undefined && { skill }),
    },
    by,
  );
  if (isDone) applyStatus(db, findTask(db, id), "done", by, "checked off in the plan");
  return id;
}

/** Fields that the plan does not mention stay unchanged: somebody may have added them since. */
function update(db: DatabaseSync, planned: PlannedTask, task: Task, by: Actor): string[] {
  const { section, title, description, acceptanceCriteria, files, skill } = planned;
  const steps = keepDone(planned.steps, task.steps);
  const isOther = (one: unknown, other: unknown) => JSON.stringify(one) !== JSON.stringify(other);
  const changes: TaskChanges = {
    ...(title !== task.title && { title }),
    ...(section !== task.planSection && { planSection: section }),
    ...(description !== undefined && description !== task.description && { description }),
    ...(acceptanceCriteria !== undefined && acceptanceCriteria !== task.acceptanceCriteria && { acceptanceCriteria }),
    ...(skill !== undefined && skill !== task.skill && { skill }),
    ...(files.length > 0 && isOther(files.toSorted(), task.files.toSorted()) && { files }),
    ...(steps.length > 0 && isOther(steps, task.steps) && { steps }),
  };
  if (Object.keys(changes).length > 0) updateTask(db, task.id, changes, by);
  return (Object.keys(changes) as TaskField[]).map(columnOf);
}

/** Matches steps by text: a step that an agent has marked done stays done, even if it moved. */
function keepDone(planned: Task["steps"], stored: Task["steps"]): Task["steps"] {
  const done = stored.filter((step) => step.done).map(({ text }) => plain(text));
  return planned.map(({ text, done: isChecked }) => {
    const at = done.indexOf(plain(text));
    if (at >= 0) done.splice(at, 1);
    return { text, done: isChecked || at >= 0 };
  });
}

function plain(text: string): string {
  return text
    .toLowerCase()
    .replace(/[\s`*_.]+/g, " ")
    .trim();
}

/** Adds dependencies. None is removed: somebody else may have added it. */
function depend(
  db: DatabaseSync,
  taskId: string,
  targets: readonly string[],
  by: Actor,
): { isAdded: boolean; problems: string[] } {
  const problems: string[] = [];
  let isAdded = false;
  for (const dependsOnId of targets) {
    const sql = "SELECT 1 FROM dependencies WHERE task = ? AND depends_on = ?";
    if (one(db, sql, findSeq(db, "task", taskId), findSeq(db, "task", dependsOnId))) continue;
    const outcome = addDependency(db, { taskId, dependsOnId, type: "blocks" }, by);
    if (outcome.kind === "cycle") {
      const path = outcome.path.map(({ id, title }) => `${id} (${title})`).join(" -> ");
      problems.push(`would wait for itself: ${path}; left out`);
    } else isAdded = true;
  }
  return { isAdded, problems };
}
