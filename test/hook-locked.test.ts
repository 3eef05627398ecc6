/**
 * Another process keeps the store locked while hooks run: real processes, a real lock. The hooks' output and the final store are compared with the
 * same events on an unlocked store.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it, onTestFinished } from "vitest";
import { DIST, type Scratch, scratchProject } from "./bins.ts";

const HOLD = join(import.meta.dirname, "store-workers/hold-lock.mjs");

interface Project extends Scratch {
  store: string;
  spool: string;
  task: string;
}

const SKILL = `---
name: pdf-forms
description: Fill and read PDF forms, extract form fields from PDF documents
---
# PDF forms
Use pdftk.
`;

function project(): Project {
  const scratch = scratchProject();
  scratch.write(".claude/skills/pdf-forms/SKILL.md", SKILL);
  scratch.haversack(["skill", "index"]);
  const { id } = scratch.haversack(["task", "create", "Fill the form", "--json"]).json();
  // The call that started the sub-agent, as the client leaves it.
  scratch.write("../s1/subagents/agent-a1.meta.json", '{"toolUseId":"agent-1"}');
  const state = join(scratch.root, ".haversack");
  return { ...scratch, store: join(state, "haversack.db"), spool: join(state, "spool"), task: id };
}

/** Returns a function that releases the lock. */
async function hold({ store }: Project, what: "write" | "all"): Promise<() => Promise<void>> {
  const child: ChildProcess = spawn(process.execPath, [HOLD, store, what], { stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const ended = new Promise<void>((resolve) => child.on("close", () => resolve()));
  await new Promise<void>((resolve) => child.stdout?.once("data", () => resolve()));
  return () => {
    child.stdin?.end();
    return ended;
  };
}

const PROMPT = "fill this PDF form and extract the form fields";

function events({ root, task }: Project) {
  const base = { session_id: "s1", cwd: root, transcript_path: join(root, "../s1.jsonl") };
  const write = (file: string, more = {}) => ({
    ...base,
    hook_event_name: "PostToolUse",
    tool_name: "Write",
    tool_use_id: `write-${file}`,
    tool_input: { file_path: join(root, file), content: "x" },
    tool_response: { type: "create" },
    ...more,
  });
  return {
    start: { ...base, hook_event_name: "SessionStart", source: "startup" },
    prompt: { ...base, hook_event_name: "UserPromptSubmit", prompt: PROMPT, prompt_id: "p1" },
    write: write("src/a.ts"),
    tests: {
      ...base,
      hook_event_name: "PostToolUse",
      tool_name: "Bash",
      tool_use_id: "bash-1",
      tool_input: { command: "npx vitest run" },
      tool_response: { stdout: " Tests  3 passed (3)\n", stderr: "" },
    },
    again: { ...base, hook_event_name: "UserPromptSubmit", prompt: PROMPT, prompt_id: "p2" },
    skill: {
      ...base,
      hook_event_name: "PostToolUse",
      tool_name: "Skill",
      tool_use_id: "skill-1",
      tool_input: { skill: "pdf-forms" },
      tool_response: { success: true },
    },
    spawn: {
      ...base,
      hook_event_name: "PreToolUse",
      tool_name: "Agent",
      tool_use_id: "agent-1",
      tool_input: { subagent_type: "general-purpose", prompt: `Do ${task}.`, description: "x" },
    },
    agentStart: { ...base, hook_event_name: "SubagentStart", agent_id: "a1", agent_type: "general-purpose" },
    agentCall: {
      ...base,
      hook_event_name: "PreToolUse",
      tool_name: "mcp__haversack__get_task",
      tool_use_id: "call-1",
      tool_input: {},
      agent_id: "a1",
      agent_type: "general-purpose",
    },
    agentWrite: write("src/b.ts", { agent_id: "a1", agent_type: "general-purpose" }),
    agentStop: { ...base, hook_event_name: "SubagentStop", agent_id: "a1", agent_type: "general-purpose" },
    compact: { ...base, hook_event_name: "SessionStart", source: "compact" },
    afterCompaction: { ...base, hook_event_name: "UserPromptSubmit", prompt: PROMPT, prompt_id: "p3" },
    stop: { ...base, hook_event_name: "Stop", stop_hook_active: false },
    end: { ...base, hook_event_name: "SessionEnd", reason: "other" },
  };
}

/** Contents of the tables that events change, without times and the project's path. */
function content(one: Project): Record<string, Record<string, unknown>[]> {
  const db = new DatabaseSync(one.store, { readOnly: true });
  const tables = {
    sessions: "session_id, agent_id",
    session_files: "path",
    session_wip: "agent_id",
    task_wip: "task",
    ledger: "agent_id, window, skill",
    injections: "id",
    skill_uses: "id",
    prompt_matches: "prompt_number",
    tool_calls: "tool_use_id",
    spawns: "tool_use_id",
    agent_tasks: "agent_id",
    claims: "task",
  };
  const rows = Object.entries(tables).map(([table, order]) => [
    table,
    db.prepare(`SELECT * FROM ${table} ORDER BY ${order}`).all(),
  ]);
  db.close();
  const text = withoutPlaces(JSON.stringify(Object.fromEntries(rows)), one)
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    .replace(/"(lease_until|process_id|process_space|prompt_count|id)":(?:\d+|"[^"]*")/g, '"$1":0');
  return JSON.parse(text);
}

function withoutPlaces(text: string, { root, task }: Project): string {
  return text.replaceAll(root, "ROOT").replaceAll(task, "TASK").replace(MINUTE, "TIME");
}

/** A packet shows when the task was created. The two projects of a test may be made in different minutes. */
const MINUTE = /\b\d\d:\d\d(?= @)/g;

function runAll(one: Project, names: readonly string[]) {
  const all: Record<string, unknown> = events(one);
  return Object.fromEntries(
    names.map((name) => {
      const { code, out, err } = one.hook(all[name]);
      return [name, { code, err, out: withoutPlaces(out, one) }];
    }),
  );
}

const logOf = (one: Project) => one.haversack(["log", "--json"]).json().entries;
const wipOf = (one: Project) => one.haversack(["wip", "--session", "s1", "--json"]).json().wip;

describe("while another process writes", () => {
  it("every event is answered as if it did not, and the store holds the same afterwards", async () => {
    const [free, locked] = [project(), project()];
    const names = Object.keys(events(free));
    const wanted = runAll(free, names);
    expect(wanted["prompt"]?.out).toContain("pdf-forms");

    const release = await hold(locked, "write");
    const got = runAll(locked, names);
    expect(got).toEqual(wanted);
    expect(statSync(locked.spool).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(locked.spool)) {
      expect(statSync(join(locked.spool, name)).mode & 0o777).toBe(0o600);
    }
    await release();

    // The next command reads the spool in.
    expect(wipOf(locked)).toMatchObject(wipOf(free) && { files_modified: ["src/a.ts"] });
    expect(existsSync(locked.spool)).toBe(false);
    expect(content(locked)).toEqual(content(free));
    expect(logOf(locked)).toEqual([]);
  });

  it("the next hook that gets the lock reads it in first, and a skill is not shown as new again", async () => {
    const one = project();
    const release = await hold(one, "write");
    const { prompt, again, write } = events(one);
    expect(one.hook(prompt).out).toContain("Brief:");
    expect(one.hook(write).out).toBe("");
    await release();
    expect(one.hook(again).out).not.toContain("Brief:");
    expect(existsSync(one.spool)).toBe(false);
    expect(wipOf(one)).toMatchObject({ files_modified: ["src/a.ts"] });
    expect(one.haversack(["why", "--session", "s1", "--json", "--limit", "9"]).json().prompts).toHaveLength(2);
  });

  it("secrets are masked before they reach the spool", async () => {
    const one = project();
    const release = await hold(one, "write");
    const secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    const { prompt, tests } = events(one);
    one.hook({ ...prompt, prompt: `${PROMPT} with the token ${secret}` });
    one.hook({
      ...tests,
      tool_input: { command: `TOKEN=${secret} npx tsc` },
      tool_response: { stdout: `a.ts(1,1): error TS1: ${secret}`, stderr: "" },
    });
    const texts = readdirSync(one.spool).map((name) => readFileSync(join(one.spool, name), "utf8"));
    expect(texts.length).toBeGreaterThan(1);
    expect(texts.join("\n")).not.toContain(secret);
    await release();
  });
});

describe("while nobody else can even read", () => {
  it("prompts are silent, and no event is lost", async () => {
    const one = project();
    const { prompt, afterCompaction, ...all } = events(one);
    one.hook(all.start);
    expect(one.hook(prompt).out).toContain("Brief:");
    one.haversack(["claim", one.task, "--agent", "june"], { env: { CLAUDE_CODE_SESSION_ID: "s1" } });

    const release = await hold(one, "all");
    for (const name of ["write", "tests", "spawn", "agentStart", "agentCall", "agentWrite", "agentStop"] as const) {
      expect(one.hook(all[name])).toMatchObject({ code: 0, out: "", err: "" });
    }
    expect(one.hook(all.again)).toMatchObject({ code: 0, out: "", err: "" });
    await release();

    const { task_wip, tool_calls, agent_tasks, ledger, sessions, prompt_matches } = content(one);
    // The spool has not been read yet: the next process does that.
    expect([task_wip, tool_calls, agent_tasks]).toEqual([[], [], []]);
    expect(one.hook(afterCompaction)).toMatchObject({ code: 0, err: "" });
    const after = content(one);
    expect(after["task_wip"]).toEqual([
      expect.objectContaining({ data: expect.stringMatching(/src\/a\.ts.*src\/b\.ts/) }),
    ]);
    expect(after["tool_calls"]).toEqual([expect.objectContaining({ tool_use_id: "call-1", agent_id: "a1" })]);
    expect(after["agent_tasks"]).toEqual([expect.objectContaining({ agent_id: "a1", task: "TASK" })]);
    // The session's window and what was shown there are kept.
    const shown = ({ skill, window, shown_at_prompt }: Record<string, unknown>) => [skill, window, shown_at_prompt];
    expect(after["ledger"]?.map(shown)).toEqual(ledger?.map(shown));
    expect(after["sessions"]?.[0]).toMatchObject({ window: sessions?.[0]?.["window"] });
    expect(after["prompt_matches"]).toHaveLength((prompt_matches?.length ?? 0) + 2);
    expect(logOf(one)).toEqual([]);
  });
});

describe("the spool", () => {
  it("takes what many hooks have to say at once, and gives each back once", async () => {
    const one = project();
    const release = await hold(one, "write");
    const { write } = events(one);
    const run = (at: number) =>
      new Promise<string>((resolve) => {
        const child = spawn(process.execPath, [join(DIST, "hook.cjs"), "claude-code"], {
          cwd: one.root,
          env: { PATH: process.env["PATH"] ?? "", HOME: one.home },
        });
        let said = "";
        child.stdout.on("data", (chunk) => (said += chunk));
        child.on("close", (code) => resolve(`${code}${said}`));
        child.stdin.end(
          JSON.stringify({ ...write, tool_input: { file_path: join(one.root, `src/f${at}.ts`), content: "x" } }),
        );
      });
    const ended = await Promise.all(Array.from({ length: 20 }, (_, at) => run(at)));
    expect(new Set(ended)).toEqual(new Set(["0"]));
    await release();
    const { files_modified: files } = wipOf(one);
    expect([...files].sort()).toEqual(Array.from({ length: 20 }, (_, at) => `src/f${at}.ts`).sort());
  });

  it("is read in once, also when its readers are killed at any moment", async () => {
    const one = project();
    const ENTRIES = 60;
    mkdirSync(one.spool, { mode: 0o700 });
    for (let at = 0; at < ENTRIES; at++) {
      const args = {
        sessionId: "s1",
        agentId: "",
        client: "claude-code",
        cwd: one.root,
        window: 1,
        isFreshStart: false,
      };
      const answer = {
        ...args,
        domainHistory: [],
        format: "none",
        text: `text ${at}`,
        tokens: 0,
        shown: [],
        named: [],
      };
      const rest = { loaded: [], prompt: `prompt ${at}`, explanation: {}, at: new Date(at).toISOString() };
      const entry = { v: 1, kind: "answer", args: { ...answer, ...rest } };
      writeFileSync(join(one.spool, `${String(at).padStart(15, "0")}-000000-1-aaaaaa.json`), JSON.stringify(entry), {
        mode: 0o600,
      });
    }
    // Pauses between the steps, so that kills hit all of them: before, during and after the commit, and while files are removed.
    const reader = join(import.meta.dirname, "store-workers/read-spool.mjs");
    const userState = join(one.home, ".local/state/haversack");
    let kills = 0;
    for (let round = 0; round < 25 && existsSync(one.spool); round++) {
      const child = spawn(process.execPath, [reader, one.store, userState], { stdio: ["ignore", "pipe", "inherit"] });
      const ended = new Promise<void>((resolve) => child.on("close", () => resolve()));
      const begun = new Promise<boolean>((resolve) => child.stdout.once("data", () => resolve(true)));
      // A reader that cannot open the store exits silently.
      expect(await Promise.race([begun, ended.then(() => false)])).toBe(true);
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 140));
      if (child.exitCode === null && child.kill("SIGKILL")) kills++;
      await ended;
    }
    one.haversack(["status"]);
    console.log(`spool: readers killed: ${kills}`);
    expect(existsSync(one.spool)).toBe(false);
    const texts = content(one)["injections"]?.map(({ text }) => text);
    expect(texts).toEqual(Array.from({ length: ENTRIES }, (_, at) => `text ${at}`));
    expect(content(one)["sessions"]).toHaveLength(1);
  });

  it("skips what cannot be understood, and says so in the log", async () => {
    const one = project();
    const release = await hold(one, "write");
    const { write } = events(one);
    one.hook(write);
    const bad = [
      "{",
      "[]",
      '{"kind":"nonsense","args":{}}',
      '{"kind":"mark-agent","args":{"sessionId":"s","mark":"role"}}',
    ];
    for (const [at, text] of bad.entries()) {
      writeFileSync(join(one.spool, `00000000000000${at}-000000-1-aaaaaa.json`), text, { mode: 0o600 });
    }
    writeFileSync(join(one.spool, "notes.txt"), "not ours");
    await release();
    expect(wipOf(one)).toMatchObject({ files_modified: ["src/a.ts"] });
    expect(readdirSync(one.spool)).toEqual(["notes.txt"]);
    expect(logOf(one).map(({ text }: { text: string }) => text)).toHaveLength(4);
    // And not again.
    one.hook(write);
    expect(logOf(one)).toHaveLength(4);
  });

  it("takes nothing that git brought, whatever its mode: a pull cannot speak for a session", () => {
    const one = project();
    const git = (...words: string[]) =>
      execFileSync("git", words, { cwd: one.root, env: { PATH: process.env["PATH"] ?? "", HOME: one.home } });
    for (const mode of [0o644, 0o600]) {
      const name = `00000000000000${mode % 7}-000000-1-aaaaaa.json`;
      mkdirSync(one.spool, { recursive: true, mode: 0o700 });
      const call = { sessionId: "s", toolUseId: "t", at: "2026-01-01T00:00:00.000Z" };
      writeFileSync(join(one.spool, name), JSON.stringify({ kind: "tool-call", args: call }), { mode });
      if (mode === 0o600) {
        git("init", "-q");
        git("add", "-f", `.haversack/spool/${name}`);
      }
      one.haversack(["status"]);
      expect(content(one)["tool_calls"]).toEqual([]);
      expect(existsSync(join(one.spool, name))).toBe(false);
    }
    expect(logOf(one).map(({ text }: { text: string }) => text)).toEqual([
      expect.stringContaining("came from git or a copy"),
      expect.stringContaining("came from git or a copy"),
    ]);
  });

  it("is never a link to another folder", async () => {
    const one = project();
    const elsewhere = join(one.home, "elsewhere");
    mkdirSync(elsewhere);
    const foreign = join(elsewhere, "000000000000001-000000-1-aaaaaa.json");
    writeFileSync(
      foreign,
      '{"kind":"tool-call","args":{"sessionId":"s","toolUseId":"t","at":"2026-01-01T00:00:00.000Z"}}',
    );
    symlinkSync(elsewhere, one.spool);
    one.haversack(["status"]);
    const release = await hold(one, "write");
    expect(one.hook(events(one).write)).toMatchObject({ code: 0, out: "", err: "" });
    await release();
    one.haversack(["status"]);
    expect(readdirSync(elsewhere)).toEqual(["000000000000001-000000-1-aaaaaa.json"]);
    expect(content(one)["tool_calls"]).toEqual([]);
  });

  it("has an end: a store that stays locked does not fill the disk", async () => {
    const one = project();
    const release = await hold(one, "write");
    mkdirSync(one.spool, { mode: 0o700 });
    for (let at = 0; at < 1000; at++) {
      writeFileSync(join(one.spool, `${String(at).padStart(15, "0")}-000000-1-aaaaaa.json`), "{}");
    }
    expect(one.hook(events(one).write)).toMatchObject({ code: 0, out: "", err: "" });
    expect(readdirSync(one.spool)).toHaveLength(1000);
    expect(logOf(one)[0].text).toContain("spool is full");
    await release();
    chmodSync(one.spool, 0o700);
  });
});
