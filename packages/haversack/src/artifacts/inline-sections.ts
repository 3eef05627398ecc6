/**
 * The sections of a document that a prompt holds instead of a reference. A section that cannot be found is a problem, and the
 * caller then refers to the whole document: the reader must never be left without it.
 */
import { cleanLine } from "../base/clean-text.ts";
import { extractSection, type Section } from "./extract-section.ts";
import { quoteDocument } from "./quote-document.ts";
import type { DocumentFacts } from "./reference-block.ts";
import { TASK_SECTION } from "./role-map.ts";
import type { DispatchTask } from "./task-section.ts";

export interface InlinedSections {
  /** "": none was found. */
  body: string;
  lines: number;
  problems: string[];
}

export function inlineSections(facts: DocumentFacts, wanted: readonly string[], task?: DispatchTask): InlinedSections {
  const { file, name, path, text = "", lineCount } = facts;
  const problems: string[] = [];
  const refs = wanted.flatMap((ref) => (ref === TASK_SECTION ? taskRefs(file, task) : [ref]));
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

/** Without a word about where it comes from, a task may still have a section of its own name. */
function taskRefs(file: string, task: DispatchTask | undefined): string[] {
  const named = task?.sections[file] ?? [];
  return named.length > 0 || task?.label === undefined ? named : [task.label];
}

function explain(ref: string, answer: Exclude<ReturnType<typeof extractSection>, Section>): string {
  const shown = `“${cleanLine(ref, { maxChars: 100 })}”`;
  if (answer.kind === "ambiguous") {
    return `${answer.lines.length} headings fit ${shown} (lines ${answer.lines.join(", ")}): name one, such as ${shown.slice(1, -1)}:2`;
  }
  const guess = answer.nearest[0];
  return `no heading ${shown}${guess === undefined ? "" : `; the nearest is “${cleanLine(guess, { maxChars: 100 })}”`}`;
}

/** In the document's order, each line once. */
function withoutNested(sections: readonly Section[]): Section[] {
  const kept: Section[] = [];
  for (const section of [...sections].sort((a, b) => a.line - b.line || b.lineCount - a.lineCount)) {
    const last = kept.at(-1);
    if (!last || section.line >= last.line + last.lineCount) kept.push(section);
  }
  return kept;
}
