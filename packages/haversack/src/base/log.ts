/**
 * The log: JSON lines in `<dir>/haversack.log`, written by many processes at once. The hook loads this file, so it may import only
 * `node:fs`.
 *
 * Each entry is one write to a file opened for append, so lines of parallel writers never mix. A full file is renamed to a unique name
 * (`haversack.<time>-<random>.log`), never onto another file. A process that comes late to a rotation renames a nearly empty file, so no
 * line is lost. A writer that still holds the old file writes to the renamed one.
 *
 * Texts are masked and stripped of control characters. Nothing here throws: if the log cannot be written, the entry is dropped, because
 * logging must never break a session.
 */
// Named imports: with `* as fs` the bundle would copy the whole module at every start (0.4 ms).
import {
  closeSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { stripControl } from "./clean-text.ts";
import { maskField, maskLines, maskSecrets } from "./mask.ts";
import { errnoOf, makeFolder, moveFile, openToAppend, removeFile } from "./safe-write.ts";

export type LogLevel = "debug" | "info" | "warn" | "error";

export interface LogEntry {
  at: Date;
  level: LogLevel;
  /** Which part writes the entry: `hook`, `store`, `skills`. */
  part: string;
  text: string;
  /** Anything JSON can hold. */
  data?: unknown;
}

export interface LogLimits {
  /** Size at which the file is rotated. Default: 1,000,000 bytes. */
  maxBytes?: number;
  /** How many full files are kept besides the current one. Default: 3. */
  keep?: number;
}

const LOG_FILE = "haversack.log";
const ROTATED_LOG = /^haversack\.\d{15}-[a-z0-9]+\.log$/;
const MAX_TEXT_CHARS = 8_000;
const MAX_DATA_CHARS = 32_000;

export function appendLog(dir: string, entry: LogEntry, { maxBytes = 1_000_000, keep = 3 }: LogLimits = {}): void {
  try {
    const line = Buffer.from(`${formatEntry(entry)}\n`);
    let file = openForAppend(dir);
    try {
      const { size, ino } = fstatSync(file);
      if (size > 0 && size + line.length > maxBytes && rotate(dir, ino)) {
        closeSync(file);
        file = openForAppend(dir);
        prune(dir, { keep, maxBytes });
      }
      writeSync(file, line);
    } finally {
      closeSync(file);
    }
  } catch {
    // Disk full, folder read-only or gone: drop the entry (see the top of this file).
  }
}

export interface LogQuery {
  /** How many of the newest entries to return. Default: 100. */
  limit?: number;
  /** This level and more severe ones. */
  level?: LogLevel | undefined;
  part?: string | undefined;
  /** From this time on. */
  since?: Date | undefined;
}

/** Oldest first, across rotated files. Skips lines that are incomplete or not ours. */
export function readLog(dir: string, { limit = 100, level, part, since }: LogQuery = {}): LogEntry[] {
  const entries: LogEntry[] = [];
  for (const line of readLines(dir)) {
    const entry = parseEntry(line);
    if (!entry) continue;
    if (level && SEVERITY[entry.level] < SEVERITY[level]) continue;
    if (part !== undefined && entry.part !== part) continue;
    if (since && entry.at < since) continue;
    entries.push(entry);
  }
  // Writers that still held a rotated file may have left newer lines in it.
  entries.sort((a, b) => a.at.getTime() - b.at.getTime());
  return limit > 0 ? entries.slice(-limit) : [];
}

const SEVERITY: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3 };

function formatEntry({ at, level, part, text, data }: LogEntry): string {
  const entry = { at: at.toISOString(), level, part: clean(part), text: cut(clean(text)) };
  if (data === undefined) return JSON.stringify(entry);
  return `${JSON.stringify(entry).slice(0, -1)},"data":${formatData(data)}}`;
}

function formatData(data: unknown): string {
  try {
    const json = JSON.stringify(data, cleanField) ?? "null";
    return json.length > MAX_DATA_CHARS ? JSON.stringify(`${json.length} characters, too long to log`) : json;
  } catch {
    // A cycle, a BigInt or a getter that throws: log the entry without its data.
    return '"not serialisable"';
  }
}

/** Masks a text on its own, with its field name (`{ password: "x" }`), and together with its neighbours in a list. */
function cleanField(key: string, value: unknown): unknown {
  if (Array.isArray(value) && value.every((item) => typeof item === "string"))
    return maskLines(value.map(stripControl));
  return typeof value === "string" ? maskField(key, clean(value)) : value;
}

function clean(text: string): string {
  return maskSecrets(stripControl(text));
}

function cut(text: string): string {
  if (text.length <= MAX_TEXT_CHARS) return text;
  return `${text.slice(0, MAX_TEXT_CHARS)}… (${text.length - MAX_TEXT_CHARS} more characters)`;
}

function openForAppend(dir: string): number {
  const file = `${dir}/${LOG_FILE}`;
  const place = placeOf(dir);
  try {
    return openToAppend(file, place);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error;
    makeFolder(dir, { ...place, mode: 0o700 });
    return openToAppend(file, place);
  }
}

