/**
 * Parses a reviewer's answer: JSON as requested (fenced, bare, or between sentences), or prose with a verdict and marked issues.
 * Tolerant about words and keys, strict about the outcome: an answer without a verdict is `unreadable`, never approved.
 */

import { cleanLine } from "../base/clean-text.ts";
import { isRecord } from "../base/json.ts";
import { type ReviewIssue, readSeverity, type Severity } from "./review-issue.ts";

export interface ReviewAnswer {
  kind: "review";
  /** The reviewer's verdict, but never true with an open blocker. */
  approved: boolean;
  /** The reviewer could not review. This is not a rejection. */
  isBlocked: boolean;
  issues: ReviewIssue[];
  summary?: string;
  source: "json" | "prose";
  /** Contradictions in the answer, and unknown words. */
  problems: string[];
}

export type ReviewReading = ReviewAnswer | { kind: "unreadable"; reason: string };

export function parseReviewAnswer(answer: string): ReviewReading {
  const object = findReviewObject(answer);
  const reading = object ? fromObject(object) : fromProse(answer);
  if (reading.kind === "unreadable") return reading;
  const blockers = reading.issues.filter(({ severity }) => severity === "blocker").length;
  if (reading.approved && blockers > 0) {
    reading.approved = false;
    reading.problems.push(`approved, with ${blockers} blocker${blockers === 1 ? "" : "s"}: taken as not approved`);
  }
  return reading;
}

type Json = Record<string, unknown>;

const VERDICT_KEYS = ["approved", "verdict", "decision", "status", "result", "outcome"];
const ISSUE_KEYS = ["issues", "findings", "vulnerabilities", "simplifications", "problems", "concerns"];
const ISSUES_MAX = 500;

function fromObject(object: Json): ReviewReading {
  const problems: string[] = [];
  const issues = ISSUE_KEYS.flatMap((key) => (Array.isArray(object[key]) ? object[key] : []))
    .slice(0, ISSUES_MAX)
    .flatMap((entry) => readIssue(entry, problems));
  const verdict = VERDICT_KEYS.map((key) => readVerdict(object[key])).find((found) => found !== undefined);
  if (verdict === undefined) {
    return { kind: "unreadable", reason: 'the JSON says neither "approved" nor a verdict' };
  }
  const summary = textOf(object, ["summary", "rationale", "reason", "assessment"]);
  return reviewOf(verdict, { issues, source: "json", problems, ...(summary === undefined ? {} : { summary }) });
}

type Verdict = "approved" | "rejected" | "blocked";

function reviewOf(verdict: Verdict, rest: Omit<ReviewAnswer, "kind" | "approved" | "isBlocked">): ReviewAnswer {
  return { kind: "review", approved: verdict === "approved", isBlocked: verdict === "blocked", ...rest };
}

function readVerdict(value: unknown): Verdict | undefined {
  if (typeof value === "boolean") return value ? "approved" : "rejected";
  if (typeof value !== "string") return undefined;
  const word = value
    .trim()
    .toLowerCase()
    .replace(/[\s_-]+/g, " ");
  if (
    /^(?:not approved|needs? (?:revision|work|changes|fixes)|changes requested|request changes|reject(?:ed)?|fail(?:ed|s)?|no|false|revise)\b/.test(
      word,
    )
  )
    return "rejected";
  if (/^(?:approved?|pass(?:ed|es)?|accept(?:ed)?|lgtm|ok|yes|true)\b/.test(word)) return "approved";
  return /^(?:blocked|cannot review|unable)\b/.test(word) ? "blocked" : undefined;
}

function readIssue(entry: unknown, problems: string[]): ReviewIssue[] {
  if (typeof entry === "string") return entry.trim() === "" ? [] : [issueOf({ description: entry })];
  if (!isRecord(entry)) return [];
  const title = textOf(entry, ["title"]);
  const word = textOf(entry, ["severity", "level", "priority", "type"]);
  const severity = word === undefined ? undefined : readSeverity(word);
  const description =
    textOf(entry, ["description", "message", "issue", "problem", "text", "detail", "details", "finding"]) ??
    title ??
    // Nobody can fix it, but it must not count as approved.
    (severity === "blocker" ? "a blocker that is not described" : undefined);
  if (description === undefined) return [];
  if (severity === undefined) {
    problems.push(
      `an issue has ${word === undefined ? "no severity" : `the unknown severity “${word}”`}: taken as a warning`,
    );
  }
  const file = textOf(entry, ["location", "file", "path", "where"]);
  const line = entry["line"];
  const location =
    file === undefined || typeof line !== "number" || file.endsWith(`:${line}`) ? file : `${file}:${line}`;
  return [
    issueOf({
      severity,
      description: title !== undefined && title !== description ? `${title}: ${description}` : description,
      id: textOf(entry, ["id"]),
      category: textOf(entry, ["category"]),
      location,
      suggestion: textOf(entry, ["suggestion", "fix", "recommendation", "remediation", "suggested_fix"]),
    }),
  ];
}

const TEXT_MAX_CHARS = 2_000;

/** One line each: an issue must not add headings to a history or a prompt. */
function issueOf(
  fields: { severity?: Severity | undefined; description: string } & Record<string, string | undefined>,
): ReviewIssue {
  const { severity = "warning", description, ...rest } = fields;
  const issue: ReviewIssue = { severity, description: cleanLine(description, { maxChars: TEXT_MAX_CHARS }) };
  for (const key of ["id", "category", "location", "suggestion"] as const) {
    const text = rest[key] === undefined ? "" : cleanLine(rest[key], { maxChars: TEXT_MAX_CHARS });
    if (text !== "") issue[key] = text;
  }
  return issue;
}

