/**
 * `haversack work` with the real clients and a scripted model: small windows, so that sessions follow one another; tests that the runner runs
 * itself; a task that a fixer repairs and one that nobody can.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { CHECK } from "../runs/run-project.ts";
import { testServer as claudeServer } from "./claude-code/claude-test.ts";
import { haversackRepo as claudeRepo } from "./claude-code/haversack-repo.ts";
import { claudeProgram } from "./claude-code/install.ts";
import { environment as claudeEnvironment } from "./claude-code/run-claude.ts";
import { testServer as codexServer } from "./codex/codex-test.ts";
import { haversackRepo as codexRepo } from "./codex/haversack-repo.ts";
import { codexProgram } from "./codex/install.ts";
import { environment as codexEnvironment, settingsFor } from "./codex/run-codex.ts";
import { testServer as geminiServer } from "./gemini/gemini-test.ts";
import { sqlRepo, wire } from "./gemini/haversack-repo.ts";
import { geminiProgram } from "./gemini/install.ts";
import { environment as geminiEnvironment } from "./gemini/run-gemini.ts";
import type { ModelRequest } from "./model-request.ts";
import { haversackRepo as opencodeRepo } from "./opencode/haversack-repo.ts";
import { opencodeProgram } from "./opencode/install.ts";
import { testServer as opencodeServer } from "./opencode/opencode-test.ts";
import { environment as opencodeEnvironment, providerConfig } from "./opencode/run-opencode.ts";
import { haversack, onPath, runHaversack } from "./run-haversack.ts";
import { type Answer, type Reply, toolCall } from "./script.ts";

const BIN = join(import.meta.dirname, "../../packages/haversack/dist/haversack.cjs");

interface Wired {
  repo: { root: string; base: string; home: string; env: Record<string, string>; git(...words: string[]): string };
  env: Record<string, string>;
  /** After `--`. */
  args: string[];
}

interface Client {
  /** On the PATH. */
  program: [string, string[]];
  shell(command: string): Reply["tools"];
  /** More than the limit of a window. */
  fullTokens: number;
  wire(script: Answer): Promise<Wired>;
}

const CLIENTS: Record<string, () => Client> = {
  "claude-code": () => ({
    program: ["claude", [claudeProgram()]],
    shell: (command) => [toolCall("Bash", { command, description: "work" })],
    fullTokens: 800_000,
    async wire(script) {
      const [repo, server] = [claudeRepo(), await claudeServer(script)];
      return { repo, env: claudeEnvironment({ repo, server }), args: ["--dangerously-skip-permissions"] };
    },
  }),
  codex: () => ({
    program: ["codex", [codexProgram()]],
    shell: (cmd) => [toolCall("exec_command", { cmd })],
    fullTokens: 200_000,
    async wire(script) {
      const [repo, server] = [codexRepo(), await codexServer(script)];
      const free = ["--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust"];
      return { repo, env: codexEnvironment({ repo, server }), args: [...free, ...settingsFor(server)] };
    },
  }),
  gemini: () => ({
    program: ["gemini", [process.execPath, geminiProgram()]],
    shell: (command) => [toolCall("run_shell_command", { command })],
    fullTokens: 700_000,
    async wire(script) {
      const [repo, server] = [sqlRepo(), await geminiServer(script)];
      wire(repo, "project");
      return { repo, env: geminiEnvironment({ repo, server }), args: ["--yolo"] };
    },
  }),
  opencode: () => ({
    program: ["opencode", [opencodeProgram()]],
    shell: (command) => [toolCall("bash", { command, description: "work" })],
    fullTokens: 150_000,
    async wire(script) {
      const [repo, server] = [opencodeRepo(), await opencodeServer(script)];
      repo.writeConfig(providerConfig(server, 200_000));
      return { repo, env: opencodeEnvironment({ repo, server }), args: ["--auto"] };
    },
  }),
};

interface Faults {
  /** Red at first, then repaired by the fixer. */
  mended?: string;
  /** Red for ever. */
  broken?: string;
}

