/**
 * The roles of a feature from specification to code, and what each must read. One set per phase. The document that a phase writes is
 * under review and is in the prompt; all earlier documents are references.
 */
import type { RoleFile, RoleMapFile, RoleSetFile } from "../role-map.ts";

const CHAIN = ["prd.md", "spec.md", "design.md", "plan.md", "tasks.md"];

/** The client's sub-agent type has the same name as the role. */
function role(name: string, documents: readonly string[], rest: Omit<RoleFile, "documents"> = {}): [string, RoleFile] {
  return [name, { documents, agentType: `iflow:${name}`, answer: "review", ...rest }];
}

/** The reviewer of the phase's document, and the reviewer who checks whether the next phase can start from it. */
function phase(reviewer: string, underReview: string): RoleSetFile {
  const upTo = CHAIN.slice(0, CHAIN.indexOf(underReview) + 1);
  const roles = [reviewer, "phase-reviewer"].map((name) => role(name, upTo, { underReview }));
  return { dispatch: "phase", documents: upTo, roles: Object.fromEntries(roles) };
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
      roles: Object.fromEntries([
        role("implementation-reviewer", CHAIN),
        role("code-quality-reviewer", ["design.md", "spec.md"]),
        role("security-reviewer", ["design.md", "spec.md"]),
        // Without the spec: the design alone shows what is unnecessary.
        role("code-simplifier", ["design.md"], { answer: "simplify" }),
        // The whole PRD: business tests come from its goals.
        role("test-deepener", ["spec.md", "design.md", "tasks.md", "prd.md"], { answer: "tests" }),
        // Fixes review findings. The role that works on a single task is in the next set.
        role("implementer", CHAIN, { model: "opus", answer: "work" }),
      ]),
    },
    implementing: {
      dispatch: "task",
      documents: CHAIN,
      roles: Object.fromEntries([
        // Plan and design as sections: otherwise ten tasks would read both ten times.
        role("implementer", ["prd.md", "spec.md", "design.md", "plan.md"], {
          sections: { "design.md": "task", "plan.md": "task" },
          model: "opus",
          answer: "work",
        }),
      ]),
    },
  },
};

export const PRESETS: Readonly<Record<string, RoleMapFile>> = { iflow: IFLOW };