function textOf(object: Json, keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const value = object[key];
    if (typeof value === "string" && value.trim() !== "") return cleanLine(value, { maxChars: TEXT_MAX_CHARS });
  }
  return undefined;
}

const CANDIDATES_MAX = 50;

/** The last object that looks like a review: answers often show an example or draft first. */
function findReviewObject(answer: string): Json | undefined {
  const starts: number[] = [];
  if (/^\s*\{/.test(answer)) starts.push(answer.indexOf("{"));
  for (const match of answer.matchAll(
    /(?:^|[\n\r])[^\S\n\r]{0,8}(?:(?:[-*>] ?|json:? ?|return:? ?)?)\{|```[a-zA-Z]{0,10}\s{0,3}\{/gi,
  )) {
    starts.push(match.index + match[0].length - 1);
  }
  // `My review: {"approved": …}`. An object that is quoted or followed by words may just be mentioned, so it does not count.
  const inText = [...answer.matchAll(/[\w:.,] {0,4}\{(?=\s{0,9}")/g)];
  const isEndOfLine = (end: number) => /^[^\S\n]{0,9}\.?[^\S\n]{0,9}(?:\n|$)/.test(answer.slice(end, end + 24));
  const behindWords = inText.map((match) => match.index + match[0].length - 1);
  return lastReview(answer, starts) ?? lastReview(answer, behindWords, isEndOfLine);
}

function lastReview(
  answer: string,
  starts: readonly number[],
  isWhole: (end: number) => boolean = () => true,
): Json | undefined {
  let best: Json | undefined;
  let end = -1;
  for (const start of starts.slice(-CANDIDATES_MAX)) {
    // An object inside a parsed one is part of it.
    if (start < end) continue;
    const close = endOfObject(answer, start);
    if (close === undefined) continue;
    const object = tryParse(answer.slice(start, close));
    if (!object) continue;
    end = close;
    if (!isWhole(close)) continue;
    if (VERDICT_KEYS.some((key) => key in object) || ISSUE_KEYS.some((key) => Array.isArray(object[key])))
      best = object;
  }
  return best;
}

/** The offset after the bracket that closes the one at `start`. */
function endOfObject(text: string, start: number): number | undefined {
  let depth = 0;
  let isString = false;
  for (let at = start; at < text.length; at++) {
    const char = text[at];
    if (isString) {
      if (char === "\\") at++;
      else if (char === '"') isString = false;
    } else if (char === '"') isString = true;
    else if (char === "{") depth++;
    else if (char === "}" && --depth === 0) return at + 1;
  }
  return undefined;
}

function tryParse(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    // Not JSON: prose has braces too.
    return undefined;
  }
}

const VERDICT_LINE =
  /^[\s>*_`#-]{0,20}(?:VERDICT|DECISION|RESULT|STATUS)[*_`]{0,4}\s{0,4}:\s{0,4}[*_`]{0,4}\s{0,4}([A-Za-z][A-Za-z _-]{0,30})/i;
const ALONE = /^[\s>*_`#-]{0,20}(APPROVED|NOT APPROVED|REJECTED|NEEDS REVISION|CHANGES REQUESTED)[\s*_`.!]{0,10}$/;
const MARKED_ISSUE =
  /^\s{0,12}(?:[-*+]|\d{1,3}[.)])?\s{0,4}[*_]{0,3}\[([A-Za-z-]{2,15})\][*_]{0,3}:?\s{0,4}(?:\[([^\]]{1,40})\]\s{0,4})?(\S.*)$/;
const NAMED_ISSUE =
  /^\s{0,12}(?:[-*+]|\d{1,3}[.)])\s{0,4}[*_]{0,3}([A-Za-z-]{2,15})[*_]{0,3}\s?[:–—-][*_]{0,3}\s{1,4}(\S.*)$/;

function fromProse(answer: string): ReviewReading {
  let verdict: Verdict | undefined;
  const issues: ReviewIssue[] = [];
  for (const line of answer.split(/\r\n|\n|\r/)) {
    if (line.length > 10_000) continue;
    const said = VERDICT_LINE.exec(line)?.[1] ?? ALONE.exec(line)?.[1];
    verdict = (said === undefined ? undefined : readVerdict(said)) ?? verdict;
    const issue = readIssueLine(line);
    if (issue && issues.length < ISSUES_MAX) issues.push(issue);
  }
  if (verdict === undefined) {
    return { kind: "unreadable", reason: "no JSON with “approved” and no line such as VERDICT: PASS was found" };
  }
  return reviewOf(verdict, { issues, source: "prose", problems: [] });
}

/** `- [blocker] [category] text (at: place)`, as in histories, and `- Blocker: text`. */
export function readIssueLine(line: string): ReviewIssue | undefined {
  const marked = MARKED_ISSUE.exec(line);
  const named = marked ? undefined : NAMED_ISSUE.exec(line);
  const severity = readSeverity(marked?.[1] ?? named?.[1] ?? "");
  const text = marked?.[3] ?? named?.[2];
  if (severity === undefined || text === undefined) return undefined;
  const at = text.lastIndexOf(" (at: ");
  const hasPlace = at !== -1 && text.trimEnd().endsWith(")");
  return issueOf({
    severity,
    description: hasPlace ? text.slice(0, at) : text,
    category: marked?.[2],
    location: hasPlace ? text.trimEnd().slice(at + 6, -1) : undefined,
  });
}
