import { execFile } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { appendReviewNote } from "../../artifacts/review-history.ts";
import { isFault } from "../../base/errors.ts";
import { appendHistory, historyPath } from "./append-history.ts";

function folder() {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "haversack-history-")));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const root = join(base, "repo");
  mkdirSync(root);
  const path = historyPath(root);
  const add = (note: string) => appendHistory(root, { root, change: (text) => appendReviewNote(text, note) });
  return { base, root, path, add };
}

describe("appendHistory", () => {
  it("makes the file with its first entry, and leaves nothing beside it", () => {
    const { root, path, add } = folder();
    add("LAZY-LOAD-WARNING: one");
    expect(readFileSync(path, "utf8")).toBe("# Review History\n\nLAZY-LOAD-WARNING: one\n");
    expect(readdirSync(root)).toEqual([".review-history.md"]);
  });

  it("keeps every byte that was there, also those that are no UTF-8", () => {
    const { path, add } = folder();
    const before = Buffer.concat([
      Buffer.from("\ufeff# Notes\r\nby hand "),
      Buffer.from([0xff, 0xfe, 0x80]),
      Buffer.from(" no end"),
    ]);
    writeFileSync(path, before);
    add("LAZY-LOAD-WARNING: two");
    const after = readFileSync(path);
    expect(after.subarray(0, before.length).equals(before)).toBe(true);
    expect(after.subarray(before.length).toString()).toBe("\r\n\r\nLAZY-LOAD-WARNING: two\r\n");
  });

  it("loses nothing when several write at once, and makes the file once", async () => {
    const { root, path } = folder();
    const code = `
      import { appendHistory } from ${JSON.stringify(new URL("append-history.ts", import.meta.url).href)};
      import { appendReviewNote } from ${JSON.stringify(new URL("../../artifacts/review-history.ts", import.meta.url).href)};
      const [root, name] = process.argv.slice(1);
      for (let at = 0; at < 20; at++) {
        appendHistory(root, { root, change: (text) => appendReviewNote(text, "LAZY-LOAD-WARNING: " + name + at) });
      }`;
    const run = promisify(execFile);
    const writers = ["a", "b", "c", "d"].map((name) =>
      run(process.execPath, ["--input-type=module", "-e", code, root, name]),
    );
    await Promise.all(writers);
    const text = readFileSync(path, "utf8");
    expect(text.match(/^LAZY-LOAD-WARNING: [a-d]\d+$/gm)).toHaveLength(80);
    expect(text.match(/# Review History/g)).toHaveLength(1);
    expect(readdirSync(root)).toEqual([".review-history.md"]);
  });

  it("writes nowhere else, and into nothing that is no text", () => {
    const { base, path, add } = folder();
    const secret = join(base, "secret.md");
    writeFileSync(secret, "mine\n");
    symlinkSync(secret, path);
    expect(fault(() => add("x"))).toContain(`${path}: nothing was written, because it is a symbolic link`);
    expect(readFileSync(secret, "utf8")).toBe("mine\n");
    rmSync(path);
    symlinkSync(join(base, "not-there.md"), path);
    expect(fault(() => add("x"))).toContain(`${path}: nothing was written, because it is a symbolic link`);
    expect(existsSync(join(base, "not-there.md"))).toBe(false);
    rmSync(path);
    mkdirSync(path);
    expect(fault(() => add("x"))).toBe(`${path} is not a file; nothing was written`);
    rmSync(path, { recursive: true });
    writeFileSync(path, Buffer.from([1, 0, 2]));
    expect(fault(() => add("x"))).toBe(`${path} is not text; nothing was written`);
    expect(readFileSync(path)).toEqual(Buffer.from([1, 0, 2]));
  });
});

function fault(action: () => void): string {
  try {
    action();
  } catch (error) {
    if (isFault(error, "file-unwritable")) return error.message;
    throw error;
  }
  return "no fault";
}
