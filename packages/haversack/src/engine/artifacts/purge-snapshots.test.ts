import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { differenceBetween, purgeSnapshots, takeSnapshot } from "./git-snapshot.ts";

let root: string;
let state: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "haversack-purge-"));
  state = join(root, ".haversack");
  mkdirSync(state);
  execFileSync("git", ["init", "--quiet", root]);
});
afterEach(() => rmSync(root, { recursive: true }));

const objects = () =>
  readdirSync(join(state, "snapshots"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));

it("removes what only older snapshots hold, and keeps the newer ones whole", () => {
  writeFileSync(join(root, "kept.md"), "kept\n");
  writeFileSync(join(root, "spec.md"), "one\n");
  takeSnapshot(root, state);
  const old = objects();
  for (const file of old) utimesSync(file, new Date("2026-01-01"), new Date("2026-01-01"));
  writeFileSync(join(root, "spec.md"), "two\n");
  const from = takeSnapshot(root, state)!;
  writeFileSync(join(root, "spec.md"), "three\n");
  const to = takeSnapshot(root, state)!;

  const limits = { olderThan: new Date("2026-02-01"), dryRun: true };
  const count = purgeSnapshots(state, limits);
  // The first text and the first tree; kept.md is in the newer ones too.
  expect(count).toBe(2);
  expect(objects().length).toBe(old.length + 4);
  expect(purgeSnapshots(state, { ...limits, dryRun: false })).toBe(2);
  expect(objects().length).toBe(old.length + 2);
  expect(objects().every((file) => statSync(file).mtimeMs > limits.olderThan.getTime())).toBe(true);
  expect(differenceBetween(root, { state, from, to })?.diff).toContain("+three");
});

it("has nothing to do where no snapshot was made", () => {
  expect(purgeSnapshots(state, { olderThan: new Date(), dryRun: false })).toBe(0);
});
