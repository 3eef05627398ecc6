import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parsePlan } from "./parse-plan.ts";

/** In the shape that plan-writing skills ask for. */
const FEATURE_PLAN = `# Lantern Implementation Plan

> **For agentic workers:** go through this plan task by task.

**Goal:** A lantern that lights itself.

---

### Task 1: Light sensor

**Files:**
- Create: \`src/lantern/sensor.ts\`
- Modify: \`src/lantern/index.ts:10-20\` (the \`exports\` block)
- Test: \`test/sensor.test.ts\`

**Interfaces:**
- Produces: \`readLux(port: Port): number\`

- [x] **Step 1: Write the failing test**

\`\`\`ts
// ### Task 99: not a task, this is code
expect(readLux(fake)).toBe(3);
\`\`\`

- [ ] **Step 2: Run it** (expect FAIL)

Run: \`npm test\`

- [ ] **Step 3: Commit**

### Task 2: Switch

**Depends on:** Task 1 (its reader). Not Task 3.
**Files:** \`src/lantern/switch.ts\`, \`docs/\`

Turns the lamp on when it is dark.

**Step 1: Compare with the threshold**

Some code.

**Step 2: Wire it**

## Notes

Nothing here is part of a task.
`;

const TASKS_FILE = `# Tasks

## Phase 1

### Task 1.1: Table
Makes the table.

**Files**
- \`db/schema.sql\`
- \`db/*.seed.json\`

**Steps**
1. Write the migration
   - with an index
2. Run it

**Done When**
- [ ] \`npm run migrate\` is green
- The table has
  three columns

**Skill:** \`database-design\`

### Task 1.2 – Reader ✅

Blocked by: 1.1

#### Acceptance Criteria
Reads a row.
`;

