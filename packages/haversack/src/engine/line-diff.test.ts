import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { lineDiff } from "./init.ts";

describe("lineDiff", () => {
  it("shows what comes and goes between one line of context", () => {
    expect(lineDiff("a\nb\nc\nd\n", "a\nb\nx\nd\n").map(({ sign, text }) => sign + text)).toEqual([
      " b",
      "-c",
      "+x",
      " d",
    ]);
  });

  it("is empty for the same text", () => {
    expect(lineDiff("a\n", "a\n")).toEqual([]);
  });

  it("loses no line: its old lines and its new lines are pieces of the two texts", () => {
    const text = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 12 }).map((lines) => lines.join("\n"));
    fc.assert(
      fc.property(text, text, (before, after) => {
        const lines = lineDiff(before, after);
        const old = lines.filter(({ sign }) => sign !== "+").map((line) => line.text);
        const fresh = lines.filter(({ sign }) => sign !== "-").map((line) => line.text);
        expect(before.split("\n").join("|")).toContain(old.join("|"));
        expect(after.split("\n").join("|")).toContain(fresh.join("|"));
        if (before !== after) expect(lines.some(({ sign }) => sign !== " ")).toBe(true);
      }),
    );
  });
});
