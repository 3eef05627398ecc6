/** Parses the words of the command line into a call, or a usage error that suggests the nearest valid word. */
import { parseArgs } from "node:util";
import { HaversackError } from "../base/errors.ts";
import { nearest } from "../base/nearest.ts";
import { type ArgumentSpec, type Call, type CommandSpec, flag, type OptionSpec, type OptionValue } from "./command.ts";

export type Parsed =
  | ({ kind: "call" } & Omit<Call, "io" | "name">)
  | { kind: "help" }
  | { kind: "usage"; text: string };

const COMMON_OPTIONS: Readonly<Record<string, OptionSpec>> = {
  json: flag("Print one JSON document."),
  help: { type: "boolean", short: "h", about: "Show this help." },
};

export function allOptions(spec: CommandSpec): Readonly<Record<string, OptionSpec>> {
  return { ...spec.options, ...COMMON_OPTIONS };
}

export function parseCall(given: readonly string[], spec: CommandSpec): Parsed {
  const end = spec.rest ? given.indexOf("--") : -1;
  const [words, rest] = end < 0 ? [given, []] : [given.slice(0, end), given.slice(end + 1)];
  const options = allOptions(spec);
  const { tokens } = parseArgs({
    args: [...words],
    options: Object.fromEntries(
      [...Object.entries(options), ...oldOptions(spec)].map(([name, { type, short }]) => [
        name,
        {
          type: type === "boolean" ? ("boolean" as const) : ("string" as const),
          ...(short && { short }),
          multiple: true,
        },
      ]),
    ),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });

  const found: Record<string, OptionValue> = {};
  const positionals: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") positionals.push(token.value);
    if (token.kind !== "option") continue;
    const name = options[token.name] ? token.name : (spec.oldOptions?.[token.name] ?? token.name);
    const option = options[name];
    if (!option) {
      const [guess] = nearest(token.rawName.replace(/^-+/, ""), Object.keys(options));
      return { kind: "usage", text: `unknown option ${token.rawName}${guess ? `; did you mean --${guess}?` : ""}` };
    }
    if (name === "help") return { kind: "help" };
    const value = readValue(token.rawName, token.value, option);
    if ("wrong" in value) return { kind: "usage", text: value.wrong };
    if (option.repeat) found[name] = [...((found[name] as string[]) ?? []), String(value.value)];
    else found[name] = value.value;
  }

  const wrong = wrongArguments(positionals, spec.arguments ?? []);
  if (wrong) return { kind: "usage", text: wrong };
  const { json, ...known } = found;
  return {
    kind: "call",
    arguments: positionals,
    ...(spec.rest && { rest }),
    options: known,
    json: json === true,
  };
}

/** Old options take the same values as the new ones. */
function oldOptions({ options = {}, oldOptions: names = {} }: CommandSpec): [string, OptionSpec][] {
  return Object.entries(names).flatMap(([old, name]): [string, OptionSpec][] => {
    const option = options[name];
    return option ? [[old, option]] : [];
  });
}

function readValue(
  rawName: string,
  text: string | undefined,
  { type, choices, minimum, maximum, value = "VALUE" }: OptionSpec,
): { value: string | number | boolean } | { wrong: string } {
  if (type === "boolean") {
    return text === undefined ? { value: true } : { wrong: `${rawName} takes no value, but got "${text}"` };
  }
  if (text === undefined) return { wrong: `${rawName} needs a value: ${rawName} ${value}` };
  if (type === "string") {
    if (!choices || choices.includes(text)) return { value: text };
    const [guess] = nearest(text, choices);
    return {
      wrong: `${rawName} must be one of ${choices.join(", ")}, but is "${text}"${guess ? `; did you mean ${guess}?` : ""}`,
    };
  }
  const number = text.trim() === "" ? Number.NaN : Number(text);
  const isRight = Number.isFinite(number) && (type === "number" || Number.isSafeInteger(number));
  if (isRight && number >= (minimum ?? -Infinity) && number <= (maximum ?? Infinity)) return { value: number };
  const bounds = [minimum !== undefined && `at least ${minimum}`, maximum !== undefined && `at most ${maximum}`].filter(
    Boolean,
  );
  const must = `a ${type === "integer" ? "whole " : ""}number${bounds.length ? ` of ${bounds.join(" and ")}` : ""}`;
  return { wrong: `${rawName} must be ${must}, but is "${text}"` };
}

function wrongArguments(words: readonly string[], specs: readonly ArgumentSpec[]): string | undefined {
  const missing = specs.find((spec, at) => spec.required && words[at] === undefined);
  if (missing) return `${missing.name} is missing: ${missing.about}`;
  const takesMany = specs.some((spec) => spec.many);
  if (!takesMany && words.length > specs.length) {
    const last = specs.at(-1);
    // An ID is one word, so quotes would not help.
    const isId = last !== undefined && /\bID\b/.test(last.about);
    const why = isId ? `; it takes one ${last.name}` : last ? `; a ${last.name} of several words needs quotes` : "";
    return `unexpected argument "${words[specs.length]}"${why}`;
  }
  return undefined;
}

const UNIT_MS: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** Converts `90d` or a date to a point in time. */
export function parseAge(text: string, now: Date): Date {
  const [, amount, unit = ""] = /^(\d+)([mhdw])$/.exec(text) ?? [];
  const at = amount
    ? now.getTime() - Number(amount) * (UNIT_MS[unit] ?? 0)
    : /^\d{4}-\d{2}-\d{2}/.test(text)
      ? Date.parse(text)
      : Number.NaN;
  if (Number.isNaN(at) || Number.isNaN(new Date(at).getTime())) {
    throw new HaversackError("usage", `"${text}" is not an age: write 30m, 12h, 90d, 8w or a date such as 2026-09-01`);
  }
  return new Date(at);
}
