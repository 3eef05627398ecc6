/** The package as a user gets it: packed, installed into an empty project without network, and run. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const HOME = join(import.meta.dirname, "../packages/haversack");
let folder: string;
let installed: string;
let packedBytes: number;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "haversack-pack-"));
  execFileSync("npm", ["pack", "--pack-destination", folder], { cwd: HOME, stdio: "pipe" });
  const [tarball = ""] = readdirSync(folder);
  packedBytes = statSync(join(folder, tarball)).size;
  writeFileSync(join(folder, "package.json"), '{"name": "empty", "version": "1.0.0", "type": "module"}');
  execFileSync("npm", ["install", "--offline", "--no-audit", "--no-fund", join(folder, tarball)], {
    cwd: folder,
    stdio: "pipe",
  });
  installed = join(folder, "node_modules/haversack");
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the installed package", () => {
  it("brings no other package along", () => {
    expect(readdirSync(join(folder, "node_modules")).filter((name) => !name.startsWith("."))).toEqual(["haversack"]);
  });

  it("runs its bin", () => {
    const { version } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
    const run = (...words: string[]) =>
      spawnSync(join(folder, "node_modules/.bin/haversack"), words, { cwd: folder, encoding: "utf8" });
    expect(run("--version").stdout).toBe(`${version}\n`);
    expect(run("store", "check", "--json").status).toBe(0);
  });

  it("has typed entries", () => {
    writeFileSync(
      join(folder, "use.ts"),
      'import { estimateTokens, HaversackError, version } from "haversack";\nconst n: number = estimateTokens(version);\nconsole.log(n > 0, HaversackError.name);\n',
    );
    const tsc = join(import.meta.dirname, "../node_modules/.bin/tsc");
    const options = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2023", "--types", "", "use.ts"];
    const checked = spawnSync(tsc, options, { cwd: folder, encoding: "utf8" });
    expect(checked.stdout + checked.stderr).toBe("");
    expect(spawnSync(process.execPath, ["use.ts"], { cwd: folder, encoding: "utf8" }).stdout).toBe(
      "true HaversackError\n",
    );
  });

  it("ships the schema of the settings and the licences of what it bundles", () => {
    expect(readdirSync(join(installed, "dist"))).toEqual(
      expect.arrayContaining(["config.schema.json", "hook.cjs", "THIRD-PARTY-NOTICES.txt"]),
    );
    expect(readdirSync(installed)).toEqual(expect.arrayContaining(["README.md", "LICENSE"]));
  });

  it("stays small: packed below 3 MB, unpacked below 9, and what is built for a client below 5", () => {
    const sizeOf = (path: string) =>
      readdirSync(path, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
    expect(packedBytes).toBeLessThan(3_000_000);
    expect(sizeOf(installed)).toBeLessThan(9_000_000);
    // Each holds a copy of the program, so they are no part of the package.
    for (const client of ["plugin", "codex", "gemini", "opencode"]) {
      expect(sizeOf(join(HOME, "dist", client)), client).toBeLessThan(5_000_000);
      expect(existsSync(join(installed, "dist", client)), client).toBe(false);
    }
  });

  it("says of a command that a client's plugin lacks where it is", () => {
    const run = (word: string) =>
      spawnSync(process.execPath, [join(HOME, "dist/plugin/haversack.cjs"), word], {
        cwd: folder,
        encoding: "utf8",
      });
    expect(run("next")).toMatchObject({
      status: 2,
      stderr: `haversack: a client's plugin has no "next" (install the npm package haversack for all commands)\n`,
    });
    expect(run("doctor").stdout).toContain("runtime");
  });
});
