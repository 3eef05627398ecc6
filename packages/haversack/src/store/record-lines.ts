/**
 * Records as text: a first line that says what the file is, then one line of compact JSON per record. The order of keys and
 * lines is fixed and long texts stay on their line, so that a change of one task is a change of one line in git.
 */
import { readJson } from "../base/json.ts";
import { type RecordKind, readRecord } from "./record-fields.ts";
import type { WorkRecord } from "./work-records.ts";

export const RECORDS_VERSION = 1;
export const FIRST_LINE = `{"haversack":"work","version":${RECORDS_VERSION}}`;

/** Without its line feed. */
export function formatRecord(record: WorkRecord): string {
  // Reading puts the keys in order, leaves out what is empty and makes the texts well-formed.
  const { record: ordered } = readRecord(record);
  // A row that no one should have been able to store is still the user's: it goes out as it is.
  return JSON.stringify(ordered ?? record);
}

export type RecordLine =
  | { kind: "record"; record: WorkRecord; problems: LineProblem[] }
  | { kind: "first-line"; version: number }
  | { kind: "blank" }
  | { kind: "problem"; problems: LineProblem[] };

export interface LineProblem {
  /** `line 12`, `line 12 (task T4829)` */
  where: string;
  text: string;
}

/** Lines count from 1. */
export function parseRecordLine(line: string, number: number): RecordLine {
  const text = line.replace(/^\ufeff/, "").trim();
  if (text === "") return { kind: "blank" };
  const problem = (found: readonly string[], where = `line ${number}`): LineProblem[] =>
    found.map((entry) => ({ where, text: entry }));
  if (/^(?:<{7}|={7}|>{7}|\|{7})/.test(text)) {
    return { kind: "problem", problems: problem(["a mark of a merge conflict: resolve it in git first"]) };
  }
  const json = readJson(text);
  if (json.problem !== undefined) {
    const column = json.problem.replace(/^line 1:(\d+): /, "column $1: ");
    return { kind: "problem", problems: problem([`is no JSON: ${column}`]) };
  }
  const value = json.value as Record<string, unknown> | null;
  if (typeof value === "object" && value !== null && value["haversack"] === "work") {
    const version = value["version"];
    if (typeof version === "number" && version >= 1) return { kind: "first-line", version };
    return { kind: "problem", problems: problem(["version must be a number of at least 1"]) };
  }
  const read = readRecord(value);
  const where = `line ${number}${nameOf(value)}`;
  if (!read.record) return { kind: "problem", problems: problem(read.problems, where) };
  return { kind: "record", record: read.record, problems: problem(read.problems, where) };
}

export interface RecordFile {
  records: WorkRecord[];
  problems: LineProblem[];
}

/** A whole file. What is broken is reported, the rest is read; of a newer version's file nothing is. */
export function parseRecords(text: string): RecordFile {
  const file: RecordFile = { records: [], problems: [] };
  const lines = text.split("\n");
  for (const [index, line] of lines.entries()) {
    const read = parseRecordLine(line, index + 1);
    if (read.kind === "first-line" && read.version > RECORDS_VERSION) {
      const found = `the file is of version ${read.version}, this Haversack reads up to ${RECORDS_VERSION}: update it`;
      return { records: [], problems: [{ where: `line ${index + 1}`, text: found }] };
    }
    if (read.kind === "record") file.records.push(read.record);
    if (read.kind === "record" || read.kind === "problem") file.problems.push(...read.problems);
  }
  return file;
}

function nameOf(value: unknown): string {
  const { kind, id } = (value ?? {}) as { kind?: RecordKind; id?: unknown };
  return typeof kind === "string" && typeof id === "string" ? ` (${kind.slice(0, 20)} ${id.slice(0, 64)})` : "";
}
