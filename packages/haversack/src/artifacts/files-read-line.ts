/**
 * The confirmation that references ask for: "Files read: spec.md (210 lines), design.md (1,204 lines)". Read as agents
 * really write it: bold, in backticks, as a list below, with paths, with "and" before the last.
 */
export interface FileClaim {
  name: string;
  /** Absent: named without a number. */
  lines?: number;
}

const START = /Files read[*_`]*\s*:[*_`]*(.*)$/i;
const LINE_MAX_CHARS = 10_000;
const LIST_MAX_LINES = 50;

/** Undefined: there is no such line. With several, what any of them says counts, the last number for each file. */
export function readFilesReadLine(answer: string): { files: FileClaim[] } | undefined {
  const lines = answer.split(/\r\n|\n|\r/);
  const claims = new Map<string, FileClaim>();
  let isFound = false;
  for (const [index, line] of lines.entries()) {
    if (line.length > LINE_MAX_CHARS) continue;
    const start = START.exec(line);
    if (!start) continue;
    const rest = start[1]!.trim();
    const entries = rest === "" ? listBelow(lines, index) : [rest];
    const files = entries.flatMap(readClaims);
    // The prompt's own words, repeated: no claim.
    if (files.length === 0 && /\{name\}/.test(rest)) continue;
    isFound = true;
    for (const claim of files) claims.set(claim.name, claim);
  }
  return isFound ? { files: [...claims.values()] } : undefined;
}

function listBelow(lines: readonly string[], index: number): string[] {
  const entries: string[] = [];
  for (const line of lines.slice(index + 1, index + 1 + LIST_MAX_LINES)) {
    if (line.trim() === "" && entries.length === 0) continue;
    if (!/^\s*(?:[-*+•]|\d{1,3}[.)])\s/.test(line) || line.length > LINE_MAX_CHARS) break;
    entries.push(line.replace(/^\s*(?:[-*+•]|\d{1,3}[.)])\s+/, ""));
  }
  return entries;
}

/** Up to a count in brackets or after a dash or colon; without one, up to the comma. */
function readClaims(text: string): FileClaim[] {
  // A comma between digits belongs to the number.
  const pieces = text.split(/(?<!\d),|,(?!\d{3}(?!\d))|;|\s+and\s+/);
  return pieces.flatMap((piece) => {
    const count = /[\s(—–:-]~?(\d[\d,._]{0,15})(?:\s{0,3}lines?\b|\))/i.exec(piece);
    const name = (count ? piece.slice(0, count.index) : piece)
      .replace(/[*`"'()[\]]/g, "")
      .replace(/[\s—–:.-]+$/, "")
      .trim();
    if (name === "" || /[{}]/.test(name) || !/[\p{L}\p{N}]/u.test(name)) return [];
    return [count ? { name, lines: Number(count[1]!.replace(/\D/g, "")) } : { name }];
  });
}
