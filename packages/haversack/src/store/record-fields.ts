/**
 * The fields of every kind of record: their order on the line, allowed values, and which are required. Every record is read
 * through this table, from the lines of a file or from another program's data.
 */
import { isRecord, readJson } from "../base/json.ts";
import { nearest } from "../base/nearest.ts";
import { isAgentName } from "../wake/text.ts";
import { VERDICTS } from "../work/handoff.ts";
import {
  columnOf,
  DEPENDENCY_TYPES,
  ENDED_AS,
  GROUP_STATUSES,
  PRIORITIES,
  TASK_FIELDS,
  TASK_STATUSES,
  TASK_TYPES,
  type TaskField,
  type TaskFieldRecord,
  type TaskFieldSpec,
  type TaskStep,
} from "../work/task.ts";

export type RecordKind = keyof typeof OWN;

/** Fields that allow a fixed set of words. */
const WORDS = {
  priority: PRIORITIES,
  "task type": TASK_TYPES,
  "task status": TASK_STATUSES,
  "group status": GROUP_STATUSES,
  "dependency type": DEPENDENCY_TYPES,
  verdict: VERDICTS,
  "ended as": ENDED_AS,
} as const;

/** The type of a field. `!` marks a required field. */
type FieldType = keyof typeof WORDS | keyof typeof OBJECTS | keyof PlainValues;

type Field = FieldType | `${FieldType}!`;

type FieldTable = Readonly<Record<string, Field>>;

/** Objects inside of records. */
const OBJECTS = {
  claim: {
    agent: "text!",
    session_id: "text",
    agent_id: "text",
    claimed_at: "time!",
    heartbeat_at: "time!",
    lease_until: "time!",
  },
  holder: {
    agent: "text!",
    session_id: "text",
    agent_id: "text",
    client: "text",
    worktree: "text",
    branch: "text",
    claimed_at: "time!",
    last_seen_at: "time!",
    ended_as: "ended as",
    ended_at: "time",
  },
  reader: { agent: "agent!", branch: "text", is_mention: "flag!", read_at: "time" },
  change: { at: "time!", actor: "text!", path: "text!" },
} as const;

/** The fields of each kind, in their order on the line. The kinds are in the order of an export. */
const OWN = {
  epic: {
    id: "id!",
    /** The ids that other clones use for it. */
    aliases: "ids",
    title: "line!",
    description: "text",
    priority: "priority!",
    status: "group status!",
    source: "text",
    created_at: "time!",
    updated_at: "time!",
    completed_at: "time",
  },
  story: {
    id: "id!",
    aliases: "ids",
    epic_id: "id",
    title: "line!",
    description: "text",
    acceptance_criteria: "text",
    status: "group status!",
    source: "text",
    created_at: "time!",
    updated_at: "time!",
    completed_at: "time",
  },
  /** In addition to TASK_FIELDS. */
  task: {
    id: "id!",
    aliases: "ids",
    status: "task status!",
    note: "text",
    created_at: "time!",
    updated_at: "time!",
    started_at: "time",
    completed_at: "time",
    claim: "claim",
    /** The last holder of an unfinished task, even after the claim has ended. */
    last_holder: "holder",
    wip: "object",
    wip_updated_at: "time",
    wip_history: "changes",
  },
  dependency: { task_id: "id!", depends_on_id: "id!", type: "dependency type!", created_at: "time!" },
  blocker: {
    task_id: "id!",
    reason: "text!",
    actor: "text!",
    created_at: "time!",
    resolved_at: "time",
    resolved_by: "text",
  },
  failure: { task_id: "id!", actor: "text!", created_at: "time!", summary: "text!", details: "text" },
  handoff: {
    id: "id!",
    aliases: "ids",
    task_id: "id!",
    role: "text!",
    attempt: "count!",
    status: "verdict!",
    summary: "text!",
    files_changed: "texts",
    details: "text",
    actor: "text!",
    created_at: "time!",
    compacted_at: "time",
    archived_at: "time",
  },
  /** Identified by name and branch; it has no id. */
  agent: {
    name: "agent!",
    branch: "text",
    role: "line",
    client: "text",
    session_id: "text",
    worktree: "text",
    created_at: "time!",
    last_seen_at: "time",
    removed_at: "time",
  },
  message: {
    id: "id!",
    aliases: "ids",
    from: "text!",
    text: "text!",
    subject: "text",
    created_at: "time!",
    readers: "readers!",
  },
  /** Which version of a skill an agent worked with. The text itself stays in the local index. */
  skill_use: { at: "time!", agent: "text!", task_id: "id", skill: "text!", hash: "line!", because: "text!" },
  activity: { at: "time!", actor: "text!", activity: "line!", subject: "text", text: "text!" },
} as const satisfies Record<string, FieldTable>;

