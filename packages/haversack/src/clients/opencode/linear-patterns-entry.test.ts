import { expect, it } from "vitest";
import { matchEach as matchInTime, runPatterns as runInTime } from "../../skills/matching/run-patterns.ts";
import { matchEach, runPatterns } from "./linear-patterns-entry.ts";

const PATTERNS = [
  { source: "zebra.*crossing", flags: "i", linear: true },
  { source: "^(z+)+$", flags: "", linear: false },
  { source: "b", flags: "g", linear: true },
  { source: "(", flags: "", linear: true },
];
const TEXTS = ["a Zebra at the crossing", "zzz", "b"];

it("says what the runner with a time limit says of linear patterns, and skips the others", () => {
  const { pairs } = matchInTime(PATTERNS, TEXTS, { canStop: false });
  expect(matchEach(PATTERNS, TEXTS)).toEqual({ pairs, slow: [], skipped: [1, 3] });
  expect(pairs).toContainEqual([0, 0]);
  expect(runPatterns(PATTERNS, TEXTS).hits).toEqual(runInTime(PATTERNS, TEXTS, { canStop: false }).hits);
});
