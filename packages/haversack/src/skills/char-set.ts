/**
 * Sets of UTF-16 code units as sorted ranges: what one place of a regular expression can match. Used to prove that two
 * places cannot match the same character, so every set may be too large but never too small.
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
/** `\s`, generously: every range that holds a white space character. */
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

/** What the flag `i` adds. Beyond ASCII folding has too many exceptions: there the whole rest is taken. */
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
