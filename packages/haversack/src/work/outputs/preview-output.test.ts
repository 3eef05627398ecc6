import { describe, expect, it } from "vitest";
import { stripControl } from "../../base/clean-text.ts";
import { TEST_SAMPLES } from "../test-outputs.samples.ts";
import { linesOf, previewOutput } from "./preview-output.ts";

const ways = {
  lines: (range: string) => `recall lines ${range}`,
  chars: (range: string) => `recall chars ${range}`,
  find: "recall find",
};
const preview = (text: string, more: Partial<Parameters<typeof previewOutput>[1]> = {}) =>
  previewOutput(text, { handle: "K123456", ways, maxChars: 1_500, ...more });
const numbered = (count: number, line = (at: number) => `step ${at} is done`) =>
  `${Array.from({ length: count }, (_, at) => line(at + 1)).join("\n")}\n`;

describe("a preview", () => {
  it("has the head, the tail, and says what is left out and how to get it", () => {
    const shown = preview(numbered(1_000));
    expect(shown).toContain("kept this output as K123456: 1,000 lines, ");
    expect(shown).toContain("\nstep 1 is done\n");
    expect(shown).toMatch(/step 1000 is done$/);
    const [, from, to] = /\[lines (\d+)-(\d+) left out\]/.exec(shown)!;
    expect(shown).toContain(`The rest: recall lines ${from}-${to}; search: recall find.`);
    expect(shown.split("\n")).toContain(`step ${Number(from) - 1} is done`);
    expect(shown.split("\n")).toContain(`step ${Number(to) + 1} is done`);
    expect(shown).not.toContain(`step ${from} is done`);
  });

  it.each([200, 1_500, 5_000, 200_000])("of %d lines stays within its size", (count) => {
    for (const isCommand of [true, false]) {
      const text = numbered(count, (at) =>
        at % 7 === 0 ? `Error: number ${at} failed` : `line ${at} ${"x".repeat(at % 90)}`,
      );
      expect(preview(text, { isCommand }).length).toBeLessThan(1_700);
    }
  });

  it("shows errors and failing tests from the middle, in their place", () => {
    const text = `${numbered(400)}src/cart.ts(12,7): error TS2322: Type 'string' is not assignable.\n${numbered(400)}`;
    const shown = preview(text, { isCommand: true });
    expect(shown).toContain("[lines ");
    expect(shown).toContain("\nsrc/cart.ts(12,7): error TS2322: Type 'string' is not assignable.\n");
    expect(preview(text)).not.toContain("TS2322");
  });

  const red = TEST_SAMPLES.filter(({ failingTest, output }) => failingTest !== undefined && output.length < 1_500);
  it.each(red)("of a test run names the failing test: $runner", ({ output, failingTest = "" }) => {
    const text = `${numbered(300)}${output}\n${numbered(300, (at) => `cleanup ${at}`)}`;
    const shown = stripControl(preview(text, { isCommand: true, maxChars: 3_000 }));
    expect(shown).toContain(failingTest.split(" > ").at(-1));
  });

  it("does not take a report of no errors for an error", () => {
    const text = `${numbered(300)}Found 0 errors in 12 files\n${numbered(300)}`;
    expect(preview(text, { isCommand: true })).not.toContain("Found 0 errors");
  });

  it("of one long line is cut by characters", () => {
    const text = JSON.stringify(Array.from({ length: 3_000 }, (_, at) => ({ id: at, name: `entry ${at}` })));
    const shown = preview(text);
    const [, from, to] = /\[characters (\d+)-(\d+) left out\]/.exec(shown)!;
    expect(shown).toContain(`recall chars ${from}-${to}`);
    const [, body = ""] = shown.split("]\n[{");
    expect(text.startsWith(`[{${body.slice(0, 100)}`)).toBe(true);
    expect(shown.endsWith(text.slice(Number(to)))).toBe(true);
  });

  it("never splits a character", () => {
    for (let shift = 0; shift < 4; shift++) {
      const shown = preview(`${"a".repeat(shift)}${"😀".repeat(5_000)}`);
      expect(shown.isWellFormed()).toBe(true);
    }
  });

  it("says the exit code and what else there is to say", () => {
    const shown = preview(numbered(500), { exitCode: 2, note: "Secrets in it are masked." });
    expect(shown).toMatch(/^\[Haversack kept .* Exit code 2\. .* Secrets in it are masked\.\]\n/);
  });
});

it("a final line break begins no line", () => {
  expect(linesOf("a\nb\n")).toEqual(["a", "b"]);
  expect(linesOf("a\nb")).toEqual(["a", "b"]);
  expect(linesOf("")).toEqual([""]);
  expect(linesOf("\n")).toEqual([""]);
});
