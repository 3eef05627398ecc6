/**
 * Reads one task from tasks.md: its text, completion criteria, files, and the sections of other documents it comes from. Supports real
 * task lists: `### Task 3: Subject`, bold labels (`**Done when:**`, `- **Files:**`) or headings.
 */

import { extractSection, type SectionAnswer } from "./extract-section.ts";
import { nextFence } from "./markdown-headings.ts";

export interface DispatchTask {
  subject: string;
  /** The task's number or label, such as `Task 3`, to find it in other documents. */
  label?: string;
  /** Without the parts below. */
  description: string;
  doneWhen?: string;
  files: string[];
  /** By document, the sections that the task comes from: `{ "design.md": ["I1", "I4"] }`. */
  sections: Record<string, string[]>;
}

export type TaskAnswer = { kind: "task"; task: DispatchTask; line: number } | Exclude<SectionAnswer, { kind: "found" }>;

export function readTask(tasks: string, ref: string): TaskAnswer {
  const section = extractSection(tasks, ref);
  if (section.kind !== "found") return section;
  const [, ...body] = section.text.split(/\r\n|\n|\r/);
  const parts = splitParts(body);
  const label = /^(?:[\p{L}-]{1,20} )?[\p{L}-]{0,12}\d[\p{L}\d.-]*(?=[\s:.)]|$)/u
    .exec(section.heading)?.[0]
    .replace(/\.$/, "");
  const subject = section.heading.slice(label?.length ?? 0).replace(/^[\s:.)\u2013\u2014-]+/, "");
  const linesOf = (...kinds: PartKind[]): string =>
    parts
      .filter(({ kind }) => kinds.includes(kind))
      .map(({ lines }) => lines.join("\n").trim())
      .filter(Boolean)
      .join("\n\n");
  const doneWhen = linesOf("done");
  const files = pathsIn(linesOf("files"));
  const task: DispatchTask = {
    subject: subject || section.heading,
    ...(label === undefined ? {} : { label }),
    // The origin stays in the description. Files are listed separately, if they could be read.
    description: files.length > 0 ? linesOf("text", "origin") : linesOf("text", "origin", "files"),
    ...(doneWhen === "" ? {} : { doneWhen }),
    files,
    sections: taskSections(linesOf("origin"), section.text),
  };
  return { kind: "task", task, line: section.line };
}

/** For a task whose text is not part of tasks.md. */
export function sectionsIn(text: string): Record<string, string[]> {
  const parts = splitParts(text.split(/\r\n|\n|\r/));
  const origin = parts.filter(({ kind }) => kind === "origin").flatMap(({ lines }) => lines);
  return taskSections(origin.join("\n"), text);
}

