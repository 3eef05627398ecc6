/** Puts foreign text into a prompt: in a fence that the text cannot close, and with a visible note where it was cut. */
import { cleanLine, stripControl } from "../base/clean-text.ts";
import { countLines, extractSection, type Section } from "./extract-section.ts";
import type { DocumentFacts } from "./reference-block.ts";
import { TASK_SECTION } from "./role-map.ts";
import type { DispatchTask } from "./task-section.ts";

/** The fence is longer than every run of backticks in the text, so the text cannot end it. */
export function quoteDocument(text: string, { language = "markdown" }: { language?: string } = {}): string {
  const clean = withoutBlankEnds(text);
  let longest = 2;
  for (const [run] of clean.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${clean}\n${fence}`;
}

/** Not a regular expression: `\s+$` takes quadratic time on long runs of spaces. */
function withoutBlankEnds(text: string): string {
  const clean = stripControl(text).trimEnd();
  let start = 0;
  while (clean[start] === "\n") start++;
  return clean.slice(start);
}

/** Quotes whole lines from the top, and says how much is missing. Everything counts towards the budget. "": not even one line fits. */
export function quoteWithin(
  text: string,
  {
    budgetTokens,
    countTokens,
    path,
  }: { budgetTokens: number; countTokens: (text: string) => number; path?: string | undefined },
): string {
  const clean = withoutBlankEnds(text);
  const totalLines = countLines(clean);
  if (totalLines === 0) return "";
  const whole = quoteDocument(clean);
  if (countTokens(whole) <= budgetTokens) return whole;

  const lines = clean.split("\n");
  const rest = path === undefined ? "" : ` The whole text is in ${path}.`;
  const shown = (count: number): string =>
    `${quoteDocument(lines.slice(0, count).join("\n"))}\n(Cut: the first ${count} of ${totalLines} lines.${rest})`;
  let fits = 0;
  for (let step = 1 << Math.floor(Math.log2(lines.length)); step >= 1; step = Math.floor(step / 2)) {
    const next = fits + step;
    if (next < lines.length && countTokens(shown(next)) <= budgetTokens) fits = next;
  }
  return fits === 0 ? "" : shown(fits);
}

// The sections of a document that a prompt contains instead of a reference. If a section is not found, that is a problem, and the
// caller refers to the whole document: the reader must never be left without it.

/** `body` is "" if no section was found. */
export function inlineSections(
  { file, name, path, text = "", lineCount }: DocumentFacts,
  wanted: readonly string[],
  task?: DispatchTask,
): { body: string; lines: number; problems: string[] } {
  const problems: string[] = [];
  // A task without an origin may still have a section of its own name.
  const ofTask = task?.sections[file]?.length ? task.sections[file] : task?.label === undefined ? [] : [task.label];
  const refs = wanted.flatMap((ref) => (ref === TASK_SECTION ? ofTask : [ref]));
  if (refs.length === 0)
    problems.push(`${file}: the task names no section of it, so the whole document is a reference`);
  const found: Section[] = [];
  for (const ref of refs) {
    const answer = extractSection(text, ref);
    if (answer.kind === "found") found.push(answer);
    else problems.push(`${file}: ${explain(ref, answer)}; the whole document is a reference instead`);
  }
  const kept = withoutNested(found);
  if (kept.length === 0) return { body: "", lines: 0, problems };
  const of = lineCount === undefined ? "" : ` of ${lineCount}`;
  const pieces = kept.map(
    (section) =>
      `From ${cleanLine(path)}, lines ${section.line} to ${section.line + section.lineCount - 1}${of}:\n${quoteDocument(section.text)}`,
  );
  const body = `## ${cleanLine(name)} Context (scoped)\n${pieces.join("\n\n")}`;
  return { body, lines: kept.reduce((sum, section) => sum + section.lineCount, 0), problems };
}

function explain(ref: string, answer: Exclude<ReturnType<typeof extractSection>, Section>): string {
  const shown = `“${cleanLine(ref, { maxChars: 100 })}”`;
  if (answer.kind === "ambiguous") {
    return `${answer.lines.length} headings fit ${shown} (lines ${answer.lines.join(", ")}): name one, such as ${shown.slice(1, -1)}:2`;
  }
  const guess = answer.nearest[0];
  return `no heading ${shown}${guess === undefined ? "" : `; the nearest is “${cleanLine(guess, { maxChars: 100 })}”`}`;
}

/** In document order, without repeating lines. */
function withoutNested(sections: readonly Section[]): Section[] {
  const kept: Section[] = [];
  for (const section of [...sections].sort((a, b) => a.line - b.line || b.lineCount - a.lineCount)) {
    const last = kept.at(-1);
    if (!last || section.line >= last.line + last.lineCount) kept.push(section);
  }
  return kept;
}

/**
 * A text as a client's Read tool returns it, with a number before each line. This is the real cost of a reference. Claude Code writes
 * the number, a tab and the line.
 */
export function numberLines(text: string): string {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map((line, index) => `${index + 1}\t${line}`).join("\n");
}
