import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { recordTrust } from "../../base/project-trust.ts";
import { openForHook } from "./access.ts";
import { migrations } from "./migrations.ts";
import { openDatabase } from "./open.ts";
import { sqlite } from "./quiet.ts";
import { newestSchema, readSchemaText } from "./schema.ts";
import { SCHEMA_VERSION } from "./schema-version.ts";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "haversack-schema-"));
  file = join(folder, "haversack.db");
  openDatabase(file, { durability: "full" }).db.close();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Acts as an attacker: a plain connection with a writable schema table. */
function tamper(sql: string): void {
  const db = new sqlite.DatabaseSync(file);
  (db as { enableDefensive?: (active: boolean) => void }).enableDefensive?.(false);
  db.exec(`PRAGMA writable_schema = ON; ${sql}`);
  db.close();
}

const openHook = () => {
  const userState = join(folder, "home/haversack");
  // Even if the user trusts the project, the tables must be ours.
  recordTrust(folder, userState, { at: new Date() });
  return openForHook(file, { busyMs: 100, userState });
};
const openCli = () => openDatabase(file, { durability: "full" });

function expectRefused(why: string | RegExp): void {
  expect(openHook).toThrow(why);
  expect(openCli).toThrow(why);
  expect(() => openDatabase(file, { durability: "full", readOnly: true })).toThrow(why);
}

it("knows the text that the migrations leave behind", () => {
  const { db } = openCli();
  expect(readSchemaText(db)).toBe(newestSchema());
  db.close();
});

it("accepts a store that was upgraded one version at a time", () => {
  rmSync(file);
  for (const { version } of migrations) {
    openDatabase(file, { durability: "full", migrations: migrations.slice(0, version) }).db.close();
  }
  openHook()?.db.close();
  openCli().db.close();
});

it("accepts what SQLite's ANALYZE adds", () => {
  tamper("INSERT INTO meta VALUES ('a', 'b'); ANALYZE");
  openHook()?.db.close();
  openCli().db.close();
});

describe("refuses a store, in hooks and commands, with", () => {
  it.each([
    [
      "a trigger",
      "CREATE TRIGGER forge AFTER INSERT ON sessions BEGIN DELETE FROM tasks; END",
      "unknown: trigger forge",
    ],
    ["a view", "CREATE VIEW more AS SELECT 1 AS x", "unknown: view more"],
    [
      "a view in place of a table",
      "DROP TABLE slow_patterns; CREATE VIEW slow_patterns AS SELECT 'x' AS source, 'y' AS at",
      "unknown: view slow_patterns",
    ],
    ["an unknown table", "CREATE TABLE notes (x)", "unknown: table notes"],
    ["an unknown index", "CREATE INDEX by_text ON activity (upper(text))", "unknown: index by_text"],
    ["a missing table", "DROP TABLE ledger", "missing: table ledger"],
    [
      "a generated column",
      "ALTER TABLE slow_patterns ADD COLUMN x TEXT AS (printf('%s', source))",
      "changed: table slow_patterns",
    ],
    [
      "a CHECK constraint",
      "ALTER TABLE slow_patterns ADD COLUMN x TEXT CHECK (length(x) > 1)",
      "changed: table slow_patterns",
    ],
    [
      "an expression in a table that SQLite made",
      "DROP TABLE skills_search; CREATE TABLE skills_search_data (id INTEGER PRIMARY KEY, block BLOB CHECK (length(block) > 0))",
      "changed: table skills_search_data",
    ],
    [
      "text behind a NUL",
      "UPDATE sqlite_schema SET sql = sql || char(0) || 'x' WHERE name = 'activity'",
      "changed: table activity",
    ],
    ["another application id", "PRAGMA application_id = 77", "another program"],
    ["no application id", "PRAGMA application_id = 0", "another program"],
  ])("%s", (_, sql, why) => {
    tamper(sql);
    expectRefused(why);
  });

  it("a version below that of its tables", () => {
    // Migration 16 changes rows but no table.
    tamper("PRAGMA user_version = 13");
    expect(openHook()).toBeUndefined();
    expect(openCli).toThrow(/unknown: (table|index)/);
  });
});

describe("of a store from a newer version", () => {
  const newer = (sql: string) => tamper(`${sql}; PRAGMA user_version = ${SCHEMA_VERSION + 1}`);

  it.each([
    [
      "tables",
      'CREATE TABLE notes (\n  id INTEGER PRIMARY KEY, -- it\'s (a) comment\n  "of" TEXT NOT NULL DEFAULT \'(\' REFERENCES tasks (seq),\n  UNIQUE (id, "of")\n) STRICT',
    ],
    ["columns", "ALTER TABLE sessions ADD COLUMN mood TEXT NOT NULL DEFAULT 'fine'"],
    ["indexes", "CREATE INDEX more ON activity (kind DESC, id) WHERE subject IS NOT NULL AND id = 1"],
  ])("accepts plain %s", (_, sql) => {
    newer(sql);
    openHook()?.db.close();
    openCli().db.close();
  });

  it.each([
    ["a trigger", "CREATE TRIGGER forge AFTER INSERT ON sessions BEGIN DELETE FROM tasks; END", "unknown: trigger"],
    ["a view", "CREATE VIEW more AS SELECT 1 AS x", "unknown: view"],
    ["a virtual table", "CREATE VIRTUAL TABLE more USING fts5 (x)", "unknown: table more"],
    ["a generated column", "ALTER TABLE slow_patterns ADD COLUMN x TEXT AS (upper(source))", "changed: table"],
    ["a CHECK constraint", "CREATE TABLE notes (x TEXT CHECK (x LIKE '%a%'))", "unknown: table notes"],
    ["a default that is computed", "CREATE TABLE notes (x TEXT DEFAULT (hex(randomblob(9))))", "unknown: table notes"],
    [
      "an expression behind a quote",
      "CREATE TABLE notes (x TEXT DEFAULT '--', y CHECK (y > 1))",
      "unknown: table notes",
    ],
    ["an index on an expression", "CREATE INDEX more ON activity (kind || text)", "unknown: index more"],
    [
      "an index with an expression in WHERE",
      "CREATE INDEX more ON activity (kind) WHERE text LIKE 'a'",
      "unknown: index",
    ],
    ["a missing table", "DROP TABLE ledger", "missing: table ledger"],
  ])("refuses %s", (_, sql, why) => {
    newer(sql);
    expectRefused(why);
  });

  it("says that it is too new, whatever a breaking version made of the tables", () => {
    newer(`DROP TABLE ledger; CREATE VIEW ledger AS SELECT 1 AS x;
      UPDATE meta SET value = '${SCHEMA_VERSION + 1}' WHERE key = 'min_reader'`);
    expect(openHook()).toBeUndefined();
    expect(openCli).toThrow(expect.objectContaining({ code: "store-too-new" }));
  });
});

it("runs no trigger and trusts no schema, where the runtime has such switches", () => {
  const { db } = openHook()!;
  expect(db.prepare("PRAGMA trusted_schema").get()).toEqual({ trusted_schema: 0 });
  db.exec("CREATE TEMP TRIGGER t AFTER INSERT ON main.meta BEGIN SELECT 1; END");
  const insert = () => db.exec("INSERT INTO meta VALUES ('x', 'y')");
  if ("limits" in db) expect(insert).toThrow(/trigger/);
  else insert();
  db.close();
});
