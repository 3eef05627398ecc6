/** The compiled code of daily commands, in the user's cache folder. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { scratchProject } from "./bins.ts";

function project() {
  const scratch = scratchProject();
  scratch.haversack(["task", "create", "Write the parser"]);
  const cache = join(scratch.home, ".cache/haversack");
  rmSync(cache, { recursive: true, force: true });
  return { ...scratch, cache };
}

describe("the cache of daily commands", () => {
  it("changes no output, and has entries for the command and what it loads", () => {
    const { haversack, cache } = project();
    const first = haversack(["next"]);
    expect(first).toMatchObject({ code: 0, err: "" });
    expect(first.out).toContain("Write the parser");
    const files = readdirSync(cache);
    for (const file of ["cli", "core", "command-next"]) {
      expect(files.filter((name) => name.startsWith(`${file}-cli-next-`))).toHaveLength(1);
    }
    expect(haversack(["next"])).toMatchObject({ code: 0, out: first.out, err: "" });
    expect(readdirSync(cache)).toEqual(files);
  });

  it("is ignored and replaced when it is damaged", () => {
    const { haversack, cache } = project();
    const { out } = haversack(["next"]);
    const [core = ""] = readdirSync(cache).filter((name) => name.startsWith("core-"));
    const whole = readFileSync(join(cache, core));
    for (const bytes of [Buffer.from("rubbish"), whole.subarray(0, whole.length - 1), Buffer.alloc(whole.length)]) {
      writeFileSync(join(cache, core), bytes);
      expect(haversack(["next"])).toMatchObject({ code: 0, out, err: "" });
      expect(readFileSync(join(cache, core)).equals(bytes)).toBe(false);
    }
  });

  it("is not needed: a home that cannot be written, errors, and other commands", () => {
    const { haversack, cache, home } = project();
    writeFileSync(join(home, "file"), "");
    const env = { XDG_CACHE_HOME: join(home, "file") };
    expect(haversack(["next"], { env })).toMatchObject({ code: 0, err: "" });
    expect(haversack(["task", "show", "T99999"])).toMatchObject({ code: 1, out: "" });
    expect(haversack(["task", "show"])).toMatchObject({ code: 2, out: "" });
    expect(haversack(["help"]).code).toBe(0);
    expect(existsSync(join(cache, "cli-cli-help"))).toBe(false);
    for (const name of readdirSync(cache)) expect(name).toMatch(/^(?:node|[\w-]+-cli-task-show-[\w.-]+\.bin)$/);
  });
});
