/**
 * Values of rules files as found in the wild: lists of strings or `{value, weight}`, priorities as words or numbers, enforcement in a dozen
 * wordings. Every reader accepts anything and returns a value, or undefined if it is not readable.
 */
import { cleanLine } from "../../base/clean-text.ts";
import { isRecord } from "../../base/json.ts";
import type { Enforcement, Priority, WeightedPhrase } from "../types.ts";

export type JsonObject = Record<string, unknown>;

/** promptTriggers, prompt_triggers and prompt-triggers are the same key. */
export function plainKey(key: string): string {
  return key.toLowerCase().replace(/[_\-\s]/g, "");
}

export interface ListReading<Item> {
  items: Item[];
  /** Number of elements that neither were nor held a text. */
  bad: number;
  /** Number of elements beyond the limit. */
  cut: number;
}

const MAX_ITEMS = 2_000;
const MAX_TEXT_CHARS = 2_000;

/** A list, one text, or `{text: weight}`. Undefined for anything else. */
export function readPhrases(value: unknown): ListReading<WeightedPhrase> | undefined {
  if (typeof value === "string") return readPhrases(value.includes(",") ? value.split(",") : [value]);
  if (isRecord(value)) {
    const entries = Object.entries(value);
    if (!entries.every(([, weight]) => typeof weight === "number")) return undefined;
    return readPhrases(entries.map(([text, weight]) => ({ value: text, weight })));
  }
  if (!Array.isArray(value)) return undefined;
  const reading: ListReading<WeightedPhrase> = { items: [], bad: 0, cut: Math.max(0, value.length - MAX_ITEMS) };
  for (const element of value.slice(0, MAX_ITEMS)) {
    const text = textOf(element);
    if (text === undefined) reading.bad++;
    else if (text !== "") reading.items.push({ text, weight: isRecord(element) ? readWeight(element["weight"]) : 1 });
  }
  return reading;
}

export function readTexts(value: unknown): ListReading<string> | undefined {
  // Unlike keywords, not split at commas: a{2,3} and {a,b} contain some.
  const phrases = readPhrases(typeof value === "string" ? [value] : value);
  return phrases && { ...phrases, items: phrases.items.map(({ text }) => text) };
}

/** Removes line breaks and control characters, but no spaces: in `interface ` the author means the space. */
function textOf(element: unknown): string | undefined {
  if (isRecord(element)) {
    for (const key of ["value", "pattern", "regex", "source", "text", "keyword", "phrase", "path", "glob", "name"]) {
      if (typeof element[key] === "string") return textOf(element[key]);
    }
    return undefined;
  }
  if (typeof element === "number") return String(element);
  if (typeof element !== "string") return undefined;
  const text = element.slice(0, MAX_TEXT_CHARS).replace(/[\u0000-\u0008\u000a-\u001f\u007f]/g, "");
  return text.trim() === "" ? "" : text;
}

/** Weights are factors. Anything but a positive number counts as 1. */
function readWeight(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.min(value, 10) : 1;
}

export function readLine(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  if (typeof value !== "string") return undefined;
  const text = cleanLine(value, { maxChars: MAX_TEXT_CHARS });
  return text === "" ? undefined : text;
}

export function readBoolean(value: unknown): boolean | undefined {
  if (typeof value === "boolean") return value;
  if (value === "true" || value === "yes" || value === 1) return true;
  return value === "false" || value === "no" || value === 0 ? false : undefined;
}

const PRIORITY_WORDS = new Map(
  spread<Priority>([
    ["critical urgent highest p0", "critical"],
    ["high important p1", "high"],
    ["medium normal moderate default p2", "medium"],
    ["low lowest optional minor p3", "low"],
  ]),
);

/** Found as 1 to 10 and as 1 to 100; the higher number always means more. */
export function readPriority(value: unknown): Priority | undefined {
  const number = typeof value === "string" && /^\d+(?:\.\d+)?$/.test(value.trim()) ? Number(value) : value;
  if (typeof number === "number") {
    if (!Number.isFinite(number) || number < 0 || number > 100) return undefined;
    const tenth = number > 10 ? number / 10 : number;
    return tenth >= 9 ? "critical" : tenth >= 7 ? "high" : tenth >= 4 ? "medium" : "low";
  }
  return typeof value === "string" ? PRIORITY_WORDS.get(value.trim().toLowerCase()) : undefined;
}

const ENFORCEMENT_WORDS = new Map(
  spread<Enforcement | "off">([
    ["suggest suggested suggestion recommend recommended optional info inform hint soft advisory manual", "suggest"],
    ["warn warning remind", "warn"],
    ["auto automatic autoload autoactivate inject load activate", "auto"],
    ["block blocking deny guard guardrail hard", "block"],
    ["require required mandatory must enforce strict", "require"],
    ["off none disabled", "off"],
  ]),
);

/** `off` means that the rule is not used. */
export function readEnforcement(value: unknown): Enforcement | "off" | undefined {
  return typeof value === "string" ? ENFORCEMENT_WORDS.get(plainKey(value.trim())) : undefined;
}

/** 0..1 as is, above 10 as percent. Values between count points of another scoring system: not readable. */
export function readThreshold(value: unknown): number | undefined {
  if (typeof value !== "number" || !(value > 0)) return undefined;
  if (value <= 1) return value;
  return value > 10 && value <= 100 ? value / 100 : undefined;
}

/** Whether a value is a regular expression, where both those and plain phrases are allowed. */
export function looksLikeRegex(text: string): boolean {
  return /\.[*+?]|\\[a-zA-Z.()/]|\[[^\]]+\]|\([^)]*\|[^)]*\)|^\^|\$$|\w\|\w/.test(text);
}

/** `src/.*`, `\.py$` and `^lib/` are regular expressions, even where globs are expected. `tailwind.config.*` and `.github/**` are globs. */
export function looksLikePathRegex(text: string): boolean {
  return /\\\.|\$$|^\^|(?:^|\/)\.[*+]|\([^)]*\|[^)]*\)/.test(text);
}

/** One entry for each of the keys in a row. */
export function spread<Value>(rows: readonly (readonly [keys: string, value: Value])[]): [string, Value][] {
  return rows.flatMap(([keys, value]) => keys.split(" ").map((key): [string, Value] => [key, value]));
}
