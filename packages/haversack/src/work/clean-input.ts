/** Checks and cleans input: numbers, choices, texts, files, steps. Faults name the field. */
import { stripControl } from "../base/clean-text.ts";
import { HaversackError } from "../base/errors.ts";
import { maskSecrets } from "../base/mask.ts";
import { nearest } from "../base/nearest.ts";
import { PATH_MAX_CHARS } from "./capture/output-text.ts";
import { joinPath } from "./project-path.ts";
import type { TaskStep } from "./task.ts";

/** An integer, or the fallback if none was given. The fault names the field. */
export function checkWhole(
  value: unknown,
  { field, minimum = 1, fallback }: { field: string; minimum?: number; fallback: number },
): number {
  if (value === undefined || value === null) return fallback;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= minimum) return value;
  throw invalid(`${field} must be a whole number of at least ${minimum}, but is ${shown(value)}`);
}

export function checkChoice<Choice extends string>(
  value: unknown,
  { field, choices }: { field: string; choices: readonly Choice[] },
): Choice | undefined {
  if (value === undefined || value === null) return undefined;
  if (choices.includes(value as Choice)) return value as Choice;
  const [guess] = typeof value === "string" ? nearest(value, choices) : [];
  throw invalid(
    `${field} must be one of ${choices.join(", ")}, but is ${shown(value)}${guess ? `; did you mean ${guess}?` : ""}`,
  );
}

export function invalid(text: string): HaversackError {
  return new HaversackError("input-invalid", text);
}

/** The given value, short enough for one line. */
export function shown(value: unknown): string {
  // JSON has no NaN and no Infinity.
  const text = typeof value === "number" ? String(value) : (JSON.stringify(value) ?? String(value));
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

// Prepares input from agents and people for storage: removes control characters, masks secrets, limits sizes. Invalid input throws a
// fault that names the field as callers write it; nothing has changed then.

const TITLE_MAX_CHARS = 300;
const TEXT_MAX_CHARS = 100_000;
const SUMMARY_MAX_CHARS = 2000;
const NAME_MAX_CHARS = 100;
const FILES_MAX = 500;
const STEPS_MAX = 200;

/** One line: titles, names, reasons. Emoji are allowed. */
export function cleanTitle(value: unknown, { field = "title", maxChars = TITLE_MAX_CHARS } = {}): string {
  const text = asText(value, field).trim();
  if (text === "") throw invalid(`${field} must not be empty`);
  if (/[\n\r\u2028\u2029]/.test(text)) {
    throw invalid(`${field} must be one line, but has a line break; put the rest into description`);
  }
  if (text.length > maxChars) throw tooLong(field, text.length, maxChars, "put the rest into description");
  const clean = maskSecrets(stripControl(text)).trim();
  if (clean === "") throw invalid(`${field} must not be empty, but has only invisible characters`);
  return clean;
}

/** Any number of lines. Undefined: nothing was given. */
export function cleanText(
  value: unknown,
  { field, maxChars = TEXT_MAX_CHARS, instead }: { field: string; maxChars?: number; instead?: string },
): string | undefined {
  if (value === undefined || value === null) return undefined;
  const text = asText(value, field);
  if (text.length > maxChars) throw tooLong(field, text.length, maxChars, instead);
  const clean = maskSecrets(stripControl(text)).trim();
  return clean === "" ? undefined : clean;
}

/** The coordinator reads this text, so it must be short. */
export function cleanSummary(value: unknown): string {
  const clean = cleanText(value, {
    field: "summary",
    maxChars: SUMMARY_MAX_CHARS,
    instead: "put the whole into full_details and two or three sentences here",
  });
  if (clean === undefined) throw invalid("summary must not be empty: two or three sentences on the result");
  return clean;
}

/** No size limit: 10 MB of plain text take 0.15 s; of log lines with a secret in each, 0.7 s. */
export function cleanDetails(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  const clean = maskSecrets(stripControl(asText(value, "full_details")));
  return clean.trim() === "" ? undefined : clean;
}

/** A role, a skill, an assignee: short, one line. */
export function cleanName(value: unknown, { field }: { field: string }): string | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  return cleanTitle(value, { field, maxChars: NAME_MAX_CHARS });
}

