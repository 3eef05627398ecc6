/** A read-only store, and a store on a full disk: reading works, and saving says why it cannot. */
import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { DIST, type Ran, type Scratch, scratchProject } from "./bins.ts";

const NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"];
const isRoot = process.getuid?.() === 0;
const canBeNobody =
  isRoot && spawnSync(NOBODY[0] as string, [...NOBODY.slice(1), process.execPath, "-e", "0"]).status === 0;
/** Root may write anything, so it needs to switch to another user. For others, file modes are enough. */
const canBeRefused = !isRoot || canBeNobody;
const canMount =
  spawnSync("unshare", ["-rm", "sh", "-ec", 'mount -t tmpfs -o size=64k none "$0"', tmpdir()]).status === 0;

const SKILL = "---\nname: pdf-forms\ndescription: Fill and read PDF forms\n---\n# PDF forms\nUse pdftk.\n";

interface Project extends Scratch {
  state: string;
  task: string;
  /** Runs the CLI through another command (`before`). */
  through(before: readonly string[], words: readonly string[], stdin?: string): Ran;
  hookThrough(before: readonly string[], payload: object, options?: { client?: string; agent?: string }): Ran;
}

const PROMPT = "fill this PDF form";

function project(): Project {
  const scratch = scratchProject();
  scratch.write(".claude/skills/pdf-forms/SKILL.md", SKILL);
  scratch.haversack(["skill", "index"]);
  const { id: task } = scratch.haversack(["task", "create", "Fill the form", "--json"]).json();
  scratch.haversack(["claim", task, "--agent", "june"]);
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
      // The other user has their own home and record of trusted stores.
      const env = { PATH: process.env["PATH"] ?? "", HOME: before === NOBODY ? nobody : scratch.home };
      if (before === NOBODY && words[0] !== "trust") {
        expect(this.through(before, ["trust", "--yes"]).err).toBe("");
      }
      const ran = spawnSync(program, rest, { cwd: scratch.root, encoding: "utf8", env, input: stdin });
      return { code: ran.status, out: ran.stdout, err: ran.stderr, json: () => JSON.parse(ran.stdout) };
    },
    hookThrough(before, payload, { client = "claude-code", agent } = {}) {
      const [program = "", ...rest] = [...before, process.execPath, join(DIST, "hook.cjs"), client];
      const env = {
        PATH: process.env["PATH"] ?? "",
        HOME: before === NOBODY ? nobody : scratch.home,
        ...(agent && { HAVERSACK_AGENT: agent }),
      };
      const input = JSON.stringify({ session_id: "s1", cwd: scratch.root, ...payload });
      const ran = spawnSync(program, rest, { cwd: scratch.root, encoding: "utf8", env, input });
      return { code: ran.status, out: ran.stdout, err: ran.stderr, json: () => JSON.parse(ran.stdout) };
    },
  };
}

