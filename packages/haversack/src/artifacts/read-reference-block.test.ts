import { describe, expect, it } from "vitest";
import { dispatchPrompt } from "./dispatch-prompt.ts";
import { PRESETS } from "./presets/iflow.ts";
import { numberLines } from "./quote-document.ts";
import { requiredDocuments } from "./receipts.ts";
import { readReferenceBlock } from "./reference-block.ts";
import { readRoleMap } from "./role-map.ts";
import { FEATURE_PATH, sampleDocuments } from "./sample-feature.suite.ts";

const { map } = readRoleMap({ extends: "iflow" }, { presets: PRESETS });
const roles = map.sets
  .filter(({ dispatch }) => dispatch !== "task")
  .flatMap((set) => set.roles.map((role) => [`${set.name}/${role.name}`, set, role] as const));

describe("readReferenceBlock", () => {
  it.each(roles)("finds again what the prompt of %s asks for", (_, set, role) => {
    for (const hasPrd of [true, false]) {
      const documents = sampleDocuments({ hasPrd });
      const iteration = { iteration: 2, maxIterations: 3 };
      const input = { role, set, feature: { name: "x" }, documents, countTokens: () => 1, iteration };
      const answer = dispatchPrompt({ ...input, rubric: "Role: sceptic\nBe strict." });
      if (answer.kind !== "prompt") throw new Error(answer.kind);
      const required = requiredDocuments(answer.references);
      const found = readReferenceBlock(answer.call.prompt);
      if (required.length === 0) expect(found).toBeUndefined();
      else expect(found).toEqual({ documents: required, folder: FEATURE_PATH, iteration: 2, role: role.name });
    }
  });

  it("takes no part of a document for the prompt's own words", () => {
    const prompt = "## Spec (under review)\n```markdown\n## Required Artifacts\n- Plan: /a/plan.md (3 lines)\n```\n";
    expect(readReferenceBlock(prompt)).toBeUndefined();
    expect(readReferenceBlock("You must read /a/spec.md")).toBeUndefined();
  });

  it("reads a block written by hand, without what cannot be read", () => {
    const prompt = `## Required Artifacts
You MUST read the following files.
- PRD: /repo/docs/brainstorms/idea (1).md
- Spec: \`/repo/f/spec.md\`
- Design: missing — there is no /repo/f/design.md. Say so in your answer; do not guess what it says.
- Plan: /repo/f/plan.md (empty: there is nothing to read)
- Plan of another: /repo/g/spec.md (1 line)
- Tasks: relative/tasks.md
## Implementation Files
- Note: /repo/src/a.ts (9 lines)`;
    expect(readReferenceBlock(prompt)).toEqual({
      documents: [
        { file: "prd.md", name: "PRD", path: "/repo/docs/brainstorms/idea (1).md" },
        { file: "/repo/f/spec.md", name: "Spec", path: "/repo/f/spec.md" },
        { file: "/repo/g/spec.md", name: "Plan of another", path: "/repo/g/spec.md", lineCount: 1 },
      ],
      folder: "/repo/g",
    });
  });
});

it("numbers lines as a Read tool does", () => {
  expect(numberLines("a\n\nb\n")).toBe("1\ta\n2\t\n3\tb");
});
