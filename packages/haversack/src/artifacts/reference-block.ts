/**
 * The parts of a prompt that replace pasted documents: which files to read, which code is meant, and which iteration this is. The
 * mandatory wording is fixed: agents and searches over histories rely on it.
 */
import { cleanLine } from "../base/clean-text.ts";
import { isAbsolute, NO_PRD } from "./feature-meta.ts";
import { nextFence } from "./markdown-headings.ts";

/** The state of the file. Only `present` files can be read. */
export type DocumentState = "present" | "missing" | "empty" | "binary" | "outside" | "unreadable";

/** What is wrong with a document. Completes a sentence that begins with its name. */
export const STATE_WORDS: Readonly<Record<Exclude<DocumentState, "present">, string>> = {
  missing: "does not exist",
  empty: "is empty",
  binary: "is no text",
  outside: "leads out of the repository",
  unreadable: "cannot be read",
};

export interface DocumentFacts {
  /** The name in the role map: `spec.md`. */
  file: string;
  /** Name in prompts: `Spec`. */
  name: string;
  /** Absolute path where the file is or should be. */
  path: string;
  state: DocumentState;
  lineCount?: number;
  /** Hex; the first 12 characters are shown. */
  sha?: string;
  /** Absent: too large to keep, or not needed. */
  text?: string;
  /** There is no PRD: a separate sentence says so. */
  isNoPrd?: boolean;
}

/** "" if there is nothing to read. */
export function formatReferenceBlock(
  documents: readonly DocumentFacts[],
  { purpose = "review" }: { purpose?: "review" | "work" } = {},
): string {
  if (documents.length === 0) return "";
  return [
    "## Required Artifacts",
    `You MUST read the following files before beginning your ${purpose}.`,
    'After reading, confirm: "Files read: {name} ({N} lines), ..." in a single line.',
    ...documents.map(formatReference),
  ].join("\n");
}

/** A reader that stops after its tool's first page has not read the file. Claude Code's page is 2,000 lines. */
const PAGE_LINES = 2_000;

export function formatReference({ name, path, state, lineCount, sha, isNoPrd }: DocumentFacts): string {
  const label = `- ${cleanLine(name)}: `;
  const place = cleanLine(path);
  if (isNoPrd) return label + NO_PRD;
  switch (state) {
    case "missing":
      return `${label}missing — there is no ${place}. Say so in your answer; do not guess what it says.`;
    case "empty":
      return `${label}${place} (empty: there is nothing to read)`;
    case "binary":
      return `${label}not readable — ${place} is no text. Say so in your answer.`;
    case "outside":
      return `${label}left out — ${place} leads out of the repository. Do not follow it.`;
    case "unreadable":
      return `${label}not readable — ${place} could not be opened. Say so in your answer.`;
    case "present": {
      const facts = [
        ...(lineCount === undefined ? [] : [lineCount === 1 ? "1 line" : `${lineCount} lines`]),
        ...(sha === undefined ? [] : [`sha256 ${cleanLine(sha).slice(0, 12)}`]),
        ...(lineCount !== undefined && lineCount > PAGE_LINES ? ["read it in parts, to the end"] : []),
      ];
      return label + place + (facts.length === 0 ? "" : ` (${facts.join(", ")})`);
    }
  }
}

/** "" if there are no files. Only for dispatches about code. */
export function formatImplementationFiles(files: readonly string[], heading = "## Implementation Files"): string {
  if (files.length === 0) return "";
  return [heading, ...files.map((file) => `- ${cleanLine(file)}`)].join("\n");
}

export interface PreviousIssue {
  id?: string;
  severity: string;
  description: string;
  location?: string;
}

export interface IterationContext {
  iteration: number;
  maxIterations: number;
  previousIssues?: readonly PreviousIssue[];
  /** A resume was requested but failed. */
  isFallback?: boolean;
}

export const FRESH_NOTE = "(Fresh dispatch — prior session unavailable.)";

export function formatIterationContext({
  iteration,
  maxIterations,
  previousIssues = [],
  isFallback,
}: IterationContext): string {
  const lines = ["## Iteration Context", `This is iteration ${iterationOf(iteration, maxIterations)}.`];
  if (isFallback) lines.push(FRESH_NOTE);
  if (iteration > 1) {
    lines.push("Previous issues to re-evaluate:");
    lines.push(...(previousIssues.length === 0 ? ["- none are open"] : previousIssues.map(formatPreviousIssue)));
  }
  return lines.join("\n");
}

