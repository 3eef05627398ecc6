import { expect, it } from "vitest";
import { Said } from "./piece.ts";

it("knows the same words in any case and punctuation, whole words in their order only", () => {
  const said = new Said();
  said.add("Fix the failing test first: login locks after five", undefined, "");
  for (const text of ["fix the failing test", "- [ ] Login locks, after five!", "FIVE"])
    expect(said.has(text)).toBe(true);
  for (const text of ["ix the failing", "fix the test", "five fix", "", "--", "!"]) expect(said.has(text)).toBe(false);
});
