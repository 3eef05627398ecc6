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
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { Script } from "node:vm";
import { describe, expect, it } from "vitest";
import { DIST, scratchProject } from "./bins.ts";

const SKILL =
  "---\nname: api-errors\ndescription: Use when an HTTP endpoint reports error status codes.\n---\n\nBody.\n";

/** What compiled-code.ts puts around the file. */
const WRAPPER = "(function(exports,require,module,__dirname,__filename){\n})";

function project() {
  const scratch = scratchProject();
  scratch.write(".claude/skills/api-errors/SKILL.md", SKILL);
  scratch.haversack(["skill", "index"]);
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

/** Entries of the file that every event loads; some events load a second file too. */
function entriesOf(cache: string): string[] {
  return readdirSync(cache).filter((file) => file.startsWith("hook-events-"));
}

describe("the hook's cache", () => {
  it("is written once and changes no answer", () => {
    const { ask, cache } = project();
    const first = ask("one");
    expect(first.out).toContain("api-errors");
    const files = readdirSync(cache);
    for (const part of ["hook-events", "hook-prompt"]) {
      expect(files.filter((file) => file.startsWith(`${part}-UserPromptSubmit-`))).toHaveLength(1);
    }
    expect(ask("two").out).toBe(first.out);
    expect(readdirSync(cache)).toEqual(files);
  });

  it("learns the functions of an answer after a prompt without one, and is then left alone", () => {
    const { ask, cache } = project();
    const saved = () =>
      ["hook-events", "hook-prompt"].map((part) => {
        const [name = ""] = readdirSync(cache).filter((file) => file.startsWith(`${part}-UserPromptSubmit-`));
        return statSync(join(cache, name));
      });
    expect(ask("one", {}, "continue").out).toBe("");
    const first = saved();
    const { out } = ask("one");
    expect(out).toContain("api-errors");
    const second = saved();
    for (const [at, { size }] of second.entries()) expect(size).toBeGreaterThan(first[at]!.size);
    // Both outcomes are known now, in any order.
    expect(ask("two").out).toBe(out);
    expect(ask("two", {}, "continue").out).toBe("");
    expect(saved()).toEqual(second.map((each) => expect.objectContaining({ ino: each.ino, mtimeMs: each.mtimeMs })));
  });

  it("drops entries that were made long ago", () => {
    const { ask, cache } = project();
    ask("one");
    const old = join(cache, "hook-events-Stop-0123456789abcdef-v22.16.0-x64.bin");
    writeFileSync(old, "of an earlier version");
    utimesSync(old, new Date(0), new Date(0));
    const fresh = join(cache, "hook-events-Stop-fedcba9876543210-v22.16.0-x64.bin");
    writeFileSync(fresh, "of another installation");
    for (const name of entriesOf(cache)) if (name.includes("UserPrompt")) rmSync(join(cache, name));
    ask("two");
    expect([existsSync(old), existsSync(fresh)]).toEqual([false, true]);
  });

  it("has one entry for each kind of event, whatever the payload calls it", () => {
    const { ask, cache, hook, root } = project();
    ask("one", {}, "continue");
    ask("one");
    expect(entriesOf(cache)).toHaveLength(1);
    const event = (hook_event_name: string) => hook({ session_id: "one", cwd: root, hook_event_name });
    event("Stop");
    expect(entriesOf(cache)).toHaveLength(2);
    for (const name of ["../../evil", "Evil", "x".repeat(5_000), "Stop/../Stop"]) event(name);
    expect(entriesOf(cache)).toHaveLength(3);
    expect(existsSync(join(cache, "../../evil"))).toBe(false);
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
    // Without a home, nobody can have accepted the store.
    expect(ask("none", { HOME: "" })).toMatchObject({ code: 0, out: "", err: "" });
    mkdirSync(join(home, "blocked"));
    writeFileSync(join(home, "blocked/haversack"), "a file where the folder should be");
    expect(ask("two", { XDG_CACHE_HOME: join(home, "blocked") })).toMatchObject({ code: 0, out: first.out, err: "" });
  });

  it("is never fatal when it is damaged, wherever that is, and is made anew", () => {
    const { ask, cache } = project();
    const { out } = ask("first");
    const [name = ""] = entriesOf(cache);
    const file = join(cache, name);
    ask("warm");
    const whole = readFileSync(file);
    // Seeded, so a failure can be reproduced.
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
    expect(entriesOf(cache)).toEqual([name]);
  }, 600_000);

  it("is used from a private folder of the user's own only", () => {
    const { ask, cache, home } = project();
    const { out } = ask("first");
    const [name = ""] = entriesOf(cache);
    const file = join(cache, name);
    let asked = 0;
    const right = () => expect(ask(`again ${asked++}`)).toMatchObject({ code: 0, out, err: "" });
    // Compiled from another source of the same length. V8 compares only the length, so it would run this code if we trusted the entry.
    const length = readFileSync(join(DIST, "hook-events.cjs"), "latin1").length + WRAPPER.length;
    const source = '(function(){process.stdout.write("POISON");process.exit(7)})'.padEnd(length);
    const code = new Script(source).createCachedData();
    const end = Buffer.alloc(4);
    end.writeUInt32LE(code.length);
    const bytes = Buffer.concat([code, end, code, end]);

    // Control: in a private folder the poisoned entry runs. Otherwise the rest of this test would prove nothing.
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

    // First the entry, then the folder is a link.
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
    const [name = ""] = entriesOf(cache);
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
    expect(entriesOf(cache)).toHaveLength(1);
    expect(ask("again", { NODE_OPTIONS: "--max-old-space-size=512" })).toMatchObject({ code: 0, out, err: "" });
    expect(entriesOf(cache)).toHaveLength(2);
    expect(ask("relative", { XDG_CACHE_HOME: ".cache" })).toMatchObject({ code: 0, out, err: "" });
    expect(existsSync(join(root, ".cache"))).toBe(false);
  });

  it("of an installation with a file missing is silence", () => {
    const { root, home, hook } = project();
    const dist = join(home, "dist");
    cpSync(DIST, dist, { recursive: true, filter: (path) => path === DIST || /hook[^/]*\.cjs$/.test(path) });
    rmSync(join(dist, "hook-events.cjs"));
    const start = { session_id: "one", cwd: root, hook_event_name: "SessionStart", source: "startup" };
    expect(hook(start, { dist })).toMatchObject({ code: 0, out: "", err: "" });
  });
});
