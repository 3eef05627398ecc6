import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { editDistance, nearest } from "./nearest.ts";

const names = [
  "deploy",
  "deploy-preview",
  "react-patterns",
  "superpowers:brainstorming",
  "test-driven-development",
  "pdf",
];

describe("nearest", () => {
  it("finds a name with swapped or missing letters", () => {
    expect(nearest("deplyo", names)[0]).toBe("deploy");
    expect(nearest("test-driven-developmnt", names)).toEqual(["test-driven-development"]);
    expect(nearest("PFD", names)).toEqual(["pdf"]);
  });

  it("finds names that contain the word, after those that are close", () => {
    expect(nearest("deploy", names)).toEqual(["deploy", "deploy-preview"]);
    expect(nearest("react", names)).toEqual(["react-patterns"]);
  });

  it("finds a plugin's skill by its own name", () => {
    expect(nearest("brainstormin", names)).toEqual(["superpowers:brainstorming"]);
  });

  it("stays silent when nothing is near", () => {
    expect(nearest("kubernetes", names)).toEqual([]);
    expect(nearest("", names)).toEqual([]);
    expect(nearest("x".repeat(1000), names)).toEqual([]);
  });

  it("keeps to the limit", () => {
    expect(
      nearest(
        "skill-1",
        Array.from({ length: 50 }, (_, index) => `skill-${index}`),
        { limit: 2 },
      ),
    ).toHaveLength(2);
  });
});

it("measures the same both ways, and never below what an unbounded count gives", () => {
  const word = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 7 });
  fc.assert(
    fc.property(word, word, fc.nat(3), (a, b, bound) => {
      const full = editDistance(a, b, 99);
      expect(editDistance(b, a, 99)).toBe(full);
      expect(editDistance(a, b, bound)).toBe(full <= bound ? full : Number.POSITIVE_INFINITY);
    }),
  );
});
