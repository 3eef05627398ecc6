import { expect, it } from "vitest";
import { roleInPrompt } from "./role-of.ts";

it.each([
  ["Implement T12.", "implementer"],
  ["Please implement task T12 as its plan says", "implementer"],
  ["Read T12 and implement it.", "implementer"],
  ["Do T12.\n\n## Required Artifacts\n- Spec: /repo/spec.md", "implementer"],
  ["Work on T12", "implementer"],
  ["You are the implementer for T12.", "implementer"],
  ["Review T12.", "quality-reviewer"],
  ["Review T12 against its acceptance criteria", "spec-reviewer"],
  ["Task T12. Review it: does it meet the spec?", "spec-reviewer"],
  ["Do a code review of T12", "quality-reviewer"],
  ["You are a spec reviewer. The task is T12.", "spec-reviewer"],
  ["You are the code-reviewer of T12", "quality-reviewer"],
  ["Fix what the review of T12 found.", "fixer"],
  ["1. Fix T12\n2. Run the tests", "fixer"],
  ["Could you fix the findings of T12?", "fixer"],
])("%j is for the %s", (prompt, role) => {
  expect(roleInPrompt(prompt, "T12")).toBe(role);
});

it.each([
  "Task T12",
  "Summarise T12.",
  "Who implemented T12, and when?",
  "Explain how T12 was implemented. Do not change anything.",
  "Do not implement T12; only say what is missing.",
  "Don't fix T12. List its open points",
  "Before we implement T12, find every caller of login()",
  "Look at T12 for context. Fix the typo in README.md.",
  "Collect the review comments on T12",
  "Do this quickly: which files does T12 touch?",
  "",
])("%j asks for facts", (prompt) => {
  expect(roleInPrompt(prompt, "T12")).toBeUndefined();
});

it("reads a long prompt at both ends and does not hang on it", () => {
  expect(roleInPrompt(`Here is the context.\n${"- a b c, and then ".repeat(50_000)}\nNow implement T12.`, "T12")).toBe(
    "implementer",
  );
  expect(roleInPrompt(`T12${" ".repeat(8_000)}x${"\n ".repeat(4_000)}`, "T12")).toBeUndefined();
});
