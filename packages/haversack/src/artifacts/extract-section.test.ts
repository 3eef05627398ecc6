import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { countLines, extractSection, headingSlug } from "./extract-section.ts";
import { findHeadings, plainHeading } from "./markdown-headings.ts";

const DESIGN = `# Design: Uploads

Opening.

## 1. Overview
Text.

## 2. Components

### 2.3 Error Handling
Errors are values.

#### Codes
- one

### 2.30 Retries
Three times.

## I7: Hybrid Dispatch
Sections inline.

### Task 3: Parse the manifest
Do it.

### Task 30: Ship
Later.
`;

function found(document: string, ref: string) {
  const answer = extractSection(document, ref);
  if (answer.kind !== "found") throw new Error(`${ref}: ${JSON.stringify(answer)}`);
  return answer;
}

describe("extractSection", () => {
  it("takes a heading with all that is nested in it, and says where", () => {
    expect(extractSection(DESIGN, "2.3 Error Handling")).toEqual({
      kind: "found",
      text: "### 2.3 Error Handling\nErrors are values.\n\n#### Codes\n- one",
      line: 10,
      lineCount: 5,
      heading: "2.3 Error Handling",
    });
  });

  it.each([
    ["2.3", 10],
    ["2.3.", 10],
    ["§2.3", 10],
    ["Section 2.3", 10],
    ["error handling", 10],
    ["ERROR  HANDLING:", 10],
    ["### Error Handling", 10],
    ["#23-error-handling", 10],
    ["design.md#23-error-handling", 10],
    ["I7", 19],
    ["Hybrid Dispatch", 19],
    ["#i7-hybrid-dispatch", 19],
    ["#I7", 19],
    ["design.md#I7", 19],
    ["design.md#2.3", 10],
    ["#error-handling", 10],
    ["design.md#Error Handling", 10],
    ["#Task 3", 22],
    ["docs/f/design.md#task-3", 22],
    ["Task 3", 22],
    ["task 3: parse the manifest", 22],
    ["Parse the manifest", 22],
    ["30", 25],
    ["1", 5],
    ["2", 8],
    ["**Overview**", 5],
  ])("finds %j at line %i", (ref, line) => {
    expect(found(DESIGN, ref).line).toBe(line);
  });

  it("offers the nearest headings when there is none, and never a near number instead", () => {
    expect(extractSection(DESIGN, "Eror Handlin")).toEqual({ kind: "missing", nearest: ["2.3 Error Handling"] });
    expect(extractSection(DESIGN, "#error-handlng")).toEqual({ kind: "missing", nearest: ["2.3 Error Handling"] });
    expect(extractSection(DESIGN, "The manifest format")).toEqual({
      kind: "missing",
      nearest: ["Task 3: Parse the manifest"],
    });
    expect(extractSection(DESIGN, "2.4").kind).toBe("missing");
    expect(extractSection(DESIGN, "Task 4").kind).toBe("missing");
    expect(extractSection(DESIGN, "Phase 1").kind).toBe("missing");
    expect(extractSection(DESIGN, "  ")).toEqual({ kind: "missing", nearest: [] });
    expect(extractSection("", "Setup")).toEqual({ kind: "missing", nearest: [] });
  });

  it("names the lines of a heading that occurs twice, and takes the one that is asked for", () => {
    const document = "# A\n## Setup\none\n# B\n## Setup\ntwo\n### setup\nthree\n";
    expect(extractSection(document, "Setup")).toEqual({
      kind: "ambiguous",
      lines: [2, 5, 7],
      first: { kind: "found", text: "## Setup\none", line: 2, lineCount: 2, heading: "Setup" },
    });
    expect(extractSection(document, "## Setup")).toMatchObject({ kind: "ambiguous", lines: [2, 5] });
    expect(found(document, "Setup:2").text).toBe("## Setup\ntwo\n### setup\nthree");
    expect(found(document, "### Setup").line).toBe(7);
    expect(found(document, "#setup-1").line).toBe(5);
    expect(found(document, "#setup").line).toBe(2);
    expect(extractSection(document, "Setup:4")).toEqual({ kind: "missing", nearest: ["Setup", "setup"] });
    expect(found("## Step:2\n## Step\n## Step\n", "Step:2").line).toBe(1);
  });

  it("keeps every byte between the headings", () => {
    const document = "## A\r\n\r\n  x\t\r\n```\r\n## no\r\n```\r\n\r\n## B\r\ny";
    expect(found(document, "A").text).toBe("## A\r\n\r\n  x\t\r\n```\r\n## no\r\n```");
    expect(found(document, "A").lineCount).toBe(6);
    expect(found(document, "B")).toMatchObject({ text: "## B\r\ny", line: 8, lineCount: 2 });
    expect(found("\ufeff# A\rx\r# B\ry", "B")).toMatchObject({ line: 3, text: "# B\ry", lineCount: 2 });
  });
});