export const RECORD_KINDS = Object.keys(OWN) as readonly RecordKind[];

export const FIELDS: Readonly<Record<RecordKind, FieldTable>> = { ...OWN, task: taskFields() };

/** A key keeps the position where it first appears. */
function taskFields(): FieldTable {
  const { id, aliases, status } = OWN.task;
  const set = (...names: TaskField[]) => Object.fromEntries(names.map((name) => [columnOf(name), fieldOf(name)]));
  const all = Object.keys(TASK_FIELDS) as TaskField[];
  return { id, aliases, ...set("title", "type"), status, ...set("priority", ...all), ...(OWN.task as FieldTable) };
}

function fieldOf(name: TaskField): Field {
  const { kind }: TaskFieldSpec = TASK_FIELDS[name];
  const words = Object.entries(WORDS).find(([, list]) => list === kind)?.[0];
  const type = (words ?? (kind === "name" ? "text" : kind)) as FieldType;
  return ["title", "type", "priority"].includes(name) ? `${type}!` : type;
}

type ValueOf<Type> = Type extends `${infer Bare}!`
  ? ValueOf<Bare>
  : Type extends keyof typeof OBJECTS
    ? FieldsOf<(typeof OBJECTS)[Type]>
    : Type extends keyof PlainValues
      ? PlainValues[Type]
      : string;

interface PlainValues {
  id: string;
  line: string;
  text: string;
  time: string;
  agent: string;
  ids: string[];
  texts: string[];
  paths: string[];
  count: number;
  hours: number;
  flag: boolean;
  object: Record<string, unknown>;
  steps: TaskStep[];
  readers: FieldsOf<(typeof OBJECTS)["reader"]>[];
  changes: (FieldsOf<(typeof OBJECTS)["change"]> & { before?: unknown; after?: unknown })[];
}

type FieldsOf<Table> = {
  -readonly [Name in keyof Table as Table[Name] extends `${string}!` ? Name : never]: ValueOf<Table[Name]>;
} & { -readonly [Name in keyof Table as Table[Name] extends `${string}!` ? never : Name]?: ValueOf<Table[Name]> };

export type RecordOf<Kind extends RecordKind> = Kind extends RecordKind
  ? { kind: Kind } & FieldsOf<(typeof OWN)[Kind]> &
      (Kind extends "task" ? TaskFieldRecord & { title: string; type: string; priority: string } : unknown)
  : never;

export type WorkRecord = RecordOf<RecordKind>;

export type TaskRecord = RecordOf<"task">;

export type AgentRecord = RecordOf<"agent">;

export type MessageRecord = RecordOf<"message">;

export type EpicRecord = RecordOf<"epic">;
export type DependencyRecord = RecordOf<"dependency">;

export type RecordReading =
  /** problems: unknown fields, which are left out. */
  { record: WorkRecord; problems: string[] } | { record?: undefined; problems: string[] };

export function readRecord(value: unknown): RecordReading {
  if (!isRecord(value)) return { problems: ["a record must be an object"] };
  const kind = value["kind"] as RecordKind;
  if (!RECORD_KINDS.includes(kind)) return { problems: [notOneOf("kind", kind, RECORD_KINDS)] };
  const { fields, problems } = readFields(value, FIELDS[kind]);
  if (problems.length > 0) return { problems };
  for (const name of Object.keys(value)) {
    if (name !== "kind" && !Object.hasOwn(FIELDS[kind], name)) problems.push(`unknown field ${shown(name)}: left out`);
  }
  return { record: { kind, ...fields } as unknown as WorkRecord, problems };
}

