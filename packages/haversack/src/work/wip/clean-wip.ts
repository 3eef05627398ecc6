/**
 * Cleans a part of a WIP from outside: an object (or its JSON text), with every text masked and with limited size and depth. Unknown
 * fields are kept; fields whose shape the merge relies on are checked.
 */
import { cutAt, stripControl } from "../../base/clean-text.ts";
import { isRecord, readJson } from "../../base/json.ts";
import { maskField, maskLines } from "../../base/mask.ts";
import { invalid, shown } from "../clean-input.ts";
import type { WipPatch } from "./wip.ts";

const MOST_BYTES = 200_000;
const MOST_DEPTH = 12;
const MOST_STRING_CHARS = 20_000;

/** `field`: the caller's name for the value. */
export function cleanWip(value: unknown, { field = "wip_data" } = {}): WipPatch {
  const object = typeof value === "string" ? parse(value, field) : value;
  if (!isRecord(object)) {
    throw invalid(`${field} must be an object such as {"next_step": "…"}, but is ${shown(value)}`);
  }
  checkDepth(object, field);
  const bytes = Buffer.byteLength(JSON.stringify(object));
  if (bytes > MOST_BYTES) {
    throw invalid(`${field} has ${bytes} bytes; at most ${MOST_BYTES} (files and long outputs are not WIP)`);
  }
  for (const name of ["test_results", "plan"]) {
    const part = object[name];
    if (part !== undefined && part !== null && !isRecord(part)) {
      throw invalid(`${field}.${name} must be an object, but is ${shown(part)}`);
    }
  }
  return cleanValue(object) as WipPatch;
}

function parse(text: string, field: string): unknown {
  const read = readJson(text);
  if (read.problem !== undefined) throw invalid(`${field} must be JSON: ${read.problem}`);
  return read.value;
}

/** Runs before any recursion: 100,000 nested brackets would crash the process. */
function checkDepth(value: object, field: string): void {
  let level: object[] = [value];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > MOST_DEPTH) throw invalid(`${field} is nested more than ${MOST_DEPTH} levels deep`);
    level = level.flatMap((node) => Object.values(node).filter((inner) => typeof inner === "object" && inner !== null));
  }
}

function cleanValue(value: unknown): unknown {
  if (typeof value === "string") return cleanLines([value])[0];
  if (Array.isArray(value))
    return value.every((item) => typeof item === "string") ? cleanLines(value) : value.map(cleanValue);
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).filter(([name]) => name !== "__proto__");
  return Object.fromEntries(entries.map(([name, inner]) => [cleanValue(name), cleanField(name, inner)]));
}

/** Masks before cutting: half a key would not be recognized as a secret. */
function cleanLines(lines: readonly string[]): string[] {
  return maskLines(lines.map((line) => stripControl(line.toWellFormed()))).map((line) =>
    cutAt(line, MOST_STRING_CHARS),
  );
}

function cleanField(name: string, value: unknown): unknown {
  const clean = cleanValue(value);
  return typeof clean === "string" ? maskField(name, clean) : clean;
}