const start = { hook_event_name: "SessionStart", source: "startup" };
const prompt = { hook_event_name: "UserPromptSubmit", prompt: PROMPT };
const written = {
  hook_event_name: "PostToolUse",
  tool_name: "Write",
  tool_use_id: "t1",
  tool_input: { file_path: "x.ts", content: "x" },
  tool_response: { type: "create" },
};
const silent = { code: 0, out: "", err: "" };
const says = (text: string) => ({ code: 0, out: expect.stringContaining(text), err: "" });

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
      ["task", "list", "--tree"],
      ["why"],
      ["export"],
      ["skill", "list"],
      ["skill", "show", "pdf-forms"],
      ["skill", "search", "pdf"],
      ["skill", "stats"],
      ["session", "list"],
      ["task", "log"],
      ["usage"],
      ["wip", "--session", "s1"],
    ]) {
      const { code, err } = run(words);
      // "No session s1" is an answer too.
      expect({ words, code }).toEqual({ words, code: words[0] === "wip" ? 1 : 0 });
      expect(err).toMatch(/^haversack: note: .*can only be read/);
    }
    expect(run(["status"]).out).toContain("Fill the form");
    expect(run(["task", "list", "--json"]).out).toContain(one.task);
    // What was shown cannot be recorded, but it is still shown.
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
    expect(run(["skill", "show", "pdf-forms"]).out).toContain("qpdf instead");
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
        /^haversack: error: the store cannot be written: .*\nhaversack: hint: give this user write permission.*\n$/,
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

  it("is answered from by hooks, which record nothing", () => {
    const { one, run } = readOnly();
    run(["status"]);
    const bytes = readFileSync(join(one.state, "haversack.db"));
    const who = isRoot ? NOBODY : [];
    for (const client of ["claude-code", "codex"]) {
      expect(one.hookThrough(who, start, { client })).toEqual(expect.objectContaining(silent));
      expect(one.hookThrough(who, prompt, { client })).toMatchObject(says("pdf-forms"));
      expect(one.hookThrough(who, written, { client })).toMatchObject(silent);
      expect(one.hookThrough(who, start, { client, agent: "june" })).toMatchObject(says("Fill the form"));
      expect(one.hookThrough(who, { hook_event_name: "Stop" }, { client })).toMatchObject(silent);
    }
    expect(readFileSync(join(one.state, "haversack.db")).equals(bytes)).toBe(true);
    expect(readdirSync(one.state)).not.toContain("spool");
  });

  it("tells a session of Gemini CLI once what it starts with, although it cannot note that it did", () => {
    const { one, run } = readOnly();
    run(["status"]);
    const who = isRoot ? NOBODY : [];
    const transcript = join(one.home, "chat.jsonl");
    const options = { client: "gemini", agent: "june" };
    const before = { hook_event_name: "BeforeAgent", prompt: "go on", transcript_path: transcript };
    writeFileSync(transcript, '{"sessionId":"s1"}\n{"id":"1","type":"user","content":"go on"}\n');
    chmodSync(transcript, 0o644);
    expect(one.hookThrough(who, before, options)).toMatchObject(says("Fill the form"));
    appendFileSync(
      transcript,
      '{"id":"2","type":"gemini","content":"I do."}\n{"id":"3","type":"user","content":"x"}\n',
    );
    expect(one.hookThrough(who, before, options)).toMatchObject(silent);
  });

  it("is answered from by hooks while another user's events wait in its spool", () => {
    const one = project();
    const spool = join(one.state, "spool");
    mkdirSync(spool, { mode: 0o700 });
    writeFileSync(join(spool, "000000000000001-000000-1-aaaaaa.json"), "{}");
    for (const name of ["haversack.db", "spool"]) chmodSync(join(one.state, name), name === "spool" ? 0o700 : 0o444);
    chmodSync(one.state, 0o555);
    onTestFinished(() => chmodSync(one.state, 0o755));
    one.through(isRoot ? NOBODY : [], ["status"]);
    expect(one.hookThrough(isRoot ? NOBODY : [], prompt)).toMatchObject(says("pdf-forms"));
  });

  it("can be read while its last changes are still in the log", () => {
    const one = project();
    const copy = join(one.home, "copy");
    // As left by a process that ends without closing, like hooks.
    one.hook({ session_id: "s1", cwd: one.root, hook_event_name: "SessionStart", source: "startup" });
    cpSync(one.state, copy, { recursive: true });
    expect(readdirSync(copy)).toContain("haversack.db-wal");
    for (const name of readdirSync(one.state)) chmodSync(join(one.state, name), 0o444);
    chmodSync(one.state, 0o555);
    onTestFinished(() => chmodSync(one.state, 0o755));
    const ran = one.through(isRoot ? NOBODY : [], ["session", "list", "--json"]);
    expect(ran.json().sessions).toHaveLength(1);
    expect(one.hookThrough(isRoot ? NOBODY : [], prompt)).toMatchObject(says("pdf-forms"));
    expect(one.hookThrough(isRoot ? NOBODY : [], start, { agent: "june" })).toMatchObject(says("Fill the form"));
  });
});

