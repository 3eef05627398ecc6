import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isFault } from "../base/errors.ts";
import {
  cleanDetails,
  cleanFiles,
  cleanHours,
  cleanName,
  cleanSteps,
  cleanSummary,
  cleanText,
  cleanTitle,
  splitReference,
} from "./clean-input.ts";

const KEY = `ghp_${"a1B2".repeat(10)}`;

describe("titles", () => {
  it("may have emoji and any script, trimmed", () => {
    expect(cleanTitle("  Fix 🎉 the 👩‍💻 form für größere Räume  ")).toBe("Fix 🎉 the 👩‍💻 form für größere Räume");
  });

  it.each([
    ["", "title must not be empty"],
    ["   ", "title must not be empty"],
    ["\u200b\u2060", "title must not be empty, but has only invisible characters"],
    ["two\nlines", "title must be one line, but has a line break; put the rest into description"],
    ["two\rlines", "title must be one line"],
    ["x".repeat(301), "title has 301 characters; at most 300 (put the rest into description)"],
    [7, "title must be a text, but is 7"],
    [undefined, "title must be a text, but is undefined"],
  ])("%j: %s", (value, text) => {
    expect(() => cleanTitle(value)).toThrow(text);
  });

  it("lose escape sequences and secrets", () => {
    expect(cleanTitle(`\u001b[31mRotate ${KEY}\u001b[0m`)).toBe("Rotate [masked:github-token]");
  });
});

describe("texts", () => {
  it("keep their lines, lose secrets, and are absent when empty", () => {
    expect(cleanText(`a\n\tb ${KEY}\n`, { field: "description" })).toBe("a\n\tb [masked:github-token]");
    expect(cleanText("  ", { field: "description" })).toBeUndefined();
    expect(cleanText(null, { field: "description" })).toBeUndefined();
  });

  it("have a size, and the fault names the field", () => {
    expect(cleanText("x".repeat(100_000), { field: "notes" })).toHaveLength(100_000);
    expect(() => cleanText("x".repeat(100_001), { field: "notes" })).toThrow(
      "notes has 100001 characters; at most 100000",
    );
  });

  it("a summary too long is sent to the details", () => {
    expect(cleanSummary("Done.")).toBe("Done.");
    expect(() => cleanSummary("x".repeat(2001))).toThrow(
      "summary has 2001 characters; at most 2000 (put the whole into full_details and two or three sentences here)",
    );
    expect(() => cleanSummary(" ")).toThrow("summary must not be empty");
  });

  it("details of 10 MB are stored whole, but for their secrets", () => {
    const line = "2031-01-01 PASS src/auth.test.ts in 12 ms\n";
    const text = `${line.repeat(Math.ceil(10_000_000 / line.length))}token=${KEY}\n`;
    const clean = cleanDetails(text);
    expect(clean?.length).toBeGreaterThan(10_000_000);
    expect(clean?.startsWith(line)).toBe(true);
    expect(clean).not.toContain(KEY);
    expect(cleanDetails("\n")).toBeUndefined();
  });

  it("half a character is replaced, since no store could give it back", () => {
    expect(cleanText("a\ud83d", { field: "notes" })).toBe("a\ufffd");
  });

  it("a name is one short line", () => {
    expect(cleanName("spec-reviewer", { field: "role" })).toBe("spec-reviewer");
    expect(cleanName("", { field: "role" })).toBeUndefined();
    expect(() => cleanName("x".repeat(101), { field: "role" })).toThrow("role has 101 characters; at most 100");
  });
});

describe("files", () => {
  it("are relative, normalised, each once; a folder keeps its slash", () => {
    expect(cleanFiles(["./src/a.ts", "src//b/../a.ts", "src/auth/", "src\\win.ts"])).toEqual([
      "src/a.ts",
      "src/auth/",
      "src/win.ts",
    ]);
    expect(cleanFiles([])).toEqual([]);
    expect(cleanFiles(undefined)).toBeUndefined();
  });

  it.each([
    ["src/a.ts", 'files must be a list of paths, but is "src/a.ts"'],
    [[7], "files[0] must be a text, but is 7"],
    [["a", ""], "files[1] must not be empty"],
    [["./"], 'files[0] must name a file or folder, but is "./"'],
    [["a\nb"], "files[0] must be one line"],
    [Array.from({ length: 501 }, (_, at) => `f${at}`), "files has 501 paths; at most 500"],
  ])("%j is refused", (value, text) => {
    expect(() => cleanFiles(value)).toThrow(text);
  });
});

describe("the rest", () => {
  it("steps are texts, or texts with a mark", () => {
    expect(cleanSteps(["write", { text: "test", done: true }])).toEqual([
      { text: "write", done: false },
      { text: "test", done: true },
    ]);
    expect(() => cleanSteps(["write", " "])).toThrow("steps[1] must not be empty");
    expect(() => cleanSteps([null])).toThrow("steps[0] must not be empty");
    expect(() => cleanSteps({})).toThrow("steps must be a list, but is {}");
  });

  it("hours are a number", () => {
    expect(cleanHours(1.5)).toBe(1.5);
    for (const value of [-1, "2", Number.NaN])
      expect(() => cleanHours(value)).toThrow("estimate_hours must be a number");
  });

  it("a reference is a file, a section, or both", () => {
    expect(splitReference("docs/plan.md#Task 3 #1")).toEqual({ planFile: "docs/plan.md", planSection: "Task 3 #1" });
    expect(splitReference("plan.md")).toEqual({ planFile: "plan.md" });
    expect(splitReference(undefined)).toEqual({});
  });

  it("anything at all is cleaned or a fault of the input, never a bug", () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        for (const clean of [cleanTitle, cleanSummary, cleanDetails, cleanFiles, cleanSteps, cleanHours]) {
          try {
            clean(value);
          } catch (error) {
            expect(isFault(error, "input-invalid")).toBe(true);
          }
        }
      }),
    );
  });
});