/** `within`: a prefix for the field names in problems. */
function readFields(
  given: Record<string, unknown>,
  table: FieldTable,
  within = "",
): { fields: Record<string, unknown>; problems: string[] } {
  const fields: Record<string, unknown> = {};
  const problems: string[] = [];
  for (const [name, field] of Object.entries(table)) {
    const value = given[name];
    // Other programs write null for absent fields.
    if (value === undefined || value === null) {
      if (field.endsWith("!")) problems.push(`${within}${name} is missing`);
      continue;
    }
    const read = readField(within + name, field.replace("!", "") as FieldType, value);
    if (read.problem !== undefined) problems.push(read.problem);
    else if (read.value !== undefined) fields[name] = read.value;
  }
  return { fields, problems };
}

/** A name for people: `task T4829`, `dependency T4829 -> T1207`. */
export function nameOfRecord(record: WorkRecord): string {
  switch (record.kind) {
    case "epic":
    case "story":
    case "task":
    case "handoff":
    case "message":
      return `${record.kind} ${record.id}`;
    case "agent":
      return nameOfAgent(record);
    case "dependency":
      return `dependency ${record.task_id} -> ${record.depends_on_id}`;
    case "blocker":
    case "failure":
      return `${record.kind} of task ${record.task_id}`;
    case "skill_use":
      return `use of skill ${record.skill} ${record.at}`;
    case "activity":
      return `activity ${record.at} ${record.activity}`;
  }
}

export function nameOfAgent({ name, branch }: { name: string; branch?: string }): string {
  return `agent @${name}${branch ? ` on ${branch}` : ""}`;
}

/** An undefined value stands for an empty list, which counts as absent. */
type Reading = { value: unknown; problem?: undefined } | { problem: string };

const ID = /^[A-Za-z0-9._-]{1,64}$/;

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)$/;

function readField(name: string, type: FieldType, given: unknown): Reading {
  if (type in WORDS) {
    const words: readonly string[] = WORDS[type as keyof typeof WORDS];
    return words.includes(given as string) ? { value: given } : { problem: notOneOf(name, given, words) };
  }
  if (type in OBJECTS) return readObject(name, given, OBJECTS[type as keyof typeof OBJECTS]);
  return READERS[type as keyof PlainValues](name, given);
}

type Read = (name: string, given: unknown) => Reading;

/** Returns a valid value in the form that `clean` gives it, else a text that says what it must be. */
function reader(
  isGood: (given: unknown) => boolean,
  wanted: string,
  clean: (given: never) => unknown = (same) => same,
): Read {
  return (name, given) => (isGood(given) ? { value: clean(given as never) } : wrong(name, wanted, given));
}

const isText = (given: unknown): given is string => typeof given === "string";
const areTexts = (given: unknown) => Array.isArray(given) && given.every(isText);
const isStep = (given: unknown) => isRecord(given) && isText(given["text"]) && typeof given["done"] === "boolean";
const readId = reader((given) => isText(given) && ID.test(given), "1 to 64 of A-Z a-z 0-9 . _ -");

const READERS: Readonly<Record<keyof PlainValues, Read>> = {
  id: readId,
  ids: list(readId, (ids) => [...new Set(ids)].sort()),
  line: reader(
    (given) => isText(given) && given.trim() !== "" && !/[\n\r]/.test(given),
    "one line of text",
    wellFormed,
  ),
  text: reader(isText, "a text", wellFormed),
  // In the one format that the store and the export use.
  time: reader(
    (given) => isText(given) && TIME.test(given) && !Number.isNaN(Date.parse(given)),
    "an ISO time such as 2026-11-16T09:30:00.000Z",
    (time: string) => new Date(time).toISOString(),
  ),
  count: reader((given) => Number.isSafeInteger(given) && Number(given) >= 1, "a whole number of at least 1"),
  hours: reader((given) => typeof given === "number" && given >= 0, "a number of hours"),
  texts: reader(areTexts, "a list of texts", (texts: string[]) => listOrNone(texts.map(wellFormed))),
  paths: reader(areTexts, "a list of texts", (paths: string[]) =>
    listOrNone([...new Set(paths.map(wellFormed))].sort()),
  ),
  steps: list(reader(isStep, "{text, done}", ({ text, done }: TaskStep) => ({ text: wellFormed(text), done }))),
  object: reader(isRecord, "an object", wellFormedDeep),
  changes: list(readChange),
  agent: reader((given) => isText(given) && isAgentName(given), 'letters, digits, ".", "_" and "-", 64 at most'),
  flag: reader((given) => typeof given === "boolean", "true or false"),
  readers: list((name, given) => readObject(name, given, OBJECTS.reader)),
};

