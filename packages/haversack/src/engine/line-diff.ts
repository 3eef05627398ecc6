/** The lines that go and the lines that come, for a person who decides whether a file may be changed. */
export interface DiffLine {
  sign: "+" | "-" | " ";
  text: string;
}

/** What is alike at both ends is left out, but for one line of context on each side. */
export function lineDiff(before: string, after: string): DiffLine[] {
  const [old, fresh] = [before.split("\n"), after.split("\n")];
  let start = 0;
  while (start < old.length && start < fresh.length && old[start] === fresh[start]) start++;
  let end = 0;
  while (end < old.length - start && end < fresh.length - start && old.at(-1 - end) === fresh.at(-1 - end)) end++;
  if (start === old.length && start === fresh.length) return [];

  const context = (text: string | undefined): DiffLine[] => (text ? [{ sign: " ", text }] : []);
  return [
    ...context(old[start - 1]),
    ...middle(old.slice(start, old.length - end), fresh.slice(start, fresh.length - end)),
    ...context(end > 0 ? old.at(-end) : undefined),
  ];
}

/** Longer ones are shown as all gone and all new: nobody reads them line by line. */
const MAX_LINES = 1_500;

function middle(old: readonly string[], fresh: readonly string[]): DiffLine[] {
  if (old.length > MAX_LINES || fresh.length > MAX_LINES) return [...gone(old), ...come(fresh)];
  // common[i][j]: the length of the longest common sequence of old from i and fresh from j.
  const common = Array.from({ length: old.length + 1 }, () => new Uint16Array(fresh.length + 1));
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = fresh.length - 1; j >= 0; j--) {
      common[i]![j] =
        old[i] === fresh[j] ? common[i + 1]![j + 1]! + 1 : Math.max(common[i + 1]![j]!, common[i]![j + 1]!);
    }
  }
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < old.length && j < fresh.length) {
    if (old[i] === fresh[j]) {
      lines.push({ sign: " ", text: old[i]! });
      i++;
      j++;
    } else if (common[i + 1]![j]! >= common[i]![j + 1]!) lines.push({ sign: "-", text: old[i++]! });
    else lines.push({ sign: "+", text: fresh[j++]! });
  }
  return [...lines, ...gone(old.slice(i)), ...come(fresh.slice(j))];
}

function gone(lines: readonly string[]): DiffLine[] {
  return lines.map((text) => ({ sign: "-", text }));
}

function come(lines: readonly string[]): DiffLine[] {
  return lines.map((text) => ({ sign: "+", text }));
}