/** Relative to the project's root, with `./` and `..` resolved and a folder's trailing slash kept. No duplicates. */
export function cleanFiles(value: unknown, { field = "files" } = {}): string[] | undefined {
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value)) throw invalid(`${field} must be a list of paths, but is ${shown(value)}`);
  if (value.length > FILES_MAX) {
    throw invalid(`${field} has ${value.length} paths; at most ${FILES_MAX} (name folders instead, as "src/auth/")`);
  }
  const paths = value.map((path: unknown, index) => {
    const place = `${field}[${index}]`;
    const text = cleanTitle(asText(path, place), { field: place, maxChars: PATH_MAX_CHARS });
    const whole = joinPath("", text);
    if (whole === "" || whole === "/") throw invalid(`${place} must name a file or folder, but is ${shown(path)}`);
    return /[/\\]$/.test(text) ? `${whole}/` : whole;
  });
  return [...new Set(paths)];
}

/** Texts, or `{text, done}`. */
export function cleanSteps(value: unknown): TaskStep[] | undefined {
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value)) throw invalid(`steps must be a list, but is ${shown(value)}`);
  if (value.length > STEPS_MAX) throw invalid(`steps has ${value.length} entries; at most ${STEPS_MAX}`);
  return value.map((step: unknown, index) => {
    const { text, done } = typeof step === "string" ? { text: step, done: false } : ((step ?? {}) as Partial<TaskStep>);
    const field = `steps[${index}]`;
    const clean = cleanText(text, { field, maxChars: SUMMARY_MAX_CHARS });
    if (clean === undefined) throw invalid(`${field} must not be empty`);
    return { text: clean, done: done === true };
  });
}

const HOURS_MAX = 100_000;

export function cleanHours(value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "number" && Number.isFinite(value) && value >= 0 && value <= HOURS_MAX) return value;
  throw invalid(`estimate_hours must be a number from 0 to ${HOURS_MAX}, but is ${shown(value)}`);
}

/** `plan.md#Task 3`: the file and the section in it. */
export function splitReference(value: unknown): { planFile?: string; planSection?: string } {
  const text = cleanText(value, { field: "traceability_ref", maxChars: 1000 });
  if (text === undefined) return {};
  const at = text.indexOf("#");
  const file = at < 0 ? text : text.slice(0, at);
  const section = at < 0 ? "" : text.slice(at + 1);
  return { ...(file && { planFile: file }), ...(section && { planSection: section }) };
}

function asText(value: unknown, field: string): string {
  if (typeof value !== "string") throw invalid(`${field} must be a text, but is ${shown(value)}`);
  // Half of a surrogate pair would not survive storage.
  return value.toWellFormed();
}

function tooLong(field: string, chars: number, maxChars: number, instead?: string): HaversackError {
  return invalid(`${field} has ${chars} characters; at most ${maxChars}${instead ? ` (${instead})` : ""}`);
}

// What no operation may store, for any caller. The messages name the field.

export function checkTitle(title: unknown): string {
  if (typeof title !== "string" || title.trim() === "") throw invalid("title must not be empty");
  if (/[\n\r]/.test(title)) throw invalid("title must be one line");
  return title.trim();
}

export function checkWord<T extends string>(field: string, given: T | undefined | null, choices: readonly T[]): void {
  checkChoice(given, { field, choices });
}

export function checkCount(field: string, given: number, { minimum = 1 }: { minimum?: number } = {}): void {
  if (Number.isSafeInteger(given) && given >= minimum) return;
  throw invalid(`${field} must be a whole number of at least ${minimum}, but is ${given}`);
}