/** The sections that the task comes from, and every section that its text names in full: `design.md#I4`. */
function taskSections(origin: string, text: string): Record<string, string[]> {
  const sections = readTraceability(origin);
  for (const [, file = "", ref = ""] of text.slice(0, TEXT_MAX_CHARS).matchAll(FULL_REFERENCE)) {
    const refs = (sections[file] ??= []);
    // The origin may already contain this reference, with its `#`.
    if (!refs.some((known) => known.replace(/^#/, "") === ref)) refs.push(ref);
  }
  return sections;
}

const TEXT_MAX_CHARS = 100_000;

const FULL_REFERENCE = /([\p{L}\p{N}_.-]+\.md)#([\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)*)/gu;

type PartKind = "text" | "done" | "files" | "origin";

const LABELS: readonly [PartKind, RegExp][] = [
  ["done", /^(?:done when|acceptance criteria|acceptance|definition of done|success criteria)$/],
  ["files", /^(?:files?|file\(s\)|files to (?:change|create|modify|work on)|files? changed)$/],
  ["origin", /^(?:traceability|trace|implements|source|sources|why|references?|derived from|covers)$/],
];

/**
 * A part begins at a bold label or a heading. It ends at the next part, or at a new paragraph that is not a list: then the description
 * continues. No line is lost.
 */
function splitParts(lines: readonly string[]): { kind: PartKind; lines: string[] }[] {
  let current: { kind: PartKind; lines: string[] } = { kind: "text", lines: [] };
  const parts = [current];
  const begin = (kind: PartKind, line: string): void => {
    current = { kind, lines: [line] };
    parts.push(current);
  };
  let fence = "";
  let isBlankBefore = false;
  for (const line of lines) {
    const before = fence;
    fence = nextFence(fence, line);
    const isCode = before !== "" || fence !== "";
    const found = isCode ? undefined : readLabel(line);
    if (found) {
      const kind = LABELS.find(([, pattern]) => pattern.test(found.label))?.[0] ?? "text";
      // These two have their own heading in the prompt. All other labels keep their text.
      begin(kind, kind === "done" || kind === "files" ? found.rest : line);
    } else if (
      current.kind !== "text" &&
      isBlankBefore &&
      !isCode &&
      /^\S/.test(line) &&
      !/^(?:[-*+]|\d+[.)])\s/.test(line)
    ) {
      const hasContent = current.lines.some((each) => each.trim() !== "");
      if (hasContent) begin("text", line);
      else current.lines.push(line);
    } else current.lines.push(line);
    isBlankBefore = line.trim() === "";
  }
  return parts;
}

function readLabel(line: string): { label: string; rest: string } | undefined {
  const heading = /^ {0,3}#{1,6}[ \t]+(.{1,60})$/.exec(line)?.[1];
  if (heading !== undefined) return { label: plain(heading), rest: "" };
  const bold = /^[ \t]{0,3}(?:[-*+][ \t]+)?(?:\[[ xX]\][ \t]+)?\*\*([^*]{1,60})\*\*:?(.*)$/.exec(line);
  return bold ? { label: plain(bold[1]!), rest: bold[2]!.trim() } : undefined;
}

function plain(label: string): string {
  return label
    .toLowerCase()
    .replace(/[\s:#]+$/, "")
    .trim();
}

/** Paths in backticks. If there are none: words that look like paths. */
function pathsIn(text: string): string[] {
  const quoted = [...text.matchAll(/`([^`\n]{1,300})`/g)].map(([, path]) => path!.trim());
  const words =
    quoted.length > 0
      ? quoted
      : text.split(/[\s,;]+/).filter((word) => /^[\w@.][\w@./-]*(?:\/|\.\w)[\w./-]*$/.test(word));
  return [...new Set(words)].slice(0, 100);
}

const DOCUMENT = /\b(prd|spec|specification|design|plan|tasks)(?:\.md)?\b/gi;

/**
 * `Design I1, I4; Plan 2.3` and `plan.md#error-handling`: the sections follow each document's name, up to the next name. Only labels,
 * numbers, anchors and quoted headings count; a name within a sentence means nothing.
 */
export function readTraceability(text: string): Record<string, string[]> {
  const sections: Record<string, string[]> = {};
  const names = [...text.slice(0, 5_000).matchAll(DOCUMENT)];
  for (const [index, name] of names.entries()) {
    const rest = text.slice(name.index + name[0].length, names[index + 1]?.index ?? text.length).split("\n", 1)[0]!;
    const word = name[1]!.toLowerCase();
    const file = `${word === "specification" ? "spec" : word}.md`;
    const refs = [...rest.matchAll(REF)].map((found) => (found[1] ?? found[2] ?? found[3] ?? found[0]).trim());
    if (refs.length > 0) sections[file] = [...new Set([...(sections[file] ?? []), ...refs])];
  }
  return sections;
}

/** An anchor, a quoted heading, or a label with a number: `I4`, `2.3`, `Step 1A.1`, `Task 3`, `TD-4`. */
const REF =
  /(#[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)*)|"([^"\n]{1,100})"|[“]([^”\n]{1,100})[”]|(?:(?:Step|Phase|Task|Component|Interface|Section|Part) )?(?<![\p{L}\p{N}])[\p{L}]{0,4}-?\d[\p{L}\d]*(?:\.[\p{L}\d]+)*/giu;
