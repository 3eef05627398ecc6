/**
 * Parses the part of JavaScript's regular expressions that can be analyzed: characters, classes, groups, alternatives, quantifiers, `^ $ \b \B`.
 * Look-around, back-references and unknown syntax give undefined: the pattern may be valid, but nothing is proven about it.
 */

/**
 * Sets of UTF-16 code units as sorted ranges: what one position of a regular expression can match. They are used to prove that two positions
 * cannot match the same character, so a set may be too large but never too small.
 */
export type CharSet = readonly (readonly [low: number, high: number])[];

const LAST = 0xffff;

export const ANY: CharSet = [[0, LAST]];
export const DIGITS: CharSet = [[48, 57]];
export const WORD_CHARS: CharSet = [
  [48, 57],
  [65, 90],
  [95, 95],
  [97, 122],
];
/** `\s`, overestimated: every range that holds a white space character. */
export const SPACES: CharSet = [
  [9, 13],
  [32, 32],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
];
export const NO_LINE_END: CharSet = complement([
  [10, 10],
  [13, 13],
  [0x2028, 0x2029],
]);

export function union(...sets: CharSet[]): CharSet {
  const sorted = sets.flat().sort((a, b) => a[0] - b[0]);
  const merged: [number, number][] = [];
  for (const [low, high] of sorted) {
    const last = merged.at(-1);
    if (last && low <= last[1] + 1) last[1] = Math.max(last[1], high);
    else merged.push([low, high]);
  }
  return merged;
}

export function complement(set: CharSet): CharSet {
  const gaps: [number, number][] = [];
  let from = 0;
  for (const [low, high] of union(set)) {
    if (low > from) gaps.push([from, low - 1]);
    from = high + 1;
  }
  if (from <= LAST) gaps.push([from, LAST]);
  return gaps;
}

export function intersects(a: CharSet, b: CharSet): boolean {
  return a.some(([low, high]) => b.some(([otherLow, otherHigh]) => low <= otherHigh && otherLow <= high));
}

export function isWithin(inner: CharSet, outer: CharSet): boolean {
  return !intersects(inner, complement(outer));
}

/** What the flag `i` adds. Beyond ASCII, case folding has too many exceptions, so everything there is included. */
export function bothCases(set: CharSet): CharSet {
  const added: [number, number][] = [];
  for (const [low, high] of set) {
    if (high > 127) {
      if (low === high) for (const code of otherCases(low)) added.push([code, code]);
      else added.push([128, LAST]);
    }
    for (let code = low; code <= Math.min(high, 127); code++) {
      if (code >= 65 && code <= 90) added.push([code + 32, code + 32]);
      if (code >= 97 && code <= 122) added.push([code - 32, code - 32]);
    }
  }
  return union(set, added);
}

function otherCases(code: number): number[] {
  const char = String.fromCharCode(code);
  return [char.toLowerCase(), char.toUpperCase()]
    .filter((other) => other.length === 1)
    .map((other) => other.charCodeAt(0));
}

export type RegexNode =
  | { kind: "set"; set: CharSet }
  | { kind: "assert"; sign: "^" | "$" | "b" | "B" }
  | { kind: "sequence"; items: RegexNode[] }
  | { kind: "either"; options: RegexNode[] }
  | { kind: "repeat"; body: RegexNode; min: number; max: number };

export function parseRegex(source: string, flags: string): RegexNode | undefined {
  const reader: Reader = { source, at: 0, ignoreCase: flags.includes("i"), dotAll: flags.includes("s"), depth: 0 };
  try {
    const node = readEither(reader);
    return reader.at === source.length ? node : undefined;
  } catch (error) {
    if (error instanceof Unsupported) return undefined;
    throw error;
  }
}

class Unsupported extends Error {}

interface Reader {
  source: string;
  at: number;
  ignoreCase: boolean;
  dotAll: boolean;
  depth: number;
}

const DEEPEST = 60;

function readEither(reader: Reader): RegexNode {
  if (++reader.depth > DEEPEST) throw new Unsupported();
  const options = [readSequence(reader)];
  while (reader.source[reader.at] === "|") {
    reader.at++;
    options.push(readSequence(reader));
  }
  reader.depth--;
  return options.length === 1 ? options[0]! : { kind: "either", options };
}

function readSequence(reader: Reader): RegexNode {
  const items: RegexNode[] = [];
  for (;;) {
    const char = reader.source[reader.at];
    if (char === undefined || char === "|" || char === ")")
      return items.length === 1 ? items[0]! : { kind: "sequence", items };
    const atom = readAtom(reader, char);
    items.push(readQuantifier(reader, atom));
  }
}

