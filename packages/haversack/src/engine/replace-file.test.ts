import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { makeFolders, replaceFile, withLock } from "./replace-file.ts";

describe("replaceFile", () => {
  it("keeps the mode and the link, and leaves no other file", () => {
    const folder = scratch();
    const [real, link] = [join(folder, "real.json"), join(folder, "link.json")];
    writeFileSync(real, "old");
    chmodSync(real, 0o640);
    symlinkSync(real, link);
    replaceFile(link, "new");
    expect(readFileSync(real, "utf8")).toBe("new");
    expect(statSync(real).mode & 0o777).toBe(0o640);
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(readdirSync(folder).sort()).toEqual(["link.json", "real.json"]);
  });

  it("makes a new file with the mode given", () => {
    const file = join(scratch(), "new.json");
    replaceFile(file, "x", { modeIfNew: 0o600 });
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it("says which file cannot be written", () => {
    expect(() => replaceFile(join(scratch(), "none/x"), "x")).toThrow(/none\/x: cannot be written \(ENOENT\)/);
  });
});

describe("makeFolders", () => {
  it("names the folders that were not there, outermost first", () => {
    const folder = scratch();
    expect(makeFolders(join(folder, "a/b"))).toEqual([join(folder, "a"), join(folder, "a/b")]);
    expect(makeFolders(join(folder, "a/b"))).toEqual([]);
  });
});

describe("withLock", () => {
  it("holds the folder during the action only, also when it throws", () => {
    const lock = join(scratch(), "x.lock");
    expect(withLock(lock, () => statSync(lock).isDirectory())).toBe(true);
    expect(() =>
      withLock(lock, () => {
        throw new Error("inside");
      }),
    ).toThrow("inside");
    expect(statSync(lock, { throwIfNoEntry: false })).toBeUndefined();
  });

  it("takes over a lock that was left behind, and gives up on one that is held", () => {
    const lock = join(scratch(), "x.lock");
    mkdirSync(lock);
    expect(() => withLock(lock, () => 1, { waitMs: 0 })).toThrow("held by a running client");
    const old = new Date(Date.now() - 60_000);
    utimesSync(lock, old, old);
    expect(withLock(lock, () => 1)).toBe(1);
  });
});

function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), "haversack-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

it("says in one line that a folder cannot be written when its lock cannot be made", () => {
  const lock = join(scratch(), "missing", ".lock");
  expect(() => withLock(lock, () => undefined)).toThrow(/missing: cannot be written \(ENOENT\)/);
});
