/**
 * `node:sqlite` on top of `bun:sqlite`, for the runtime inside opencode (Bun 1.3.14), which lacks the former. Covers the part of `DatabaseSync`
 * that our stores use. In the plugin's build it replaces store/sqlite/connect.ts.
 */
import { readFileSync } from "node:fs";

export interface BunStatement {
  get(...values: unknown[]): unknown;
  all(...values: unknown[]): unknown[];
  run(...values: unknown[]): { changes: number; lastInsertRowid: number | bigint };
  iterate(...values: unknown[]): Iterable<unknown>;
  finalize?(): void;
}

export interface BunDatabase {
  prepare(sql: string): BunStatement;
  exec(sql: string): unknown;
  close(): void;
}

export interface BunDatabaseClass {
  new (file: string, options: { strict: true; readonly?: boolean; readwrite?: boolean; create?: boolean }): BunDatabase;
  deserialize(bytes: Uint8Array, options: { strict: true }): BunDatabase;
}

export interface OpenOptions {
  /** How long to wait for a lock, in milliseconds. */
  timeout?: number;
  readOnly?: boolean;
}

const MAX_STATEMENTS = 100;

/** As connect.ts writes it. Bun cannot open such a URI together with options. */
const IMMUTABLE = /^file:(.*)\?immutable=1$/s;

/** A copy in memory has no WAL file, so its header must not ask for one (bytes 18 and 19: 2 means WAL). */
function readWhole(file: string): Uint8Array {
  const bytes = readFileSync(file);
  bytes.set([1, 1], 18);
  return bytes;
}

/** A class with the interface of `node:sqlite`'s DatabaseSync. */
export function databaseSyncOn(Database: BunDatabaseClass) {
  return class DatabaseSync {
    readonly #db: BunDatabase;
    /** Most recently used last. */
    readonly #statements = new Map<string, BunStatement>();

    constructor(file: string, { timeout = 0, readOnly = false }: OpenOptions = {}) {
      const way = readOnly ? { readonly: true } : { readwrite: true, create: true };
      const whole = IMMUTABLE.exec(file)?.[1];
      this.#db = whole
        ? Database.deserialize(readWhole(decodeURIComponent(whole)), { strict: true })
        : new Database(file, { strict: true, ...way });
      this.#db.exec(`PRAGMA busy_timeout = ${Math.max(0, Math.floor(timeout))}; PRAGMA foreign_keys = ON`);
    }

    prepare(sql: string): BunStatement {
      const prepared = () => this.#prepared(sql);
      return {
        // Bun returns null where Node returns undefined, which callers expect.
        get: (...values) => prepared().get(...values) ?? undefined,
        all: (...values) => prepared().all(...values),
        run: (...values) => prepared().run(...values),
        // Not cached: an iteration may overlap with other uses of the same statement.
        iterate: (...values) => this.#db.prepare(sql).iterate(...values),
      };
    }

    /** Caches statements. Callers prepare anew at every event, which in a long-lived process is a third of SQLite's cost per prompt. */
    #prepared(sql: string): BunStatement {
      const known = this.#statements.get(sql);
      const statement = known ?? this.#db.prepare(sql);
      this.#statements.delete(sql);
      this.#statements.set(sql, statement);
      if (this.#statements.size > MAX_STATEMENTS) {
        const [[oldest, unused] = ["", undefined]] = this.#statements;
        this.#statements.delete(oldest);
        unused?.finalize?.();
      }
      return statement;
    }

    exec(sql: string): void {
      this.#db.exec(sql);
    }

    close(): void {
      // An unfinalized statement keeps the file open.
      for (const statement of this.#statements.values()) statement.finalize?.();
      this.#statements.clear();
      this.#db.close();
    }
  };
}
