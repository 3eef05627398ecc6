/**
 * The fields of every kind of record: their order on the line, what each may hold, and which must be there. Reading a value
 * against this table is the only way in, for lines of a file and for records that another program's data became.
 */
import { nearest } from "../base/nearest.ts";
import { isAgentName } from "../wake/message.ts";
import { VERDICTS } from "../work/handoff.ts";
import {
  columnOf,
  DEPENDENCY_TYPES,
  ENDED_AS,
  GROUP_STATUSES,
  PRIORITIES,
  TASK_FIELDS,
  TASK_STATUSES,
  type TaskField,
  type TaskFieldSpec,
} from "../work/task.ts";
import type { WorkRecord } from "./work-records.ts";

export type RecordKind = WorkRecord["kind"];

/** In the order of an export. */
export const RECORD_KINDS: readonly RecordKind[] = [
  "epic",
  "story",
  "task",
  "dependency",
  "blocker",
  "failure",
  "handoff",
  "agent",
  "message",
  "skill_use",
  "activity",
];

export type RecordReading =
  /** The problems are fields that no one knows: they are left out. */
  { record: WorkRecord; problems: string[] } | { record?: undefined; problems: string[] };

export function readRecord(value: unknown): RecordReading {
  if (!isObject(value)) return { problems: ["a record must be an object"] };
  const kind = value["kind"];
  if (!RECORD_KINDS.includes(kind as RecordKind)) return { problems: [notOneOf("kind", kind, RECORD_KINDS)] };
  const problems: string[] = [];
  const fields = FIELDS[kind as RecordKind];
  const record: Record<string, unknown> = { kind };
  for (const [name, type, isRequired] of fields) {
    const given = value[name];
    // Other programs write null for what is absent.
    if (given === undefined || given === null) {
      if (isRequired) problems.push(`${name} is missing`);
      continue;
    }
    const read = readField(name, type, given);
    if (read.problem !== undefined) problems.push(read.problem);
    else if (read.value !== undefined) record[name] = read.value;
  }
  if (problems.length > 0) return { problems };
  const known = fields.map(([name]) => name);
  for (const name of Object.keys(value)) {
    if (name !== "kind" && !known.includes(name)) problems.push(`unknown field ${shown(name)}: left out`);
  }
  return { record: record as unknown as WorkRecord, problems };
}

/** What a person calls it: `task T4829`, `dependency T4829 -> T1207`. */
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

type FieldType =
  | readonly string[]
  | "id"
  | "ids"
  | "line"
  | "text"
  | "time"
  | "count"
  | "hours"
  | "texts"
  | "paths"
  | "steps"
  | "claim"
  | "holder"
  | "object"
  | "history"
  | "agent"
  | "flag"
  | "readers";
type Field = readonly [name: string, type: FieldType, isRequired?: true];

/** Fields of a task that somebody sets: see TASK_FIELDS. */
function setFields(...names: TaskField[]): Field[] {
  return names.map((name) => {
    const { kind }: TaskFieldSpec = TASK_FIELDS[name];
    const type = kind === "name" ? "text" : kind;
    return ALWAYS_SET.includes(name) ? [columnOf(name), type, true] : [columnOf(name), type];
  });
}

const ALWAYS_SET: readonly TaskField[] = ["title", "type", "priority"];

function otherThan(...names: TaskField[]): TaskField[] {
  return (Object.keys(TASK_FIELDS) as TaskField[]).filter((name) => !names.includes(name));
}

