/**
 * How the worst time of a search grows with the length of the text, on a backtracking engine such as V8's: 1 is linear, 2
 * quadratic, and so on; undefined when nothing is proven (look-around, back-references, nested quantifiers).
 *
 * The argument. Write a pattern without alternatives as parts of bounded length with unbounded repetitions X1*, X2*, …
 * between them. Let Mi be how many ways lead to Xi* at one place of the text; M1 is bounded. Xi* costs the number of places
 * from which it runs over a given character, times Mi, times the length. If the bounded part just before Xi* must match a
 * character that X cannot, two runs over the same character start less than that part's length apart: a constant. If not,
 * it can be every place before it, and the degree rises by one. A repetition at the very end costs nothing: the search has
 * succeeded. Alternatives that hold repetitions are written out, and the most expensive one counts.
 */

import { type CharSet, intersects, isWithin, type RegexNode, union, WORD_CHARS } from "./regex-syntax.ts";

export function growthDegree(node: RegexNode): number | undefined {
  const sequences = writtenOut(node);
  if (sequences === undefined) return undefined;
  let degree = 1;
  for (const sequence of sequences) {
    const own = sequenceDegree(sequence);
    if (own === undefined) return undefined;
    degree = Math.max(degree, own);
  }
  return degree;
}

/** More ways than this through one pattern at one position are not a constant in practice. */
const MOST_WAYS = 2_000;
const MOST_SEQUENCES = 400;
/** A larger count is treated as unbounded: .{0,5000} over 50,000 letters. */
const LARGE_COUNT = 300;

/** A part of bounded length, or an unbounded repetition of what `loop` can match. */
type Part = { kind: "bounded"; node: RegexNode } | { kind: "loop"; set: CharSet; isTaken: boolean };

function sequenceDegree(all: readonly Part[]): number | undefined {
  const parts = withoutFreeEnd(all);
  let ways = 1;
  let degree = 1;
  let before: RegexNode[] = [];
  let isAnchored = false;
  for (const [index, part] of parts.entries()) {
    if (part.kind === "bounded") {
      if (index === 0 && part.node.kind === "assert" && part.node.sign === "^") isAnchored = true;
      ways *= waysThrough(part.node);
      if (ways > MOST_WAYS) return undefined;
      before.push(part.node);
      continue;
    }
    if (!isAnchored && !isFenced(before, part.set)) degree++;
    // Only the first repetition after ^ has a single starting position.
    isAnchored = false;
    // A loop that runs at least once leaves one of its characters before the next part.
    before = part.isTaken ? [{ kind: "set", set: part.set }] : [];
  }
  return degree;
}

/** Whether only a constant number of runs of this set, started after these parts, can reach one character. */
function isFenced(before: readonly RegexNode[], set: CharSet): boolean {
  if (before.some((node) => mustLeave(node, set))) return true;
  // \b\w+ starts only at the start of a word.
  if (!isWithin(set, WORD_CHARS)) return false;
  const boundary = before.findLastIndex((node) => node.kind === "assert" && node.sign === "b");
  return (
    boundary !== -1 && before.slice(boundary + 1).every((node) => node.kind === "set" && isWithin(node.set, WORD_CHARS))
  );
}

/** Whether every match of the node contains a character outside the set. */
function mustLeave(node: RegexNode, set: CharSet): boolean {
  switch (node.kind) {
    case "set":
      return !intersects(node.set, set);
    case "assert":
      return false;
    case "sequence":
      return node.items.some((item) => mustLeave(item, set));
    case "either":
      return node.options.every((option) => mustLeave(option, set));
    case "repeat":
      return node.min > 0 && mustLeave(node.body, set);
  }
}

/** A part at the end that may be empty cannot fail, so it is never retried. */
function withoutFreeEnd(parts: readonly Part[]): Part[] {
  const kept = [...parts];
  for (let last = kept.at(-1); last; last = kept.at(-1)) {
    if (last.kind === "bounded" && !isNullable(last.node)) break;
    kept.pop();
  }
  return kept;
}

/** Assertions do not count: they can fail. */
function isNullable(node: RegexNode): boolean {
  switch (node.kind) {
    case "set":
    case "assert":
      return false;
    case "sequence":
      return node.items.every(isNullable);
    case "either":
      return node.options.some(isNullable);
    case "repeat":
      return node.min === 0 || isNullable(node.body);
  }
}

