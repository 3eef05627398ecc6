import { describe, expect, it } from "vitest";
import { briefOf, type Entry, formatFull, formatIncremental, formatNames } from "./disclosure.ts";

const entry = (id: string, priority?: Entry["priority"], more: Partial<Entry> = {}): Entry => ({
  id,
  ...(priority && { priority }),
  brief: `About ${id}`,
  activation: `Skill(skill: "${id}")`,
  ...more,
});

describe("the three formats", () => {
  it("full: every skill with icon, brief and activation, and a decision asked for", () => {
    const { format, text } = formatFull({
      fresh: [entry("read", "high"), entry("guard", "critical", { notice: "must be used" })],
      known: [],
      searchHint: "Search.",
    });
    expect(format).toBe("full");
    expect(text).toBe(`# Skill Recommendations

Decide for each skill: does the task need it? YES: activate it first. NO: go on without.

## 🟠 read (high priority)
Brief: About read
Activate: Skill(skill: "read")

## 🔴 guard (critical priority)
Brief: About guard
Note: must be used
Activate: Skill(skill: "guard")

## Using Skills

Search.`);
  });

  it("incremental: the new ones in full, the known ones by name", () => {
    const { text } = formatIncremental({
      fresh: [entry("base", "medium")],
      known: [entry("read", "high"), entry("write", "low")],
    });
    expect(text).toBe(`# New Skills Available

## 🟡 base (medium priority)
Brief: About base
Activate: Skill(skill: "base")

Previously recommended: 🟠 read, 🟢 write

Decide for each: YES or NO; activate every YES first.`);
  });

  it("speak of a priority only where a rule sets one", () => {
    expect(formatFull({ fresh: [entry("read")], known: [] }).text).toContain("\n\n## read\nBrief: About read\n");
    const { text } = formatIncremental({ fresh: [entry("base")], known: [entry("read"), entry("write", "low")] });
    expect(text).toContain("\n\n## base\n");
    expect(text).toContain("Previously recommended: read, 🟢 write");
  });

  it("names: say in plain words to read a file where there is no tool", () => {
    const activation = "Read /skills/pdf/SKILL.md";
    expect(formatNames({ fresh: [], known: [entry("pdf", undefined, { activation })] }).text).toBe(
      "# Skills Available\n\npdf\n\nTo activate: read /skills/pdf/SKILL.md",
    );
  });

  it("names: names alone", () => {
    expect(formatNames({ fresh: [], known: [entry("4d", "critical"), entry("read", "medium")] }).text).toBe(
      '# Skills Available\n\n🔴 4d, 🟡 read\n\nUse Skill(skill: "name") to activate.',
    );
  });
});

describe("briefOf", () => {
  it("keeps a short description, cuts a long one at a sentence or a word", () => {
    expect(briefOf("Short  one.\nStill")).toBe("Short one. Still");
    expect(
      briefOf(`${"Creates and edits spreadsheets of any size. "}${"More words follow here. ".repeat(20)}`),
    ).toMatch(/^Creates and edits spreadsheets of any size\.$/);
    const cut = briefOf("word ".repeat(100));
    expect(cut.length).toBeLessThanOrEqual(160);
    expect(cut).toMatch(/word…$/);
  });
});
