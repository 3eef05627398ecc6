import { describe, expect, it } from "vitest";
import { backgroundTerms, CLASS_SHARE } from "./background.ts";
import { termOf } from "./tokenize.ts";

describe("backgroundTerms", () => {
  const terms = backgroundTerms();

  it("puts everyday words above common ones above known ones, and does not know rare ones", () => {
    expect(terms.get(termOf("test"))).toBe(CLASS_SHARE.everyday);
    expect(terms.get(termOf("deploy"))).toBe(CLASS_SHARE.common);
    expect(terms.get(termOf("kubernetes"))).toBe(CLASS_SHARE.known);
    expect(terms.has(termOf("kusto"))).toBe(false);
    expect(CLASS_SHARE.everyday).toBeGreaterThan(CLASS_SHARE.common);
    expect(CLASS_SHARE.common).toBeGreaterThan(CLASS_SHARE.known);
  });

  it("knows plain English, which no skill is about", () => {
    for (const word of ["yellow", "tuesday", "bracket", "helper", "afternoon", "uppercase"])
      expect([word, terms.get(termOf(word))]).toEqual([word, CLASS_SHARE.known]);
  });

  it("lets the commoner class decide for words of one stem", () => {
    expect(terms.get(termOf("implementation"))).toBe(CLASS_SHARE.everyday);
  });
});
