/** The compiled parts of the hook, in the user's cache folder. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { DIST, scratchProject } from "./bins.ts";

const SKILL =
  "---\nname: api-errors\ndescription: Use when an HTTP endpoint reports error status codes.\n---\n\nBody.\n";

function project() {
  const scratch = scratchProject();
  scratch.write(".claude/skills/api-errors/SKILL.md", SKILL);
  scratch.haversack(["skills", "index"]);
  const ask = (session: string, env = {}, prompt = "report error status codes from the endpoint") =>
    scratch.hook(
      {
        session_id: session,
        cwd: scratch.root,
        hook_event_name: "UserPromptSubmit",
        prompt,
      },
      { env },
    );
  return { ...scratch, ask, cache: join(scratch.home, ".cache/haversack") };
}

describe("the hook's cache", () => {
  it("is written once and changes no answer", () => {
    const { ask, cache } = project();
    const first = ask("one");
    expect(first.out).toContain("api-errors");
    const files = readdirSync(cache);
    expect(files.filter((file) => file.startsWith("hook-main+hook-prompt-"))).toHaveLength(1);
    expect(ask("two").out).toBe(first.out);
    expect(readdirSync(cache)).toEqual(files);
  });

  it("grows when an event takes a way that it does not hold yet, and then rests", () => {
    const { ask, cache } = project();
    const sizeOf = () =>
      readdirSync(cache)
        .map((file) => statSync(join(cache, file)).size)
        .reduce((sum, size) => sum + size, 0);
    expect(ask("one", {}, "continue").out).toBe("");
    const small = sizeOf();
    expect(ask("one").out).toContain("api-errors");
    const grown = sizeOf();
    expect(grown).toBeGreaterThan(small);
    ask("one", {}, "continue");
    expect(ask("two").out).toContain("api-errors");
    expect(sizeOf()).toBe(grown);
  });

  it("is passed over when it is rubbish, and made anew", () => {
    const { ask, cache } = project();
    const first = ask("one");
    for (const file of readdirSync(cache)) writeFileSync(join(cache, file), "rubbish");
    expect(ask("two")).toMatchObject({ code: 0, out: first.out, err: "" });
    expect(ask("three").out).toBe(first.out);
  });

  it("does without where there is no home, or none that can be written", () => {
    const { ask, root, home } = project();
    const first = ask("one", {
      HOME: "",
      XDG_CONFIG_HOME: join(home, ".config"),
      XDG_STATE_HOME: join(home, ".local/state"),
    });
    expect(first).toMatchObject({ code: 0, err: "" });
    expect(first.out).toContain("api-errors");
    expect(existsSync(join(root, "undefined"))).toBe(false);
    // Without a home nobody can have accepted the store.
    expect(ask("none", { HOME: "" })).toMatchObject({ code: 0, out: "", err: "" });
    mkdirSync(join(home, "blocked"));
    writeFileSync(join(home, "blocked/haversack"), "a file where the folder should be");
    expect(ask("two", { XDG_CACHE_HOME: join(home, "blocked") })).toMatchObject({ code: 0, out: first.out, err: "" });
  });

  it("is no reason to be silent about a file of the installation that is gone", () => {
    const { root, home, hook } = project();
    const dist = join(home, "dist");
    cpSync(DIST, dist, { recursive: true, filter: (path) => path === DIST || /hook[^/]*\.cjs$/.test(path) });
    const start = (session: string) =>
      hook(
        { session_id: session, cwd: root, hook_event_name: "SessionStart", source: "startup" },
        { dist, env: { HAVERSACK_AGENT: "june" } },
      );
    rmSync(join(dist, "hook-packet.cjs"));
    expect(start("one")).toMatchObject({ code: 0, out: "", err: "" });
    expect(readFileSync(join(root, ".haversack/log/haversack.log"), "utf8")).toContain("hook-packet.cjs");
  });
});
