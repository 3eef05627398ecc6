import { describe, expect, it } from "vitest";
import { auditTemplate } from "./audit-templates.ts";

describe("auditTemplate", () => {
  it.each([
    ["{content of spec.md}", "paste", ["spec.md"]],
    ['{content of prd.md, or "None - feature created without brainstorm"}', "paste", ["prd.md"]],
    ["{content of <file>.md}", "paste", ["<file>.md"]],
    ["{content of X.md}", "paste", ["X.md"]],
    ["{content of references/aorta-framework.md}", "paste", ["references/aorta-framework.md"]],
    ["{full contents of design.md and plan.md}", "paste", ["design.md", "plan.md"]],
    ["{spec.md content}", "paste", ["spec.md"]],
    ["{content of {feature_path}/spec.md}", "paste", ["{feature_path}/spec.md"]],
    ["{{content of spec.md}}", "paste", ["spec.md"]],
    ["{content of\n  spec.md}", "paste", ["spec.md"]],
    ["{paste tasks.md here}", "paste", ["tasks.md"]],
    ["{extractSection(design.md, task.traceability_ref) — inline, retained}", "section", ["design.md"]],
    ["{Problem Statement + Goals sections from prd.md}", "section", ["prd.md"]],
    ["{Problem Statement + Goals from prd.md}", "section", ["prd.md"]],
    ["{task description — inline, from tasks.md}", "section", ["tasks.md"]],
    ["{content of spec.md from loaded_specs}", "paste", ["spec.md"]],
    ["`{content of spec.md}`", "mention", ["spec.md"]],
  ])("finds %j as %s", (text, kind, documents) => {
    expect(auditTemplate(`prompt:\n  ${text}\n`)).toMatchObject([{ line: 2, kind, documents }]);
  });

  it.each([
    ["{list of files with code}"],
    ["{path to spec.md}"],
    ["{list of files from tasks.md}"],
    ["{feature_path}/spec.md"],
    ["content of spec.md"],
    ['{"approved": true, "issues": []}'],
    ["{content of\n\nspec.md}"],
    ["{ content: 1 }\nspec.md"],
  ])("leaves %j alone", (text) => {
    expect(auditTemplate(text)).toEqual([]);
  });

  it("gives line, column and cost of each place", () => {
    const text =
      "## PRD\n{content of prd.md}\r\n\n    {content of\n    spec.md} {content of plan.md}\n{content of spec.md}";
    const sizes: Record<string, number> = { "prd.md": 100, "spec.md": 200 };
    expect(auditTemplate(text, { tokensOf: (document) => sizes[document] })).toEqual([
      { line: 2, column: 1, text: "{content of prd.md}", documents: ["prd.md"], kind: "paste", tokens: 100 },
      { line: 4, column: 5, text: "{content of spec.md}", documents: ["spec.md"], kind: "paste", tokens: 200 },
      { line: 5, column: 14, text: "{content of plan.md}", documents: ["plan.md"], kind: "paste" },
      { line: 6, column: 1, text: "{content of spec.md}", documents: ["spec.md"], kind: "paste", tokens: 200 },
    ]);
  });

  it("reads a megabyte of brackets in a short time", () => {
    expect(auditTemplate("{".repeat(500_000))).toEqual([]);
    expect(auditTemplate("{content of a.md ".repeat(30_000))).toEqual([]);
  });
});