describe("parsePlan", () => {
  it("reads a plan with files, checkbox steps, bold steps and dependencies", () => {
    const { title, tasks, problems } = parsePlan(FEATURE_PLAN);
    expect(problems).toEqual([]);
    expect(title).toBe("Lantern Implementation Plan");
    expect(tasks).toEqual([
      {
        number: "1",
        section: "Task 1: Light sensor",
        title: "Light sensor",
        description: "**Interfaces:**\n- Produces: `readLux(port: Port): number`",
        files: ["src/lantern/sensor.ts", "src/lantern/index.ts", "test/sensor.test.ts"],
        steps: [
          { text: "Write the failing test", done: true },
          { text: "Run it (expect FAIL)", done: false },
          { text: "Commit", done: false },
        ],
        dependsOn: [],
        isDone: false,
        problems: [],
      },
      {
        number: "2",
        section: "Task 2: Switch",
        title: "Switch",
        description: "Turns the lamp on when it is dark.",
        files: ["src/lantern/switch.ts", "docs/"],
        steps: [
          { text: "Compare with the threshold", done: false },
          { text: "Wire it", done: false },
        ],
        dependsOn: ["1"],
        isDone: false,
        problems: [],
      },
    ]);
  });

  it("reads a tasks.md with Files, Steps, Done When, Skill and dotted numbers", () => {
    const { tasks, problems } = parsePlan(TASKS_FILE);
    expect(problems).toEqual([]);
    expect(tasks).toEqual([
      {
        number: "1.1",
        section: "Task 1.1: Table",
        title: "Table",
        description: "Makes the table.",
        acceptanceCriteria: "- `npm run migrate` is green\n- The table has three columns",
        files: ["db/schema.sql", "db/"],
        steps: [
          { text: "Write the migration", done: false },
          { text: "Run it", done: false },
        ],
        dependsOn: [],
        skill: "database-design",
        isDone: false,
        problems: [],
      },
      {
        number: "1.2",
        section: "Task 1.2 – Reader ✅",
        title: "Reader",
        acceptanceCriteria: "Reads a row.",
        files: [],
        steps: [],
        dependsOn: ["1.1"],
        isDone: true,
        problems: [],
      },
    ]);
  });

  it("reads the same from a file with CRLF and a byte order mark", () => {
    expect(parsePlan(`\ufeff${TASKS_FILE.replaceAll("\n", "\r\n")}`)).toEqual(parsePlan(TASKS_FILE));
  });

  it.each([
    "# Task 3: Name",
    "## Task 3. Name",
    "#### Task 3 - Name",
    "### **Task 3:** Name",
    "### [x] Task 3: Name",
    "### Task #3 — Name ##",
  ])("knows the heading %s", (heading) => {
    expect(parsePlan(`${heading}\n\ntext`).tasks).toMatchObject([{ number: "3", title: "Name", description: "text" }]);
  });

  it("takes neither Tasks nor Taskbar for a task", () => {
    expect(parsePlan("# Tasks\n\n## Taskbar 1\n\n## Task list\n").tasks).toEqual([]);
  });

  it("keeps steps under headings, nested checkboxes and broken lines", () => {
    const [task] = parsePlan(
      [
        "## Task 1: Deploy",
        "### Step 1.1: Build it",
        "text that stays in the plan",
        "### Step 1.2: Ship it",
        "- [ ] 1. Tag the",
        "      release",
        "  - [x] push the tag",
        "    - a detail",
      ].join("\n"),
    ).tasks;
    expect(task?.steps).toEqual([
      { text: "Build it", done: false },
      { text: "Ship it", done: false },
      { text: "Tag the release", done: false },
      { text: "push the tag", done: true },
    ]);
  });

  it("takes a numbered list for the steps when nothing else is", () => {
    const text = "### Task 1: A\n\nFirst this.\n\n1. Write `a.ts`\n\n   - with care\n2. Run it\n";
    expect(parsePlan(text).tasks[0]).toMatchObject({
      description: "First this.",
      steps: [{ text: "Write `a.ts`" }, { text: "Run it" }],
    });
    const withSteps = parsePlan(`${text}\n**Steps:**\n- Only this\n`).tasks[0];
    expect(withSteps?.steps).toEqual([{ text: "Only this", done: false }]);
    expect(withSteps?.description).toContain("1. Write");
  });

  it("tells files from the list after them, and the parts of a list from each other", () => {
    const { tasks } = parsePlan(
      [
        "### Task 1: Inline",
        "**Depends on:** none | **Files:** `a.ts`,",
        "`b.ts`",
        "",
        "- Configure `c.ts` with care",
        "### Task 2: Listed",
        "**Files:**",
        "- `a.ts`",
        "",
        "- `b.ts`",
        "",
        "- Be careful",
        "### Task 3: Bullets",
        "- **files**: `a.ts`",
        "- **acceptance_criteria**:",
        "  - it loads",
        "    in time",
        "- [x] Implement",
      ].join("\n"),
    );
    expect(tasks).toMatchObject([
      { files: ["a.ts", "b.ts"], description: "- Configure `c.ts` with care" },
      { files: ["a.ts", "b.ts"], description: "- Be careful" },
      {
        files: ["a.ts"],
        acceptanceCriteria: "- it loads in time",
        steps: [{ text: "Implement", done: true }],
        isDone: true,
      },
    ]);
  });

  it("ends a task at a heading of its own level, not at its own parts", () => {
    const [task] = parsePlan(
      "### Task 1: A\n### Steps\n- one\n### Done When\n- green\n### Appendix\n- [ ] no step\n",
    ).tasks;
    expect(task?.steps).toEqual([{ text: "one", done: false }]);
    expect(task?.acceptanceCriteria).toBe("- green");
  });

  it.each<[string, string[]]>([
    ["**Depends on:** Task 1, Task 2", ["1", "2"]],
    ["> **Depends on:** Tasks 1 and 2", ["1", "2"]],
    ["- **Depends on**: 1, 2", ["1", "2"]],
    ["Blocked by: Tasks 1–2", ["1", "2"]],
    ["_Depends on: 2_", ["2"]],
    ["**Depends on:** none", []],
    ["**Dependencies:** lodash 4", []],
    ["**Depends on:**\n- Task 2 (`reader`)", ["2"]],
    ["**Depends on:** Task 2 | **Files:** `a.ts`", ["2"]],
  ])("reads %s", (line, expected) => {
    const { tasks } = parsePlan(`### Task 1: A\n### Task 2: B\n### Task 9: C\n\n${line}\n`);
    expect(tasks[2]?.dependsOn).toEqual(expected);
    expect(tasks[2]?.problems).toEqual([]);
  });

  it("reports a dependency on itself, on nothing, and a number that is there twice", () => {
    const { tasks, problems } = parsePlan("### Task 1: A\nDepends on: Task 1, Task 7\n### Task 1: B\n### Task 1: B\n");
    expect(tasks[0]?.problems).toEqual([
      "depends on Task 1, which is itself",
      "depends on Task 7, which the plan does not have",
    ]);
    expect(problems).toHaveLength(2);
    expect(problems[0]).toBe('Task 1 is there twice: "A" and "B"');
    expect(tasks.map(({ section }) => section)).toEqual(["Task 1: A", "Task 1: B", "Task 1: B (2)"]);
  });

  it.each<[string, string[]]>([
    ["- Modify: `src/a.ts:10-20`, `src/b.ts:7`", ["src/a.ts", "src/b.ts"]],
    ["- Create: src/new/thing.rs (with tests)", ["src/new/thing.rs"]],
    ["- Create: `bin/run`", ["bin/run"]],
    ["- `package.json`, `Makefile`, `.gitignore`", ["package.json", "Makefile", ".gitignore"]],
    ["- `./src/a.ts#L3-L9` — calls `load()` and `Thing.name`", ["src/a.ts"]],
    ["- `src/**/*.test.ts`", ["src/"]],
    ["- see `npm run build` and https://example.com/a.ts", []],
    ["| `src/a.ts` | modify |", ["src/a.ts"]],
  ])("finds the files of %s", (line, files) => {
    expect(parsePlan(`### Task 1: A\n**Files:**\n${line}\n`).tasks[0]?.files).toEqual(files);
  });

  it("leaves out paths outside the project and says so", () => {
    const [task] = parsePlan("### Task 1: A\n**Files:**\n- `/etc/passwd`\n- `../x.ts`\n").tasks;
    expect(task?.files).toEqual([]);
    expect(task?.problems).toEqual([
      "/etc/passwd is not inside the project: left out",
      "../x.ts is not inside the project: left out",
    ]);
  });

  it("ignores headings in fences of four, in comments and in frontmatter", () => {
    const text = [
      "---",
      "# Task 5: frontmatter",
      "---",
      "<!--",
      "### Task 6: comment",
      "-->",
      "````md",
      "```",
      "### Task 7: fence",
      "```",
      "### Task 8: fence",
      "````",
      "### Task 1: real <!-- aside -->",
      "never closed <!--",
      "### Task 2: real too",
    ].join("\n");
    expect(parsePlan(text).tasks.map(({ title }) => title)).toEqual(["real", "real too"]);
  });

  it("reads numbered checkboxes when there is no task heading", () => {
    const text =
      "# Change\n\n## 1. Schema\n\n- [x] 1.1 Add the table in `db/a.sql`\n- [ ] 1.2 Add the reader\n  - [ ] for rows\n\n## 2. Docs\n- [ ] T010 [P] [US1] Write it\n";
    expect(parsePlan(text)).toMatchObject({
      title: "Change",
      problems: [],
      tasks: [
        { number: "1.1", section: "1.1 Add the table in `db/a.sql`", files: ["db/a.sql"], isDone: true },
        { number: "1.2", title: "Add the reader", steps: [{ text: "for rows", done: false }], isDone: false },
        { number: "10", title: "Write it" },
      ],
    });
  });

  it("reads numbered headings that have parts of a task", () => {
    const text =
      "# Move\n\n## Why\n\n### 1. Prove it — DONE\n**Done when:** it loads.\n\n### 2. Point to it\n**Files:** `README.md`\n\n### 3. Background\nprose\n";
    expect(parsePlan(text).tasks).toMatchObject([
      { number: "1", title: "Prove it", acceptanceCriteria: "- it loads.", isDone: true },
      { number: "2", title: "Point to it", files: ["README.md"], isDone: false },
    ]);
  });

  it("says what it looks for when it finds nothing", () => {
    for (const text of ["", "# Title\n\nprose\n", "\0\u001b[31m"]) {
      expect(parsePlan(text).tasks).toEqual([]);
      expect(parsePlan(text).problems[0]).toContain("### Task 1: Name");
    }
  });

  it("names a task without a title, and cleans control characters", () => {
    expect(parsePlan("### Task 4:\n").tasks[0]).toMatchObject({
      title: "Task 4",
      problems: ["the heading has no title"],
    });
    expect(parsePlan("### Task 4: a\u001b[31mb\u202e\n").tasks[0]?.title).toBe("ab");
  });

  it("reads any text, and its tasks have what a task must have", () => {
    const line = fc.oneof(
      fc.string({ unit: "binary", maxLength: 12 }),
      fc.constantFrom(
        "### Task 1: A",
        "## Task 2",
        "**Files:**",
        "- `a.ts:3`",
        "**Steps:**",
        "- [x] do",
        "1. one",
        "```",
        "  - x",
      ),
      fc.constantFrom(
        "**Done when:** ok",
        "Depends on: Task 1",
        "**Step 1: s**",
        "",
        "> **Skill:** tdd",
        "<!--",
        "-->",
        "---",
      ),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 30 }), (lines) => {
        const { tasks, problems } = parsePlan(lines.join("\n"));
        expect(tasks.length > 0 || problems.length > 0).toBe(true);
        for (const { number, title, section, steps, files } of tasks) {
          expect([number, section].every((text) => text !== "")).toBe(true);
          expect(title.trim() === title && title !== "" && !/[\r\n]/.test(title)).toBe(true);
          expect(steps.every(({ text }) => text !== "")).toBe(true);
          expect(files.some((path) => path.startsWith("/") || path.includes(".."))).toBe(false);
        }
        expect(new Set(tasks.map(({ section }) => section)).size).toBe(tasks.length);
      }),
      { numRuns: 500 },
    );
  });

  it("is not slowed down by lines made to slow it down", () => {
    const hostile = [
      " ".repeat(200_000),
      `# ${" ".repeat(100_000)}x`,
      `**${"a:".repeat(50_000)}`,
      "<!--".repeat(20_000),
    ];
    expect(parsePlan(`### Task 1: A\n${hostile.join("\n")}\n### Task 2: B\n`).tasks).toHaveLength(2);
  });
});

