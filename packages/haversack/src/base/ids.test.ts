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
  it("is the prefix and ten characters without i, l, o and u", () => {
    openSync.mockImplementation(realFs.openSync);
    expect(newId("T")).toMatch(/^T-[0-9a-hjkmnp-tv-z]{10}$/);
  });

  it("takes five bits of each byte of the source it is given", () => {
    expect(newId("E", (bytes) => bytes.set([0, 1, 9, 10, 17, 18, 31, 32, 255, 64]))).toBe("E-019ahjz0z0");
  });

  it("does not repeat itself", () => {
    openSync.mockImplementation(realFs.openSync);
    const ids = new Set(Array.from({ length: 2_000 }, () => newId("T")));
    expect(ids.size).toBe(2_000);
  });

  it("uses every character about equally often", () => {
    openSync.mockImplementation(realFs.openSync);
    const counts = new Map<string, number>();
    for (let made = 0; made < 3_200; made++) {
      for (const character of newId("").slice(1)) counts.set(character, (counts.get(character) ?? 0) + 1);
    }
    expect(counts.size).toBe(32);
    // Expected 1,000 each, standard deviation 31: eight of them.
    for (const count of counts.values()) expect(Math.abs(count - 1_000)).toBeLessThan(250);
  });

  it.each(["no device", "a plain file in its place"])("falls back to the runtime's random source: %s", (how) => {
    openSync.mockImplementation(() => {
      if (how === "no device") throw Object.assign(new Error("ENOENT"), { code: "ENOENT" });
      return realFs.openSync(import.meta.filename, "r");
    });
    const random = vi.spyOn(globalThis.crypto, "getRandomValues");
    expect(newId("T")).not.toBe(newId("T"));
    expect(random).toHaveBeenCalledTimes(2);
    random.mockRestore();
  });
});
