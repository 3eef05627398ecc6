import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type StoreHandle, writeStore } from "../access.ts";
import { house } from "../migrations/001-house.ts";
import { migrations } from "../migrations.ts";
import { openDatabase } from "../open.ts";
import { SCHEMA_VERSION } from "../schema-version.ts";
import { SqliteLocalStore } from "../sessions/sqlite-local-store.ts";
import { SqliteWorkStore } from "../work/sqlite-work-store.ts";
import { backupStore, restoreStore } from "./backup.ts";
import { checkStore } from "./check-store.ts";
import { OLD_SESSIONS, purgeRules, purgeStore } from "./purge.ts";

let folder: string;
let file: string;
let target: string;
const handles: StoreHandle[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "haversack-maintenance-"));
  file = join(folder, "haversack.db");
  target = join(folder, "copy.db");
});
afterEach(() => {
  for (const { db } of handles.splice(0)) if (db.isOpen) db.close();
  rmSync(folder, { recursive: true });
});

function open(): StoreHandle {
  const handle = openDatabase(file, { durability: "full", busyMs: 300 });
  handles.push(handle);
  return handle;
}

const at = new Date("2031-01-01T00:00:00Z");
const record = (handle: StoreHandle, text: string) =>
  new SqliteWorkStore(handle).recordActivity({ at, actor: "a", kind: "k", text });
const texts = async (handle: StoreHandle) =>
  (await new SqliteWorkStore(handle).listActivity({ limit: 100 })).activity.map((item) => item.text);
const count = (database: string, table: string) => checkStore(database).facts.rows[table];

/** Overwrites the middle of every page from the third on. The header and the schema page stay intact. */
function damage(database: string): void {
  const bytes = readFileSync(database);
  for (let page = 2 * 4096; page < bytes.length; page += 4096) bytes.fill(0xa5, page + 4, page + 200);
  writeFileSync(database, bytes);
}

