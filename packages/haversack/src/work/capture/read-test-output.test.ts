import { describe, expect, it } from "vitest";
import { TEST_SAMPLES } from "../test-outputs.samples.ts";
import { readableOutput } from "./output-text.ts";
import { readTestOutput } from "./read-test-output.ts";

describe("readTestOutput", () => {
  for (const { runner, isRecorded, passed, failed, failingTest, output } of TEST_SAMPLES) {
    it(`reads ${runner}${isRecorded ? " (recorded)" : ""}`, () => {
      const reading = readTestOutput(readableOutput(output));
      expect({ passed: reading?.passed, failed: reading?.failed, failingTest: reading?.failingTest }).toEqual({
        passed,
        failed,
        failingTest,
      });
    });
  }

  it.each([
    ["vitest 5.1, with colours", /^AssertionError: expected 1 to be 2/],
    ["pytest 9 -q --tb=no", /^AssertionError: Lists differ/],
    ["unittest, Python 3.11", /^AssertionError: Lists differ/],
    ["cargo 1.95", /panicked at src\/lib\.rs:5/],
    ["go test", /^cart_test\.go:14: got \[1 2\], want \[2 1\]/],
    ["maven 3.8, surefire 3.2.5", /expected: <1> but was: <2>/],
  ])("says why for %s", (runner, reason) => {
    const sample = TEST_SAMPLES.find((candidate) => candidate.runner === runner)!;
    expect(readTestOutput(readableOutput(sample.output))?.reason).toMatch(reason);
  });

  it("adds up the runs of several packages", () => {
    const green = "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
    const red =
      "test b::c ... FAILED\ntest result: FAILED. 1 passed; 3 failed; 0 ignored; 0 measured; 0 filtered out\n";
    expect(readTestOutput(readableOutput(green + red))).toMatchObject({ passed: 3, failed: 3, failingTest: "b::c" });
  });

  it("reads a summary that `tail` left over", () => {
    expect(readTestOutput(readableOutput("Tests:       2 failed, 9 passed, 11 total\nTime:        1 s\n"))).toEqual({
      passed: 9,
      failed: 2,
    });
  });

  it("takes a sum for counts, never for the name of a test", () => {
    const read = (text: string) => readTestOutput(readableOutput(text), { shown: "end" });
    expect(read("npm error code 1\nFAILED 3 of 5\n")).toEqual({ passed: 2, failed: 3 });
    expect(read("FAILED 3 of 5\n  FAILED  Cart > keeps 3 of 5 items  \n")).toEqual({
      failed: 3,
      passed: 2,
      failingTest: "Cart > keeps 3 of 5 items",
    });
    for (const line of ["FAILED 3 tests in 2.1s", "FAILED 5", "FAIL 2 files", "FAILED (failures=1, errors=2)"])
      expect(read(`${line}\n`)?.failingTest).toBeUndefined();
    expect(read("FAILED 12 tests\n  FAILED  Cart > keeps 3 of 5 items  \n")?.failingTest).toBe(
      "Cart > keeps 3 of 5 items",
    );
    expect(read("  FAILED  3 of 5 items are kept\n")?.failingTest).toBe("3 of 5 items are kept");
  });

  it("finds name and counts when the middle is cut out", () => {
    const middle = "    at somewhere in the middle of things\n".repeat(30_000);
    const output = ` FAIL  a.test.ts > first\nError: no: way\n${middle} FAIL  z.test.ts > last\n\n      Tests  2 failed (2)\n`;
    expect(readTestOutput(readableOutput(output))).toMatchObject({
      passed: 0,
      failed: 2,
      failingTest: "a.test.ts > first",
    });
  });

  it("does not count lines when some are cut out", () => {
    const passes = "--- PASS: TestMany (0.00s)\n".repeat(10_000);
    const cut = readTestOutput(readableOutput(`--- FAIL: TestOne (0.00s)\n${passes}FAIL\nFAIL\tshop\t1.0s\n`));
    expect(cut).toMatchObject({ passed: null, failed: null, failingTest: "TestOne" });
    expect(readTestOutput(readableOutput(`${passes}ok  \tshop\t1.0s\n`))).toEqual({ passed: null, failed: 0 });
  });

  it.each([
    ["no output", ""],
    ["other output", "added 12 packages in 3s\n2 errors were corrected\n"],
    ["no test found", "Ran 0 tests in 0.000s\n\nOK\n"],
    ["prose", "The Tests: 3 of them failed, and 4 passed in total.\n"],
  ])("says nothing about %s", (_, output) => {
    expect(readTestOutput(readableOutput(output))).toBeUndefined();
  });

  it("masks a key in a test's name and keeps it short", () => {
    const name = `sends ${"ghp_"}${"a1B2".repeat(9)} ${"x".repeat(900)}`;
    const failing = readTestOutput(
      readableOutput(` FAIL  a.test.ts > ${name}\n      Tests  1 failed (1)\n`),
    )?.failingTest;
    expect(failing).toContain("[masked:github-token]");
    expect(failing!.length).toBeLessThanOrEqual(300);
  });
});