const FIELDS: Readonly<Record<RecordKind, readonly Field[]>> = {
  epic: [
    ["id", "id", true],
    ["aliases", "ids"],
    ["title", "line", true],
    ["description", "text"],
    ["priority", PRIORITIES, true],
    ["status", GROUP_STATUSES, true],
    ["source", "text"],
    ["created_at", "time", true],
    ["updated_at", "time", true],
    ["completed_at", "time"],
  ],
  story: [
    ["id", "id", true],
    ["aliases", "ids"],
    ["epic_id", "id"],
    ["title", "line", true],
    ["description", "text"],
    ["acceptance_criteria", "text"],
    ["status", GROUP_STATUSES, true],
    ["source", "text"],
    ["created_at", "time", true],
    ["updated_at", "time", true],
    ["completed_at", "time"],
  ],
  task: [
    ["id", "id", true],
    ["aliases", "ids"],
    ...setFields("title", "type"),
    ["status", TASK_STATUSES, true],
    ...setFields("priority", "storyId", "parentId"),
    // All others, in the table's order.
    ...setFields(...otherThan("title", "type", "priority", "storyId", "parentId")),
    ["note", "text"],
    ["created_at", "time", true],
    ["updated_at", "time", true],
    ["started_at", "time"],
    ["completed_at", "time"],
    ["claim", "claim"],
    ["last_holder", "holder"],
    ["wip", "object"],
    ["wip_updated_at", "time"],
    ["wip_history", "history"],
  ],
  dependency: [
    ["task_id", "id", true],
    ["depends_on_id", "id", true],
    ["type", DEPENDENCY_TYPES, true],
    ["created_at", "time", true],
  ],
  blocker: [
    ["task_id", "id", true],
    ["reason", "text", true],
    ["actor", "text", true],
    ["created_at", "time", true],
    ["resolved_at", "time"],
    ["resolved_by", "text"],
  ],
  failure: [
    ["task_id", "id", true],
    ["actor", "text", true],
    ["created_at", "time", true],
    ["summary", "text", true],
    ["details", "text"],
  ],
  handoff: [
    ["id", "id", true],
    ["aliases", "ids"],
    ["task_id", "id", true],
    ["role", "text", true],
    ["attempt", "count", true],
    ["status", VERDICTS, true],
    ["summary", "text", true],
    ["files_changed", "texts"],
    ["details", "text"],
    ["actor", "text", true],
    ["created_at", "time", true],
    ["compacted_at", "time"],
    ["archived_at", "time"],
  ],
  agent: [
    ["name", "agent", true],
    ["branch", "text"],
    ["role", "line"],
    ["client", "text"],
    ["session_id", "text"],
    ["worktree", "text"],
    ["created_at", "time", true],
    ["last_seen_at", "time"],
    ["removed_at", "time"],
  ],
  message: [
    ["id", "id", true],
    ["aliases", "ids"],
    ["from", "text", true],
    ["text", "text", true],
    ["subject", "text"],
    ["created_at", "time", true],
    ["readers", "readers", true],
  ],
  skill_use: [
    ["at", "time", true],
    ["agent", "text", true],
    ["task_id", "id"],
    ["skill", "text", true],
    ["hash", "line", true],
    ["because", "text", true],
  ],
  activity: [
    ["at", "time", true],
    ["actor", "text", true],
    ["activity", "line", true],
    ["subject", "text"],
    ["text", "text", true],
  ],
};

const CLAIM_FIELDS: readonly Field[] = [
  ["agent", "text", true],
  ["session_id", "text"],
  ["agent_id", "text"],
  ["claimed_at", "time", true],
  ["heartbeat_at", "time", true],
  ["lease_until", "time", true],
];
const HOLDER_FIELDS: readonly Field[] = [
  ["agent", "text", true],
  ["session_id", "text"],
  ["agent_id", "text"],
  ["client", "text"],
  ["worktree", "text"],
  ["branch", "text"],
  ["claimed_at", "time", true],
  ["last_seen_at", "time", true],
  ["ended_as", ENDED_AS],
  ["ended_at", "time"],
];
const HISTORY_FIELDS: readonly Field[] = [
  ["at", "time", true],
  ["actor", "text", true],
  ["path", "text", true],
];

const READER_FIELDS: readonly Field[] = [
  ["agent", "agent", true],
  ["branch", "text"],
  ["is_mention", "flag", true],
  ["read_at", "time"],
];

/** An undefined value: an empty list, which is the same as none. */
type Reading = { value: unknown; problem?: undefined } | { problem: string };

const ID = /^[A-Za-z0-9._-]{1,64}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)$/;

