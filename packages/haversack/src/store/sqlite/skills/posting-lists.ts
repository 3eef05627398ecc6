/**
 * Which skills hold a term, with what weight: one list per term, packed, in the term's own row. Reading 64 lists is 64
 * rows instead of thousands, and a batch of changed skills rewrites each list once. The hook bundles the reading half.
 *
 * An entry is 8 bytes in the machine's own order (the file never leaves it): skill and fields in one 32-bit word, then the
 * weight as a 32-bit float. Entries are sorted by skill.
 */
import type { Posting } from "../../../skills/matching/score-text.ts";

/** Fields take the low byte, skills the 24 bits above it. */
const FIELD_BITS = 8;
const FIELD_MASK = 0xff;

export type PackedList = Uint8Array;

export interface Entry {
  skill: number;
  weight: number;
  fields: number;
}

export function packList(entries: readonly Entry[]): PackedList {
  const sorted = [...entries].sort((a, b) => a.skill - b.skill);
  const words = new Uint32Array(sorted.length * 2);
  const weights = new Float32Array(words.buffer);
  sorted.forEach(({ skill, weight, fields }, at) => {
    words[2 * at] = skill * (1 << FIELD_BITS) + fields;
    weights[2 * at + 1] = weight;
  });
  return new Uint8Array(words.buffer);
}

/**
 * Rounded to a 256th, which no ranking can tell: a skill that grew by a line keeps most of its weights, and the lists of those
 * terms need not be written again.
 */
export function roundWeight(weight: number): number {
  return Math.round(weight * 256) / 256;
}

/** The list with the entries of some skills put in, or taken out (undefined). */
export function changeList(list: PackedList | undefined, changes: ReadonlyMap<number, Entry | undefined>): PackedList {
  const added = [...changes.values()].filter((entry) => entry !== undefined).sort((a, b) => a.skill - b.skill);
  const old = list ? viewsOf(list) : { words: new Uint32Array(0), weights: new Float32Array(0) };
  const words = new Uint32Array(old.words.length + 2 * added.length);
  const weights = new Float32Array(words.buffer);
  let next = 0;
  let to = 0;
  const addUpTo = (skill: number) => {
    for (; next < added.length && added[next]!.skill < skill; next++, to += 2) {
      words[to] = added[next]!.skill * (1 << FIELD_BITS) + added[next]!.fields;
      weights[to + 1] = added[next]!.weight;
    }
  };
  for (let from = 0; from < old.words.length; from += 2) {
    const skill = old.words[from]! >>> FIELD_BITS;
    addUpTo(skill);
    if (changes.has(skill)) continue;
    words[to] = old.words[from]!;
    weights[to + 1] = old.weights[from + 1]!;
    to += 2;
  }
  addUpTo(Number.POSITIVE_INFINITY);
  return new Uint8Array(words.buffer, 0, to * 4);
}

/** How many skills a list holds. */
export function countList(list: PackedList): number {
  return list.byteLength >> 3;
}

export function unpackList(list: PackedList): Entry[] {
  const { words, weights } = viewsOf(list);
  return Array.from({ length: words.length / 2 }, (_, at) => ({
    skill: words[2 * at]! >>> FIELD_BITS,
    weight: weights[2 * at + 1]!,
    fields: words[2 * at]! & FIELD_MASK,
  }));
}

/** A list as it is read: the two views of one buffer. */
export interface ListViews {
  words: Uint32Array;
  weights: Float32Array;
}

export function viewsOf(list: PackedList): ListViews {
  // A list may come out of SQLite at an odd place of a larger buffer.
  const own = list.byteOffset % 4 === 0 ? list : list.slice();
  const length = own.byteLength >> 2;
  return {
    words: new Uint32Array(own.buffer, own.byteOffset, length),
    weights: new Float32Array(own.buffer, own.byteOffset, length),
  };
}

/** Appends a term's postings to `out`: all of them, or those of the skills named. */
export function readPostings(
  term: string,
  { words, weights }: ListViews,
  out: Posting<number>[],
  skills?: readonly number[],
): void {
  const count = skills ? skills.length : words.length >> 1;
  for (let index = 0; index < count; index++) {
    const at = skills ? find(words, skills[index]!) : 2 * index;
    if (at < 0) continue;
    const word = words[at]!;
    out.push({ term, skill: word >>> FIELD_BITS, weight: weights[at + 1]!, fields: word & FIELD_MASK });
  }
}

/** A place per skill up to the last one that these lists hold, for their sums. */
export function sumsFor(lists: Iterable<ListViews>): Float64Array {
  let last = 0;
  for (const { words } of lists) if (words.length > 0) last = Math.max(last, words[words.length - 2]! >>> FIELD_BITS);
  return new Float64Array(last + 1);
}

/** Adds a list's weights, each times `factor`, to the sums. */
export function addWeights({ words, weights }: ListViews, factor: number, sums: Float64Array): void {
  for (let at = 0; at < words.length; at += 2) sums[words[at]! >>> FIELD_BITS]! += factor * weights[at + 1]!;
}

/** The skills with the largest sums, the largest first. Most skills share no word with a prompt, and few make it to the top. */
export function largest(sums: Float64Array, count: number): number[] {
  const skills: number[] = [];
  let least = 0;
  for (let skill = 0; skill < sums.length; skill++) {
    const sum = sums[skill]!;
    if (sum <= least) continue;
    let to = skills.length < count ? skills.length : count - 1;
    for (; to > 0 && sums[skills[to - 1]!]! < sum; to--) skills[to] = skills[to - 1]!;
    skills[to] = skill;
    if (skills.length === count) least = sums[skills[count - 1]!]!;
  }
  return skills;
}

/** The place of a skill's entry, or -1. */
function find(words: Uint32Array, skill: number): number {
  const last = (words.length >> 1) - 1;
  if (last < 0) return -1;
  // Keys rise by one at least: the nearer they lie, the fewer places are left to look at. In a list of all skills it is one.
  let low = Math.max(0, last + skill - (words[2 * last]! >>> FIELD_BITS));
  let high = Math.min(last, skill - (words[0]! >>> FIELD_BITS));
  while (low <= high) {
    const middle = (low + high) >> 1;
    const found = words[2 * middle]! >>> FIELD_BITS;
    if (found === skill) return 2 * middle;
    if (found < skill) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}