describe("findHeadings", () => {
  const titles = (document: string) =>
    findHeadings(document).map(({ text, level, line }) => `${line}:${level}:${text}`);

  it.each([
    ["a fence", "```sh\n# no\n```\n# yes\n", ["4:1:yes"]],
    ["tildes with backticks inside", "~~~\n```\n# no\n~~~\n# yes", ["5:1:yes"]],
    ["a fence shown inside of another", "```\nprompt:\n    ```\n    # no\n    ```\n# no\n```\n# yes", ["8:1:yes"]],
    ["a fence in a nested item", "- a\n  - ```\n    # no\n    ```\n# yes", ["5:1:yes"]],
    ["a longer fence", "````\n```\n# no\n````\n# yes", ["5:1:yes"]],
    ["a fence with words after the mark, which closes nothing", "```\n``` x\n# no\n```\n# yes", ["5:1:yes"]],
    ["a fence that is never closed", "# yes\n```\n# no", ["1:1:yes"]],
    ["a fence in a list item", "- ```sh\n  # no\n  ```\n# yes", ["4:1:yes"]],
    ["code in a sentence", "```x``` is code\n# yes", ["2:1:yes"]],
    ["a comment", "<!--\n# no\n-->\n# yes <!-- toc -->", ["4:1:yes"]],
    ["a comment on one line", "<!-- x -->\n# yes", ["2:1:yes"]],
    ["preformatted text", "<pre>\n# no\n</pre>\n# yes", ["4:1:yes"]],
    ["indented code", "    # no\n\n\t# no\n\n   # yes", ["5:1:yes"]],
    ["quotes", "> # no\n\n# yes", ["3:1:yes"]],
    ["no space, seven marks", "#no\n####### no\n# yes", ["3:1:yes"]],
    ["frontmatter", "---\n# no\ntitle: x\n---\n# yes", ["5:1:yes"]],
    ["a rule that is no frontmatter", "---\n\n# yes\n\n---\n# also", ["3:1:yes", "6:1:also"]],
    ["a rule above a heading", "---\n# yes\n\n---\n# also", ["2:1:yes", "5:1:also"]],
    ["underlines", "Title\n=====\n\ntwo\nlines\n---\ntext\n\n---\n", ["1:1:Title", "4:2:two lines"]],
    ["rules below lists, quotes, tables", "- a\n---\n\n> q\nlazy\n---\n\n| a |\n---\n\n- b\n\n  c\n---\n", []],
    ["closing marks", "## Title ##\n## C#\n##\n", ["1:2:Title", "2:2:C#", "3:2:"]],
    [
      "marks inside",
      "# **Bold** `a_b` [link](x.md) _em_ snake_case \\* <br/>\n# `__init__` __all__ _x\n",
      ["1:1:Bold a_b link em snake_case *", "2:1:__init__ all _x"],
    ],
  ])("respects %s", (_, document, expected) => {
    expect(titles(document)).toEqual(expected);
  });

  it("makes anchors as GitHub does", () => {
    expect(headingSlug("What's new in 2.0? (C++/C#) — a_b")).toBe("whats-new-in-20-cc--a_b");
    expect(headingSlug("Größe 中文 🙂")).toBe("größe-中文-");
  });
});

