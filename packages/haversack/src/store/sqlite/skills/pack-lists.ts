/** Packs posting lists into buckets and changes them. skill-index.ts defines the format and reads it. */
import { type PostingList, placeOf, readList, WEIGHT_STEPS } from "./skill-index.ts";

export interface WeighedTerm {
  term: string;
  weight: number;
  /** A bit mask of at most 8 bits. */
  fields: number;
}

/** The terms of one skill, three numbers for each: bucket and fields, mark, weight. */
export type SkillEntries = Uint32Array;

const ENTRY = 3;

/**
 * Weights are rounded to 1/256, which does not affect ranking. A skill that grew by a line then keeps most of its weights, and
 * the buckets of those terms need not be rewritten.
 */
export function entriesOf(terms: readonly WeighedTerm[]): SkillEntries {
  const entries = new Uint32Array(terms.length * ENTRY);
  terms.forEach(({ term, weight, fields }, at) => {
    const { bucket, mark } = placeOf(term);
    entries[ENTRY * at] = bucket * 256 + fields;
    entries[ENTRY * at + 1] = mark;
    entries[ENTRY * at + 2] = Math.round(weight * WEIGHT_STEPS);
  });
  return entries;
}

/** The buckets in which a skill has entries, packed. */
export function packBuckets(entries: SkillEntries): Uint8Array {
  const buckets = new Set<number>();
  for (let at = 0; at < entries.length; at += ENTRY) buckets.add(entries[at]! >>> 8);
  const writer = new Writer(512);
  let previous = 0;
  for (const bucket of Uint32Array.from(buckets).sort()) {
    writer.number(bucket - previous);
    previous = bucket;
  }
  return writer.bytes();
}

export function unpackBuckets(packed: Uint8Array): number[] {
  const reader = new Reader(packed);
  const buckets: number[] = [];
  for (let bucket = 0; reader.at < packed.length; ) buckets.push((bucket += reader.number()));
  return buckets;
}

/** What changes in one bucket. */
export class BucketChange {
  /** Skills whose entries are removed. */
  readonly removed = new Set<number>();
  /** Per mark, three numbers for each entry: skill, weight in steps, fields. */
  readonly #added = new Map<number, number[]>();

  /** Add skills in ascending order. */
  add(mark: number, skill: number, steps: number, fields: number): void {
    const entries = this.#added.get(mark);
    if (!entries) this.#added.set(mark, [skill, steps, fields]);
    // If two terms of one skill have the same hash, the first counts.
    else if (entries[entries.length - 3] !== skill) entries.push(skill, steps, fields);
  }

  /** The bucket after the change; undefined when no list is left. */
  apply(before: Uint8Array | undefined): Uint8Array | undefined {
    const lists = new Writer(before ? before.length + 1024 : 1024);
    const table = new Writer(1024);
    let count = 0;
    const close = (mark: number, from: number) => {
      if (lists.length === from) return;
      table.mark(mark);
      table.number(lists.length - from);
      count++;
    };
    if (before) {
      forEachList(before, (mark, from, end) => {
        const start = lists.length;
        const added = this.#added.get(mark);
        if (added) this.#added.delete(mark);
        if (added || this.#isRemovedFrom(before, from, end))
          this.#merge(readList({ bytes: before, from, end }), added ?? NONE, lists);
        else lists.copy(before, from, end);
        close(mark, start);
      });
    }
    for (const [mark, added] of this.#added) {
      const start = lists.length;
      this.#merge(undefined, added, lists);
      close(mark, start);
    }
    if (count === 0) return undefined;
    const head = new Writer(4);
    head.number(count);
    return Buffer.concat([head.bytes(), table.bytes(), lists.bytes()]);
  }

  /** Most lists of a bucket contain no removed skill; those lists are copied unread. */
  #isRemovedFrom(bytes: Uint8Array, from: number, end: number): boolean {
    if (this.removed.size === 0) return false;
    const reader = new Reader(bytes, from);
    for (let skill = 0; reader.at < end; ) {
      skill += reader.number();
      if (this.removed.has(skill)) return true;
      if (reader.number() & 1) reader.at++;
    }
    return false;
  }

