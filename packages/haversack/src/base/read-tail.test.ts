import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, expect, it } from "vitest";
import { findLast, readTail } from "./clean-text.ts";

const folder = mkdtempSync(join(tmpdir(), "haversack-tail-"));
const file = join(folder, "a.txt");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("finds the last occurrence with what is around it, wherever the pieces are cut", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(200_000), { maxLength: 3 }), fc.nat(70_000), (gaps, end) => {
      const text = `${gaps.map((gap, at) => `${"x".repeat(gap)}<${at}`.concat("NEEDLE", `${at}>`)).join("")}${"y".repeat(end)}`;
      writeFileSync(file, text);
      const at = text.lastIndexOf("NEEDLE");
      const wanted = at < 0 ? undefined : text.slice(Math.max(0, at - 100), at + 6 + 100);
      expect(findLast(file, "NEEDLE", 4_000_000)).toBe(wanted);
    }),
    { numRuns: 60 },
  );
});

it("reads no more than it may, and nothing of a file that is not there", () => {
  writeFileSync(file, `NEEDLE${"x".repeat(300_000)}`);
  expect(findLast(file, "NEEDLE", 100_000)).toBeUndefined();
  expect(readTail(file, 10)?.toString()).toBe("x".repeat(10));
  expect(findLast(join(folder, "none"), "NEEDLE", 10)).toBeUndefined();
  expect(readTail(join(folder, "none"), 10)).toBeUndefined();
});
