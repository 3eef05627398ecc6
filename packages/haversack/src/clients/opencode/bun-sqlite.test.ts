/** The shim in the terms of Bun's interface; test/clients/opencode/bun-store.test.ts runs it in the real client. */
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { type BunDatabaseClass, databaseSyncOn } from "./bun-sqlite.ts";

/** As Bun's class behaves where it differs: null for no row. */
class FakeBun {
  readonly #db: DatabaseSync;
  constructor(file: string, options: { readonly?: boolean }) {
    this.#db = new DatabaseSync(file, { readOnly: options.readonly ?? false });
  }
  prepare(sql: string) {
    const statement = this.#db.prepare(sql);
    return {
      get: (...values: never[]) => statement.get(...values) ?? null,
      all: (...values: never[]) => statement.all(...values),
      run: (...values: never[]) => statement.run(...values),
      iterate: (...values: never[]) => statement.iterate(...values),
    };
  }
  exec(sql: string) {
    this.#db.exec(sql);
  }
  close() {
    this.#db.close();
  }
}

it("says what node:sqlite says", () => {
  const Shim = databaseSyncOn(FakeBun as unknown as BunDatabaseClass);
  const db = new Shim(":memory:", { timeout: 123.4 });
  expect(db.prepare("PRAGMA busy_timeout").get()).toEqual({ timeout: 123 });
  expect(db.prepare("PRAGMA foreign_keys").get()).toEqual({ foreign_keys: 1 });
  db.exec("CREATE TABLE t (a, b)");
  expect(db.prepare("INSERT INTO t VALUES (?, ?)").run(1, "x")).toMatchObject({ changes: 1, lastInsertRowid: 1 });
  expect(db.prepare("SELECT * FROM t WHERE a = ?").get(1)).toEqual({ a: 1, b: "x" });
  expect(db.prepare("SELECT * FROM t WHERE a = ?").get(2)).toBeUndefined();
  expect(db.prepare("SELECT a FROM t").all()).toEqual([{ a: 1 }]);
  expect([...db.prepare("SELECT a FROM t").iterate()]).toEqual([{ a: 1 }]);
  db.close();
});