describe("checkStore", () => {
  it("passes a sound store and gives its facts, and changes no byte", async () => {
    const handle = open();
    await record(handle, "x");
    const live = checkStore(file);
    expect(live).toMatchObject({ ok: true, problems: [], facts: { rows: { activity: 1, sessions: 0 } } });
    expect(live.facts.walBytes).toBeGreaterThan(0);
    expect(live.facts.version).toBe(live.facts.knownVersion);
    handle.db.close();
    const before = readFileSync(file);
    const { facts } = checkStore(file);
    expect(facts.sizeBytes).toBe(statSync(file).size);
    expect(facts.pages * 4096).toBe(facts.sizeBytes);
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  it("names damage and a broken link as problems", () => {
    const handle = open();
    handle.db.exec("PRAGMA foreign_keys = OFF; INSERT INTO task_files VALUES (77, 'a.ts')");
    handle.db.close();
    const { ok, problems } = checkStore(file);
    expect(ok).toBe(false);
    expect(problems).toEqual(["broken link: task_files row ? points to a missing row of tasks"]);
    damage(file);
    expect(checkStore(file).problems.join("\n")).toContain("damaged: ");
  });

  it("names every table, view and trigger that is not ours, and reads none of them", () => {
    const { db } = open();
    db.exec(`CREATE TABLE notes (x); DROP TABLE ledger;
      CREATE VIEW endless AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n;
      CREATE TRIGGER forge AFTER INSERT ON activity BEGIN SELECT 1; END;
      ALTER TABLE meta ADD COLUMN extra TEXT`);
    db.close();
    const { ok, problems, facts } = checkStore(file);
    expect(ok).toBe(false);
    expect(problems.sort()).toEqual([
      "changed: table meta",
      "missing: table ledger",
      "unknown: table notes",
      "unknown: trigger forge",
      "unknown: view endless",
    ]);
    expect(facts.rows).toEqual({});
  });

  it("names a version that is not the one of the tables", () => {
    open().db.exec("PRAGMA user_version = 5");
    expect(checkStore(file)).toMatchObject({ ok: false });
    expect(checkStore(file).problems).toContain("unknown: table last_holders");
    expect(() => open()).toThrow(expect.objectContaining({ code: "store-not-a-database" }));
  });

  it("does not upgrade an old store", () => {
    openDatabase(file, { durability: "full", migrations: [house] }).db.close();
    const list = [house, { version: 2, kind: "additive" as const, sql: "CREATE TABLE extra (x) " }];
    expect(checkStore(file, { migrations: list })).toMatchObject({ ok: true, facts: { version: 1, knownVersion: 2 } });
  });

  it("is a fault for what is no store", () => {
    writeFileSync(file, "just text, and a good deal of it\n".repeat(300));
    expect(() => checkStore(file)).toThrow(expect.objectContaining({ code: "store-not-a-database" }));
    expect(() => checkStore(join(folder, "nothing.db"))).toThrow(expect.objectContaining({ code: "not-found" }));
  });
});

describe("backupStore", () => {
  it("copies what is committed while the store is open, as one file that is itself a store", async () => {
    const handle = open();
    for (let number = 0; number < 20; number++) await record(handle, `n${number}`);
    const report = backupStore(file, target);
    expect(report).toEqual({ target, sizeBytes: statSync(target).size, version: SCHEMA_VERSION });
    expect(checkStore(target)).toMatchObject({ ok: true, facts: { walBytes: 0, rows: { activity: 20 } } });
  });

  it("never replaces a file", () => {
    open();
    writeFileSync(target, "mine");
    expect(() => backupStore(file, target)).toThrow(expect.objectContaining({ code: "refused" }));
    expect(readFileSync(target, "utf8")).toBe("mine");
  });

  it("leaves no target and no part of one when the store is damaged or the folder missing", async () => {
    const handle = open();
    for (let number = 0; number < 200; number++) await record(handle, "long ".repeat(50));
    handle.db.close();
    expect(() => backupStore(file, join(folder, "no/where.db"))).toThrow(
      expect.objectContaining({ code: "not-found" }),
    );
    damage(file);
    expect(() => backupStore(file, target)).toThrow(
      expect.objectContaining({ code: "store-corrupt", message: expect.stringContaining(file) }),
    );
    expect(readdirSync(folder).filter((name) => name.startsWith("copy"))).toEqual([]);
  });
});

describe("restoreStore", () => {
  it("brings the backup back under an open process and keeps what was there", async () => {
    const handle = open();
    await record(handle, "before");
    backupStore(file, target);
    await record(handle, "after");
    const bytes = readFileSync(target);

    const report = restoreStore(file, target);
    expect(report).toMatchObject({ way: "in-place" });
    expect(await texts(handle)).toEqual(["before"]);
    expect(count(report.kept ?? "", "activity")).toBe(2);
    expect(checkStore(file)).toMatchObject({ ok: true });
    expect(readFileSync(target).equals(bytes)).toBe(true);
    await record(handle, "the open process goes on");
    expect(await texts(open())).toEqual(["the open process goes on", "before"]);
    expect(readdirSync(folder).filter((name) => /incoming|part/.test(name))).toEqual([]);
  });

  it("does not give an id twice after the restore", async () => {
    const handle = open();
    await record(handle, "1");
    await record(handle, "2");
    handle.db.exec("DELETE FROM activity");
    backupStore(file, target);
    restoreStore(file, target);
    expect(await record(open(), "3")).toEqual({ id: 3 });
  });

  it("carries the full-text index and all other indexes", () => {
    const handle = open();
    const insert = "INSERT INTO skills_search (rowid, name, description, body) VALUES";
    handle.db.exec(`${insert} (7, 'apple', 'pie', ''), (9, 'fig', '', '')`);
    backupStore(file, target);
    handle.db.exec("DELETE FROM skills_search WHERE rowid = 7");
    restoreStore(file, target);

    const { db } = open();
    for (const reader of [db, handle.db]) {
      expect(reader.prepare("SELECT rowid FROM skills_search WHERE skills_search MATCH 'apple'").all()).toEqual([
        { rowid: 7 },
      ]);
    }
    db.exec(`${insert} (11, 'plum', 'jam', '')`);
    expect(handle.db.prepare("SELECT rowid FROM skills_search WHERE skills_search MATCH 'plum'").all()).toEqual([
      { rowid: 11 },
    ]);
    const plan = db.prepare("EXPLAIN QUERY PLAN SELECT * FROM claims WHERE agent = 'a'").get();
    expect(plan?.["detail"]).toContain("claims_by_agent");
    expect(checkStore(file)).toMatchObject({ ok: true });
  });

  it("refuses a backup with a trigger, and takes the place of a store that has one", async () => {
    const handle = open();
    await record(handle, "kept");
    backupStore(file, target);
    const trigger = "CREATE TRIGGER forge AFTER INSERT ON activity BEGIN DELETE FROM tasks; END";
    handle.db.exec(trigger);
    handle.db.close();
    expect(restoreStore(file, target)).toMatchObject({ way: "moved-aside" });
    expect(checkStore(file)).toMatchObject({ ok: true, facts: { rows: { activity: 1 } } });

    const other = openDatabase(target, { durability: "full" });
    other.db.exec(trigger);
    other.db.close();
    expect(() => restoreStore(file, target)).toThrow(expect.objectContaining({ code: "store-not-a-database" }));
    expect(() => backupStore(target, join(folder, "again.db"))).toThrow("unknown: trigger forge");
    expect(checkStore(file)).toMatchObject({ ok: true, facts: { rows: { activity: 1 } } });
  });

  it("makes a store where there is none", () => {
    const handle = open();
    handle.db.close();
    backupStore(file, target);
    rmSync(file);
    expect(restoreStore(file, target)).toMatchObject({ way: "new" });
    expect(checkStore(file)).toMatchObject({ ok: true });
  });

  it.each(["damaged", "no database"])("moves a present file aside that is %s", async (kind) => {
    const handle = open();
    for (let number = 0; number < 200; number++) await record(handle, "long ".repeat(50));
    backupStore(file, target);
    handle.db.close();
    if (kind === "damaged") damage(file);
    else writeFileSync(file, "no database at all\n".repeat(500));
    const bytes = readFileSync(file);
    const report = restoreStore(file, target);
    expect(report.way).toBe("moved-aside");
    expect(readFileSync(report.kept ?? "").equals(bytes)).toBe(true);
    expect(checkStore(file)).toMatchObject({ ok: true, facts: { rows: { activity: 200 } } });
  });

  it("keeps both the copy and the file when the damage shows only after the copy was made", async () => {
    const handle = open();
    for (let number = 0; number < 400; number++) await record(handle, "long ".repeat(50));
    backupStore(file, target);
    handle.db.exec("DELETE FROM activity WHERE id > 5");
    handle.db.close();
    // Damages the list of free pages: a copy does not read it, but every change does.
    const bytes = readFileSync(file);
    const trunk = bytes.readUInt32BE(32);
    expect(trunk).toBeGreaterThan(0);
    bytes.fill(0xff, (trunk - 1) * 4096, trunk * 4096);
    writeFileSync(file, bytes);

    const report = restoreStore(file, target);
    expect(report.way).toBe("moved-aside");
    expect(readFileSync(report.kept ?? "").equals(bytes)).toBe(true);
    const copy = readdirSync(folder).find((name) => name.includes(".before-restore-"));
    expect(count(join(folder, copy ?? ""), "activity")).toBe(5);
    expect(checkStore(file)).toMatchObject({ ok: true, facts: { rows: { activity: 400 } } });
  });

  it("gives a hint about the backup, not about the store, where the source is no database", () => {
    open().db.close();
    writeFileSync(target, "text\n".repeat(3000));
    expect(() => restoreStore(file, target)).toThrow(
      expect.objectContaining({
        message: `${target} is not a backup of a store; nothing was changed`,
        hint: "name the file of a backup",
      }),
    );
  });

  it.each([
    ["text", "store-not-a-database"],
    ["damaged", "store-corrupt"],
    ["too new", "store-too-new"],
    ["foreign", "store-not-a-database"],
    ["missing", "not-found"],
    ["the store itself", "input-invalid"],
  ])("refuses a source that is %s and changes nothing", async (kind, code) => {
    const handle = open();
    for (let number = 0; number < 200; number++) await record(handle, "long ".repeat(50));
    handle.db.close();
    copyFileSync(file, target);
    if (kind === "text") writeFileSync(target, "text\n".repeat(3000));
    if (kind === "damaged") damage(target);
    if (kind === "missing") rmSync(target);
    if (kind === "too new" || kind === "foreign") {
      const other = openDatabase(target, { durability: "full" });
      if (kind === "foreign") other.db.exec("PRAGMA application_id = 77");
      else other.db.exec("PRAGMA user_version = 999; UPDATE meta SET value = '999' WHERE key = 'min_reader'");
      other.db.close();
    }
    const bytes = readFileSync(file);
    const source = kind === "the store itself" ? file : target;
    expect(() => restoreStore(file, source)).toThrow(expect.objectContaining({ code }));
    expect(readFileSync(file).equals(bytes)).toBe(true);
    expect(readdirSync(folder).filter((name) => /incoming|part|before/.test(name))).toEqual([]);
  });

  it("says that the store is locked when a writer does not end, and changes nothing", async () => {
    const handle = open();
    await record(handle, "kept");
    backupStore(file, target);
    handle.db.exec("BEGIN IMMEDIATE");
    expect(() => restoreStore(file, target, { busyMs: 100 })).toThrow(
      expect.objectContaining({ code: "store-locked" }),
    );
    handle.db.exec("ROLLBACK");
    expect(await texts(handle)).toEqual(["kept"]);
  });

  it("upgrades an older backup in the same step", () => {
    expect(migrations[0]).toBe(house);
    openDatabase(target, { durability: "full", migrations: [house] }).db.close();
    open();
    restoreStore(file, target);
    expect(checkStore(file)).toMatchObject({ ok: true, facts: { version: migrations.length } });
  });
});

describe("purgeStore", () => {
  const day = (number: number) => new Date(Date.UTC(2031, 0, number));
  const touch = (handle: StoreHandle, sessionId: string, number: number) =>
    new SqliteLocalStore(handle).touchSession({
      sessionId,
      client: "c",
      cwd: "/",
      at: day(number),
      event: number === 1 ? "end" : "seen",
    });

  it("counts in a dry run what the real one removes, dependent rows included, and nothing else", async () => {
    const handle = open();
    for (const [id, number] of [
      ["ended", 1],
      ["idle", 2],
      ["fresh", 9],
    ] as const)
      touch(handle, id, number);
    await record(handle, "work stays");
    handle.db.exec(`INSERT INTO batches (session_id, at, size, tasks)
      VALUES ('ended', '', 1, ''), ('ended', '', 1, ''), ('fresh', '', 1, ''), ('other', '', 1, '')`);
    const rules = [{ table: "batches", where: `(session_id, '') IN (${OLD_SESSIONS})` }, ...purgeRules];
    const expected = { batches: 2, sessions: 2 };

    expect(purgeStore(file, { olderThan: day(5), dryRun: true, rules })).toMatchObject({
      removed: expected,
      dryRun: true,
    });
    expect(count(file, "sessions")).toBe(3);
    expect(purgeStore(file, { olderThan: day(5), dryRun: false, rules })).toMatchObject({
      removed: expected,
      dryRun: false,
    });
    expect(checkStore(file)).toMatchObject({ ok: true, facts: { rows: { activity: 1, batches: 2, sessions: 1 } } });
  });

  it("removes nothing when one rule fails", () => {
    touch(open(), "old", 1);
    const rules = [...purgeRules, { table: "not_there", where: "1" }];
    expect(() => purgeStore(file, { olderThan: day(5), dryRun: false, rules })).toThrow("not_there");
    expect(count(file, "sessions")).toBe(1);
  });

  it("has rules that fit the schema", () => {
    const handle = open();
    for (const { table, where } of purgeRules) {
      writeStore(handle, (db) => db.prepare(`DELETE FROM ${table} WHERE ${where}`).run({ before: "" }));
    }
    expect(purgeRules.length).toBeGreaterThan(0);
  });

  it("makes no store", () => {
    expect(() => purgeStore(file, { olderThan: day(5), dryRun: true })).toThrow(
      expect.objectContaining({ code: "not-found" }),
    );
    expect(existsSync(file)).toBe(false);
  });
});
