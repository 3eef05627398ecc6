/** A reviewer's findings and their status over the iterations of a review. */
import { cleanLine } from "../base/clean-text.ts";

export const SEVERITIES = ["blocker", "warning", "suggestion"] as const;
export type Severity = (typeof SEVERITIES)[number];

export interface ReviewIssue {
  /** Id of an earlier issue, if the reviewer says it is the same one. */
  id?: string;
  severity: Severity;
  category?: string;
  description: string;
  location?: string;
  suggestion?: string;
}

export interface TrackedIssue extends ReviewIssue {
  /** `R1`, `R2` … in the order of discovery. */
  id: string;
  /** accepted: somebody decided to leave it as it is. */
  status: "open" | "resolved" | "accepted";
  firstIteration: number;
  /** The last iteration that reported it. */
  lastIteration: number;
  /** It was resolved once and came back. */
  isReopened?: boolean;
}

const SEVERITY_WORDS: Readonly<Record<Severity, string>> = {
  blocker: "blocker blocking critical high error fatal severe must must-fix p0",
  warning: "warning warn major medium moderate should should-fix important p1",
  suggestion: "suggestion suggest minor low info note nit nitpick trivial could optional p2 p3",
};

/** Undefined: an unknown word. */
export function readSeverity(word: string): Severity | undefined {
  const plain = word
    .trim()
    .toLowerCase()
    .replace(/[\s_]+/g, "-");
  return SEVERITIES.find((severity) => SEVERITY_WORDS[severity].split(" ").includes(plain));
}

/**
 * The issues after one more iteration. An open issue that was not found again is resolved. An issue that was found again keeps its id,
 * even if worded differently. The reviewer's id decides; else the similarity of text and place.
 */
export function trackIssues(
  before: readonly TrackedIssue[],
  found: readonly ReviewIssue[],
  { iteration }: { iteration: number },
): TrackedIssue[] {
  const pairs = pairIssues(before, found);
  const kept = before.map((issue): TrackedIssue => {
    const again = pairs.get(issue);
    if (!again) return issue.status === "open" ? { ...issue, status: "resolved" } : issue;
    const isReopened = issue.status === "resolved" || issue.isReopened;
    return {
      ...issue,
      ...again,
      id: issue.id,
      // Reporting it again does not undo the decision.
      status: issue.status === "accepted" ? "accepted" : "open",
      lastIteration: iteration,
      ...(isReopened ? { isReopened } : {}),
    };
  });
  let number = Math.max(0, ...before.map(({ id }) => Number(/^R(\d+)$/.exec(id)?.[1] ?? 0)));
  const taken = new Set(pairs.values());
  const added = found
    .filter((issue) => !taken.has(issue))
    .map((issue): TrackedIssue => {
      return { ...issue, id: `R${++number}`, status: "open", firstIteration: iteration, lastIteration: iteration };
    });
  return [...kept, ...added];
}

const ISSUES_COMPARED_MAX = 500;

function pairIssues(before: readonly TrackedIssue[], found: readonly ReviewIssue[]): Map<TrackedIssue, ReviewIssue> {
  const pairs = new Map<TrackedIssue, ReviewIssue>();
  const free = new Set(found.slice(0, ISSUES_COMPARED_MAX));
  for (const issue of free) {
    const same = before.find(({ id }) => id === issue.id);
    if (!same || pairs.has(same)) continue;
    pairs.set(same, issue);
    free.delete(issue);
  }
  const words = new Map([...before, ...free].map((issue) => [issue as ReviewIssue, wordsOf(issue.description)]));
  const candidates = before
    .slice(-ISSUES_COMPARED_MAX)
    .filter((issue) => !pairs.has(issue))
    .flatMap((old) => [...free].map((issue) => ({ old, issue, likeness: likeness(old, issue, words) })))
    .filter(({ likeness: value }) => value >= SAME_ISSUE)
    .sort((a, b) => b.likeness - a.likeness);
  for (const { old, issue } of candidates) {
    if (pairs.has(old) || !free.has(issue)) continue;
    pairs.set(old, issue);
    free.delete(issue);
  }
  return pairs;
}

/** Half of all words must match; a third if both name the same place. */
const SAME_ISSUE = 0.5;
const SAME_PLACE_BONUS = 0.17;

function likeness(a: ReviewIssue, b: ReviewIssue, words: ReadonlyMap<ReviewIssue, ReadonlySet<string>>): number {
  const left = words.get(a)!;
  const right = words.get(b)!;
  let shared = 0;
  for (const word of left) if (right.has(word)) shared++;
  const all = left.size + right.size - shared;
  const text = all === 0 ? 0 : shared / all;
  const isSamePlace =
    a.location !== undefined && b.location !== undefined && placeOf(a.location) === placeOf(b.location);
  return text + (isSamePlace ? SAME_PLACE_BONUS : 0);
}

const STOP_WORDS = new Set(
  "a an and are as at be by for from has have in is it its not of on or that the this to was with".split(" "),
);

function wordsOf(text: string): ReadonlySet<string> {
  const words =
    text
      .slice(0, 2_000)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  return new Set(words.filter((word) => !STOP_WORDS.has(word)).map((word) => word.replace(/(?:ing|ed|es|s)$/, "")));
}

/** Line numbers change between iterations; the file or the heading stays. */
function placeOf(location: string): string {
  return cleanLine(location)
    .toLowerCase()
    .replace(/[\s,:]*(?:lines?|l)?[\s:.]*\d+(?:\s*[-–]\s*\d+)?$/, "");
}