/** `2 of 3`. Beyond the maximum, the planned number is still shown. */
export function iterationOf(iteration: number, maxIterations: number): string {
  return iteration <= maxIterations
    ? `${iteration} of ${maxIterations}`
    : `${iteration}, beyond the planned ${maxIterations}`;
}

export function formatPreviousIssue({ id, severity, description, location }: PreviousIssue): string {
  const mark = id === undefined ? "" : `${cleanLine(id)} `;
  const place = location === undefined ? "" : ` (at: ${cleanLine(location)})`;
  return `- ${mark}[${cleanLine(severity)}] ${cleanLine(description)}${place}`;
}

// Which documents a prompt tells its reader to read: finds the block of formatReferenceBlock in the prompt that starts a sub-agent. So
// the caller needs no id from us, and a handwritten block works too.

export interface FoundReferences {
  documents: FoundReference[];
  /** The feature's folder, which contains most of the documents. */
  folder: string;
  /** From the iteration line of the prompt. */
  iteration?: number;
  /** From the prompt's role line. Absent if somebody else wrote the prompt. */
  role?: string;
}

export interface FoundReference {
  file: string;
  name: string;
  path: string;
  /** Absent: handwritten blocks often have none. */
  lineCount?: number;
}

const HEADING = /^##\s+Required Artifacts\s*$/;
const ENTRY = /^[-*] ([^:\n]{1,100}): (.{1,2000})$/;
const FACTS = /\s\((\d{1,9}) lines?(?:, [^()]{0,200})?\)$/;
const ITERATION = /^This is iteration (\d{1,4}) of \d{1,4}\.?\s*$/;
const ROLE = /^Role: (\S{1,100})\s*$/;
const DOCUMENTS_MAX = 50;

/** Undefined: the prompt requires no documents. Text in a fence is a document, not part of the prompt. */
export function readReferenceBlock(prompt: string): FoundReferences | undefined {
  const documents: FoundReference[] = [];
  let iteration: number | undefined;
  let role: string | undefined;
  let before = "";
  let isInside = false;
  let fence = "";
  for (const line of prompt.split(/\r\n|\n|\r/)) {
    fence = nextFence(fence, line);
    if (fence !== "") continue;
    const number = ITERATION.exec(line)?.[1];
    if (number !== undefined) iteration = Number(number);
    // Only directly below the feature's line: a rubric may contain such a line too.
    if (before.startsWith("Feature: ")) role ??= ROLE.exec(line)?.[1];
    before = line;
    if (/^#{1,6}\s/.test(line)) {
      isInside = HEADING.test(line);
      continue;
    }
    const entry = isInside && documents.length < DOCUMENTS_MAX ? ENTRY.exec(line) : null;
    const document = entry && readEntry(entry[1]!, entry[2]!);
    if (document && !documents.some(({ path }) => path === document.path)) documents.push(document);
  }
  if (documents.length === 0) return undefined;
  return {
    documents: withNames(documents),
    folder: commonFolder(documents),
    ...(iteration && { iteration }),
    ...(role !== undefined && { role }),
  };
}

/** Entries for unreadable documents contain words instead of a path. */
function readEntry(name: string, rest: string): FoundReference | undefined {
  const facts = FACTS.exec(rest);
  const path = (facts ? rest.slice(0, facts.index) : rest).trim().replace(/^`(.*)`$/, "$1");
  if (!isAbsolute(path) || path.endsWith(" (empty: there is nothing to read)")) return undefined;
  const file = path.slice(path.lastIndexOf("/") + 1);
  return { file, name: name.trim(), path, ...(facts && { lineCount: Number(facts[1]) }) };
}

/** Makes the names unique. A PRD may be a brainstorm with another file name; prompts and receipts call it prd.md. */
function withNames(documents: FoundReference[]): FoundReference[] {
  return documents.map((document) => {
    if (document.name === "PRD") return { ...document, file: "prd.md" };
    const isShared = documents.some(({ file, path }) => file === document.file && path !== document.path);
    return isShared ? { ...document, file: document.path } : document;
  });
}

function commonFolder(documents: readonly FoundReference[]): string {
  const counts = new Map<string, number>();
  for (const { path } of documents) {
    const folder = path.slice(0, Math.max(1, path.lastIndexOf("/")));
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  // On a tie, the last one wins: the PRD comes first, and it may be in another folder.
  let best = "";
  for (const [folder, count] of counts) if (count >= (counts.get(best) ?? 0)) best = folder;
  return best;
}
