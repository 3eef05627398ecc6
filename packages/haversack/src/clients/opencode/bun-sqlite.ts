/**
 * `node:sqlite` for the runtime inside opencode (Bun 1.3.14), which does not have it, on top of `bun:sqlite`, which it has: as
 * much of `DatabaseSync` as our stores use. The plugin's build puts this file in the place of store/sqlite/quiet.ts.
 */

export interface BunStatement {
  get(...values: unknown[]): unknown;
  all(...values: unknown[]): unknown[];
  run(...values: unknown[]): { changes: number; lastInsertRowid: number | bigint };
  iterate(...values: unknown[]): Iterable<unknown>;
}

export interface BunDatabase {
  prepare(sql: string): BunStatement;
  exec(sql: string): unknown;
  close(): void;
}

export type BunDatabaseClass = new (
  file: string,
  options: { strict: true; readonly?: boolean; readwrite?: boolean; create?: boolean },
) => BunDatabase;

export interface OpenOptions {
  /** How long a lock may be held by others, in milliseconds. */
  timeout?: number;
  readOnly?: boolean;
}

/** A class with the interface of `node:sqlite`'s DatabaseSync. */
export function databaseSyncOn(Database: BunDatabaseClass) {
  return class DatabaseSync {
    readonly #db: BunDatabase;

    constructor(file: string, { timeout = 0, readOnly = false }: OpenOptions = {}) {
      this.#db = new Database(file, {
        strict: true,
        ...(readOnly ? { readonly: true } : { readwrite: true, create: true }),
      });
      this.#db.exec(`PRAGMA busy_timeout = ${Math.max(0, Math.floor(timeout))}; PRAGMA foreign_keys = ON`);
    }

    prepare(sql: string): BunStatement {
      const statement = this.#db.prepare(sql);
      return {
        // Bun says null where Node says undefined, and callers ask for undefined.
        get: (...values) => statement.get(...values) ?? undefined,
        all: (...values) => statement.all(...values),
        run: (...values) => statement.run(...values),
        iterate: (...values) => statement.iterate(...values),
      };
    }

    exec(sql: string): void {
      this.#db.exec(sql);
    }

    close(): void {
      this.#db.close();
    }
  };
}
