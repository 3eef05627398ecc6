import { describe, expect, it } from "vitest";
import { sampleText } from "./sample-feature.suite.ts";
import { readTask, readTraceability, sectionsIn } from "./task-section.ts";

describe("readTask", () => {
  it("parts the text, when it is done, the files and where it comes from", () => {
    expect(readTask(sampleText("tasks.md"), "Task 1")).toEqual({
      kind: "task",
      line: 3,
      task: {
        subject: "Store a chunk",
        label: "Task 1",
        description:
          "- **Traceability:** Design C1; Plan Step 1.1\n\nWrite a chunk to a file named by its offset, and refuse one whose hash is wrong.",
        doneWhen: "- a chunk with a wrong hash leaves no file\n- two chunks of one upload can be written at once",
        files: ["src/chunk-store.ts", "src/chunk-store.test.ts"],
        sections: { "design.md": ["C1"], "plan.md": ["Step 1.1"] },
      },
    });
  });

  it("reads headings and bullets of other hands, and loses no line", () => {
    const tasks = `## Task 16: Audit the count
- **Phase:** 4
- **File(s):** \`a/b.sh\` (only if the count changed)
- **Description:** Run it.
  Twice.
- **Acceptance criteria:**
  - passes

    also

  - again

Note well.

\`\`\`sh
# **Files:** not a label
\`\`\`

#### Definition of Done
1. merged
`;
    const answer = readTask(tasks, "16");
    expect(answer).toMatchObject({
      kind: "task",
      task: { subject: "Audit the count", label: "Task 16", files: ["a/b.sh"] },
    });
    const { task } = answer as Extract<typeof answer, { kind: "task" }>;
    expect(task.doneWhen).toBe("- passes\n\n    also\n\n  - again\n\n1. merged");
    expect(task.description).toBe(
      "- **Phase:** 4\n\n- **Description:** Run it.\n  Twice.\n\nNote well.\n\n```sh\n# **Files:** not a label\n```",
    );
  });

  it("passes on what extractSection says of an unknown task", () => {
    expect(readTask(sampleText("tasks.md"), "Task 7")).toMatchObject({ kind: "missing" });
    expect(readTask("# Only a title", "Only a title")).toMatchObject({
      kind: "task",
      task: { subject: "Only a title", description: "", files: [], sections: {} },
    });
  });
});

describe("readTraceability", () => {
  it.each([
    ["Design I1, I4, I8; Spec R2.5, R3.1", { "design.md": ["I1", "I4", "I8"], "spec.md": ["R2.5", "R3.1"] }],
    ["Implements Plan 1A.1 / Design TD-4", { "plan.md": ["1A.1"], "design.md": ["TD-4"] }],
    ["plan.md#error-handling and design.md § 2.3", { "plan.md": ["#error-handling"], "design.md": ["2.3"] }],
    ["design.md#2.3, plan.md#C1", { "design.md": ["#2.3"], "plan.md": ["#C1"] }],
    ['Design "Error Handling", Plan Step 2', { "design.md": ["Error Handling"], "plan.md": ["Step 2"] }],
    ["because the design says so", {}],
    ["", {}],
  ])("reads %j", (text, expected) => {
    expect(readTraceability(text)).toEqual(expected);
  });
});

it("takes sections that a task's text names in full, wherever they stand", () => {
  expect(sectionsIn("See api.md#Auth and docs/f/design.md#C1.\n\n**Covers:** Design C1, #C2")).toEqual({
    "api.md": ["Auth"],
    "design.md": ["C1", "#C2"],
  });
  expect(sectionsIn("The design of 3 pages")).toEqual({});
});
