import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { writeStore } from "./access.ts";
import { openDatabase } from "./open.ts";
import { readPragma } from "./schema.ts";

describe("openDatabase", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "haversack-open-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it("makes folder and file, and sets what the promises rest on", () => {
    const file = join(folder, "deep/er/haversack.db");
    const { db } = openDatabase(file, { durability: "full" });
    expect(db.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
    expect(readPragma(db, "synchronous")).toBe(2);
    expect(readPragma(db, "foreign_keys")).toBe(1);
    expect(readPragma(db, "busy_timeout")).toBe(15_000);
    db.close();
  });

  it("uses synchronous NORMAL and another busy time when asked", () => {
    const { db } = openDatabase(join(folder, "haversack.db"), { durability: "normal", busyMs: 70 });
    expect(readPragma(db, "synchronous")).toBe(1);
    expect(readPragma(db, "busy_timeout")).toBe(70);
    db.close();
  });

  it.each([{ create: false }, { readOnly: true }])("makes nothing with %o", (options) => {
    const file = join(folder, "sub/haversack.db");
    expect(() => openDatabase(file, { durability: "full", ...options })).toThrow(
      expect.objectContaining({ code: "not-found" }),
    );
    expect(existsSync(join(folder, "sub"))).toBe(false);
  });

  it("works in a folder whose name is not plain", () => {
    const file = join(folder, "100% odd?#'\"é 名/haversack.db");
    openDatabase(file, { durability: "full" }).db.close();
    expect(readPragma(openDatabase(file, { durability: "full", readOnly: true }).db, "user_version")).toBeGreaterThan(
      0,
    );
    expect(existsSync(file)).toBe(true);
  });

  it("gives a broken change back as it was thrown and leaves no transaction open", () => {
    const handle = openDatabase(join(folder, "haversack.db"), { durability: "full" });
    const bug = new Error("a bug of ours");
    expect(() =>
      writeStore(handle, (db) => {
        db.exec("INSERT INTO meta VALUES ('half', 'way')");
        throw bug;
      }),
    ).toThrow(bug);
    expect(writeStore(handle, (db) => db.prepare("SELECT 1 FROM meta WHERE key = 'half'").get())).toBeUndefined();
    handle.db.close();
  });
});
