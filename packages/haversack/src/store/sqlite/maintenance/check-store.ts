/**
 * Checks a whole store and changes nothing, not even an old schema. Damage is reported as a problem. A file that is not a
 * store, or that cannot be read, is a fault.
 */

import { statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { errorText } from "../../../base/errors.ts";
import { guardStore, SQLITE_BUSY, SQLITE_CORRUPT, sqliteCode, storeFault, withConnection } from "../connect.ts";
import { type Migration, migrations } from "../migrations.ts";
import { notFound } from "../open.ts";
import { examineSchema, latestVersion, readPragma } from "../schema.ts";
import { newestMessages } from "../work/agents.ts";
import { newestTitles } from "../work/tasks.ts";

export interface StoreCheck {
  ok: boolean;
  /** One line each, for people. */
  problems: string[];
  facts: StoreFacts;
}

export interface StoreFacts {
  sizeBytes: number;
  /** Committed changes that are not yet copied into the main file. */
  walBytes: number;
  pages: number;
  freePages: number;
  /** The store's schema, and the newest one this program knows. */
  version: number;
  knownVersion: number;
  /** Rows per table, by name. */
  rows: Record<string, number>;
}

export function checkStore(
  file: string,
  { migrations: list = migrations }: { migrations?: readonly Migration[] } = {},
): StoreCheck {
  const facts: StoreFacts = {
    sizeBytes: 0,
    walBytes: 0,
    pages: 0,
    freePages: 0,
    version: 0,
    knownVersion: latestVersion(list),
    rows: {},
  };
  const problems: string[] = [];
  guardStore(file, () => {
    const stat = statSync(file, { throwIfNoEntry: false });
    if (!stat) throw notFound(file);
    facts.sizeBytes = stat.size;
    facts.walBytes = statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  });
  // Damage can show up in any step, even while the schema is read. Each step runs on its own, so the others still report.
  const step = (action: () => void) => {
    try {
      action();
    } catch (error) {
      if (sqliteCode(error) !== SQLITE_CORRUPT) throw storeFault(error, file);
      const text = `damaged: ${errorText(error)}`;
      if (!problems.includes(text)) problems.push(text);
    }
  };

  step(() =>
    withConnection(file, { readOnly: true }, (db) => {
      let isOurs = false;
      step(() => {
        const schema = examineSchema(db, file, list);
        if (schema.state === "empty") problems.push("empty: the file holds no tables yet");
        problems.push(...schema.problems);
        isOurs = schema.problems.length === 0;
        facts.version = readPragma(db, "user_version");
        facts.pages = readPragma(db, "page_count");
        facts.freePages = readPragma(db, "freelist_count");
      });
      // Reading a foreign table may run code, and the checks read every table.
      if (!isOurs) return;
      step(() => problems.push(...integrityProblems(db)));
      step(() => problems.push(...foreignKeyProblems(db)));
      step(() => {
        for (const name of tableNames(db)) step(() => (facts.rows[name] = countRows(db, name)));
      });
    }),
  );
  return { ok: problems.length === 0, problems, facts };
}

/** Whether another program blocks all writers for longer than a normal write takes. */
export function isWriteLocked(file: string): boolean {
  return withConnection(file, { busyMs: 1000 }, (db) => {
    try {
      db.exec("BEGIN IMMEDIATE; ROLLBACK");
      return false;
    } catch (error) {
      if (sqliteCode(error) === SQLITE_BUSY) return true;
      throw error;
    }
  });
}

export function integrityProblems(db: DatabaseSync): string[] {
  const lines = db
    .prepare("PRAGMA integrity_check(100)")
    .all()
    .map((row) => String(row["integrity_check"]));
  return lines.length === 1 && lines[0] === "ok" ? [] : lines.map((line) => `damaged: ${line.replaceAll("\n", " ")}`);
}

function foreignKeyProblems(db: DatabaseSync): string[] {
  return db
    .prepare("PRAGMA foreign_key_check")
    .all()
    .map(
      ({ table, rowid, parent }) => `broken link: ${table} row ${rowid ?? "?"} points to a missing row of ${parent}`,
    );
}

/** Our own tables, by name, without the internal tables of SQLite and its full-text index. */
export function tableNames(db: DatabaseSync): string[] {
  const select = db.prepare(
    "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'virtual') ORDER BY name",
  );
  return select
    .all()
    .map((row) => String(row["name"]))
    .filter((name) => !name.startsWith("sqlite_"));
}

export function countRows(db: DatabaseSync, table: string): number {
  return Number(db.prepare(`SELECT count(*) AS n FROM ${quoteName(table)}`).get()?.["n"]);
}

export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

// A summary of a store for a person who decides whether to use it. The store may come from an attacker, so it must first pass
// `checkStore` with this program's own schema: then it contains no code, and no chain of pages is circular.

export interface StorePeek {
  /** Counts of what the store holds, most important first. */
  rows: { name: string; count: number }[];
  /** The newest tasks, cut short. The texts are untrusted: clean them before they are shown. */
  tasks: string[];
  messages: { sender: string; text: string }[];
}

const SHOWN = 5;
const MAX_CHARS = 200;

export function peekStore(file: string): StorePeek {
  return withConnection(file, { readOnly: true }, (db) => ({
    rows: ["tasks", "messages", "agents", "sessions", "skills"].map((name) => ({ name, count: countRows(db, name) })),
    tasks: newestTitles(db, { limit: SHOWN, maxChars: MAX_CHARS }),
    messages: newestMessages(db, { limit: SHOWN, maxChars: MAX_CHARS }),
  }));
}
