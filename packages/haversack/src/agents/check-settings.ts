/** Checks settings at run time, because JavaScript and settings from files have no types, and a wrong limit would not limit anything. */
import { cleanLine } from "../base/clean-text.ts";
import { isRecord } from "../base/json.ts";
import { nearest } from "../base/nearest.ts";
import { AgentError } from "./errors.ts";

/** What a setting must be, for people, and the check. */
export interface Kind {
  must: string;
  isRight(value: unknown): boolean;
}
export interface Kinds {
  [name: string]: Kind | Kinds;
}

const isNumber = (value: unknown): value is number => typeof value === "number" && !Number.isNaN(value);

/** A number from `least` to `most`. */
export function numberFrom(least: number, most = Number.POSITIVE_INFINITY): Kind {
  const must = most === Number.POSITIVE_INFINITY ? `a number, at least ${least}` : `a number from ${least} to ${most}`;
  return { must, isRight: (value) => isNumber(value) && value >= least && value <= most };
}

/** A whole number of at least `least`, or Infinity. */
export function countFrom(least: number): Kind {
  return {
    must: `a whole number, at least ${least}`,
    isRight: (value) =>
      isNumber(value) && value >= least && (Number.isInteger(value) || value === Number.POSITIVE_INFINITY),
  };
}

export function oneOf(...words: string[]): Kind {
  return { must: words.map((word) => `"${word}"`).join(" or "), isRight: (value) => words.includes(value as string) };
}

export const BOOLEAN: Kind = { must: "true or false", isRight: (value) => typeof value === "boolean" };
export const ANY: Kind = { must: "anything", isRight: () => true };

/** Throws `config-invalid` for the first setting that is unknown or wrong. A setting that is undefined has its default. */
export function checkSettings(given: unknown, kinds: Kinds, { of, path = "" }: { of: string; path?: string }): void {
  const fail = (field: string, text: string, hint: string) => {
    throw new AgentError("config-invalid", `${of}: ${field ? `${field} ` : ""}${text}.`, { hint, field });
  };
  if (!isRecord(given)) return void fail(path, `must be an object, and is ${shown(given)}`, "Give it an object.");
  for (const [name, value] of Object.entries(given)) {
    const field = path ? `${path}.${name}` : name;
    const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
    if (kind === undefined) {
      const names = Object.keys(kinds);
      const [guess] = nearest(name, names);
      const list = `The settings here are ${names.join(", ")}.`;
      fail(field, "is an unknown setting", `${guess ? `Did you mean '${guess}'? ` : ""}${list}`);
    } else if (value === undefined) continue;
    else if (!isKind(kind)) checkSettings(value, kind, { of, path: field });
    else if (!kind.isRight(value))
      fail(field, `is ${shown(value)}`, `It must be ${kind.must}. Leave it out for the default.`);
  }
}

function isKind(kind: Kind | Kinds): kind is Kind {
  return typeof kind["isRight"] === "function";
}

function shown(value: unknown): string {
  return cleanLine(typeof value === "string" ? JSON.stringify(value) : String(value), { maxChars: 60 });
}
