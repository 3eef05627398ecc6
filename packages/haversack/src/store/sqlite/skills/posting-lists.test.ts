import fc from "fast-check";
import { expect, it } from "vitest";
import type { Posting } from "../../../skills/matching/score-text.ts";
import {
  addWeights,
  changeList,
  countList,
  largest,
  packList,
  readPostings,
  sumsFor,
  unpackList,
  viewsOf,
} from "./posting-lists.ts";

const entries = [
  { skill: 70_000, weight: 0.5, fields: 63 },
  { skill: 3, weight: 1.25, fields: 1 },
  { skill: 16_000_000, weight: 0, fields: 128 },
];

it("gives back what was packed, sorted by skill", () => {
  expect(unpackList(packList(entries))).toEqual([entries[1], entries[0], entries[2]]);
  expect(unpackList(packList([]))).toEqual([]);
});

it("finds the skills named, and reads lists that lie at an odd place", () => {
  const packed = packList(entries);
  const moved = new Uint8Array(packed.length + 1);
  moved.set(packed, 1);
  const found: Posting<number>[] = [];
  readPostings("word", viewsOf(moved.subarray(1)), found, [3, 4, 16_000_000]);
  expect(found).toEqual([
    { term: "word", skill: 3, weight: 1.25, fields: 1 },
    { term: "word", skill: 16_000_000, weight: 0, fields: 128 },
  ]);
});

it("changes a list as if it were made anew", () => {
  const entry = fc.record({
    skill: fc.integer({ min: 1, max: 40 }),
    weight: fc.constantFrom(0, 0.5, 2),
    fields: fc.nat(255),
  });
  const some = fc.uniqueArray(entry, { selector: ({ skill }) => skill });
  fc.assert(
    fc.property(some, some, fc.uniqueArray(fc.integer({ min: 1, max: 40 })), (old, added, removed) => {
      const changes = new Map<number, (typeof old)[number] | undefined>(removed.map((skill) => [skill, undefined]));
      for (const one of added) changes.set(one.skill, one);
      const wanted = [...old.filter(({ skill }) => !changes.has(skill)), ...added];
      const list = changeList(old.length === 0 ? undefined : packList(old), changes);
      expect(unpackList(list)).toEqual(unpackList(packList(wanted)));
      expect(countList(list)).toBe(wanted.length);
    }),
  );
});

it("adds lists up and names the skills with the largest sums, as sorting all of them would", () => {
  const weight = fc.constantFrom(0.25, 0.5, 1, 2);
  const entry = fc.record({ skill: fc.integer({ min: 1, max: 40 }), weight, fields: fc.constant(1) });
  const list = fc.uniqueArray(entry, { selector: ({ skill }) => skill });
  fc.assert(
    fc.property(fc.array(fc.tuple(list, weight)), fc.integer({ min: 1, max: 12 }), (lists, count) => {
      const wanted = new Map<number, number>();
      for (const [one, factor] of lists) {
        for (const { skill, weight } of one) wanted.set(skill, (wanted.get(skill) ?? 0) + factor * weight);
      }
      const packed = lists.map(([one]) => viewsOf(packList(one)));
      const sums = sumsFor(packed);
      lists.forEach(([, factor], at) => {
        addWeights(packed[at]!, factor, sums);
      });
      const sorted = [...wanted].sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([skill]) => skill);
      expect(largest(sums, count)).toEqual(sorted.slice(0, count));
    }),
  );
});