const anyLine = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom("# A", "## A", "## B", "### C 1", "Task 2: x", "", "text", "- item") },
  { weight: 1, arbitrary: fc.constantFrom("```", "~~~", "---", "===", "<!--", "-->", "    code", "> q", "| t |") },
  { weight: 1, arbitrary: fc.string({ maxLength: 12 }) },
);
const anyDocument = fc
  .tuple(fc.array(anyLine, { maxLength: 25 }), fc.constantFrom("\n", "\r\n"))
  .map(([lines, lineEnd]) => lines.join(lineEnd));

describe("for any document", () => {
  it("every heading can be reached, by its place among equals, and its text is a piece of the document", () => {
    fc.assert(
      fc.property(anyDocument, (document) => {
        const lines = document.split(/\r\n|\n|\r/);
        for (const { text, line, level } of findHeadings(document)) {
          if (!/^[A-C]( \d)?$/.test(text)) continue;
          const ref = `${"#".repeat(level)} ${text}`;
          const answer = extractSection(document, ref);
          const places = answer.kind === "found" ? [answer.line] : answer.kind === "ambiguous" ? answer.lines : [];
          expect(places).toContain(line);
          const section = found(document, places.length > 1 ? `${ref}:${places.indexOf(line) + 1}` : ref);
          expect(section.line).toBe(line);
          expect(document).toContain(section.text);
          expect(section.text.split(/\r\n|\n|\r/).length).toBe(section.lineCount);
          expect(section.text.startsWith(lines[line - 1]!.trimEnd())).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });

  it("a section ends where the next heading of its level begins, and nothing is lost between the two", () => {
    fc.assert(
      fc.property(anyDocument, (document) => {
        const headings = findHeadings(document);
        const tops = headings.filter(({ level }) => level === Math.min(...headings.map((heading) => heading.level)));
        const pieces = tops.map(({ start }, index) => document.slice(start, tops[index + 1]?.start).trimEnd());
        const sections = tops.map(({ text, level, line }) => {
          const answer = extractSection(document, `${"#".repeat(level)} ${text}`);
          if (answer.kind === "ambiguous") {
            return found(document, `${"#".repeat(level)} ${text}:${answer.lines.indexOf(line) + 1}`).text;
          }
          return answer.kind === "found" ? answer.text : undefined;
        });
        for (const [index, { text }] of tops.entries()) {
          if (/^[A-C]( \d)?$/.test(text)) expect(sections[index]).toBe(pieces[index]);
        }
      }),
      { numRuns: 500 },
    );
  });

  it("never throws, whatever is asked", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), fc.string({ maxLength: 40 }), (document, ref) => {
        expect(["found", "missing", "ambiguous"]).toContain(extractSection(`# ${ref}\n${document}`, ref).kind);
      }),
      { numRuns: 500 },
    );
  });

  it("reads a heading's words with single spaces between them, whatever stands there", () => {
    const space = fc.constantFrom(" ", "  ", "\t", "\u00a0", "\u1680", "\u2003", "\u3000", "\ufeff", "\v");
    fc.assert(
      fc.property(
        fc.array(fc.oneof(space, fc.constantFrom("a", "\u00df", "\u0416", "\u4e2d", "")), { maxLength: 9 }),
        (pieces) => {
          const text = pieces.join("");
          expect(plainHeading(text)).toBe(text.replace(/\s+/g, " ").trim());
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it("counts lines as an editor does", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("a", "\n", "\r\n", "\r", "")), (pieces) => {
        const text = pieces.join("");
        const expected = text === "" ? 0 : text.replace(/(\r\n|\n|\r)$/, "").split(/\r\n|\n|\r/).length;
        expect(countLines(text)).toBe(expected);
      }),
    );
  });

  // If a pattern were not linear, each would run for minutes and exceed the test's time limit.
  it.each([
    ["open brackets", `${"#".repeat(2)} ${"[".repeat(1_000_000)}\n`],
    ["long lines of spaces", `# ${" ".repeat(1_000_000)}x\n`.repeat(3)],
    ["headings", "# [[[[((((____****<<<<!--\n".repeat(40_000)],
    ["underscores", `# ${"_a".repeat(150)}\n`.repeat(4_000)],
    ["list marks", "- ".repeat(500_000)],
    ["one paragraph", "word\n".repeat(400_000)],
  ])("reads megabytes of %s in a short time", (_, document) => {
    expect(extractSection(document, "nowhere to be found").kind).toBe("missing");
  });
});
