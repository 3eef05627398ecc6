import fc from "fast-check";
import { expect, it } from "vitest";
import type { Posting } from "../../../skills/matching/score-text.ts";
import {
  addEntries,
  BucketChange,
  entriesOf,
  forEachList,
  packBuckets,
  unpackBuckets,
  type WeighedTerm,
} from "./pack-lists.ts";
import {
  addWeights,
  findList,
  largest,
  marked,
  type PostingList,
  placeOf,
  readList,
  readPostings,
  sumsFor,
  WEIGHT_STEPS,
} from "./skill-index.ts";

type Pool = ReadonlyMap<number, readonly WeighedTerm[]>;

/** The buckets after some skills were removed and others added. */
function changed(buckets: Map<number, Uint8Array>, removed: readonly number[], added: Pool): Map<number, Uint8Array> {
  const changes = new Map<number, BucketChange>();
  const changeOf = (bucket: number) => {
    const change = changes.get(bucket) ?? new BucketChange();
    changes.set(bucket, change);
    return change;
  };
  for (const bucket of buckets.keys()) for (const skill of removed) changeOf(bucket).removed.add(skill);
  for (const [skill, terms] of [...added].sort(([a], [b]) => a - b)) addEntries(entriesOf(terms), skill, changeOf);
  const after = new Map(buckets);
  for (const [bucket, change] of changes) {
    const bytes = change.apply(buckets.get(bucket));
    if (bytes) after.set(bucket, bytes);
    else after.delete(bucket);
  }
  return after;
}

function listOf(buckets: Map<number, Uint8Array>, term: string): PostingList | undefined {
  const { bucket, mark } = placeOf(term);
  const bytes = buckets.get(bucket);
  const list = bytes && findList(bytes, mark);
  return list && readList(list);
}

function postingsOf(buckets: Map<number, Uint8Array>, term: string, skills?: readonly number[]): Posting<number>[] {
  const found: Posting<number>[] = [];
  const list = listOf(buckets, term);
  if (list) readPostings(term, list, found, skills && marked(skills));
  return found;
}

const TERMS = ["deploy", "bill", "invoic", "=deploy", "~language:python", "データ"];
const term = fc.record({
  term: fc.constantFrom(...TERMS),
  weight: fc.constantFrom(0, 1 / 256, 0.5, 2, 6.75, 200),
  fields: fc.nat(255),
});
const pool = fc
  .uniqueArray(
    fc.record({
      skill: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constantFrom(70_000, 16_000_000)),
      terms: fc.uniqueArray(term, { selector: (one) => one.term }),
    }),
    { selector: ({ skill }) => skill },
  )
  .map((skills): Pool => new Map(skills.map(({ skill, terms }) => [skill, terms])));

it("gives back the weights and fields that were put in, sorted by skill, after any change", () => {
  fc.assert(
    fc.property(pool, pool, fc.array(fc.integer({ min: 1, max: 40 })), (old, added, removed) => {
      const before = changed(new Map(), [], old);
      const after = changed(before, [...removed, ...added.keys()], added);
      const wanted = new Map([...[...old].filter(([skill]) => !removed.includes(skill)), ...added]);
      for (const name of TERMS) {
        const rows = [...wanted].flatMap(([skill, terms]) =>
          terms.filter((one) => one.term === name).map((one) => ({ ...one, skill })),
        );
        rows.sort((a, b) => a.skill - b.skill);
        expect(postingsOf(after, name)).toEqual(rows);
      }
      // As many bytes as a fresh build. Only the order of the lists may differ.
      const size = (buckets: Map<number, Uint8Array>) =>
        [...buckets.values()].reduce((sum, { length }) => sum + length, 0);
      expect(size(after)).toBe(size(changed(new Map(), [], wanted)));
    }),
  );
});

it("finds the skills named and no others", () => {
  const one = { term: "deploy", weight: 0.5, fields: 4 };
  const buckets = changed(new Map(), [], new Map([3, 9, 70_000].map((skill) => [skill, [one]])));
  expect(postingsOf(buckets, "deploy", [2, 3, 70_000, 70_001]).map(({ skill }) => skill)).toEqual([3, 70_000]);
  expect(postingsOf(buckets, "bill")).toEqual([]);
});

it("keeps a list of its own for each of many terms", () => {
  const terms = Array.from({ length: 50_000 }, (_, at) => ({ term: `word${at}`, weight: at / 256, fields: 1 }));
  const buckets = changed(new Map(), [], new Map([[1, terms]]));
  expect(postingsOf(buckets, "word7")).toEqual([{ term: "word7", skill: 1, weight: 7 / 256, fields: 1 }]);
  let count = 0;
  for (const bytes of buckets.values())
    forEachList(bytes, (_, from, end) => (count += readList({ bytes, from, end }).end));
  expect(count).toBe(terms.length);
  expect(buckets.size).toBeGreaterThan(8000);
});

it("names the buckets of a skill", () => {
  const terms = TERMS.map((name) => ({ term: name, weight: 1, fields: 1 }));
  const wanted = [...new Set(TERMS.map((name) => placeOf(name).bucket))].sort((a, b) => a - b);
  expect(unpackBuckets(packBuckets(entriesOf(terms)))).toEqual(wanted);
  expect(unpackBuckets(packBuckets(entriesOf([])))).toEqual([]);
});

it("adds lists up and names the skills with the largest sums, as sorting all of them would", () => {
  const weight = fc.constantFrom(0.25, 0.5, 1, 2);
  const entry = fc.record({ skill: fc.integer({ min: 1, max: 40 }), weight });
  const list = fc.uniqueArray(entry, { selector: ({ skill }) => skill });
  fc.assert(
    fc.property(fc.array(fc.tuple(list, weight)), fc.integer({ min: 1, max: 12 }), (lists, count) => {
      const wanted = new Map<number, number>();
      for (const [one, factor] of lists) {
        for (const { skill, weight } of one) wanted.set(skill, (wanted.get(skill) ?? 0) + factor * weight);
      }
      const read = lists.map(([one]): PostingList => {
        const sorted = [...one].sort((a, b) => a.skill - b.skill);
        return {
          skills: Uint32Array.from(sorted, ({ skill }) => skill),
          steps: Uint32Array.from(sorted, (each) => each.weight * WEIGHT_STEPS),
          fields: new Uint8Array(sorted.length),
          from: 0,
          end: sorted.length,
        };
      });
      const sums = sumsFor(read);
      lists.forEach(([, factor], at) => {
        addWeights(read[at]!, factor, sums);
      });
      const sorted = [...wanted].sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([skill]) => skill);
      expect(largest(sums, count)).toEqual(sorted.slice(0, count));
    }),
  );
});
