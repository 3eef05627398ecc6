/** The compiled parts of the hook, in the user's cache folder. */
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
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

  it("is never fatal when it is damaged, wherever that is, and is made anew", () => {
    const { ask, cache } = project();
    const { out } = ask("first");
    const [name = ""] = readdirSync(cache);
    const file = join(cache, name);
    ask("warm");
    const whole = readFileSync(file);
    // Seeded: a failure can be repeated.
    let seed = 20_261_118;
    const random = (below: number) => {
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
      return seed % below;
    };
    const flipped = (count: number) => {
      const bytes = Buffer.from(whole);
      for (let at = 0; at < count; at++) bytes[random(bytes.length)]! ^= 1 << random(8);
      return bytes;
    };
    const damaged = [
      ...Array.from({ length: 200 }, (_, at) => flipped(1 + (at % 3) * 20)),
      ...[0, 1, 4, 5, 64, whole.length / 2, whole.length - 1, whole.length - 2].map((size) => whole.subarray(0, size)),
      Buffer.alloc(whole.length),
      Buffer.concat([whole, whole]),
    ];
    for (const [at, bytes] of damaged.entries()) {
      writeFileSync(file, bytes);
      expect(ask(`damaged ${at}`)).toMatchObject({ code: 0, out, err: "" });
      expect(readFileSync(file).equals(bytes)).toBe(false);
    }
    expect(readdirSync(cache)).toEqual([name]);
  }, 600_000);

  it("is used from a private folder of the user's own only", () => {
    const { ask, cache, home } = project();
    const { out } = ask("first");
    const [name = ""] = readdirSync(cache);
    const file = join(cache, name);
    let asked = 0;
    const right = () => expect(ask(`again ${asked++}`)).toMatchObject({ code: 0, out, err: "" });
    // A marker in a copy that would be run if the entry were believed.
    const poison = () => {
      const bytes = readFileSync(file);
      const half = bytes.subarray(0, bytes.length / 2);
      const build = half.toString("latin1", half.length - 25, half.length - 9);
      const source = Buffer.from(`[function(){process.stdout.write("POISON");process.exit(7)}]//${build}`);
      const tail = Buffer.alloc(9);
      tail.writeUInt32LE(source.length + tail.length, 4);
      return Buffer.concat([source, tail, source, tail]);
    };
    const bytes = poison();

    // The control: in a private folder it runs, so that the rest of this test means something.
    writeFileSync(file, bytes, { mode: 0o600 });
    chmodSync(file, 0o600);
    expect(ask("control")).toMatchObject({ out: "POISON" });

    for (const mode of [0o777, 0o750, 0o701]) {
      writeFileSync(file, bytes);
      chmodSync(cache, mode);
      right();
      expect(statSync(cache).mode & 0o777).toBe(0o700);
      expect(readFileSync(file).equals(bytes)).toBe(false);
    }
    writeFileSync(file, bytes);
    chmodSync(file, 0o644);
    right();
    expect(statSync(file).mode & 0o777).toBe(0o600);

    // An entry, and then the folder, that is a link.
    const elsewhere = join(home, "elsewhere");
    mkdirSync(elsewhere, { mode: 0o700 });
    writeFileSync(join(elsewhere, name), bytes, { mode: 0o600 });
    rmSync(file);
    symlinkSync(join(elsewhere, name), file);
    right();
    expect(lstatSync(file).isFile()).toBe(true);
    renameSync(cache, join(home, "old"));
    symlinkSync(elsewhere, cache);
    right();
    expect(readFileSync(join(elsewhere, name)).equals(bytes)).toBe(true);
  });

  it.skipIf(process.getuid?.() !== 0)("is not another user's (only root can give a file away)", () => {
    const { ask, cache } = project();
    const { out } = ask("first");
    const [name = ""] = readdirSync(cache);
    const file = join(cache, name);
    chownSync(file, 12345, 12345);
    expect(ask("again")).toMatchObject({ code: 0, out, err: "" });
    expect(statSync(file).uid).toBe(0);
    chownSync(cache, 12345, 12345);
    const before = statSync(file).mtimeMs;
    expect(ask("once more")).toMatchObject({ code: 0, out, err: "" });
    expect(statSync(file).mtimeMs).toBe(before);
  });

  it("holds for one set of V8 flags, and a relative folder is not used", () => {
    const { ask, cache, root } = project();
    const { out } = ask("first");
    expect(readdirSync(cache)).toHaveLength(1);
    expect(ask("again", { NODE_OPTIONS: "--max-old-space-size=512" })).toMatchObject({ code: 0, out, err: "" });
    expect(readdirSync(cache)).toHaveLength(2);
    expect(ask("relative", { XDG_CACHE_HOME: ".cache" })).toMatchObject({ code: 0, out, err: "" });
    expect(existsSync(join(root, ".cache"))).toBe(false);
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