describe.runIf(canBeRefused)("a state folder of the user that may only be read", () => {
  it("changes nothing for hooks and commands in a project that is trusted already", () => {
    const one = project();
    const who = isRoot ? NOBODY : [];
    if (isRoot) for (const name of ["", ...readdirSync(one.state)]) chmodSync(join(one.state, name), 0o777);
    one.through(who, ["status"]);
    const folder = join(one.home, isRoot ? "nobody" : "", ".local/state/haversack");
    const setMode = (mode: number) => {
      for (const path of [folder, join(folder, "projects")]) chmodSync(path, mode);
    };
    setMode(0o555);
    onTestFinished(() => setMode(0o755));
    expect(one.hookThrough(who, start)).toMatchObject(silent);
    expect(one.hookThrough(who, prompt)).toMatchObject(says("pdf-forms"));
    expect(one.hookThrough(who, written)).toMatchObject(silent);
    const listed = spawnSync(process.execPath, [join(DIST, "haversack.cjs"), "wip", "--session", "s1"], {
      cwd: one.root,
      encoding: "utf8",
      env: { HOME: one.home },
    });
    expect(listed.stdout).toContain("x.ts");
  });
});

describe.runIf(canMount)("a full disk", () => {
  /** The project's state on its own file system, without a free block. */
  function onFullDisk(one: Project): string[] {
    const saved = join(one.home, "saved");
    cpSync(one.state, saved, { recursive: true });
    rmSync(one.state, { recursive: true });
    mkdirSync(one.state);
    const script = `mount -t tmpfs -o size=1200k none "$0"; cp -a ${saved}/. "$0"; cat /dev/zero > "$0/ballast" 2>/dev/null || true; "${process.execPath}" "${join(DIST, "haversack.cjs")}" trust --yes > ${saved}.trusted; exec "$@"`;
    return ["unshare", "-rm", "sh", "-ec", script, one.state];
  }

  it("does not keep a skill from being loaded", () => {
    const one = project();
    const before = onFullDisk(one);
    const run = (words: readonly string[], stdin?: string) => one.through(before, words, stdin);
    for (const words of [
      ["skill", "show", "pdf-forms"],
      ["skill", "show", "pdf-forms", "--session", "s1"],
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

  it("does not silence hooks", () => {
    const one = project();
    const before = onFullDisk(one);
    expect(one.hookThrough(before, start)).toMatchObject(silent);
    expect(one.hookThrough(before, prompt)).toMatchObject(says("pdf-forms"));
    expect(one.hookThrough(before, start, { agent: "june" })).toMatchObject(says("Fill the form"));
    expect(one.hookThrough(before, written)).toMatchObject(silent);
  });
});

// Works everywhere: files may not grow beyond what the log of the store has already (EFBIG, as with a quota).
it.runIf(canBeRefused)("doctor says that a folder without a store cannot be written", () => {
  const one = project();
  rmSync(one.state, { recursive: true });
  chmodSync(one.root, 0o555);
  const [program = "", ...before] = isRoot ? NOBODY : ["env"];
  const words = [...before, process.execPath, join(DIST, "haversack.cjs"), "doctor", "--json"];
  const env = { PATH: process.env["PATH"] ?? "", HOME: isRoot ? join(one.home, "nobody") : one.home };
  const { stdout } = spawnSync(program, words, { cwd: one.root, encoding: "utf8", env });
  chmodSync(one.root, 0o755);
  const { ok, findings } = JSON.parse(stdout) as { ok: boolean; findings: { part: string; remedy?: string }[] };
  expect(ok).toBe(false);
  expect(findings.find(({ part }) => part === "store")).toEqual({
    part: "store",
    level: "fail",
    text: `none yet at ${join(one.state, "haversack.db")}, and ${one.root} cannot be written`,
    remedy: `make ${one.root} writable for you, then run \`haversack init\``,
  });
  // Nowhere else is init named as if it would work now.
  expect(findings.filter(({ remedy }) => remedy?.startsWith("`haversack init` ") && !remedy.includes("once"))).toEqual(
    [],
  );
});

describe("a limit on the size of files", () => {
  it("does not keep a skill from being loaded", () => {
    const one = project();
    // Hooks leave the log as is.
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
    const ran = one.through(limited, ["skill", "show", "pdf-forms", "--session", "s1"]);
    expect(ran).toMatchObject({ code: 0, out: expect.stringContaining("Use pdftk.") });
    expect(ran.err).toContain("not recorded");
    expect(one.hookThrough(limited, { ...prompt, session_id: "s9" })).toMatchObject(says("pdf-forms"));
  });
});
