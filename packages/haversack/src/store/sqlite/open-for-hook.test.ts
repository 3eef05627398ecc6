import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";
import { makeRecordedStore } from "../../base/project-trust.ts";
import { openForHook, writeStore } from "./access.ts";
import { migrations } from "./migrations.ts";
import { openDatabase } from "./open.ts";
import { latestVersion } from "./schema.ts";
import { SCHEMA_VERSION } from "./schema-version.ts";

let folder: string;
let file: string;
let userState: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "haversack-hook-"));
  file = join(folder, "haversack.db");
  userState = join(folder, "home/haversack");
  makeRecordedStore(folder, userState, new Date());
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it("knows the newest schema", () => {
  expect(SCHEMA_VERSION).toBe(latestVersion(migrations));
});

it("opens an existing store and writes to it", () => {
  openDatabase(file, { durability: "full" }).db.close();
  const handle = openForHook(file, { busyMs: 100, userState })!;
  writeStore(handle, (db) => db.exec("INSERT INTO meta VALUES ('x', 'y')"));
  expect(handle.db.prepare("SELECT value FROM meta WHERE key = 'x'").get()).toEqual({ value: "y" });
});

it("makes no store, and leaves older, newer and foreign ones alone", () => {
  expect(openForHook(file, { busyMs: 100, userState })).toBeUndefined();
  const { db } = openDatabase(file, { durability: "full" });
  db.exec(`PRAGMA user_version = ${SCHEMA_VERSION - 1}`);
  expect(openForHook(file, { busyMs: 100, userState })).toBeUndefined();
  db.exec(`PRAGMA user_version = ${SCHEMA_VERSION + 1}`);
  expect(openForHook(file, { busyMs: 100, userState })).toBeDefined();
  db.exec(`UPDATE meta SET value = '${SCHEMA_VERSION + 1}' WHERE key = 'min_reader'`);
  expect(openForHook(file, { busyMs: 100, userState })).toBeUndefined();
  writeFileSync(
    join(folder, "text.db"),
    "no database at all, but long enough to have a header of one hundred bytes ".repeat(3),
  );
  expect(() => openForHook(join(folder, "text.db"), { busyMs: 100, userState })).toThrow();
});

it("does not open a store that is not this user's own", () => {
  openDatabase(file, { durability: "full" }).db.close();
  expect(openForHook(file, { busyMs: 100, userState: join(folder, "another") })).toBeUndefined();
  expect(openForHook(file, { busyMs: 100, userState: undefined })).toBeUndefined();
  copyFileSync(file, `${file}.pulled`);
  renameSync(`${file}.pulled`, file);
  expect(openForHook(file, { busyMs: 100, userState })).toBeUndefined();
});

it("keeps the write-ahead file short although hooks do not close the store", () => {
  openDatabase(file, { durability: "full" }).db.close();
  const source = pathToFileURL(join(import.meta.dirname, "access.ts")).href;
  const hook = `
    const { closeIfLogIsLong, openForHook } = await import(${JSON.stringify(source)});
    const handle = openForHook(${JSON.stringify(file)}, { busyMs: 1000, userState: ${JSON.stringify(userState)} });
    handle.db.prepare("INSERT INTO meta VALUES (?, ?)").run(String(process.pid), "x".repeat(100000));
    closeIfLogIsLong(handle);
    process.reallyExit(0);`;
  const sizes = Array.from({ length: 12 }, () => {
    execFileSync(process.execPath, ["--input-type=module", "-e", hook], { stdio: ["ignore", "ignore", "inherit"] });
    return statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  });
  expect(Math.max(...sizes)).toBeLessThan(650_000);
  expect(sizes).toContain(0);
  const count = openForHook(file, { busyMs: 100, userState })!
    .db.prepare("SELECT count(*) AS n FROM meta WHERE length(value) = 100000")
    .get();
  expect(count).toEqual({ n: 12 });
});