function readChange(name: string, given: unknown): Reading {
  const read = readObject(name, given, OBJECTS.change);
  if (read.problem !== undefined) return read;
  // Here null is a value: it means that the field was removed.
  const { before, after } = given as { before?: unknown; after?: unknown };
  const sides = { ...(before !== undefined && { before }), ...(after !== undefined && { after }) };
  return { value: { ...(read.value as object), ...(wellFormedDeep(sides) as object) } };
}

function readObject(name: string, given: unknown, table: FieldTable): Reading {
  if (!isRecord(given)) return wrong(name, "an object", given);
  const { fields, problems } = readFields(given, table, `${name}.`);
  return problems[0] === undefined ? { value: fields } : { problem: problems[0] };
}

function list(read: Read, clean: (values: unknown[]) => unknown[] = (same) => same): Read {
  return (name, given) => {
    if (!Array.isArray(given)) return wrong(name, "a list", given);
    const values: unknown[] = [];
    for (const [index, element] of given.entries()) {
      const reading = read(`${name}[${index}]`, element);
      if (reading.problem !== undefined) return reading;
      values.push(reading.value);
    }
    return { value: listOrNone(clean(values)) };
  };
}

function listOrNone<T>(list: T[]): T[] | undefined {
  return list.length === 0 ? undefined : list;
}

function wrong(name: string, wanted: string, given: unknown): { problem: string } {
  return { problem: `${name} must be ${wanted}, but is ${shown(given)}` };
}

function notOneOf(name: string, given: unknown, choices: readonly string[]): string {
  const [guess] = typeof given === "string" ? nearest(given, choices) : [];
  return `${name} must be one of ${choices.join(", ")}, but is ${shown(given)}${guess ? `; did you mean ${guess}?` : ""}`;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? "missing";
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/** Replaces lone surrogates with U+FFFD, as storing does anyway. Doing it on input makes comparisons agree. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\ufffd");
}

export function wellFormedDeep(value: unknown): unknown {
  if (typeof value === "string") return wellFormed(value);
  if (Array.isArray(value)) return value.map(wellFormedDeep);
  if (!isRecord(value)) return value;
  // Not by assignment, because `__proto__` may be a key.
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [wellFormed(name), wellFormedDeep(inner)]));
}

// Work state as records: what an export writes, one line of JSON each, and what an import reads. Times are ISO text and absent
// fields are left out. Keys and lines have a fixed order, so two exports of the same state have the same bytes, and two
// branches differ only in the lines that changed.

export interface ImportOptions {
  /** Report only; change nothing. */
  isDryRun?: boolean;
}

export interface ImportReport {
  added: Record<WorkRecord["kind"], number>;
  /** Already stored and equal. */
  same: number;
  /** The stored record was older and was replaced. */
  updated: { id: string; fields: string[] }[];
  /** The stored record was newer and was kept. */
  kept: { id: string; fields: string[] }[];
  /** Two different things had the same id. The imported one got a new id, with the old one as its alias. */
  renamed: { from: string; to: string }[];
  /** Already stored under another id from another clone. The imported id is now its alias. */
  recognized: { from: string; to: string }[];
  /** What could not be imported, and why. */
  problems: { where: string; text: string }[];
}

// Records as text: a header line, then one line of compact JSON per record. The order of keys and lines is fixed and long texts
// stay on one line, so in git a changed task is one changed line.

export const RECORDS_VERSION = 1;

export const FIRST_LINE = `{"haversack":"work","version":${RECORDS_VERSION}}`;

/** Without a line feed at the end. */
export function formatRecord(record: WorkRecord): string {
  // Reading sorts the keys, drops empty fields and makes the texts well-formed.
  const { record: ordered } = readRecord(record);
  // An invalid row is still the user's data, so it is exported unchanged.
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
    return { kind: "problem", problems: problem([`is not JSON: ${column}`]) };
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

/** Reads a whole file. Invalid lines are reported and the rest is read. A file of a newer version is not read at all. */
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
