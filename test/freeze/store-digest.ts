/** The content of a project's state folder, and what an event changed there, in a machine-independent form. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Project } from "./project.ts";

type Row = Record<string, unknown>;
/** Rows by table and key. */
export type Digest = ReadonlyMap<string, ReadonlyMap<string, Row>>;
/** By table: complete new rows, changed rows with old and new values, keys of deleted rows. */
export type Changes = Record<string, { new?: Row[]; changed?: Row[]; gone?: unknown[] }>;

/** The index of skills: a refresh builds it from files, events only read it. */
const INDEX =
  /^(skills|skills_search.*|skill_bodies|skill_rules|rule_files|terms|triggers|patterns|slow_patterns|sqlite_.*)$/;
/** Progress in reading transcripts: it differs between drivers and changes no answer. */
const BOOKKEEPING = /^(transcripts|seen_calls)$/;
const MACHINE = new Set(["process_id", "process_space", "process_start"]);
/** The database's own files, which come and go. */
const STORE_FILES = /^haversack\.db(-wal|-shm|-journal)?$/;

const STEP_MS = 20;

/** Cached digest per project with the state of its files, because most events write nothing. */
const latest = new WeakMap<Project, { files: string; digest: Digest }>();

/** Undefined while an exclusive lock prevents reading. */
export function storeDigest(project: Project): Digest | undefined {
  const state = join(project.root, ".haversack");
  const known = latest.get(project);
  const files = stateOfFiles(state);
  if (files !== undefined && known?.files === files) return known.digest;
  const digest = readStore(state, project);
  if (digest && files !== undefined) latest.set(project, { files, digest });
  return digest;
}

/** Undefined if the files changed just now. */
function stateOfFiles(state: string): string | undefined {
  if (!existsSync(state)) return "";
  // File times have limited resolution: a file written just now may change again with the same time.
  const now = BigInt(Math.floor((performance.timeOrigin + performance.now() - STEP_MS) * 1_000_000));
  const names = readdirSync(state, { recursive: true, encoding: "utf8" }).filter((name) => !name.endsWith("-shm"));
  const stats = names.map(
    (name) => [name, statSync(join(state, name), { bigint: true, throwIfNoEntry: false })] as const,
  );
  if (stats.some(([, stat]) => stat && stat.mtimeNs > now)) return undefined;
  return stats.map(([name, stat]) => `${name} ${stat?.ino} ${stat?.size} ${stat?.mtimeNs}`).join("\n");
}

function readStore(state: string, project: Project): Digest | undefined {
  const digest = new Map<string, Map<string, Row>>([["(files)", filesIn(state, project)]]);
  const file = join(state, "haversack.db");
  if (!existsSync(file)) return digest;
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(file, { readOnly: true });
    const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").all();
    for (const { name } of tables)
      if (!INDEX.test(String(name)) && !BOOKKEEPING.test(String(name)))
        digest.set(String(name), rowsOf(db, String(name), project));
    return digest;
  } catch (error) {
    if (/locked|busy/i.test(String(error))) return undefined;
    // No database at all.
    return digest;
  } finally {
    db?.close();
  }
}

export function changesBetween(before: Digest, after: Digest): Changes {
  const changes: Changes = {};
  for (const table of new Set([...before.keys(), ...after.keys()])) {
    const [old, now] = [before.get(table) ?? new Map<string, Row>(), after.get(table) ?? new Map<string, Row>()];
    const added = [...now].filter(([key]) => !old.has(key)).map(([, row]) => row);
    const changed = [...now].flatMap(([key, row]) => {
      const was = old.get(key);
      const parts = was ? changedColumns(was, row) : {};
      return Object.keys(parts).length > 0 ? [{ ...keyOf(key), ...parts }] : [];
    });
    const gone = [...old.keys()].filter((key) => !now.has(key)).map(keyOf);
    if (added.length + changed.length + gone.length === 0) continue;
    changes[table] = {
      ...(added.length > 0 && { new: added }),
      ...(changed.length > 0 && { changed }),
      ...(gone.length > 0 && { gone }),
    };
  }
  return changes;
}

/** New lines of the log, without times and stack traces. */
export function logLines(project: Project): string[] {
  const file = join(project.root, ".haversack/log/haversack.log");
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
  return lines.map((line) => {
    const { level, part, text } = JSON.parse(line) as Record<string, string>;
    return project.normal(`${level} ${part}: ${text?.split("\n")[0]}`);
  });
}

function rowsOf(db: DatabaseSync, table: string, project: Project): Map<string, Row> {
  const columns = db.prepare(`SELECT name, pk FROM pragma_table_info('${table}')`).all();
  const keys = columns.filter(({ pk }) => Number(pk) > 0).map(({ name }) => String(name));
  const order = keys.length > 0 ? keys.join(", ") : "rowid";
  const found = new Map<string, Row>();
  for (const row of db.prepare(`SELECT * FROM ${table} ORDER BY ${order}`).all()) {
    // Search times of skill folders, and spool file names with process IDs.
    if (table === "meta" && /^(skill-roots$|spool\/)/.test(String(row["key"]))) continue;
    const normal = Object.fromEntries(
      Object.entries(row).flatMap(([name, value]) =>
        value === null
          ? []
          : [[name, MACHINE.has(name) ? "(this machine's)" : withoutCount(name, normalValue(value, project))]],
      ),
    );
    const key = Object.fromEntries((keys.length > 0 ? keys : Object.keys(normal)).map((name) => [name, normal[name]]));
    found.set(JSON.stringify(key), normal);
  }
  return found;
}

function normalValue(value: unknown, project: Project): unknown {
  if (value instanceof Uint8Array) return `(${value.length} bytes)`;
  if (typeof value === "string") {
    const text = project.normal(value).replace(/\b\d{13}:(?=\d)/g, "(time):");
    if (!/^[[{]/.test(text)) return text;
    try {
      return rounded(JSON.parse(text));
    } catch {
      return text;
    }
  }
  return rounded(value);
}

/** The last digits of a score depend on the machine's floating point. */
function rounded(value: unknown): unknown {
  if (typeof value === "number") return Number.isInteger(value) ? value : Number(value.toPrecision(6));
  if (Array.isArray(value)) return value.map(rounded);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withoutCount(key, rounded(member))]));
}

/** The counted texts contain paths of this machine. */
function withoutCount(name: string, value: unknown): unknown {
  return name === "tokens" && typeof value === "number" && value > 0 ? "(counted)" : value;
}

function filesIn(state: string, project: Project): Map<string, Row> {
  const found = new Map<string, Row>();
  if (!existsSync(state)) return found;
  const names = readdirSync(state)
    .filter((name) => !STORE_FILES.test(name) && name !== "log")
    .sort();
  for (const name of names) {
    // Spool file names contain the time and a random part.
    const entries = name === "spool" ? { entries: readdirSync(join(state, name)).length } : {};
    const text = name.endsWith(".json") ? { text: project.normal(readFileSync(join(state, name), "utf8")) } : {};
    found.set(JSON.stringify({ name }), { name, ...entries, ...text });
  }
  return found;
}

function changedColumns(was: Row, now: Row): Row {
  const names = new Set([...Object.keys(was), ...Object.keys(now)]);
  const changed = [...names].filter((name) => JSON.stringify(was[name]) !== JSON.stringify(now[name]));
  return Object.fromEntries(changed.map((name) => [name, [was[name] ?? null, now[name] ?? null]]));
}

function keyOf(key: string): Row {
  return JSON.parse(key) as Row;
}