function readQuantifier(reader: Reader, body: RegexNode): RegexNode {
  const match = /(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/y;
  match.lastIndex = reader.at;
  const found = match.exec(reader.source);
  if (!found) return body;
  reader.at = match.lastIndex;
  if (body.kind === "assert") throw new Unsupported();
  const sign = found[0][0];
  if (sign === "*") return { kind: "repeat", body, min: 0, max: Number.POSITIVE_INFINITY };
  if (sign === "+") return { kind: "repeat", body, min: 1, max: Number.POSITIVE_INFINITY };
  if (sign === "?") return { kind: "repeat", body, min: 0, max: 1 };
  const min = Number(found[1]);
  const max = found[2] === "" ? min : found[3] === "" ? Number.POSITIVE_INFINITY : Number(found[3]);
  return { kind: "repeat", body, min, max };
}

function readAtom(reader: Reader, char: string): RegexNode {
  reader.at++;
  switch (char) {
    case "^":
    case "$":
      return { kind: "assert", sign: char };
    case ".":
      return { kind: "set", set: reader.dotAll ? ANY : NO_LINE_END };
    case "(":
      return readGroup(reader);
    case "[":
      return { kind: "set", set: readClass(reader) };
    case "\\":
      return readEscape(reader);
    case "*":
    case "+":
    case "?":
      throw new Unsupported();
    default:
      return { kind: "set", set: oneChar(char.charCodeAt(0), reader.ignoreCase) };
  }
}

function readGroup(reader: Reader): RegexNode {
  const rest = reader.source.slice(reader.at, reader.at + 80);
  if (rest.startsWith("?")) {
    const opening = /^\?(?::|<[A-Za-z_$][\w$]*>)/.exec(rest);
    if (!opening) throw new Unsupported();
    reader.at += opening[0].length;
  }
  const node = readEither(reader);
  if (reader.source[reader.at] !== ")") throw new Unsupported();
  reader.at++;
  return node;
}

function readEscape(reader: Reader): RegexNode {
  const char = reader.source[reader.at];
  if (char === "b" || char === "B") {
    reader.at++;
    return { kind: "assert", sign: char };
  }
  return { kind: "set", set: readEscapedSet(reader, reader.ignoreCase) };
}

const CLASSES: Record<string, CharSet> = {
  d: DIGITS,
  D: complement(DIGITS),
  w: WORD_CHARS,
  W: complement(WORD_CHARS),
  s: SPACES,
  // Overestimated too: the complement of the overestimated \s would be too small.
  S: complement([
    [9, 13],
    [32, 32],
    [0xa0, 0xa0],
  ]),
};
const CONTROLS: Record<string, number> = { n: 10, r: 13, t: 9, f: 12, v: 11, "0": 0 };

function readEscapedSet(reader: Reader, ignoreCase: boolean): CharSet {
  const char = reader.source[reader.at++];
  if (char === undefined) throw new Unsupported();
  const known = CLASSES[char];
  if (known) return known;
  if (char in CONTROLS) return oneChar(CONTROLS[char]!, ignoreCase);
  const hex = /x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})/y;
  hex.lastIndex = reader.at - 1;
  const found = hex.exec(reader.source);
  if (found) {
    reader.at = hex.lastIndex;
    return oneChar(Number.parseInt(found[1] ?? found[2]!, 16), ignoreCase);
  }
  // \1 is a back-reference; the meaning of \k, \p, \c and \x without digits depends on flags. Other escaped punctuation stands for itself.
  if (/[A-Za-z0-9]/.test(char)) throw new Unsupported();
  return oneChar(char.charCodeAt(0), ignoreCase);
}

function readClass(reader: Reader): CharSet {
  const negated = reader.source[reader.at] === "^";
  if (negated) reader.at++;
  const sets: CharSet[] = [];
  // Not case-folded, for the complement: folding enlarges sets, and the complement of a larger set is too small.
  const plain: CharSet[] = [];
  for (;;) {
    const char = reader.source[reader.at];
    if (char === undefined) throw new Unsupported();
    if (char === "]") {
      reader.at++;
      break;
    }
    const low = readClassPart(reader);
    const isRange = reader.source[reader.at] === "-" && reader.source[reader.at + 1] !== "]";
    if (!isRange) {
      plain.push(low);
    } else {
      reader.at++;
      const high = readClassPart(reader);
      const from = low.length === 1 && low[0]![0] === low[0]![1] ? low[0]![0] : undefined;
      const to = high.length === 1 && high[0]![0] === high[0]![1] ? high[0]![0] : undefined;
      if (from === undefined || to === undefined || to < from) throw new Unsupported();
      plain.push([[from, to]]);
    }
    sets.push(reader.ignoreCase ? bothCases(plain.at(-1)!) : plain.at(-1)!);
  }
  return negated ? complement(union(...plain)) : union(...sets);
}

function readClassPart(reader: Reader): CharSet {
  const char = reader.source[reader.at++];
  if (char === undefined) throw new Unsupported();
  if (char !== "\\") return [[char.charCodeAt(0), char.charCodeAt(0)]];
  if (reader.source[reader.at] === "b") {
    reader.at++;
    return [[8, 8]];
  }
  // The caller folds the case, because it needs the plain set too.
  return readEscapedSet(reader, false);
}

function oneChar(code: number, ignoreCase: boolean): CharSet {
  const set: CharSet = [[code, code]];
  return ignoreCase ? bothCases(set) : set;
}
