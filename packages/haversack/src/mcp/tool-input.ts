/**
 * A tool's input: the subset of JSON Schema that our tools need, sent to clients unchanged, and the reader that checks a call against it.
 * A schema library would add `$schema` and `additionalProperties` to every tool, which costs the model tokens, and its errors do not say
 * what to do.
 */
import { errorText } from "../base/errors.ts";
import { isRecord } from "../base/json.ts";
import { nearest } from "../base/nearest.ts";

export interface InputSchema {
  type: "object";
  properties: Readonly<Record<string, InputField>>;
  required?: readonly string[];
}

export type InputField = { description?: string } & (
  | { type: "string"; enum?: readonly string[] }
  | { type: "boolean" }
  | { type: "integer" | "number"; minimum?: number; maximum?: number }
  | { type: "array"; items?: { type: "string" } }
  | { type: "object" }
);

/** A parameter. Those with a mark must be given, or work without being listed. */
export type Field = InputField & { isNeeded?: true; isHidden?: true };

export function needed<const One extends InputField>(field: One): One & { isNeeded: true } {
  return { ...field, isNeeded: true };
}

export function hidden<const One extends InputField>(field: One): One & { isHidden: true } {
  return { ...field, isHidden: true };
}

export type ValueOf<One> = One extends { type: "string"; enum: readonly (infer Choice)[] }
  ? Choice
  : One extends { type: "string" }
    ? string
    : One extends { type: "boolean" }
      ? boolean
      : One extends { type: "integer" | "number" }
        ? number
        : One extends { type: "array" }
          ? One extends { items: { type: "string" } }
            ? string[]
            : unknown[]
          : Record<string, unknown>;

export type ReadInput = { value: Record<string, unknown> } | { problem: string };

/** Null counts as absent, because some clients send it for every optional field. `"true"`, `"3"` and `"{…}"` are converted. */
export function readInput(given: unknown, schema: InputSchema): ReadInput {
  if (given === undefined || given === null) return readInput({}, schema);
  if (!isRecord(given)) return { problem: `the arguments must be an object, but are ${show(given)}` };
  const value: Record<string, unknown> = {};
  for (const [name, raw] of Object.entries(given)) {
    const field = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
    if (!field) return { problem: unknownField(name, schema) };
    if (raw === null || raw === undefined) continue;
    const read = readField(raw, field);
    if ("problem" in read) return { problem: `${name} ${read.problem}, but is ${show(raw)}` };
    value[name] = read.value;
  }
  const missing = schema.required?.find((name) => !(name in value));
  return missing === undefined ? { value } : { problem: `${missing} is missing` };
}

function readField(raw: unknown, field: InputField): { value: unknown } | { problem: string } {
  switch (field.type) {
    case "string": {
      if (typeof raw !== "string") return { problem: "must be a string" };
      if (!field.enum || field.enum.includes(raw)) return { value: raw };
      return { problem: `must be one of ${field.enum.join(", ")}` };
    }
    case "boolean": {
      if (typeof raw === "boolean") return { value: raw };
      if (raw === "true" || raw === "false") return { value: raw === "true" };
      return { problem: "must be true or false" };
    }
    case "integer":
    case "number": {
      const number = typeof raw === "string" && raw.trim() !== "" ? Number(raw) : raw;
      const { type, minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = field;
      const isRight = type === "integer" ? Number.isSafeInteger(number) : Number.isFinite(number);
      if (isRight && (number as number) >= minimum && (number as number) <= maximum) return { value: number };
      const bounds = [
        ...(field.minimum === undefined ? [] : [`at least ${field.minimum}`]),
        ...(field.maximum === undefined ? [] : [`at most ${field.maximum}`]),
      ];
      const kind = type === "integer" ? "a whole number" : "a number";
      return { problem: `must be ${kind}${bounds.length > 0 ? ` of ${bounds.join(" and ")}` : ""}` };
    }
    case "array": {
      const list = typeof raw === "string" ? parsed(raw) : raw;
      if (!Array.isArray(list)) return { problem: "must be a list" };
      if (field.items && !list.every((item) => typeof item === "string"))
        return { problem: "must be a list of strings" };
      return { value: list };
    }
    case "object": {
      const object = typeof raw === "string" ? parsed(raw) : raw;
      return isRecord(object) ? { value: object } : { problem: "must be an object" };
    }
  }
}

function unknownField(name: string, { properties }: InputSchema): string {
  const known = Object.keys(properties);
  const [guess] = nearest(name, known);
  return `there is no parameter ${show(name)}; ${guess ? `did you mean ${guess}?` : `it takes ${known.join(", ")}`}`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // Not JSON: keep it as a string, which the caller rejects by its type.
    return errorText(error);
  }
}

/** The value as received, shortened to one line. */
function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
