/**
 * The parts of a prompt that stand for documents instead of pasting them: which files must be read, which code is meant,
 * and which iteration this is. The mandatory wording is fixed to the letter: agents and searches over histories rely on it.
 */
import { cleanLine } from "../base/clean-text.ts";
import { NO_PRD } from "./feature-meta.ts";

/** What a look at the file said. Only `present` ones can be read. */
export type DocumentState = "present" | "missing" | "empty" | "binary" | "outside" | "unreadable";

export interface DocumentFacts {
  /** The name in the role map: `spec.md`. */
  file: string;
  /** As prompts call it: `Spec`. */
  name: string;
  /** Absolute; where it is, or where it should be. */
  path: string;
  state: DocumentState;
  lineCount?: number;
  /** Hex; the first 12 characters are shown. */
  sha?: string;
  /** Absent: too large to keep, or not needed. */
  text?: string;
  /** A PRD that does not exist: a sentence of its own says so. */
  isNoPrd?: boolean;
}

export interface ReferenceOptions {
  /** "before beginning your review" or "your work". Default: review. */
  purpose?: "review" | "work";
}

/** "" when there is nothing to read. */
export function formatReferenceBlock(
  documents: readonly DocumentFacts[],
  { purpose = "review" }: ReferenceOptions = {},
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

/** "" for none. Only dispatches about code have this part. */
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
  /** A resume was wanted and could not be had. */
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

/** `2 of 3`; a loop that goes on does not change what was planned. */
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
