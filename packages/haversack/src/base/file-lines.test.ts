import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { readFileLines } from "./file-lines.ts";

function file(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "haversack-lines-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "lines.jsonl");
  writeFileSync(path, text);
  return path;
}

function lines(path: string, options?: Parameters<typeof readFileLines>[2]): string[] {
  const found: string[] = [];
  readFileLines(path, (bytes) => found.push(bytes.toString("utf8")), options);
  return found;
}

describe("readFileLines", () => {
  it("gives every line whole, also across its buffer and without a line feed at the end", () => {
    const long = `${"é".repeat(900_000)}end`;
    const given = ["first", "", long, "x".repeat(1 << 20), "last, cut of"];
    expect(lines(file(given.join("\n")))).toEqual(given.filter(Boolean));
  });

  it("leaves out lines that are too long and goes on behind them", () => {
    const path = file(["a", "b".repeat(5_000_000), "c"].join("\n"));
    const found: string[] = [];
    const { tooLong } = readFileLines(path, (bytes) => found.push(bytes.toString("utf8")), { maxLineBytes: 1_000_000 });
    expect(found).toEqual(["a", "c"]);
    expect(tooLong).toBe(1);
  });

  it("stops at the end that the file had when it was opened", () => {
    const path = file("one\ntwo\n");
    const found: string[] = [];
    readFileLines(path, (bytes) => {
      found.push(bytes.toString("utf8"));
      appendFileSync(path, "more\n");
    });
    expect(found).toEqual(["one", "two"]);
  });
});
