/**
 * `node:sqlite` for the runtime inside opencode (Bun 1.3.14), which does not have it, on top of `bun:sqlite`, which it has: as
 * much of `DatabaseSync` as our stores use. The plugin's build puts this file in the place of store/sqlite/connect.ts.
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
  /** How long a lock may be held by others, in milliseconds. */
  timeout?: number;
  readOnly?: boolean;
}

const MAX_STATEMENTS = 100;

/** As connect.ts writes it. Bun opens no such address when it is given options. */
const IMMUTABLE = /^file:(.*)\?immutable=1$/s;

/** A copy in memory has no log beside it, so its header must not ask for one (bytes 18 and 19: 2 means WAL). */
function readWhole(file: string): Uint8Array {
  const bytes = readFileSync(file);
  bytes.set([1, 1], 18);
  return bytes;
}

/** A class with the interface of `node:sqlite`'s DatabaseSync. */
export function databaseSyncOn(Database: BunDatabaseClass) {
  return class DatabaseSync {
    readonly #db: BunDatabase;
    /** The latest last. */
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
        // Bun says null where Node says undefined, and callers ask for undefined.
        get: (...values) => prepared().get(...values) ?? undefined,
        all: (...values) => prepared().all(...values),
        run: (...values) => prepared().run(...values),
        // Runs while others may run the same: it has one of its own.
        iterate: (...values) => this.#db.prepare(sql).iterate(...values),
      };
    }

    /** Hooks prepare anew at every event. In a process that stays, that is a third of what SQLite costs a prompt. */
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
      // One that is left open keeps the file open.
      for (const statement of this.#statements.values()) statement.finalize?.();
      this.#statements.clear();
      this.#db.close();
    }
  };
}
