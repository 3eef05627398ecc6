/** Every test that docs/explanation/threats.md names exists. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "..");
const ROW = /\| `([^`|]+\.test\.ts)`: (.+) \|$/;
const rows = readFileSync(join(ROOT, "docs/explanation/threats.md"), "utf8")
  .split("\n")
  .flatMap((line) => (ROW.test(line) ? [ROW.exec(line)!.slice(1) as [string, string]] : []));

it("names tests for most threats", () => {
  expect(rows.length).toBeGreaterThan(25);
});

it.each(rows)("%s: %s", (file, title) => {
  const path = join(ROOT, file);
  expect(existsSync(path)).toBe(true);
  const titles = [...readFileSync(path, "utf8").matchAll(/\b(?:it|test)\b[^\n]*?\(\s*(["'`])(.+?)\1,/g)];
  expect(titles.map(([, , found]) => found).filter((found) => found?.includes(title))).not.toEqual([]);
});
