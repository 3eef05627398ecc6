/** What no operation may store, whoever calls it. Texts name the field. */
import { HaversackError } from "../../../base/errors.ts";
import { nearest } from "../../../base/nearest.ts";

export function checkTitle(title: unknown): string {
  if (typeof title !== "string" || title.trim() === "") throw invalid("title must not be empty");
  if (/[\n\r]/.test(title)) throw invalid("title must be one line");
  return title.trim();
}

export function checkChoice<T extends string>(field: string, given: T | undefined | null, choices: readonly T[]): void {
  if (given === undefined || given === null || choices.includes(given)) return;
  const [guess] = nearest(String(given), choices);
  throw invalid(
    `${field} must be one of ${choices.join(", ")}, but is ${JSON.stringify(given)}${guess ? `; did you mean ${guess}?` : ""}`,
  );
}

export function checkCount(field: string, given: number, { minimum = 1 }: { minimum?: number } = {}): void {
  if (Number.isSafeInteger(given) && given >= minimum) return;
  throw invalid(`${field} must be a whole number of at least ${minimum}, but is ${given}`);
}

export function invalid(text: string): HaversackError {
  return new HaversackError("input-invalid", text);
}