/** Expands alternatives with unbounded repetitions into sequences; undefined if a loop is not simple. */
function writtenOut(node: RegexNode): Part[][] | undefined {
  if (!isUnbounded(node)) return [node.kind === "sequence" ? node.items.map(bounded) : [bounded(node)]];
  switch (node.kind) {
    case "sequence": {
      let rows: Part[][] = [[]];
      for (const item of node.items) {
        const written = writtenOut(item);
        if (written === undefined || rows.length * written.length > MOST_SEQUENCES) return undefined;
        rows = rows.flatMap((row) => written.map((more) => [...row, ...more]));
      }
      return rows;
    }
    case "either": {
      const rows = node.options.map(writtenOut);
      return rows.some((row) => row === undefined) ? undefined : rows.flatMap((row) => row!);
    }
    case "repeat": {
      if (node.max <= LARGE_COUNT) {
        // (the\s+)? becomes with and without. More copies of a loop are rare and expensive.
        if (node.max > 1) return undefined;
        const written = writtenOut(node.body);
        return written === undefined ? undefined : node.min === 0 ? [[], ...written] : written;
      }
      const set = loopSet(node.body);
      if (set === undefined || node.min > 10) return undefined;
      const first = Array.from({ length: node.min }, () => bounded(node.body));
      return [[...first, { kind: "loop", set, isTaken: node.min > 0 }]];
    }
    default:
      return undefined;
  }
}

/**
 * The characters that a loop can run over, if each round has only one way: one character, or fixed texts with different first characters. `(a+)+`,
 * `(a|a)*` and `(\w+\s?)*` do not qualify.
 */
function loopSet(body: RegexNode): CharSet | undefined {
  const options = body.kind === "either" ? body.options : [body];
  const firsts: CharSet[] = [];
  const sets: CharSet[] = [];
  for (const option of options) {
    const items = option.kind === "sequence" ? option.items : [option];
    if (items.length === 0 || !items.every((item) => item.kind === "set")) return undefined;
    const first = items[0]!;
    if (first.kind !== "set" || firsts.some((other) => intersects(other, first.set))) return undefined;
    firsts.push(first.set);
    for (const item of items) if (item.kind === "set") sets.push(item.set);
  }
  return union(...sets);
}

/** The maximum number of ways in which a part of bounded length can match at one position. */
function waysThrough(node: RegexNode): number {
  switch (node.kind) {
    case "set":
    case "assert":
      return 1;
    case "sequence":
      return capped(node.items.reduce((ways, item) => capped(ways * waysThrough(item)), 1));
    case "either":
      return waysThroughEither(node.options);
    case "repeat": {
      const body = waysThrough(node.body);
      let total = 0;
      for (let round = node.min; round <= node.max && total <= MOST_WAYS; round++) total += body ** round;
      return capped(total);
    }
  }
}

function waysThroughEither(options: readonly RegexNode[]): number {
  const texts = options.map(fixedSets);
  let most = 1;
  for (const [index, option] of options.entries()) {
    let sum = 0;
    for (const [other, rival] of options.entries()) {
      if (index === other || canMatchTogether(texts[index], texts[other]))
        sum += waysThrough(index === other ? option : rival);
    }
    most = Math.max(most, sum);
  }
  return capped(most);
}

/** Two fixed texts can match at one position only if one is a prefix of the other. Anything that is not fixed may match. */
function canMatchTogether(a: CharSet[] | undefined, b: CharSet[] | undefined): boolean {
  if (!a || !b) return true;
  const shared = Math.min(a.length, b.length);
  for (let at = 0; at < shared; at++) if (!intersects(a[at]!, b[at]!)) return false;
  return true;
}

function fixedSets(node: RegexNode): CharSet[] | undefined {
  if (node.kind === "set") return [node.set];
  if (node.kind !== "sequence") return undefined;
  const sets: CharSet[] = [];
  for (const item of node.items) {
    // If two texts already differ in their fixed start, what follows cannot make both match.
    if (item.kind !== "set") return sets;
    sets.push(item.set);
  }
  return sets;
}

function isUnbounded(node: RegexNode): boolean {
  switch (node.kind) {
    case "set":
    case "assert":
      return false;
    case "sequence":
      return node.items.some(isUnbounded);
    case "either":
      return node.options.some(isUnbounded);
    case "repeat":
      return node.max > LARGE_COUNT || isUnbounded(node.body);
  }
}

function bounded(node: RegexNode): Part {
  return { kind: "bounded", node };
}

function capped(ways: number): number {
  return Math.min(ways, MOST_WAYS + 1);
}
