import { describe, expect, it } from "vitest";
import { loadCounter } from "../../tokens/count.ts";
import { briefOf, type Entry, firstWords, formatFull, formatIncremental, formatNames } from "./disclosure.ts";

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

Decide for each skill: needed? YES: activate it first. NO: go on.

## 🟠 read (high priority)
Brief: About read
Activate: Skill(skill: "read")

## 🔴 guard (critical priority)
Brief: About guard
Note: must be used
Activate: Skill(skill: "guard")

Search.`);
  });

  it("full: candidates by name below the cards, with fewer words than alone, and the fewer the more there are", () => {
    const long = "Fill in and read PDF forms of every kind, with the values of a table";
    const names = ["b", "c", "d", "e", "f"].map((id) => entry(id, undefined, { brief: long }));
    const { text } = formatFull({ fresh: [entry("a")], names, known: [] });
    expect(text).toBe(`# Skill Recommendations

Needed? YES: activate it first. NO: go on.

## a
Brief: About a
Activate: Skill(skill: "a")

Perhaps:
${["b", "c", "d", "e", "f"].map((id) => `${id}: Fill in and read`).join("\n")}`);
    const one = names.slice(0, 1);
    expect(formatFull({ fresh: [entry("a")], names: one, known: [] }).text).toMatch(/^b: Fill in and read PDF$/m);
    expect(formatNames({ fresh: [], names: one, known: [] }).text).toMatch(
      /^b: Fill in and read PDF forms of every kind$/m,
    );
  });

  it("full: says how to load a candidate where that differs from the card's way", () => {
    const other = entry("b", undefined, { activation: "Read /skills/b/SKILL.md" });
    expect(formatFull({ fresh: [entry("a")], names: [other], known: [] }).text).toContain(
      "Perhaps:\nb: About b\nTo activate: read /skills/b/SKILL.md",
    );
  });

  it("one card and five names cost at most 120 tokens", async () => {
    const count = await loadCounter();
    const brief = "Build, merge and split PDF documents, and fill in their form fields quickly";
    const ids = ["pdf-documents", "release-notes", "database-migrations", "api-error-pages", "spreadsheet-import"];
    const card = entry("browser-testing", undefined, { brief: firstWords(brief, 12) });
    const names = ids.map((id) => entry(id, undefined, { brief }));
    const { text } = formatFull({
      fresh: [card],
      names,
      known: [],
      searchHint: "More: mcp__haversack__skill(query)",
    });
    expect(count(text)).toBeLessThanOrEqual(120);
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

describe("firstWords", () => {
  it.each([
    ["Fill in and flatten PDF forms. Use when the user has a form to fill in.", 12, "Fill in and flatten PDF forms"],
    ["Fill PDF forms. Handles encrypted files of every kind.", 4, "Fill PDF forms"],
    [
      "Fill in PDF forms. Flatten them, too. Use when, as ever, somebody has a form.",
      12,
      "Fill in PDF forms. Flatten them, too",
    ],
    ["Build, merge and split PDF documents, and fill in their form fields", 8, "Build, merge and split PDF documents"],
    ["Reads tables from text files (CSV, TSV, fixed columns) into the database", 8, "Reads tables from text files"],
    [
      "Tunes databases, e.g. PostgreSQL and MySQL servers with many slow queries",
      6,
      "Tunes databases, e.g. PostgreSQL and MySQL",
    ],
    ["Explains what the program did with the prompt of the user", 7, "Explains what the program did"],
    ["One two three", 3, "One two three"],
  ])("cuts %j to %i words at the end of a sentence, a clause or a word", (text, most, expected) => {
    expect(firstWords(text, most)).toBe(expected);
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
