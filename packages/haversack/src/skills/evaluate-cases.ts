/**
 * Reads cases that say which skill a prompt should find: JSON lines `{prompt, expected[], negative_for[]}`, or the
 * `[{query, should_trigger}]` list that authors keep for one skill. A bad line becomes a problem, the others are read.
 */
import type { Problem } from "./types.ts";

export interface EvalCase {
  id: string;
  prompt: string;
  /** Skills that fit; empty for a prompt that must find nothing. */
  expected: string[];
  /** Skills that must not fire. */
  negativeFor: string[];
  /** Skills that fit too, though the author would take another first. */
  acceptable: string[];
  /** The collection the case comes from: its own field, else the first folder of its skills' ids. */
  source: string;
  lang?: string;
}

export interface ParsedCases {
  cases: EvalCase[];
  problems: Problem[];
}

/** `skill`: whom a `[{query, should_trigger}]` list speaks of. */
export function parseCases(text: string, { file, skill }: { file: string; skill?: string }): ParsedCases {
  const cases: EvalCase[] = [];
  const problems: Problem[] = [];
  const problem = (where: string, what: string) =>
    problems.push({ level: "error", code: "eval-case-invalid", file, where, text: what });

  const read = (value: unknown, where: string, id: string) => {
    const parsed = readCase(value, id, skill);
    if (typeof parsed === "string") problem(where, parsed);
    else cases.push(parsed);
  };
  const list = parseJson(text);
  if (Array.isArray(list)) {
    list.forEach((entry, at) => {
      read(entry, `entry ${at + 1}`, String(at + 1));
    });
    return { cases, problems };
  }
  text.split(/\r?\n/).forEach((line, at) => {
    if (line.trim() === "") return;
    const value = parseJson(line);
    if (value === undefined)
      problem(`line ${at + 1}`, 'This line is not JSON. Write one object a line: {"prompt": …, "expected": [ids]}.');
    else read(value, `line ${at + 1}`, String(at + 1));
  });
  return { cases, problems };
}

function readCase(value: unknown, id: string, skill: string | undefined): EvalCase | string {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "A case must be an object.";
  const entry = value as Record<string, unknown>;
  const ownId = typeof entry["id"] === "string" || typeof entry["id"] === "number" ? String(entry["id"]) : id;
  const prompt = entry["prompt"] ?? entry["query"];
  if (typeof prompt !== "string") return 'It needs a text under "prompt" (or "query" with "should_trigger").';
  if (entry["should_trigger"] !== undefined) {
    if (typeof entry["should_trigger"] !== "boolean") return '"should_trigger" must be true or false.';
    if (skill === undefined) return 'A list with "should_trigger" speaks of one skill: name it with --skill.';
    const fires = entry["should_trigger"];
    return {
      id: ownId,
      prompt,
      expected: fires ? [skill] : [],
      negativeFor: fires ? [] : [skill],
      acceptable: [],
      source: sourceOf(entry, [skill]),
    };
  }
  const expected = idList(entry["expected"]);
  const negativeFor = idList(entry["negative_for"]);
  const acceptable = idList(entry["acceptable"]);
  if (!expected || !negativeFor || !acceptable)
    return '"expected", "negative_for" and "acceptable" must be lists of skill ids.';
  if (entry["expected"] === undefined && entry["negative_for"] === undefined)
    return 'It needs "expected" or "negative_for".';
  return {
    id: ownId,
    prompt,
    expected,
    negativeFor,
    acceptable,
    source: sourceOf(entry, [...expected, ...negativeFor]),
    ...(typeof entry["lang"] === "string" ? { lang: entry["lang"] } : {}),
  };
}

function sourceOf(entry: Record<string, unknown>, ids: readonly string[]): string {
  if (typeof entry["source"] === "string") return entry["source"];
  const [first = ""] = ids;
  return first.includes("/") ? first.slice(0, first.indexOf("/")) : "all";
}

function idList(value: unknown): string[] | undefined {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) && value.every((id) => typeof id === "string") ? value : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON is an expected answer here: the caller tries lines, and names the line that fails.
    return undefined;
  }
}
