import fc from "fast-check";
import { expect, it } from "vitest";
import { bestSections, rankSections } from "./skill-sections.ts";

const BODY = "# Forms\n\nFill in forms.\n\n## Fields\n\nList the fields.\n\n## Merging\n\nMerge the pages in order.";

it("keeps the opening and the sections about the work, in their own order", () => {
  expect(bestSections(rankSections(BODY, "merge pages"), BODY, 70)).toBe(
    "# Forms\n\nFill in forms.\n\n## Merging\n\nMerge the pages in order.",
  );
});

it("never exceeds the room and never splits a character", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("a", " ", "\n", "# ", "🧵") }), fc.nat(40), (body, room) => {
      const text = bestSections(rankSections(body, "a"), body, room + 1);
      expect(text.length).toBeLessThanOrEqual(room + 1);
      expect(text.isWellFormed()).toBe(true);
    }),
  );
});
