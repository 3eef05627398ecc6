/** A plan into the work state: what the store is given, and what it says. */
import type { PlannedTask } from "../work/parse-plan.ts";
import type { TaskStatus } from "../work/task.ts";
import type { Actor } from "./work-store.ts";

export interface PlanStore {
  /**
   * In one transaction. Tasks are found again by file and section, else by title, else (when they are open) by number; what the
   * plan says of title, description, criteria, files, steps and skill replaces what is stored, its dependencies are added.
   * Status, claim and WIP are never touched, a step that was done stays done. A new task whose heading or steps are
   * all checked starts as done.
   */
  importPlan(plan: PlanImport, by: Actor): Promise<PlanReport>;
}

export interface PlanImport {
  /** Relative to the project's root, with forward slashes. */
  file: string;
  title: string;
  tasks: readonly PlannedTask[];
  /** Where new tasks go. Default: the story that the plan's tasks are in, or a new one. */
  storyId?: string;
  /** Of the story that is made. */
  epicId?: string;
  /** Every task waits for the one before it. */
  isSequential?: boolean;
  /** Only report. The ids of what would be made are made up. */
  isDryRun?: boolean;
}

export interface PlanReport {
  /** Undefined: the plan has no task. */
  story?: { id: string; title: string; isNew: boolean };
  created: PlanTaskBrief[];
  updated: (PlanTaskBrief & { fields: string[] })[];
  unchanged: PlanTaskBrief[];
  /** Stored from this plan, and no longer in it. Nothing was done to them. */
  gone: (PlanTaskBrief & { status: TaskStatus })[];
  problems: { where: string; text: string }[];
  /** Checked off in the plan and still open in the store: importing changes no status. */
  behind: (PlanTaskBrief & { status: TaskStatus })[];
}

export interface PlanTaskBrief {
  id: string;
  /** In the plan. */
  number: string;
  title: string;
}
