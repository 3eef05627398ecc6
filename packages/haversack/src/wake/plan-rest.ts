/**
 * What a plan's section says beyond its task. Files, steps and criteria that the task has are shown only with the task. A step's details
 * stay, under its number.
 */
import { headingLevel, isFence } from "../base/clean-text.ts";
import { Said, withoutGaps } from "./text.ts";

export interface ToldTask {
  /** Descriptions, criteria and steps. */
  texts: readonly (string | undefined)[];
  files: readonly string[];
}

/** "" if nothing is left. */
export function planRest(text: string, { texts, files }: ToldTask): string {
  const said = new Said();
  said.add(...texts);
  const lines = text.split("\n");
  const isTold = toldLines(lines, said, new Set(files));
  const kept = lines.flatMap((line, at) => {
    if (!isTold[at]) return line;
    const [, step] = STEP.exec(line) ?? [];
    return step && hasDetails(lines, isTold, at) ? `Step ${step}:` : [];
  });
  return kept.some((line) => WORD.test(line)) ? withoutGaps(kept.join("\n")).trim() : "";
}

const STEP = /^\W*step\s+(\d{1,3}\w?)\b/i;
/** The start of a line before its words: `- Create: `, `**Step 1:** `, `2. `, `- [ ] `. */
const LEAD =
  /^[\s>]*(?:[-*+•]\s+|\d{1,3}[.)]\s+)?(?:\[[ xX]\]\s*)?[*_]*(?:(?:step\s+\d{1,3}\w?|create|modify|change|update|delete|test|files?)\s*[:.)–—-]+[*_]*\s*)?/i;
const LABEL = /^\W*(?:files|steps|done when|acceptance criteria)\W*$/i;
const FILES = /^\W*files?\W*:/i;
const PATH = /[\w@.-]*(?:\/[\w@.*-]*[\w*])+|[\w@-]+\.[a-z]\w{0,9}\b/gi;
const MOST_LINE_CHARS = 1_000;
const WORD = /[^\s\W]|[^\x00-\x7f]/;

function toldLines(lines: readonly string[], said: Said, files: ReadonlySet<string>): boolean[] {
  const isTold: boolean[] = [];
  let isFenced = false;
  for (const line of lines) {
    if (isFence(line)) {
      isFenced = !isFenced;
      isTold.push(false);
    } else isTold.push(!isFenced && isTask(line, said, files));
  }
  // Drop a label if nothing below it is left.
  for (const [at, line] of lines.entries()) if (!isTold[at] && LABEL.test(line)) isTold[at] = isBare(lines, isTold, at);
  return isTold;
}

/** Whether the whole list below the label is already told. */
function isBare(lines: readonly string[], isTold: readonly boolean[], label: number): boolean {
  let at = label + 1;
  while (at < lines.length && lines[at]!.trim() === "") at++;
  for (; at < lines.length && lines[at]!.trim() !== ""; at++) {
    if (LABEL.test(lines[at]!) || headingLevel(lines[at]!) > 0) break;
    if (!isTold[at]) return false;
  }
  return true;
}

function isTask(line: string, said: Said, files: ReadonlySet<string>): boolean {
  // A longer line is data, and the patterns would be slow on it.
  if (line.length > MOST_LINE_CHARS) return false;
  const words = line.replace(LEAD, "");
  if (!WORD.test(words)) return false;
  if (said.has(words)) return true;
  const paths = line.match(PATH) ?? [];
  // In a list of files, drop a line if all its paths are the task's, with or without line numbers.
  const isListed = FILES.test(line) || /^\s*[-*+•]/.test(line);
  return isListed && paths.length > 0 && paths.every((path) => files.has(path)) && isOnlyPaths(words);
}

/** In "create `a.ts` and `b.ts`; change c.ts:10-20", no word matters except the paths. */
function isOnlyPaths(words: string): boolean {
  const rest = words
    .replace(PATH, "")
    .replace(/\b(?:and|create|modify|change|update|delete|tests?|new|lines?|l?\d+)\b/gi, "");
  return !WORD.test(rest);
}

function hasDetails(lines: readonly string[], isTold: readonly boolean[], step: number): boolean {
  for (let at = step + 1; at < lines.length; at++) {
    if (lines[at]!.trim() === "") continue;
    return !isTold[at];
  }
  return false;
}
