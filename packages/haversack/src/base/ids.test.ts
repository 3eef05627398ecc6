import * as fs from "node:fs";
import { afterEach, describe, expect, it, vi } from "vitest";
import { newId } from "./ids.ts";

vi.mock("node:fs", async (original) => ({ ...(await original<typeof fs>()), openSync: vi.fn() }));
const realFs = await vi.importActual<typeof fs>("node:fs");
const openSync = vi.mocked(fs.openSync);

afterEach(() => {
  openSync.mockReset();
});

describe("newId", () => {
  it("is the prefix and twelve digits", () => {
    openSync.mockImplementation(realFs.openSync);
    expect(newId("T")).toMatch(/^T[0-9]{12}$/);
  });

  it("takes 40 bits of the source it is given, and asks again for what lies above 10^12", () => {
    const sources = [
      [255, 255, 255, 255, 255],
      [0, 0, 0, 1, 2],
    ];
    expect(newId("E", (bytes) => bytes.set(sources.shift() ?? []))).toBe("E000000000258");
  });

  it("does not repeat itself", () => {
    openSync.mockImplementation(realFs.openSync);
    const ids = new Set(Array.from({ length: 2_000 }, () => newId("T")));
    expect(ids.size).toBe(2_000);
  });

  it("uses every digit about equally often", () => {
    openSync.mockImplementation(realFs.openSync);
    const counts = new Map<string, number>();
    for (let made = 0; made < 1_000; made++) {
      for (const character of newId("")) counts.set(character, (counts.get(character) ?? 0) + 1);
    }
    expect(counts.size).toBe(10);
    // Expected 1,200 each, standard deviation 33: eight of them.
    for (const count of counts.values()) expect(Math.abs(count - 1_200)).toBeLessThan(264);
  });

  it.each(["no device", "a plain file in its place"])("falls back to the runtime's random source: %s", (how) => {
    openSync.mockImplementation(() => {
      if (how === "no device") throw Object.assign(new Error("ENOENT"), { code: "ENOENT" });
      return realFs.openSync(import.meta.filename, "r");
    });
    const random = vi.spyOn(globalThis.crypto, "getRandomValues");
    expect(newId("T")).not.toBe(newId("T"));
    // A number above 10^12 is drawn again.
    expect(random.mock.calls.length).toBeGreaterThanOrEqual(2);
    random.mockRestore();
  });
});
