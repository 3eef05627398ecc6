import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type PartRequest, readPart } from "./read-part.ts";

const TEXT = Array.from({ length: 100 }, (_, at) => `line ${at + 1}`).join("\n");
const part = (request: PartRequest, text = TEXT) => {
  const answer = readPart(text, request);
  if (answer.kind !== "part") throw new Error(answer.text);
  return answer;
};

describe("lines", () => {
  it.each([
    ["3-5", "line 3\nline 4\nline 5", "lines 3-5 of 100"],
    ["7", "line 7", "lines 7-7 of 100"],
    ["99-", "line 99\nline 100", "lines 99-100 of 100"],
    ["-2", "line 99\nline 100", "lines 99-100 of 100"],
    ["99-500", "line 99\nline 100", "lines 99-100 of 100"],
  ])("%s", (lines, text, about) => {
    expect(part({ lines })).toEqual({ kind: "part", text, about });
  });

  it.each(["0-3", "101-", "5-3", "abc", "-", "1-2-3", "1e3", "-0"])("refuses %s and says what there is", (lines) => {
    expect(readPart(TEXT, { lines })).toMatchObject({ kind: "wrong-range", text: expect.stringContaining("1-100") });
  });

  it("beyond the budget end at a line, with the next range", () => {
    const first = part({ lines: "1-60", maxChars: 100 });
    expect(first.next).toEqual({ lines: "14-60" });
    expect(first.text.length).toBeLessThanOrEqual(100);
  });

  it("that are longer than the budget come by characters", () => {
    const text = `short\n${"x".repeat(1_000)}\nend`;
    const first = part({ lines: "2-3", maxChars: 300 }, text);
    expect(first).toMatchObject({ text: "x".repeat(300), next: { chars: "307-1010" } });
  });
});

it("part after part returns the text exactly", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ maxLength: 60, unit: "grapheme" })).map((lines) => lines.join("\n")),
      fc.integer({ min: 20, max: 200 }),
      (text, maxChars) => {
        if (text === "") return;
        let request: PartRequest | undefined = {};
        let all = "";
        while (request) {
          const { text: found, next } = part({ ...request, maxChars }, text);
          all += found;
          if (next?.lines) all += "\n";
          request = next;
        }
        expect(all).toBe(text);
      },
    ),
  );
});

it("characters, with the next range", () => {
  expect(part({ chars: "1-6" })).toEqual({ kind: "part", text: "line 1", about: `characters 1-6 of ${TEXT.length}` });
  expect(part({ chars: "5-", maxChars: 10 }).next).toEqual({ chars: `15-${TEXT.length}` });
  expect(part({ chars: "-3" }).text).toBe("100");
});

describe("find", () => {
  it("returns numbered lines with those around them, whatever the case", () => {
    expect(part({ find: "LINE 50" })).toEqual({
      kind: "part",
      text: "48-line 48\n49-line 49\n50:line 50\n51-line 51\n52-line 52",
      about: '1 line of 100 contain "LINE 50"',
    });
  });

  it("joins neighbours and separates others", () => {
    const { text } = part({ find: "line 9" });
    expect(text.split("\n").filter((line) => line === "--")).toHaveLength(1);
    expect(new Set(text.split("\n")).size).toBe(text.split("\n").length);
  });

  it("says how many are left beyond the budget, and where", () => {
    expect(part({ find: "line", maxChars: 120 })).toMatchObject({
      about: expect.stringMatching(/^100 lines of 100 contain "line"; \d+ more from line \d+ on$/),
      next: { lines: expect.stringMatching(/^\d+-$/) },
    });
  });

  it("says that there is none", () => {
    expect(part({ find: "nothing of the kind" })).toMatchObject({
      text: "",
      about: expect.stringContaining("no line of 100"),
    });
  });

  it("shows the place in a long line", () => {
    const { text } = part({ find: "needle" }, `${"a".repeat(5_000)}needle${"b".repeat(5_000)}`);
    expect(text).toContain("aneedleb");
    expect(text.length).toBeLessThan(600);
  });
});

it("takes one way at a time", () => {
  expect(readPart(TEXT, { lines: "1-2", find: "x" })).toMatchObject({ kind: "wrong-range" });
});
