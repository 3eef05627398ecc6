/** Tests the shim on a fake of Bun's interface; test/clients/opencode/bun-store.test.ts runs it in the real client. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it, onTestFinished } from "vitest";
import { type BunDatabaseClass, databaseSyncOn } from "./bun-sqlite.ts";

/** Imitates Bun's class where it differs from Node's: null for no row. */
class FakeBun {
  static prepared = 0;
  static finalized = 0;
  readonly #db: DatabaseSync;
  constructor(file: string, options: { readonly?: boolean }) {
    this.#db = new DatabaseSync(file, { readOnly: options.readonly ?? false });
  }
  /** Bun copies the bytes into memory; a file is enough here. */
  static deserialize(bytes: Uint8Array): FakeBun {
    const copy = join(mkdtempSync(join(tmpdir(), "haversack-bun-")), "copy.db");
    onTestFinished(() => rmSync(dirname(copy), { recursive: true }));
    writeFileSync(copy, bytes);
    return new FakeBun(copy, {});
  }
  prepare(sql: string) {
    FakeBun.prepared++;
    const statement = this.#db.prepare(sql);
    return {
      finalize: () => FakeBun.finalized++,
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

it("prepares what comes again once, within bounds, and closes it all", () => {
  const Shim = databaseSyncOn(FakeBun as unknown as BunDatabaseClass);
  const db = new Shim(":memory:");
  db.exec("CREATE TABLE t (a)");
  [FakeBun.prepared, FakeBun.finalized] = [0, 0];
  for (const a of [1, 2, 3]) db.prepare("INSERT INTO t VALUES (?)").run(a);
  expect(FakeBun.prepared).toBe(1);
  // Two iterations over the same statement at once do not disturb each other.
  const rows = db.prepare("SELECT a FROM t");
  const pairs = [...rows.iterate()].flatMap((left) => [...rows.iterate()].map((right) => [left, right]));
  expect(pairs).toHaveLength(9);
  FakeBun.prepared = 0;
  for (let n = 0; n < 150; n++) db.prepare(`SELECT ${n}`).get();
  expect(FakeBun.finalized).toBe(51);
  // A cached statement sees a table's new columns.
  db.prepare("SELECT * FROM t").all();
  db.exec("ALTER TABLE t ADD COLUMN b");
  expect(db.prepare("SELECT * FROM t").all()[0]).toEqual({ a: 1, b: null });
  db.close();
  expect(FakeBun.finalized).toBe(FakeBun.prepared + 1);
});

it("reads a store whole that may only be read: Bun takes no `immutable`", () => {
  const file = join(mkdtempSync(join(tmpdir(), "haversack bun ")), "a#b.db");
  onTestFinished(() => rmSync(dirname(file), { recursive: true }));
  const made = new DatabaseSync(file);
  made.exec("PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (7)");
  made.close();
  const Shim = databaseSyncOn(FakeBun as unknown as BunDatabaseClass);
  const uri = `file:${encodeURI(file).replace(/[?#]/g, encodeURIComponent)}?immutable=1`;
  const db = new Shim(uri, { readOnly: true });
  expect(db.prepare("SELECT a FROM t").get()).toEqual({ a: 7 });
  expect(db.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "delete" });
  db.close();
});
