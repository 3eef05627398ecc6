/** The lock file names no registry, so that any can be used. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

it("ties the lock file to no registry", () => {
  const { packages } = JSON.parse(readFileSync(join(import.meta.dirname, "package-lock.json"), "utf8"));
  const entries = Object.values(packages as Record<string, { resolved?: string; integrity?: string }>);
  expect(entries.filter(({ resolved }) => resolved)).toEqual([]);
  expect(entries.filter(({ integrity }) => integrity).length).toBeGreaterThan(1);
});
