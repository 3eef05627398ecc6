import * as fs from "node:fs";
import { afterEach, describe, expect, it, vi } from "vitest";
import { digitsFor, newId } from "./ids.ts";

vi.mock("node:fs", async (original) => ({ ...(await original<typeof fs>()), openSync: vi.fn() }));
const realFs = await vi.importActual<typeof fs>("node:fs");
const openSync = vi.mocked(fs.openSync);

afterEach(() => {
  openSync.mockReset();
});

describe("newId", () => {
  it.each([4, 5, 9, 12])("is the prefix and %i digits, the first of them not 0", (digits) => {
    openSync.mockImplementation(realFs.openSync);
    for (let made = 0; made < 50; made++) expect(newId("T", digits)).toMatch(/^T[1-9][0-9]*$/);
    expect(newId("T", digits)).toHaveLength(1 + digits);
  });

  it("takes 48 bits of the source it is given, and asks again for what lies above the last whole multiple", () => {
    const sources = [
      [255, 255, 255, 255, 255, 255],
      [0, 0, 0, 0, 1, 2],
      [0, 0, 0, 0, 0x23, 0x28],
    ];
    const random = (bytes: Uint8Array) => bytes.set(sources.shift() ?? []);
    expect(newId("E", 4, random)).toBe("E1258");
    // There are 9,000 four-digit numbers, so this one wraps to the first.
    expect(newId("E", 4, random)).toBe("E1000");
  });

  it("does not repeat itself", () => {
    openSync.mockImplementation(realFs.openSync);
    const ids = new Set(Array.from({ length: 2_000 }, () => newId("T", 12)));
    expect(ids.size).toBe(2_000);
  });

  it("uses every digit about equally often", () => {
    openSync.mockImplementation(realFs.openSync);
    const counts = new Map<string, number>();
    for (let made = 0; made < 1_000; made++) {
      for (const character of newId("", 12).slice(1)) counts.set(character, (counts.get(character) ?? 0) + 1);
    }
    expect(counts.size).toBe(10);
    // Expected: 1,100 each with a standard deviation of 31. 252 is eight deviations.
    for (const count of counts.values()) expect(Math.abs(count - 1_100)).toBeLessThan(252);
  });

  it.each(["no device", "a plain file in its place"])("falls back to the runtime's random source: %s", (how) => {
    openSync.mockImplementation(() => {
      if (how === "no device") throw Object.assign(new Error("ENOENT"), { code: "ENOENT" });
      return realFs.openSync(import.meta.filename, "r");
    });
    const random = vi.spyOn(globalThis.crypto, "getRandomValues");
    expect(newId("T", 12)).not.toBe(newId("T", 12));
    // A number above the limit is drawn again.
    expect(random.mock.calls.length).toBeGreaterThanOrEqual(2);
    random.mockRestore();
  });
});

describe("digitsFor", () => {
  it.each([
    [0, 4],
    [10, 4],
    [316, 4],
    [317, 5],
    [1_000, 5],
    [1_001, 6],
    [3_162, 6],
    [3_163, 7],
    [10_000, 7],
    [100_000, 9],
    [100_001, 10],
    [1e9, 12],
  ])("%i things have ids of %i digits", (size, digits) => {
    expect(digitsFor(size)).toBe(digits);
  });

  it("keeps the chance that two clones collide, which each add a tenth, at 1 in 9", () => {
    for (let size = 10; size < 250_000; size = Math.ceil(size * 1.1)) {
      const added = size / 10;
      expect(1 - Math.exp((-added * added) / (9 * 10 ** (digitsFor(size) - 1)))).toBeLessThanOrEqual(1 / 9);
    }
  });
});
