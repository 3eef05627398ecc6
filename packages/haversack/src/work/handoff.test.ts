import { describe, expect, it } from "vitest";
import { readVerdict } from "./handoff.ts";

describe("readVerdict", () => {
  it.each([
    ["Done.\nVERDICT: PASS", "PASS"],
    ["**VERDICT:** FAIL", "FAIL"],
    ["> verdict: blocked\n", "BLOCKED"],
    ["VERDICT: PASS\nlater\nVERDICT: FAIL\n", "FAIL"],
    ["`VERDICT: PASS`", "PASS"],
  ])("reads %j", (answer, verdict) => {
    expect(readVerdict(answer)).toBe(verdict);
  });

  it.each([
    "It ends with VERDICT: PASS|FAIL|BLOCKED as asked",
    "VERDICT: PASS|FAIL|BLOCKED",
    "VERDICT: PASSED",
    "no verdict",
    "",
  ])("finds none in %j", (answer) => {
    expect(readVerdict(answer)).toBeUndefined();
  });
});
