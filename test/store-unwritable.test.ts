/** A store that this user may only read, and one on a full disk: what looks goes on, what saves says why it cannot. */
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { DIST, type Ran, type Scratch, scratchProject } from "./bins.ts";

const NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"];
const isRoot = process.getuid?.() === 0;
const canBeNobody =
  isRoot && spawnSync(NOBODY[0] as string, [...NOBODY.slice(1), process.execPath, "-e", "0"]).status === 0;
/** Root may write anything: as root it takes another user, else the modes of the files are enough. */
const canBeRefused = !isRoot || canBeNobody;
const canMount =
  spawnSync("unshare", ["-rm", "sh", "-ec", 'mount -t tmpfs -o size=64k none "$0"', tmpdir()]).status === 0;

const SKILL = "---\nname: pdf-forms\ndescription: Fill and read PDF forms\n---\n# PDF forms\nUse pdftk.\n";

interface Project extends Scratch {
  state: string;
  task: string;
  /** Runs the CLI through other words. */
  through(before: readonly string[], words: readonly string[], stdin?: string): Ran;
}

function project(): Project {
  const scratch = scratchProject();
  scratch.write(".claude/skills/pdf-forms/SKILL.md", SKILL);
  scratch.haversack(["skills", "index"]);
  const { id: task } = scratch.haversack(["task", "create", "Fill the form", "--json"]).json();
  const state = join(scratch.root, ".haversack");
  for (const folder of [dirname(scratch.root), scratch.root]) chmodSync(folder, 0o755);
  const nobody = join(scratch.home, "nobody");
  mkdirSync(nobody);
  for (const folder of [scratch.home, nobody]) chmodSync(folder, 0o777);
  return {
    ...scratch,
    state,
    task,
    through(before, words, stdin = "") {
      const [program = "", ...rest] = [...before, process.execPath, join(DIST, "haversack.cjs"), ...words];
      // Another user has a home, and a record of trusted stores, of his own.
      const env = { PATH: process.env["PATH"] ?? "", HOME: before === NOBODY ? nobody : scratch.home };
      if (before === NOBODY && words[0] !== "trust") {
        expect(this.through(before, ["trust", "--yes"]).err).toBe("");
      }
      const ran = spawnSync(program, rest, { cwd: scratch.root, encoding: "utf8", env, input: stdin });
      return { code: ran.status, out: ran.stdout, err: ran.stderr, json: () => JSON.parse(ran.stdout) };
    },
  };
}

/** The MCP server's answers to calls of tools. */
function callTools(run: (words: readonly string[], stdin: string) => Ran, calls: readonly [string, object][]) {
  const client = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } };
  const lines = [
    { id: 0, method: "initialize", params: client },
    { method: "notifications/initialized" },
    ...calls.map(([name, args], at) => ({ id: at + 1, method: "tools/call", params: { name, arguments: args } })),
  ].map((line) => JSON.stringify({ jsonrpc: "2.0", ...line }));
  const answers = run(["mcp"], `${lines.join("\n")}\n`)
    .out.trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { id: number; result: { isError?: boolean; content: { text: string }[] } });
  return calls.map((_, at) => {
    const { isError = false, content } = answers.find(({ id }) => id === at + 1)?.result ?? { content: [] };
    return { isError, text: content[0]?.text };
  });
}

