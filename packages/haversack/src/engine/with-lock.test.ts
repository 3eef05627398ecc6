import { mkdirSync, mkdtempSync, rmSync, statSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { withLock } from "./init.ts";

describe("withLock", () => {
  it("holds the folder during the action only, also when it throws", () => {
    const { lock, place } = scratch();
    expect(withLock(lock, () => statSync(lock).isDirectory(), place)).toBe(true);
    const failing = () => {
      throw new Error("inside");
    };
    expect(() => withLock(lock, failing, place)).toThrow("inside");
    expect(statSync(lock, { throwIfNoEntry: false })).toBeUndefined();
  });

  it("takes over a lock that was left behind, and gives up on one that is held", () => {
    const { lock, place } = scratch();
    mkdirSync(lock);
    expect(() => withLock(lock, () => 1, { ...place, waitMs: 0 })).toThrow("held by another program");
    const old = new Date(Date.now() - 60_000);
    utimesSync(lock, old, old);
    expect(withLock(lock, () => 1, place)).toBe(1);
  });

  it("says in one line that a folder cannot be written when its lock cannot be made", () => {
    const { folder, place } = scratch();
    const lock = join(folder, "missing", ".lock");
    expect(() => withLock(lock, () => undefined, place)).toThrow(/missing\/\.lock: cannot be written \(ENOENT\)/);
  });
});

function scratch() {
  const folder = mkdtempSync(join(tmpdir(), "haversack-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return { folder, lock: join(folder, "x.lock"), place: { within: folder } };
}
