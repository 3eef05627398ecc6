/**
 * The roles of a feature's life from specification to code, one set for each phase: what each must read. The document that a
 * phase writes is under review and stands in the prompt; all before it are references.
 */
import type { RoleFile, RoleMapFile, RoleSetFile } from "../read-role-map.ts";

const CHAIN = ["prd.md", "spec.md", "design.md", "plan.md", "tasks.md"];

/** The reviewer of the phase's document, and the one who asks whether the next phase can start from it. */
function phase(reviewer: string, underReview: string): RoleSetFile {
  const upTo = CHAIN.slice(0, CHAIN.indexOf(underReview) + 1);
  const role = (name: string): RoleFile => ({
    documents: upTo,
    underReview,
    agentType: `iflow:${name}`,
    answer: "review",
  });
  return {
    dispatch: "phase",
    documents: upTo,
    roles: { [reviewer]: role(reviewer), "phase-reviewer": role("phase-reviewer") },
  };
}

export const IFLOW: RoleMapFile = {
  documents: {
    "prd.md": { name: "PRD", prd: true },
    "spec.md": { name: "Spec" },
    "design.md": { name: "Design" },
    "plan.md": { name: "Plan" },
    "tasks.md": { name: "Tasks" },
  },
  sets: {
    specify: phase("spec-reviewer", "spec.md"),
    design: phase("design-reviewer", "design.md"),
    "create-plan": phase("plan-reviewer", "plan.md"),
    "create-tasks": phase("task-reviewer", "tasks.md"),
    implement: {
      dispatch: "code",
      documents: CHAIN,
      roles: {
        "implementation-reviewer": {
          documents: ["prd.md", "spec.md", "design.md", "plan.md", "tasks.md"],
          agentType: "iflow:implementation-reviewer",
          answer: "review",
        },
        "code-quality-reviewer": {
          documents: ["design.md", "spec.md"],
          agentType: "iflow:code-quality-reviewer",
          answer: "review",
        },
        "security-reviewer": {
          documents: ["design.md", "spec.md"],
          agentType: "iflow:security-reviewer",
          answer: "review",
        },
        // Without the spec: what is needless is judged by the design alone.
        "code-simplifier": { documents: ["design.md"], agentType: "iflow:code-simplifier", answer: "simplify" },
        // The whole PRD: its goals are where tests of the business come from.
        "test-deepener": {
          documents: ["spec.md", "design.md", "tasks.md", "prd.md"],
          agentType: "iflow:test-deepener",
          answer: "tests",
        },
        // Fixes what the reviewers found. The worker on a single task is in the next set.
        implementer: {
          documents: ["prd.md", "spec.md", "design.md", "plan.md", "tasks.md"],
          agentType: "iflow:implementer",
          model: "opus",
          answer: "work",
        },
      },
    },
    implementing: {
      dispatch: "task",
      documents: CHAIN,
      roles: {
        // Plan and design by section: ten tasks would otherwise read both ten times over.
        implementer: {
          documents: ["prd.md", "spec.md", "design.md", "plan.md"],
          sections: { "design.md": "task", "plan.md": "task" },
          agentType: "iflow:implementer",
          model: "opus",
          answer: "work",
        },
      },
    },
  },
};

export const PRESETS: Readonly<Record<string, RoleMapFile>> = { iflow: IFLOW };
