/**
 * A workflow: plain data on how work goes from an idea to a merged branch, and who does what with one task. There is no engine:
 * `next-action.ts` looks up what comes next from statuses and verdicts.
 */
export interface Workflow {
  id: string;
  title: string;
  /** In their usual order. */
  steps: readonly WorkflowStep[];
  /** What happens with one task, in this order: each role starts when the one before it has passed. */
  roles: readonly WorkflowRole[];
  /** Who mends what a review found, and how often before the task is blocked. */
  fixer: { role: string; mostAttempts: number };
}

export interface WorkflowStep {
  id: string;
  title: string;
  skill: string;
  /** Where its result is saved: a path with placeholders in angle brackets. */
  output?: string;
  /** Skills that it calls on its way. */
  calls?: readonly string[];
  /** Ids of the steps that can follow; more than one is a choice. Absent: it is the last. */
  next?: readonly string[];
  /** What a person is asked at its end. */
  choices?: readonly string[];
  /** How many tasks are done before somebody looks at them. */
  batch?: number;
  /** It is worked on by the roles, task after task. */
  isPerTask?: boolean;
}

export interface WorkflowRole {
  role: string;
  /** How a sub-task for this role is recognised. */
  words: readonly string[];
  /** What it does, as the sentence it is told. Absent: the task's own steps say it. */
  does?: string;
}