describe.runIf(canBeRefused)("a store that this user may only read", () => {
  function readOnly(): { one: Project; run: (words: readonly string[], stdin?: string) => Ran } {
    const one = project();
    const names = readdirSync(one.state);
    for (const name of names) chmodSync(join(one.state, name), 0o444);
    chmodSync(one.state, 0o555);
    onTestFinished(() => chmodSync(one.state, 0o755));
    return { one, run: (words, stdin) => one.through(isRoot ? NOBODY : [], words, stdin) };
  }

  it("can be read, by commands and by tools", () => {
    const { one, run } = readOnly();
    const bytes = readFileSync(join(one.state, "haversack.db"));
    for (const words of [
      ["status"],
      ["task", "list"],
      ["task", "show", one.task],
      ["next"],
      ["tree"],
      ["why"],
      ["export"],
      ["skills", "list"],
      ["skills", "show", "pdf-forms"],
      ["skills", "search", "pdf"],
      ["skills", "stats"],
      ["session", "list"],
      ["activity"],
      ["usage"],
      ["wip", "show", "--session", "s1"],
    ]) {
      const { code, err } = run(words);
      // "No session s1" is an answer too.
      expect({ words, code }).toEqual({ words, code: words[0] === "wip" ? 1 : 0 });
      expect(err).toMatch(/^haversack: note: .*can only be read/);
    }
    expect(run(["status"]).out).toContain("Fill the form");
    expect(run(["task", "list", "--json"]).out).toContain(one.task);
    // What was shown cannot be noted, and is shown all the same.
    expect(run(["discover", "fill this PDF form", "--session", "s1"])).toMatchObject({
      code: 0,
      out: expect.stringContaining("pdf-forms"),
      err: expect.stringContaining("not recorded"),
    });
    const [skill, tasks, created] = callTools(run, [
      ["skill", { name: "pdf-forms" }],
      ["get_tasks", {}],
      ["create_task", { title: "x" }],
    ]);
    expect(skill).toMatchObject({ isError: false, text: expect.stringContaining("Use pdftk.") });
    expect(tasks).toMatchObject({ isError: false, text: expect.stringContaining("Fill the form") });
    expect(created).toMatchObject({ isError: true, text: expect.stringContaining("cannot be written") });
    expect(readFileSync(join(one.state, "haversack.db")).equals(bytes)).toBe(true);
  });

  it("shows skills that were changed since, although its index is older", () => {
    const { one, run } = readOnly();
    one.write(".claude/skills/pdf-forms/SKILL.md", SKILL.replace("pdftk", "qpdf instead"));
    expect(run(["skills", "show", "pdf-forms"]).out).toContain("qpdf instead");
  });

  it("refuses to save in one line that says what to do", () => {
    const { one, run } = readOnly();
    for (const words of [
      ["task", "create", "x"],
      ["claim", one.task],
      ["task", "done", one.task],
      ["session", "reset", "s1"],
    ]) {
      const { code, out, err } = run(words);
      expect({ words, code, out }).toEqual({ words, code: 3, out: "" });
      expect(err.replace(/^haversack: note: .*\n/, "")).toMatch(
        /^haversack: The store cannot be written: .*\(Give this user write permission.*\)\n$/,
      );
    }
  });

  it("is a failure to doctor", () => {
    const { run } = readOnly();
    const { ok, findings } = run(["doctor", "--json"]).json();
    const store = findings.find(({ part }: { part: string }) => part === "store");
    expect(ok).toBe(false);
    expect(store).toMatchObject({ level: "fail", text: expect.stringMatching(/^sound.*cannot be written/) });
    expect(store.remedy).toContain("write permission");
  });

  it("can be read while its last changes are still in the log", () => {
    const one = project();
    const copy = join(one.home, "copy");
    // As a process leaves it that ends without closing: hooks do.
    one.hook({ session_id: "s1", cwd: one.root, hook_event_name: "SessionStart", source: "startup" });
    cpSync(one.state, copy, { recursive: true });
    expect(readdirSync(copy)).toContain("haversack.db-wal");
    for (const name of readdirSync(one.state)) chmodSync(join(one.state, name), 0o444);
    chmodSync(one.state, 0o555);
    onTestFinished(() => chmodSync(one.state, 0o755));
    const ran = one.through(isRoot ? NOBODY : [], ["session", "list", "--json"]);
    expect(ran.json().sessions).toHaveLength(1);
  });
});

describe.runIf(canMount)("a full disk", () => {
  /** The project's state on a file system of its own, without a free block. */
  function onFullDisk(one: Project): (words: readonly string[], stdin?: string) => Ran {
    const saved = join(one.home, "saved");
    cpSync(one.state, saved, { recursive: true });
    rmSync(one.state, { recursive: true });
    mkdirSync(one.state);
    const script = `mount -t tmpfs -o size=1200k none "$0"; cp -a ${saved}/. "$0"; cat /dev/zero > "$0/ballast" 2>/dev/null || true; "${process.execPath}" "${join(DIST, "haversack.cjs")}" trust --yes > ${saved}.trusted; exec "$@"`;
    return (words, stdin) => one.through(["unshare", "-rm", "sh", "-ec", script, one.state], words, stdin);
  }

  it("does not keep a skill from being loaded", () => {
    const one = project();
    const run = onFullDisk(one);
    for (const words of [
      ["skills", "show", "pdf-forms"],
      ["skills", "show", "pdf-forms", "--session", "s1"],
    ]) {
      expect(run(words)).toMatchObject({ code: 0, out: expect.stringContaining("Use pdftk.") });
    }
    const [skill] = callTools(run, [["skill", { name: "pdf-forms" }]]);
    expect(skill).toMatchObject({ isError: false, text: expect.stringContaining("Use pdftk.") });
    expect(run(["status"])).toMatchObject({ code: 0, out: expect.stringContaining("Fill the form") });
    expect(run(["task", "create", "x"])).toMatchObject({ code: 3, err: expect.stringContaining("disk is full") });
    const { findings } = run(["doctor", "--json"]).json();
    expect(findings).toContainEqual(
      expect.objectContaining({ part: "store", level: "fail", text: expect.stringContaining("disk is full") }),
    );
  });
});

// Works everywhere: files may not grow beyond what the log of the store has already (EFBIG, as with a quota).
describe("a limit on the size of files", () => {
  it("does not keep a skill from being loaded", () => {
    const one = project();
    // Hooks leave the log as it is.
    for (const session of ["s1", "s2", "s3", "s4"]) {
      const event = {
        session_id: session,
        cwd: one.root,
        hook_event_name: "UserPromptSubmit",
        prompt: "fill a PDF form",
      };
      one.hook(event);
    }
    const blocks = Math.ceil(statSync(join(one.state, "haversack.db-wal")).size / 512);
    expect(blocks).toBeGreaterThan(64);
    const limited = ["sh", "-c", `ulimit -f ${blocks}; exec "$@"`, "sh"];
    const ran = one.through(limited, ["skills", "show", "pdf-forms", "--session", "s1"]);
    expect(ran).toMatchObject({ code: 0, out: expect.stringContaining("Use pdftk.") });
    expect(ran.err).toContain("not recorded");
  });
});