function readField(name: string, type: FieldType, given: unknown): Reading {
  if (typeof type !== "string") {
    return type.includes(given as string) ? { value: given } : { problem: notOneOf(name, given, type) };
  }
  switch (type) {
    case "id":
      if (typeof given === "string" && ID.test(given)) return { value: given };
      return { problem: `${name} must be 1 to 64 of A-Z a-z 0-9 . _ -, but is ${shown(given)}` };
    case "ids": {
      const read = readList(name, given, (entry, where) => readField(where, "id", entry));
      if (read.problem !== undefined || read.value === undefined) return read;
      return { value: [...new Set(read.value as string[])].sort() };
    }
    case "line":
      if (typeof given === "string" && given.trim() !== "" && !/[\n\r]/.test(given))
        return { value: wellFormed(given) };
      return { problem: `${name} must be one line of text, but is ${shown(given)}` };
    case "text":
      return typeof given === "string" ? { value: wellFormed(given) } : wrong(name, "a text", given);
    case "time":
      return readTime(name, given);
    case "count":
      return Number.isSafeInteger(given) && (given as number) >= 1
        ? { value: given }
        : wrong(name, "a whole number of at least 1", given);
    case "hours":
      return typeof given === "number" && given >= 0 ? { value: given } : wrong(name, "a number of hours", given);
    case "texts":
    case "paths":
      if (!Array.isArray(given) || !given.every((entry) => typeof entry === "string"))
        return wrong(name, "a list of texts", given);
      return {
        value: listOrNone(type === "paths" ? [...new Set(given.map(wellFormed))].sort() : given.map(wellFormed)),
      };
    case "steps":
      return readList(name, given, (step, where) =>
        isObject(step) && typeof step["text"] === "string" && typeof step["done"] === "boolean"
          ? { value: { text: wellFormed(step["text"]), done: step["done"] } }
          : wrong(where, "{text, done}", step),
      );
    case "claim":
      return readObject(name, given, CLAIM_FIELDS);
    case "holder":
      return readObject(name, given, HOLDER_FIELDS);
    case "object":
      return isObject(given) ? { value: wellFormedDeep(given) } : wrong(name, "an object", given);
    case "history":
      return readList(name, given, (entry, where) => {
        const read = readObject(where, entry, HISTORY_FIELDS);
        if (read.problem !== undefined) return read;
        // Here null is a value: the field was removed.
        const { before, after } = entry as { before?: unknown; after?: unknown };
        const sides = { ...(before !== undefined && { before }), ...(after !== undefined && { after }) };
        return { value: { ...(read.value as object), ...(wellFormedDeep(sides) as object) } };
      });
    case "agent":
      return typeof given === "string" && isAgentName(given)
        ? { value: given }
        : wrong(name, 'letters, digits, ".", "_" and "-", 64 at most', given);
    case "flag":
      return typeof given === "boolean" ? { value: given } : wrong(name, "true or false", given);
    case "readers":
      return readList(name, given, (reader, where) => readObject(where, reader, READER_FIELDS));
  }
}

/** In the one form that the store and the export use. */
function readTime(name: string, given: unknown): Reading {
  const at = typeof given === "string" && TIME.test(given) ? new Date(given) : undefined;
  return at && !Number.isNaN(at.getTime())
    ? { value: at.toISOString() }
    : wrong(name, "an ISO time such as 2026-11-16T09:30:00.000Z", given);
}

function readObject(name: string, given: unknown, fields: readonly Field[]): Reading {
  if (!isObject(given)) return wrong(name, "an object", given);
  const result: Record<string, unknown> = {};
  for (const [field, type, isRequired] of fields) {
    const value = given[field];
    if (value === undefined || value === null) {
      if (isRequired) return { problem: `${name}.${field} is missing` };
      continue;
    }
    const read = readField(`${name}.${field}`, type, value);
    if (read.problem !== undefined) return read;
    result[field] = read.value;
  }
  return { value: result };
}

function readList(name: string, given: unknown, read: (element: unknown, where: string) => Reading): Reading {
  if (!Array.isArray(given)) return wrong(name, "a list", given);
  const values: unknown[] = [];
  for (const [index, element] of given.entries()) {
    const reading = read(element, `${name}[${index}]`);
    if (reading.problem !== undefined) return reading;
    values.push(reading.value);
  }
  return { value: listOrNone(values) };
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

/** Half of a character is stored as U+FFFD anyway: made so on the way in, both sides of a comparison agree. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\ufffd");
}

export function wellFormedDeep(value: unknown): unknown {
  if (typeof value === "string") return wellFormed(value);
  if (Array.isArray(value)) return value.map(wellFormedDeep);
  if (!isObject(value)) return value;
  // Not by assignment: `__proto__` is a name like any other here.
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [wellFormed(name), wellFormedDeep(inner)]));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
