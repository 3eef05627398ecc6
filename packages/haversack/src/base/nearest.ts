/**
 * "Did you mean": the candidates nearest to an unknown word. Uses the edit distance with swaps of neighbours (restricted
 * Damerau-Levenshtein), bounded so that 10,000 names cost a few milliseconds. Candidates that contain the word follow, because people type
 * `react` for `react-patterns`.
 */
export function nearest(word: string, candidates: Iterable<string>, { limit = 3 }: { limit?: number } = {}): string[] {
  const wanted = word.trim().toLowerCase();
  if (wanted === "" || wanted.length > LONGEST_WORD) return [];
  // A third of the letters may be wrong: `deplyo` is deploy, `cat` is not `dog`.
  const bound = Math.max(1, Math.floor(wanted.length / 3));
  const found: { name: string; distance: number }[] = [];
  for (const name of new Set(candidates)) {
    const other = name.toLowerCase();
    // Of `plugin:skill`, people remember the part after the colon.
    const tail = other.slice(other.lastIndexOf(":") + 1);
    let distance = editDistance(wanted, other, bound);
    if (distance > bound && tail !== other) distance = editDistance(wanted, tail, bound);
    if (
      distance > bound &&
      wanted.length >= 3 &&
      (other.includes(wanted) || (tail.length >= 3 && wanted.includes(tail)))
    ) {
      distance = bound + 1;
    }
    if (distance <= bound + 1 && distance !== Number.POSITIVE_INFINITY) found.push({ name, distance });
  }
  return found
    .sort((a, b) => a.distance - b.distance || a.name.length - b.name.length || (a.name < b.name ? -1 : 1))
    .slice(0, limit)
    .map(({ name }) => name);
}

const LONGEST_WORD = 200;

/** Returns Infinity once the distance must exceed the bound. */
export function editDistance(a: string, b: string, bound: number): number {
  if (a === b) return 0;
  if (Math.abs(a.length - b.length) > bound) return Number.POSITIVE_INFINITY;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    let best = i;
    for (let j = 1; j <= b.length; j++) {
      const differs = a[i - 1] === b[j - 1] ? 0 : 1;
      let cost = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + differs);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, beforeLast[j - 2]! + 1);
      row.push(cost);
      if (cost < best) best = cost;
    }
    // A swap looks two rows back, so stop only when a row exceeds the bound by more than one.
    if (best > bound + 1) return Number.POSITIVE_INFINITY;
    beforeLast = last;
    last = row;
  }
  const distance = last[b.length]!;
  return distance <= bound ? distance : Number.POSITIVE_INFINITY;
}
