/**
 * The values of rule files as they are met: lists of strings or of `{value, weight}`, priorities as words or numbers,
 * enforcement in a dozen wordings. Every reader takes anything and answers with a value or undefined: "not readable".
 */
import { cleanLine } from "../../base/clean-text.ts";
import type { Enforcement, Priority, WeightedPhrase } from "../types.ts";

export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** promptTriggers, prompt_triggers and prompt-triggers are one key. */
export function plainKey(key: string): string {
  return key.toLowerCase().replace(/[_\-\s]/g, "");
}

export interface ListReading<Item> {
  items: Item[];
  /** How many elements were no text and had none inside. */
  bad: number;
  /** How many were beyond the cap. */
  cut: number;
}

const MAX_ITEMS = 2_000;
const MAX_TEXT_CHARS = 2_000;

/** A list, one text, or `{text: weight}`. Undefined when it is none of these. */
export function readPhrases(value: unknown): ListReading<WeightedPhrase> | undefined {
  if (typeof value === "string") return readPhrases(value.includes(",") ? value.split(",") : [value]);
  if (isObject(value)) {
    const entries = Object.entries(value);
    if (!entries.every(([, weight]) => typeof weight === "number")) return undefined;
    return readPhrases(entries.map(([text, weight]) => ({ value: text, weight })));
  }
  if (!Array.isArray(value)) return undefined;
  const reading: ListReading<WeightedPhrase> = { items: [], bad: 0, cut: Math.max(0, value.length - MAX_ITEMS) };
  for (const element of value.slice(0, MAX_ITEMS)) {
    const text = textOf(element);
    if (text === undefined) reading.bad++;
    else if (text !== "") reading.items.push({ text, weight: isObject(element) ? readWeight(element["weight"]) : 1 });
  }
  return reading;
}

export function readTexts(value: unknown): ListReading<string> | undefined {
  // Not split at commas, unlike keywords: a{2,3} and {a,b} hold some.
  const phrases = readPhrases(typeof value === "string" ? [value] : value);
  return phrases && { ...phrases, items: phrases.items.map(({ text }) => text) };
}

/** Trimmed at no side but for line ends and controls: `interface ` with its space is what the author looks for. */
function textOf(element: unknown): string | undefined {
  if (isObject(element)) {
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

/** Weights are factors; what is no positive number weighs as if nothing had been said. */
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

const PRIORITY_WORDS: Record<string, Priority | undefined> = {
  critical: "critical",
  urgent: "critical",
  highest: "critical",
  p0: "critical",
  high: "high",
  important: "high",
  p1: "high",
  medium: "medium",
  normal: "medium",
  moderate: "medium",
  default: "medium",
  p2: "medium",
  low: "low",
  lowest: "low",
  optional: "low",
  minor: "low",
  p3: "low",
};

/** Numbers are met as 1 to 10 and as 1 to 100, and the higher always wins. */
export function readPriority(value: unknown): Priority | undefined {
  const number = typeof value === "string" && /^\d+(?:\.\d+)?$/.test(value.trim()) ? Number(value) : value;
  if (typeof number === "number") {
    if (!Number.isFinite(number) || number < 0 || number > 100) return undefined;
    const tenth = number > 10 ? number / 10 : number;
    return tenth >= 9 ? "critical" : tenth >= 7 ? "high" : tenth >= 4 ? "medium" : "low";
  }
  return typeof value === "string" ? own(PRIORITY_WORDS, value.trim().toLowerCase()) : undefined;
}

const ENFORCEMENT_WORDS: Record<string, Enforcement | "off" | undefined> = {
  suggest: "suggest",
  suggested: "suggest",
  suggestion: "suggest",
  recommend: "suggest",
  recommended: "suggest",
  optional: "suggest",
  info: "suggest",
  inform: "suggest",
  hint: "suggest",
  soft: "suggest",
  advisory: "suggest",
  manual: "suggest",
  warn: "warn",
  warning: "warn",
  remind: "warn",
  auto: "auto",
  automatic: "auto",
  autoload: "auto",
  autoactivate: "auto",
  inject: "auto",
  load: "auto",
  activate: "auto",
  block: "block",
  blocking: "block",
  deny: "block",
  guard: "block",
  guardrail: "block",
  hard: "block",
  require: "require",
  required: "require",
  mandatory: "require",
  must: "require",
  enforce: "require",
  strict: "require",
  off: "off",
  none: "off",
  disabled: "off",
};

/** `off` means that the rule is not to be used. */
export function readEnforcement(value: unknown): Enforcement | "off" | undefined {
  return typeof value === "string" ? own(ENFORCEMENT_WORDS, plainKey(value.trim())) : undefined;
}

/** 0..1 as it is, above 10 as per cent. Between them it counts points of somebody else's scoring: not readable. */
export function readThreshold(value: unknown): number | undefined {
  if (typeof value !== "number" || !(value > 0)) return undefined;
  if (value <= 1) return value;
  return value > 10 && value <= 100 ? value / 100 : undefined;
}

/** Is it meant as a regular expression where both those and plain phrases are met? */
export function looksLikeRegex(text: string): boolean {
  return /\.[*+?]|\\[a-zA-Z.()/]|\[[^\]]+\]|\([^)]*\|[^)]*\)|^\^|\$$|\w\|\w/.test(text);
}

/**
 * `src/.*`, `\.py$` and `^lib/` are regular expressions, though they stand where globs do. `tailwind.config.*` and
 * `.github/**` are globs.
 */
export function looksLikePathRegex(text: string): boolean {
  return /\\\.|\$$|^\^|(?:^|\/)\.[*+]|\([^)]*\|[^)]*\)/.test(text);
}

function own<Value>(table: Record<string, Value>, key: string): Value | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
