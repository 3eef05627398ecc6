import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type StoreHandle, writeStore } from "./access.ts";
import { house } from "./migrations/001-house.ts";
import { type Migration, migrations } from "./migrations.ts";
import { openDatabase } from "./open.ts";
import { sqlite } from "./quiet.ts";
import { readPragma } from "./schema.ts";
import { rebuildQueue } from "./work/queue.ts";
import { brokenTruths } from "./work/work-truths.suite.ts";

const additive: Migration = { version: 2, kind: "additive", sql: "CREATE TABLE extra (id INTEGER PRIMARY KEY) STRICT" };
const breaking: Migration = { version: 3, kind: "breaking", sql: "ALTER TABLE activity RENAME TO events" };
const failing: Migration = {
  version: 2,
  kind: "breaking",
  sql: "CREATE TABLE half (id INTEGER PRIMARY KEY) STRICT; INSERT INTO nowhere VALUES (1)",
};

describe("migrations", () => {
  let folder: string;
  let file: string;
  const open: StoreHandle[] = [];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "haversack-migrate-"));
    file = join(folder, "haversack.db");
  });
  afterEach(() => {
    for (const handle of open.splice(0)) if (handle.db.isOpen) handle.db.close();
    rmSync(folder, { recursive: true });
  });

  function openWith(list: readonly Migration[]): StoreHandle {
    const handle = openDatabase(file, { durability: "full", migrations: list });
    open.push(handle);
    return handle;
  }
  const closeAll = () => {
    for (const handle of open.splice(0)) handle.db.close();
  };
  const minReader = ({ db }: StoreHandle) =>
    db.prepare("SELECT value FROM meta WHERE key = 'min_reader'").get()?.["value"];
  const hasTable = ({ db }: StoreHandle, name: string) =>
    db.prepare("SELECT 1 FROM sqlite_schema WHERE name = ?").get(name) !== undefined;

  it("are numbered without gaps, and the first one says that all programs must know it", () => {
    expect(migrations.map(({ version }) => version)).toEqual(migrations.map((_, index) => index + 1));
    expect(migrations[0]?.kind).toBe("breaking");
  });

  it("give stored reviews their order, with a queue that is right", () => {
    const { db } = openWith(migrations.slice(0, 14));
    const titles = [
      "Add login",
      "Code quality review",
      "Spec review",
      "Add logout",
      "Code review",
      "Spec-review",
      "Implement it",
    ];
    for (const [at, title] of titles.entries()) {
      const parent = at === 0 || at === 3 ? null : at < 3 ? 1 : 4;
      db.prepare(
        "INSERT INTO tasks (seq, id, parent, title, type, status, priority, created_at, updated_at) VALUES (?, ?, ?, ?, 'feature', 'todo', 2, ?, ?)",
      ).run(at + 1, `T100${at}`, parent, title, "2031-01-01T00:00:00.000Z", "2031-01-01T00:00:00.000Z");
    }
    // The second pair is stored in the reverse order.
    db.exec("INSERT INTO dependencies VALUES (6, 5, 'blocks', 't')");
    rebuildQueue(db);
    closeAll();
    const upgraded = openWith(migrations).db;
    const pairs = upgraded.prepare("SELECT task, depends_on FROM dependencies ORDER BY task, depends_on").all();
    expect(pairs.map((row) => Object.values(row))).toEqual([
      [2, 3],
      [5, 7],
      [6, 5],
      [6, 7],
    ]);
    expect(brokenTruths(upgraded, new Date())).toEqual([]);
  });

  it("build a new store at the newest version", () => {
    const handle = openWith([house, additive]);
    expect(readPragma(handle.db, "user_version")).toBe(2);
    expect(minReader(handle)).toBe("1");
    expect(hasTable(handle, "extra")).toBe(true);
  });

  it("upgrade a store and keep its rows", () => {
    openWith([house]).db.exec("INSERT INTO activity (at, actor, kind, text) VALUES ('t', 'a', 'k', 'kept')");
    const handle = openWith([house, additive, breaking]);
    expect(readPragma(handle.db, "user_version")).toBe(3);
    expect(minReader(handle)).toBe("3");
    expect(handle.db.prepare("SELECT text FROM events").get()).toEqual({ text: "kept" });
  });

  it("keep the texts of skills and prompts when their tables are built anew", () => {
    const before = openWith(migrations.slice(0, 6)).db;
    before.exec("INSERT INTO skill_bodies VALUES ('h1', 'Body.')");
    before.exec("INSERT INTO prompt_matches VALUES ('s', '', 1, 't', 'a prompt', '{}')");
    const { db } = openWith(migrations);
    expect(db.prepare("SELECT * FROM skill_bodies").all()).toEqual([{ hash: "h1", body: "Body." }]);
    db.exec("INSERT OR REPLACE INTO prompt_matches VALUES ('s', '', 1, 't', 'another', '{}')");
    expect(db.prepare("SELECT prompt FROM prompt_matches").all()).toEqual([{ prompt: "another" }]);
  });

  it("write nothing when the version is current", () => {
    openWith([house]);
    closeAll();
    const before = readFileSync(file);
    const changes = openWith([house]).db.prepare("SELECT total_changes() AS n").get();
    expect(changes).toEqual({ n: 0 });
    closeAll();
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  it("leave the old version and no half table when one fails", () => {
    openWith([house]);
    expect(() => openWith([house, failing])).toThrow("nowhere");
    const handle = openWith([house]);
    expect(readPragma(handle.db, "user_version")).toBe(1);
    expect(minReader(handle)).toBe("1");
    expect(hasTable(handle, "half")).toBe(false);
  });

  it("leave nothing at all when the very first fails, and the next program starts anew", () => {
    expect(() => openWith([{ ...failing, version: 1 }])).toThrow("nowhere");
    expect(readPragma(openWith([house]).db, "user_version")).toBe(1);
  });

  it("put stored sub-tasks into the story of their parent, and take tasks out of the queue that are worked on through them", () => {
    const { db } = openWith(migrations.slice(0, 16));
    const at = "2031-01-01T00:00:00.000Z";
    db.exec(`INSERT INTO epics (seq, id, title, priority, status, created_at, updated_at, completed_at) VALUES (1, 'E1', 'e', 0, 'done', '${at}', '${at}', '${at}');
      INSERT INTO stories (seq, id, epic, title, status, created_at, updated_at, completed_at) VALUES (1, 'S1', 1, 's', 'done', '${at}', '${at}', '${at}')`);
    const add = db.prepare(
      "INSERT INTO tasks (seq, id, parent, story, epic, title, type, status, priority, created_at, updated_at) VALUES (?, 'T' || ?1, ?, ?, ?, ?, 'feature', ?, 2, ?, ?)",
    );
    const rows: [number | null, number | null, string, string][] = [
      [null, 1, "Cart total", "done"],
      [1, null, "Spec review", "todo"],
      [2, null, "a part of it", "todo"],
      [null, null, "whole", "todo"],
      [4, null, "part", "todo"],
      [null, null, "reviewed itself", "todo"],
      [6, null, "Spec review", "todo"],
      [null, null, "first", "todo"],
      [8, null, "after it", "todo"],
      [8, null, "at last", "todo"],
    ];
    for (const [index, [parent, story, title, status]] of rows.entries())
      add.run(index + 1, parent, story, story, title, status, at, at);
    db.exec("INSERT INTO dependencies VALUES (9, 8, 'blocks', 't'), (10, 9, 'blocks', 't')");
    rebuildQueue(db);
    // The state that an older version left.
    db.exec("UPDATE queue SET is_ready = 1, waits_for = 0 WHERE task IN (2, 4)");
    closeAll();
    const upgraded = openWith(migrations).db;
    const read = (sql: string) =>
      upgraded
        .prepare(sql)
        .all()
        .map((row) => Object.values(row)[0]);
    expect(read("SELECT task FROM queue WHERE is_ready = 1 ORDER BY task")).toEqual([3, 5, 6, 7, 8]);
    expect(read("SELECT status FROM stories UNION ALL SELECT status FROM epics")).toEqual([
      "in_progress",
      "in_progress",
    ]);
    expect(brokenTruths(upgraded, new Date())).toEqual([]);
  });

  it("let an older program work on after additive ones, and leave the version alone", () => {
    openWith([house, additive]);
    const older = openWith([house]);
    writeStore(older, (db) => db.exec("INSERT INTO activity (at, actor, kind, text) VALUES ('t', 'a', 'k', 'x')"));
    expect(readPragma(older.db, "user_version")).toBe(2);
  });

  it("make an older program refuse after a breaking one, changing no byte", () => {
    openWith([house, additive, breaking]);
    closeAll();
    const before = readFileSync(file);
    for (const readOnly of [false, true]) {
      expect(() => openDatabase(file, { durability: "full", migrations: [house], readOnly })).toThrow(
        expect.objectContaining({
          code: "store-too-new",
          message: expect.stringContaining("needs schema 3, this program knows 1"),
        }),
      );
    }
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  it("make a program that was already open refuse its next write after a breaking one", () => {
    const older = openWith([house]);
    openWith([house, additive, breaking]);
    const insert = () =>
      writeStore(older, (db) => db.exec("INSERT INTO sessions VALUES ('s','','c','d','t','t',1,0,NULL,NULL)"));
    expect(insert).toThrow(expect.objectContaining({ code: "store-too-new" }));
    expect(openWith([house, additive, breaking]).db.prepare("SELECT count(*) AS n FROM sessions").get()).toEqual({
      n: 0,
    });
  });

  it("refuse a newer store that does not say who may read it", () => {
    openWith([house, additive]).db.exec("DELETE FROM meta");
    expect(() => openWith([house])).toThrow(expect.objectContaining({ code: "store-too-new" }));
  });

  it("never touch the database of another program", () => {
    const other = new sqlite.DatabaseSync(file);
    other.exec("CREATE TABLE theirs (x)");
    other.close();
    const before = readFileSync(file);
    expect(() => openWith([house])).toThrow(expect.objectContaining({ code: "store-not-a-database" }));
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  it("upgrade an old store for a reader too", () => {
    openWith([house]);
    closeAll();
    const handle = openDatabase(file, { durability: "full", migrations: [house, additive], readOnly: true });
    open.push(handle);
    expect(readPragma(handle.db, "user_version")).toBe(2);
    expect(() => handle.db.exec("DELETE FROM meta")).toThrow("readonly");
  });
});