/** The log is in `.haversack/log`. Neither folder may be a link. */
function placeOf(dir: string): { within: string } {
  return { within: dir.split("/").slice(0, -2).join("/") || "/" };
}

/** True if the caller should open the file again, because we or another process renamed it. */
function rotate(dir: string, ino: number): boolean {
  try {
    if (statSync(`${dir}/${LOG_FILE}`).ino !== ino) return true;
    moveFile(`${dir}/${LOG_FILE}`, rotatedName(dir, Date.now()), placeOf(dir));
    return true;
  } catch (error) {
    // ENOENT: another process has just renamed it. Other errors: keep using the open file.
    return errnoOf(error) === "ENOENT";
  }
}

function rotatedName(dir: string, time: number): string {
  const random = Math.random().toString(36).slice(2, 10) || "0";
  return `${dir}/haversack.${String(time).padStart(15, "0")}-${random}.log`;
}

/** Removes the oldest full files. Small files, left by a lost rename race, do not count towards `keep`. */
function prune(dir: string, { keep, maxBytes }: { keep: number; maxBytes: number }): void {
  let full = 0;
  for (const name of rotatedNames(dir).reverse()) {
    try {
      if (full >= keep) removeFile(`${dir}/${name}`, placeOf(dir));
      else if (statSync(`${dir}/${name}`).size > maxBytes / 2) full++;
    } catch {
      // Another process already removed it.
    }
  }
}

/** Oldest first: the name starts with the time of rotation. */
function rotatedNames(dir: string): string[] {
  return readdirSync(dir)
    .filter((name) => ROTATED_LOG.test(name))
    .sort();
}

/** Reads the current file first. A rotation in between can then only repeat lines (detected by inode), never hide any. */
function readLines(dir: string): string[] {
  const current = readFile(`${dir}/${LOG_FILE}`);
  let names: string[] = [];
  try {
    names = rotatedNames(dir);
  } catch {
    // No folder yet, so the log is empty.
  }
  const rotated = names.map((name) => readFile(`${dir}/${name}`)).filter(({ ino }) => ino !== current.ino);
  return [...rotated, current].flatMap(({ text }) => text.split("\n"));
}

function readFile(path: string): { text: string; ino: number | undefined } {
  try {
    const file = openSync(path, "r");
    try {
      return { ino: fstatSync(file).ino, text: readFileSync(file, "utf8") };
    } finally {
      closeSync(file);
    }
  } catch {
    // Missing, or pruned since it was listed.
    return { ino: undefined, text: "" };
  }
}

function parseEntry(line: string): LogEntry | undefined {
  // An incomplete line has no line break, so the next entry follows on the same line. Try that entry too.
  const start = line.lastIndexOf('{"at":"');
  for (const candidate of start > 0 ? [line, line.slice(start)] : [line]) {
    if (candidate === "") continue;
    try {
      return toEntry(JSON.parse(candidate));
    } catch {
      // Incomplete or not ours: skip it.
    }
  }
  return undefined;
}

function toEntry(value: unknown): LogEntry | undefined {
  const { at, level, part, text, data } = (value ?? {}) as Record<string, unknown>;
  if (typeof at !== "string" || typeof part !== "string" || typeof text !== "string") return undefined;
  const time = new Date(at);
  if (Number.isNaN(time.getTime()) || !(typeof level === "string" && Object.hasOwn(SEVERITY, level))) return undefined;
  const entry: LogEntry = { at: time, level: level as LogLevel, part, text };
  return data === undefined ? entry : { ...entry, data };
}

// Deletes old log files. Never called from a hook.

const WEEK_MS = 7 * 86_400_000;

/** Deletes files whose last line is too old. Rotates the current file once its first line is a week old, so it can expire too. */
export function removeOldLogs(dir: string, { olderThan, now }: { olderThan: Date; now: Date }): number {
  if (!lstatSync(dir, { throwIfNoEntry: false })?.isDirectory()) return 0;
  let removed = 0;
  for (const name of readdirSync(dir)) {
    if (name !== LOG_FILE && !ROTATED_LOG.test(name)) continue;
    const file = join(dir, name);
    const stat = lstatSync(file, { throwIfNoEntry: false });
    if (!stat?.isFile()) continue;
    if (stat.mtimeMs < olderThan.getTime()) {
      removeFile(file, placeOf(dir));
      removed++;
    } else if (name === LOG_FILE && firstTime(file) < now.getTime() - WEEK_MS) {
      moveFile(file, rotatedName(dir, now.getTime()), placeOf(dir));
    }
  }
  return removed;
}

/** The time of the first line; now, if that line has none. */
function firstTime(file: string): number {
  const opened = openSync(file, "r");
  try {
    const head = Buffer.alloc(64);
    const text = head.toString("latin1", 0, readSync(opened, head));
    const at = Date.parse(/^\{"at":"([^"]+)"/.exec(text)?.[1] ?? "");
    return Number.isNaN(at) ? Number.POSITIVE_INFINITY : at;
  } finally {
    closeSync(opened);
  }
}