  #merge(before: PostingList | undefined, added: readonly number[], to: Writer): void {
    let previous = 0;
    let field = 0;
    const write = (skill: number, steps: number, fields: number) => {
      to.number(skill - previous);
      to.number(steps * 2 + (fields === field ? 0 : 1));
      if (fields !== field) to.byte(fields);
      previous = skill;
      field = fields;
    };
    let next = 0;
    const addUpTo = (skill: number) => {
      for (; next < added.length && added[next]! < skill; next += 3) {
        write(added[next]!, added[next + 1]!, added[next + 2]!);
      }
    };
    for (let at = before?.from ?? 0; before && at < before.end; at++) {
      const skill = before.skills[at]!;
      if (this.removed.has(skill)) continue;
      addUpTo(skill);
      write(skill, before.steps[at]!, before.fields[at]!);
    }
    addUpTo(Number.POSITIVE_INFINITY);
  }
}

const NONE: readonly number[] = [];

/** Appends a skill's entries in this bucket to `out`, in the format of `entriesOf`. */
export function collectEntries(bytes: Uint8Array, bucket: number, skill: number, out: number[]): void {
  forEachList(bytes, (mark, from, end) => {
    const { skills, steps, fields, end: last } = readList({ bytes, from, end });
    const at = find(skills.subarray(0, last), skill);
    if (at >= 0) out.push(bucket * 256 + fields[at]!, mark, steps[at]!);
  });
}

/** Visits the start and end of every list of a bucket. */
export function forEachList(bucket: Uint8Array, visit: (mark: number, from: number, end: number) => void): void {
  const table = new Reader(bucket);
  const count = table.number();
  const lists = new Reader(bucket, table.at);
  for (let at = 0; at < count; at++) {
    lists.at += 4;
    lists.number();
  }
  let from = lists.at;
  for (let at = 0; at < count; at++) {
    const mark = table.mark();
    const end = from + table.number();
    visit(mark, from, end);
    from = end;
  }
}

/** Distributes a skill's entries to the changes of their buckets. */
export function addEntries(entries: SkillEntries, skill: number, changeOf: (bucket: number) => BucketChange): void {
  for (let at = 0; at < entries.length; at += ENTRY) {
    const place = entries[at]!;
    changeOf(place >>> 8).add(entries[at + 1]!, skill, entries[at + 2]!, place & 0xff);
  }
}

class Writer {
  #bytes: Uint8Array;
  length = 0;

  constructor(room: number) {
    this.#bytes = new Uint8Array(room);
  }

  byte(value: number): void {
    if (this.length === this.#bytes.length) this.#grow(1);
    this.#bytes[this.length++] = value;
  }

  number(value: number): void {
    let rest = value;
    for (; rest >= 0x80; rest >>>= 7) this.byte((rest & 0x7f) | 0x80);
    this.byte(rest);
  }

  mark(value: number): void {
    for (let shift = 0; shift < 32; shift += 8) this.byte((value >>> shift) & 0xff);
  }

  copy(bytes: Uint8Array, from: number, end: number): void {
    if (this.length + end - from > this.#bytes.length) this.#grow(end - from);
    this.#bytes.set(bytes.subarray(from, end), this.length);
    this.length += end - from;
  }

  bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.length);
  }

  #grow(more: number): void {
    const larger = new Uint8Array(Math.max(this.#bytes.length * 2, this.length + more));
    larger.set(this.#bytes.subarray(0, this.length));
    this.#bytes = larger;
  }
}

/** Reads numbers and marks of a bucket one after the other. */
class Reader {
  readonly #bytes: Uint8Array;
  at: number;

  constructor(bytes: Uint8Array, at = 0) {
    this.#bytes = bytes;
    this.at = at;
  }

  number(): number {
    let byte = this.#bytes[this.at++]!;
    if (byte < 0x80) return byte;
    let value = byte & 0x7f;
    for (let shift = 7; byte >= 0x80; shift += 7) {
      byte = this.#bytes[this.at++]!;
      value |= (byte & 0x7f) << shift;
    }
    return value >>> 0;
  }

  mark(): number {
    const at = this.at;
    const bytes = this.#bytes;
    this.at += 4;
    return (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0;
  }
}

/** The place of a skill's entry, or -1. */
function find(skills: Uint32Array, skill: number): number {
  let low = 0;
  let high = skills.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const found = skills[middle]!;
    if (found === skill) return middle;
    if (found < skill) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}