describe("what stands behind the criteria", () => {
  const task = (body: string) => {
    const { tasks } = parsePlan(`### Task 1: A\n\n### Task 2: B\n${body}\n`);
    const { acceptanceCriteria, steps, dependsOn, description } = tasks[1]!;
    return { acceptanceCriteria, steps: steps.map(({ text }) => text), dependsOn, description };
  };

  it.each([
    ["checkboxes below a criterion on the label's line", "Acceptance: it works.\n- [ ] Test\n- [x] Code"],
    ["a numbered list below it", "**Acceptance:** it works.\n\n1. Test\n2. Code"],
    ["checkboxes behind bullets", "Acceptance:\n- it works.\n\n- [ ] Test\n- [x] Code"],
    ["a numbered list behind bullets", "Acceptance Criteria:\n- it works.\n\n1. Test\n2. Code"],
    ["a numbered list behind checkboxes", "Done when:\n- [ ] it works.\n\n1. Test\n2. Code"],
    ["checkboxes that are called steps", "Done when:\n- [ ] it works.\n- [ ] Step 1: Test\n- [ ] Step 2: Code"],
  ])("are the steps: %s", (_, body) => {
    expect(task(body)).toMatchObject({ acceptanceCriteria: "- it works.", steps: ["Test", "Code"] });
  });

  it.each([
    ["checkboxes, with a blank line", "Acceptance:\n- [ ] it works\n\n- [ ] it is fast"],
    ["a numbered list", "Acceptance:\n1. it works\n2. it is fast"],
    ["bullets below the first", "Acceptance: it works\n- it is fast"],
    ["what the label's line announces", "Done when: all of these hold:\n- [ ] it works\n- [ ] it is fast"],
  ])("are still criteria: %s", (_, body) => {
    const { acceptanceCriteria, steps } = task(body);
    expect(steps).toEqual([]);
    expect(acceptanceCriteria).toContain("it works");
    expect(acceptanceCriteria).toContain("it is fast");
  });

  it.each([
    ["Depends on Task 1.", undefined],
    ["- Depends on Task 1", undefined],
    ["_This task depends on Task 1._", undefined],
    ["Blocked by T1.", undefined],
    ["Adds the form. Depends on Task 1. It is small.", "Adds the form. Depends on Task 1. It is small."],
  ])("a sentence is a dependency: %s", (sentence, description) => {
    expect(task(sentence)).toMatchObject({ dependsOn: ["1"], description });
  });

  it.each([
    "It no longer depends on Task 1.",
    "Depends on the weather.",
    "Requires 1 cup.",
    "Does not depend on Task 1.",
  ])("no dependency: %s", (sentence) => expect(task(sentence)).toMatchObject({ dependsOn: [], description: sentence }));

  it("says when the sentence names a task that the plan does not have", () => {
    const { tasks } = parsePlan("### Task 1: A\nDepends on Tasks 2 and 9.\n### Task 2: B\n");
    expect(tasks[0]).toMatchObject({
      dependsOn: ["2"],
      problems: ["depends on Task 9, which the plan does not have"],
    });
  });
});
