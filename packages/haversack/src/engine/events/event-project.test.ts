import { mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { recordTrust } from "../../base/project-trust.ts";
import { openDatabase } from "../../store/sqlite/open.ts";
import { keptOpen } from "./event-project.ts";

function scene(): string {
  const folder = mkdtempSync(join(tmpdir(), "haversack-kept-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "haversack.db");
}

const make = (file: string) => openDatabase(file, { durability: "normal" }).db.close();
const userStateOf = (file: string) => join(dirname(file), "home");
/** The same as `haversack trust`. */
const trust = (file: string) => recordTrust(dirname(file), userStateOf(file), { at: new Date() });

it("opens once, and anew when tables were changed or another file is there", () => {
  const file = scene();
  const open = keptOpen(file, { busyMs: 100, userState: userStateOf(file) });
  expect(open()).toBeUndefined();
  make(file);
  expect(open()).toBeUndefined();
  trust(file);
  const first = open();
  expect(first).toBeDefined();
  expect(open()).toBe(first);

  const other = openDatabase(file, { durability: "normal" });
  // Tables that SQLite itself adds are allowed; any other table would not be ours.
  other.db.exec("INSERT INTO meta VALUES ('a', 'b'); ANALYZE");
  other.db.close();
  const second = open();
  expect(second).not.toBe(first);
  expect(open()).toBe(second);

  make(`${file}.new`);
  for (const end of ["-wal", "-shm"]) rmSync(`${file}${end}`, { force: true });
  renameSync(`${file}.new`, file);
  expect(open()).toBeUndefined();
  trust(file);
  const third = open();
  expect(third).toBeDefined();
  expect(third).not.toBe(second);
});

it("opens anew after a connection has failed", () => {
  const file = scene();
  make(file);
  trust(file);
  const open = keptOpen(file, { busyMs: 100, userState: userStateOf(file) });
  const first = open();
  first?.db.close();
  expect(() => open()).toThrow();
  const second = open();
  expect(second).toBeDefined();
  expect(second).not.toBe(first);
});
