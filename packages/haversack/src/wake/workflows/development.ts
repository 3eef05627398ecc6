/** The shipped workflow: from an idea to a merged branch. Its skills are examples; a project may have others of the same names. */
import type { Workflow } from "../workflow.ts";

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
