/**
 * `.review-history.md`: one entry per review iteration. Reads what people and agents really write, writes one exact format, and only
 * appends: existing bytes never change.
 */
import { cleanLine } from "../base/clean-text.ts";
import { nextFence } from "./markdown-headings.ts";
import { readIssueLine } from "./parse-review-answer.ts";
import type { ReviewIssue } from "./review-issue.ts";

export type Decision = "Approved" | "Needs Revision" | "Blocked";

export interface ReviewEntry {
  /** The word before "Review" in the heading: `Spec`, `Design`, `Chain` … */
  stage: string;
  iteration: number;
  at: Date;
  reviewer: string;
  decision: Decision;
  issues: readonly ReviewIssue[];
  summary?: string;
  /** Separate lines: LAZY-LOAD-WARNING, RESUME-FALLBACK. */
  notes?: readonly string[];
}

export interface FoundEntry {
  /** Line of the heading, from 1. */
  line: number;
  /** "": the heading has none. */
  stage: string;
  iteration: number;
  /** The time as written; "": none. */
  at: string;
  reviewer?: string;
  decision?: string;
  isApproved?: boolean;
  issues: ReviewIssue[];
  notes: string[];
}

export interface ReviewHistory {
  entries: FoundEntry[];
  /** Includes notes outside of entries. */
  notes: string[];
}

const HEADING = /^ {0,3}#{1,6}\s+(.{1,200})$/;
const ITERATION = /^(.*?)\bIteration\s+(\d{1,4})\b(.*)$/i;
const FIELD = /^\s{0,6}(?:[-*]\s+)?\*\*(Reviewer|Decision):?\*\*:?\s*(.*)$/i;
const NOTE = /^\s{0,6}(?:[-*>]\s+)?[*`]{0,3}((?:LAZY-LOAD-WARNING|RESUME-FALLBACK):.*?)[*`]{0,3}\s*$/;

export function readReviewHistory(text: string): ReviewHistory {
  const history: ReviewHistory = { entries: [], notes: [] };
  let entry: FoundEntry | undefined;
  let fence = "";
  for (const [index, line] of text
    .replace(/^\ufeff/, "")
    .split(/\r\n|\n|\r/)
    .entries()) {
    fence = nextFence(fence, line);
    if (fence !== "" || line.length > 10_000) continue;
    const note = NOTE.exec(line)?.[1];
    if (note !== undefined) {
      history.notes.push(cleanLine(note));
      entry?.notes.push(cleanLine(note));
      continue;
    }
    const heading = HEADING.exec(line)?.[1];
    if (heading !== undefined) {
      const started = readHeading(heading, index + 1);
      // A heading inside an entry ("### Issues") belongs to it. Another top-level heading ends the entry.
      if (started) history.entries.push((entry = started));
      else if (/^ {0,3}##?\s/.test(line)) entry = undefined;
      continue;
    }
    if (entry) readField(line, entry);
  }
  return history;
}

function readHeading(heading: string, line: number): FoundEntry | undefined {
  const match = ITERATION.exec(heading);
  if (!match) return undefined;
  const stage = cleanLine(match[1]!.replace(/\breview\b[^\p{L}]*$/iu, "").replace(/[\s:–—-]+$/, ""));
  const at = cleanLine(match[3]!.replace(/^[\s:–—-]+/, ""));
  return { line, stage, iteration: Number(match[2]), at, issues: [], notes: [] };
}

function readField(line: string, entry: FoundEntry): void {
  const field = FIELD.exec(line);
  if (field) {
    const value = cleanLine(field[2]!);
    if (field[1]!.toLowerCase() === "reviewer") entry.reviewer = value;
    else {
      entry.decision = value;
      if (/^approved\b|^pass/i.test(value)) entry.isApproved = true;
      else if (value !== "") entry.isApproved = false;
    }
    return;
  }
  const issue = readIssueLine(line);
  if (issue) entry.issues.push(issue);
}

export function formatReviewEntry({
  stage,
  iteration,
  at,
  reviewer,
  decision,
  issues,
  summary,
  notes = [],
}: ReviewEntry): string {
  const lines = [
    `## ${cleanLine(stage)} Review - Iteration ${iteration} - ${at.toISOString()}`,
    `**Reviewer:** ${cleanLine(reviewer)}`,
    `**Decision:** ${decision}`,
    "",
    "**Issues:**",
    ...(issues.length === 0 ? ["- none"] : issues.map(formatIssue)),
  ];
  const said = summary === undefined ? "" : cleanLine(summary);
  if (said !== "") lines.push("", `**Summary:** ${said}`);
  if (notes.length > 0) lines.push("", ...notes.map((note) => cleanLine(note)));
  return `${lines.join("\n")}\n`;
}

export function formatIssue({ severity, category, description, location }: ReviewIssue): string {
  const kind = category === undefined ? "" : `[${cleanLine(category)}] `;
  const place = location === undefined ? "" : ` (at: ${cleanLine(location)})`;
  return `- [${severity}] ${kind}${cleanLine(description)}${place}`;
}

/** The complete new text of the file. It begins with the old text, byte for byte. */
export function appendReviewEntry(text: string, entry: ReviewEntry): string {
  return append(text, formatReviewEntry(entry));
}

/** Adds a note without an entry: a warning about a sub-agent whose answer was not recorded. */
export function appendReviewNote(text: string, note: string): string {
  return append(text, `${cleanLine(note)}\n`);
}

function append(text: string, addition: string): string {
  const lineEnd = /\r\n/.test(text) && !/[^\r]\n/.test(text) ? "\r\n" : "\n";
  const inStyle = (added: string): string => added.replaceAll("\n", lineEnd);
  if (text === "" || text === "\ufeff") return text + inStyle(`# Review History\n\n${addition}`);
  // Close a fence that somebody left open, or it would swallow the entry.
  const open = text.split(/\r\n|\n|\r/).reduce(nextFence, "");
  const isEnded = /[\n\r]$/.test(text);
  const isApart = /(?:\n\n|\r\n\r\n|\r\r)$/.test(text);
  const gap = open !== "" ? `${isEnded ? "" : "\n"}${open}\n\n` : isApart ? "" : isEnded ? "\n" : "\n\n";
  return text + inStyle(gap + addition);
}