/** A model that finishes one task of its session, then fills its window and works on until it is asked to end. It decides only by the request. */
function worker({ shell, fullTokens }: Client, faults: Faults): Answer {
  let attempts = 0;
  return (request) => {
    if (request.kind === "side") return undefined;
    const body = JSON.stringify(request.body);
    const steps = (body.match(/STEP-\d+/g) ?? []).length;
    const fix = /The tests fail after (T\d+)/.exec(body)?.[1];
    if (fix !== undefined) {
      if (steps > 0) return { text: "Mended." };
      const text = fix === faults.broken ? `BROKEN ${"x".repeat(++attempts)}` : "mended";
      return { tools: shell(`echo ${text} > ${fix}.txt; expr STEP : STEP > /dev/null; printf 'STEP-%s' 1`) ?? [] };
    }
    const claimed = /claimed for this session: ((?:T\d+ \\?"[^"]*\\?"(?:, )?)+)/.exec(body)?.[1] ?? "";
    const tasks = claimed.match(/T\d+/g) ?? [];
    const [task] = tasks;
    if (task === undefined) return undefined;
    // The next request contains the command too, so its step must not be counted twice.
    const say = "printf 'STEP'; printf -- '-%s' 1";
    const isDone = body.includes(`finished ${task}`);
    if (!isDone) {
      const text = task === faults.mended || task === faults.broken ? "BROKEN" : "sound";
      const done = `"${process.execPath}" "${BIN}" task done ${task}`;
      return {
        tools:
          shell(`echo ${text} > ${task}.txt && ${done} > /dev/null && printf 'finished %s ' ${task}; ${say}`) ?? [],
      };
    }
    if (tasks.length === 1 || body.includes("window is nearly full") || steps > 12) return { text: "Saved." };
    return { tools: shell(`sleep 1; ${say}`) ?? [], usage: { inputTokens: fullTokens } };
  };
}

/** A project with tasks in which `haversack work` can be started. */
async function prepare(client: Client, count: number, answer: Answer, headless: object) {
  const { repo, env, args } = await client.wire(answer);
  writeFileSync(join(repo.root, "check.sh"), CHECK);
  repo.git("add", "--all");
  repo.git("-c", "user.name=t", "-c", "user.email=t@example.invalid", "commit", "--quiet", "-m", "first");
  const config = join(env["XDG_CONFIG_HOME"] ?? join(repo.home, ".config"), "haversack/config.json");
  mkdirSync(dirname(config), { recursive: true });
  const settings = { reviewers: [], grace_seconds: 30, ...headless };
  writeFileSync(config, JSON.stringify({ work: { test_command: "sh check.sh" }, headless: settings }));
  const tasks = Array.from(
    { length: count },
    (_, at) => (JSON.parse(haversack(repo, "task", "create", `Task ${at + 1}`, "--json")) as { id: string }).id,
  );
  const [name, command] = client.program;
  const path = `${onPath(repo.base, name, command)}:${dirname(process.execPath)}:${env["PATH"]}`;
  const id = Object.keys(CLIENTS).find((one) => CLIENTS[one]?.().program[0] === name) ?? name;
  return { repo, tasks, env: { ...env, PATH: path }, words: ["work", "--all", "--client", id, "--", ...args] };
}

async function work(
  client: Client,
  count: number,
  faultsOf: (tasks: string[]) => Faults,
  script?: (request: ModelRequest, n: number, root: string) => Reply | undefined,
  isFilling = false,
) {
  const faults: Faults = {};
  let root = "";
  const answer: Answer = script ? (request, n) => script(request, n, root) : worker(client, faults);
  const { repo, tasks, env, words } = await prepare(client, count, answer, { fill_sessions: isFilling });
  root = repo.root;
  Object.assign(faults, faultsOf(tasks));
  const run = await runHaversack(words, { cwd: repo.root, env, timeLimitMs: 280_000 });
  if (process.env["SHOW_RUNS"]) console.log(run.stdout, run.stderr);
  const listed = JSON.parse(haversack(repo, "task", "list", "--json")) as { id: string; status: string }[];
  const folder = join(repo.root, ".haversack/reports");
  const file = existsSync(folder) ? readdirSync(folder).find((one) => one.endsWith(".json")) : undefined;
  return {
    run,
    tasks,
    repo,
    status: Object.fromEntries(listed.map((task) => [task.id, task.status])),
    // biome-ignore lint/suspicious/noExplicitAny: a test states the shape by what it expects of it.
    report: (file ? JSON.parse(readFileSync(join(folder, file), "utf8")) : undefined) as any,
  };
}

describe.each(["claude-code", "codex"])("%s", (id) => {
  it("works through six tasks in chained sessions; one is repaired by the fixer, one is blocked with the evidence", async () => {
    const { run, tasks, status, report } = await work(CLIENTS[id]!(), 6, ([, , mended, , broken]) => ({
      ...(mended && { mended }),
      ...(broken && { broken }),
    }));
    const [, , mended, , broken] = tasks;
    expect(run.stdout).toContain("1 blocked, the rest is done");
    expect(run.exitCode).toBe(1);
    expect(status).toEqual(Object.fromEntries(tasks.map((task) => [task, task === broken ? "blocked" : "done"])));
    const ends = report.sessions.filter(({ purpose }: { purpose: string }) => purpose === "batch");
    expect(ends.length).toBeGreaterThanOrEqual(3);
    expect(ends.map(({ end }: { end: string }) => end)).toContain("window-full");
    expect(report.tests.length).toBeGreaterThanOrEqual(7);
    const of = (task?: string) => report.tasks.find((one: { id: string }) => one.id === task);
    expect(of(mended)).toMatchObject({ state: "done", fixes: 1 });
    expect(of(broken)).toMatchObject({ state: "blocked", evidence: expect.stringContaining("BROKEN") });
    expect(report).toMatchObject({ tasks_completed: 5, tasks_failed: 1, tokens: expect.any(Number) });
    expect(report.tokens).toBeGreaterThan(1000);
  });
});

it("claude-code: sub-agents take over the tasks that the run claimed for their session; the run finishes them", async () => {
  const refused: string[] = [];
  const { run, status, report } = await work(
    CLIENTS["claude-code"]!(),
    2,
    () => ({}),
    (request, n, root) => {
      const body = JSON.stringify(request.body);
      if (request.kind === "sub-agent") {
        const task = /Task (T\d{4,12})/.exec(body)?.[1] ?? "";
        refused.push(...request.toolResults.filter(({ isError }) => isError).map(({ text }) => text));
        const status = (to: string) => toolCall("mcp__haversack__update_task_status", { task_id: task, status: to });
        const handoff = { task_id: task, role: "implementer", status: "PASS", summary: `built ${task}` };
        const calls = [
          status("in_progress"),
          toolCall("Write", { file_path: `${root}/${task}.txt`, content: "sound" }),
          toolCall("mcp__haversack__set_task_handoff", handoff),
          status("review"),
        ];
        const call = calls[n - 1];
        return call ? { tools: [call] } : { text: `built ${task}\nVERDICT: PASS` };
      }
      if (request.kind !== "main") return undefined;
      if (request.toolResults.length > 0) return { text: "Both are built." };
      const tasks = /claimed for this session: ((?:T\d+ \\?"[^"]*\\?"(?:, )?)+)/.exec(body)?.[1]?.match(/T\d+/g) ?? [];
      const agent = { subagent_type: "haversack-implementer", run_in_background: false };
      return {
        tools: tasks.map((id) => toolCall("Agent", { description: `build ${id}`, prompt: `Task ${id}`, ...agent })),
      };
    },
  );
  expect(refused).toEqual([]);
  expect(run.stdout).toContain("every task of the scope is done");
  expect(Object.values(status)).toEqual(["done", "done"]);
  expect(report.sessions).toHaveLength(1);
  expect(report.tasks.map(({ summary }: { summary: string }) => summary.slice(0, 5))).toEqual(["built", "built"]);
});

it("claude-code: a session gets further batches while they fit into its window", async () => {
  const client = CLIENTS["claude-code"]!();
  const { run, status, report } = await work(
    client,
    5,
    () => ({}),
    (request) => {
      if (request.kind !== "main") return undefined;
      const body = JSON.stringify(request.body);
      const batches = [...body.matchAll(/claimed for this session: ((?:T\d+ \\?"[^"]*\\?"(?:, )?)+)/g)];
      const tasks = batches.at(-1)?.[1]?.match(/T\d+/g) ?? [];
      const task = tasks.find((one) => !body.includes(`finished ${one}`));
      if (task === undefined) return { text: "All are done." };
      const done = `"${process.execPath}" "${BIN}" task done ${task} > /dev/null`;
      return { tools: client.shell(`echo sound > ${task}.txt && ${done} && printf 'finished %s' ${task}`) ?? [] };
    },
    true,
  );
  expect(run.stdout).toContain("every task of the scope is done");
  expect(Object.values(status)).toEqual(Array(5).fill("done"));
  expect(report.sessions).toHaveLength(1);
  expect(report.sessions[0]).toMatchObject({ end: "completed" });
  expect(report.sessions[0].tasks).toHaveLength(5);
  expect(report.tests).toHaveLength(3);
});

it("claude-code: a limit of cost holds in the middle of a turn, although the client tells its cost only at the end", async () => {
  const client = CLIENTS["claude-code"]!();
  let calls = 0;
  const answer: Answer = ({ kind }) =>
    kind === "side" ? undefined : { tools: client.shell(`echo ${++calls}`) ?? [], usage: { inputTokens: 100_000 } };
  const { repo, env, words } = await prepare(client, 1, answer, {});
  const limited = [...words.slice(0, 2), "--max-cost", "1", ...words.slice(2)];
  const { stdout, exitCode } = await runHaversack(limited, { cwd: repo.root, env, timeLimitMs: 120_000 });
  expect(stdout).toContain("Session 1 stopped: the run's limit of cost was reached");
  expect(stdout).toMatch(/Stopped \(max-cost\): .* 1 session, \S+ tokens, \$1\.\d\d\./);
  expect(exitCode).toBe(1);
});

describe.each(["gemini", "opencode"])("%s", (id) => {
  it("goes on in a second session when the window of the first is nearly full", async () => {
    const { run, tasks, status, report } = await work(CLIENTS[id]!(), 2, () => ({}));
    expect(run.stdout).toContain("every task of the scope is done");
    expect(run.exitCode).toBe(0);
    expect(Object.values(status)).toEqual(["done", "done"]);
    expect(report.sessions.map(({ end }: { end: string }) => end)).toEqual(["window-full", "completed"]);
    expect(report.sessions[1].tasks).toEqual([tasks[1]]);
  });
});

describe.each(Object.keys(CLIENTS))("%s", (id) => {
  it("is ended with the shell that its tool runs, wherever that stands", async () => {
    const client = CLIENTS[id]!();
    const seconds = `300.${process.pid}${Date.now() % 100_000}`;
    const answer: Answer = ({ kind }) =>
      kind === "side" ? undefined : { tools: client.shell(`sleep ${seconds}`) ?? [] };
    const { repo, env, words } = await prepare(client, 1, answer, {});
    const child = spawn(process.execPath, [BIN, ...words], { cwd: repo.root, env, stdio: ["ignore", "pipe", "pipe"] });
    let out = "";
    child.stdout.setEncoding("utf8").on("data", (text) => (out += text));
    const ended = new Promise((resolve) => child.on("close", resolve));
    for (let waited = 0; commands(`sleep\0${seconds}`).length === 0 && waited < 60_000; waited += 100) await sleep(100);
    expect(commands(`sleep\0${seconds}`), out).not.toEqual([]);
    child.kill("SIGINT");
    await sleep(300);
    child.kill("SIGINT");
    await ended;
    expect(out).toContain("Stopped (stopped)");
    expect(commands(`sleep\0${seconds}`)).toEqual([]);
    // Neither the client nor its MCP server.
    expect(commands(repo.base)).toEqual([]);
    const [task] = JSON.parse(haversack(repo, "task", "list", "--json")) as { status: string }[];
    expect(task?.status).toBe("todo");
  });
});

/** Processes whose command or environment has this. */
function commands(text: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return false;
    try {
      if (/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "latin1"))) return false;
      return ["cmdline", "environ"].some((file) => readFileSync(`/proc/${pid}/${file}`, "latin1").includes(text));
    } catch {
      // It has ended in this moment.
      return false;
    }
  });
}
