/** The client that is run is the pinned one, and a failed installation is loud. */
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";

const FILES = ["package.json", "package-lock.json", ".npmrc", "install.ts"];
const here = (name: string) => join(import.meta.dirname, name);

it("names what could not be installed and why", () => {
  const folder = mkdtempSync(join(tmpdir(), "haversack-install-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of FILES) copyFileSync(here(name), join(folder, name));
  const { status, stderr } = spawnSync(
    process.execPath,
    ["--input-type=module", "-e", `(await import(${JSON.stringify(join(folder, "install.ts"))})).default()`],
    {
      encoding: "utf8",
      env: {
        PATH: process.env["PATH"],
        HOME: folder,
        npm_config_cache: join(folder, "cache"),
        // Nobody listens there.
        npm_config_registry: "http://127.0.0.1:1/",
        npm_config_fetch_retries: "0",
      },
    },
  );
  expect(status).not.toBe(0);
  expect(stderr).toMatch(/Codex 0\.166\.0 could not be installed/);
  expect(stderr).toMatch(/ECONNREFUSED/);
});

it("ties the lock file to no registry", () => {
  const { packages } = JSON.parse(readFileSync(here("package-lock.json"), "utf8"));
  const entries = Object.values(packages as Record<string, { resolved?: string; integrity?: string }>);
  expect(entries.filter(({ resolved }) => resolved)).toEqual([]);
  expect(entries.filter(({ integrity }) => integrity).length).toBeGreaterThan(1);
});
