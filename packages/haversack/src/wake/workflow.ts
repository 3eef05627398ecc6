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

// The shipped workflow: from an idea to a merged branch. Its skills are examples; a project may have others of the same names.

export const DEVELOPMENT: Workflow = {
  id: "development",
  title: "From an idea to a merged branch",
  steps: [
    {
      id: "design",
      title: "Agree on a design",
      skill: "brainstorming",
      output: "docs/plans/<YYYY-MM-DD>-<topic>-design.md",
      calls: ["using-git-worktrees", "writing-plans"],
      next: ["workspace"],
    },
    {
      id: "workspace",
      title: "Set up a worktree and see its tests pass",
      skill: "using-git-worktrees",
      next: ["plan"],
    },
    {
      id: "plan",
      title: "Write the plan in small tasks",
      skill: "writing-plans",
      output: "docs/plans/<YYYY-MM-DD>-<feature>.md",
      next: ["sub-agents", "batches"],
    },
    {
      id: "sub-agents",
      title: "Carry out the plan with sub-agents",
      skill: "subagent-driven-development",
      calls: ["test-driven-development", "requesting-code-review"],
      isPerTask: true,
      next: ["finish"],
    },
    {
      id: "batches",
      title: "Carry out the plan in batches of 3",
      skill: "executing-plans",
      calls: ["test-driven-development"],
      batch: 3,
      next: ["finish"],
    },
    {
      id: "finish",
      title: "Verify all tests, then finish the branch",
      skill: "finishing-a-development-branch",
      calls: ["verification-before-completion"],
      choices: ["merge", "PR", "keep", "discard"],
    },
  ],
  roles: [
    { role: "implementer", words: ["implementation", "implement"] },
    {
      role: "spec-reviewer",
      words: ["spec review"],
      does: "Hold the change against each acceptance criterion: nothing missing, nothing extra. Read the code, not the report.",
    },
    {
      role: "quality-reviewer",
      words: ["quality review", "code review"],
      does: "Review how the change is built: correctness, tests, names, errors. What it should do is settled.",
    },
  ],
  fixer: { role: "fixer", mostAttempts: 3 },
};
