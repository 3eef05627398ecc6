/** Numbers and choices from outside. Apart from the texts: a cold `haversack next` checks its limit and loads no masking for it. */
import { HaversackError } from "../base/errors.ts";
import { nearest } from "../base/nearest.ts";

/** A whole number, or the fallback when none was given. The fault names the field. */
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

/** The value as it came, short enough for one line. */
export function shown(value: unknown): string {
  // JSON has no NaN and no Infinity.
  const text = typeof value === "number" ? String(value) : (JSON.stringify(value) ?? String(value));
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
