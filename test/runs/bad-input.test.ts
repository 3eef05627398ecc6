/** Obstacles are reported in one line with the remedy, before anything is spent. Also checks what a run does to the repository. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { FINISH_ALL, type ProjectOptions, runProject } from "./run-project.ts";

async function project(options?: ProjectOptions) {
  const made = await runProject(options);
  onTestFinished(() => made.remove());
  return made;
}

describe("before anything is spent", () => {
  it("no scope, or two: exit 2", async () => {
    const run = await project({ tasks: 1 });
    const none = await run.work([]);
    expect(none).toMatchObject({ code: 2, err: expect.stringContaining("work needs a scope") });
    expect(none.err).toContain("--epic ID");
    expect((await run.work(["--all", "--story", "S1"])).code).toBe(2);
    expect((await run.work(["--all", "-n", "many"])).code).toBe(2);
    for (const limit of ["--max-chains", "--max-tokens", "--max-cost", "--max-minutes"]) {
      for (const value of ["0", "-1", "much", "Infinity", ""]) {
        expect(await run.work(["--all", limit, value]), `${limit} ${value}`).toMatchObject({
          code: 2,
          err: expect.stringContaining(`${limit} must be`),
        });
      }
    }
    expect((await run.work(["--story", "S9999"])).code).toBe(1);
    expect(run.sessions()).toEqual([]);
  });

  it("no client, an unknown one, one that is too old, no command", async () => {
    const run = await project({ tasks: 1 });
    const none = await run.work(["--all", "--client", "codex"], { PATH: "/usr/bin:/bin" });
    expect(none).toMatchObject({ code: 1, err: expect.stringContaining("there is no program codex on the PATH") });
    expect(none.err).toContain("--client");
    expect((await run.work(["--all", "--client", "emacs"])).code).toBe(2);
    for (const [client, version, oldest] of [
      ["claude-code", "2.1.3", "2.1.4 or later, for CLAUDE_CODE_DISABLE_BACKGROUND_TASKS"],
      ["codex", "0.99.0", "0.140.0 or later, for the events of `codex exec --json`"],
      ["gemini", "0.43.9", "0.44.0 or later, for headless sessions with --session-id"],
      ["opencode", "1.17.20", "1.18.0 or later, for `opencode run --auto`"],
    ] as const) {
      const program = { "claude-code": "claude" }[client as string] ?? client;
      writeFileSync(join(run.base, "bin", program), `#!/bin/sh\necho ${version}\n`, { mode: 0o755 });
      const old = await run.work(["--all", "--client", client]);
      expect(old, client).toMatchObject({ code: 1, err: expect.stringContaining(`needs ${oldest}`) });
      expect(old.err).toContain(` ${version}, but`);
      expect(old.err).toMatch(/hint: update /);
    }
    expect(run.sessions()).toEqual([]);
    expect((await run.haversack("runs", "list", "--json")).out.trim()).toBe("[]");
  });

  it("a limit of cost for a client that does not tell it", async () => {
    const run = await project({ tasks: 1 });
    for (const client of ["codex", "gemini"]) {
      writeFileSync(join(run.base, "bin", client), "#!/bin/sh\necho 99.0.0\n", { mode: 0o755 });
      const { code, err } = await run.work(["--all", "--client", client, "--max-cost", "5"]);
      expect(code).toBe(1);
      expect(err).toMatch(/does not say what it costs, so --max-cost could not hold\n.*--max-tokens/);
    }
    expect(run.sessions()).toEqual([]);
  });

  it("a command of the user's own that is not set, or is no program", async () => {
    const run = await project({ tasks: 1 });
    const none = await run.work(["--all", "--client", "command"]);
    expect(none).toMatchObject({ code: 1, err: expect.stringContaining("headless.command names no command") });
    run.config({ headless: { command: "no-such-client --fast" } });
    const unknown = await run.work(["--all", "--client", "command", "--no-tests"]);
    expect(unknown).toMatchObject({
      code: 1,
      err: expect.stringContaining("names no-such-client, which is no program"),
    });
    expect((await run.haversack("runs", "list", "--json")).out.trim()).toBe("[]");
  });

  it("a test command that cannot be run: it would count as red before, and nothing would check the work", async () => {
    const run = await project({ tasks: 1, settings: { work: { test_command: "no-such-tests --run" } } });
    const { code, out } = await run.work(["--all"]);
    expect(code).toBe(1);
    expect(out).toMatch(/Stopped \(no-tests\): .*no-such-tests.*work\.test_command/);
    expect(run.sessions()).toEqual([]);
    expect(await run.status()).toEqual({ [run.tasks[0]!]: "todo" });
  });

  it.each(["npm run tests", "npm tset", "false", "echo 'No test files found, exiting with code 1'; exit 1"])(
    "a test command that fails and names no test (%s): nothing is spent",
    async (command) => {
      const run = await project({ tasks: 1, settings: { work: { test_command: command } } });
      run.write("package.json", "{}");
      const { code, out } = await run.work(["--all"]);
      expect(code).toBe(1);
      expect(out).toMatch(/Stopped \(no-tests\): .*names no failing test.*work\.test_command.*--no-tests/);
      expect(run.sessions()).toEqual([]);
      expect(await run.status()).toEqual({ [run.tasks[0]!]: "todo" });
    },
  );

  it("a test command that does not end: nothing is spent, and nothing stays behind", async () => {
    const run = await project({ tasks: 1, settings: { work: { test_command: "sleep 600", test_minutes: 1 } } });
    const { code, out } = await run.work(["--all"]);
    expect(code).toBe(1);
    expect(out).toContain(
      "Stopped (no-tests): `sleep 600` took longer than work.test_minutes; it names no failing test",
    );
    expect(out).toContain("raise work.test_minutes");
    expect(run.sessions()).toEqual([]);
    expect(run.leftovers()).toEqual([]);
  });

  it("--no-tests: the end and the report say what nobody checked", async () => {
    const run = await project({ tasks: 2 });
    const { code, out } = await run.work(["--all", "--no-tests"]);
    expect(code).toBe(0);
    expect(out).toContain("2 done, 2 tasks unchecked, 0 blocked, 1 session,");
    expect([...run.report().tasks_unchecked].sort()).toEqual([...run.tasks].sort());
    const shown = (await run.haversack("runs", "show")).out;
    expect(shown).toContain("- Tasks unchecked: 2");
    expect(shown).toContain("- none: switched off with --no-tests");
  });

  it("a task that breaks the test command itself: what is done after it counts as unchecked", async () => {
    const run = await project({
      tasks: 2,
      settings: { work: { test_command: "test ! -e broken", auto_fix: false } },
      script: `if (agent.number === 1) agent.write("broken", ""); for (const task of agent.tasks) agent.finish(task); agent.result();`,
    });
    const { out } = await run.work(["--all", "-n", "1"]);
    expect(out).toContain("1 done, 1 task unchecked, 1 blocked");
    expect(run.report().tasks_unchecked).toHaveLength(1);
  });

  it("--dry-run without a client: shows the tasks and the prompt, and says that there is no client", async () => {
    const run = await project({ tasks: 1, settings: { headless: { client: "codex" } } });
    const PATH = "/usr/bin:/bin";
    const { code, out, err } = await run.work(["--all", "--dry-run"], { PATH });
    expect(err).toContain("there is no program codex on the PATH");
    expect(code).toBe(0);
    expect(out).toContain(`Would claim: ${run.tasks[0]} "Task 1"`);
    expect(out).toContain("Would run: codex exec --json");
    expect(out).toContain("Prompt (");
    expect((await run.work(["--all"], { PATH })).code).toBe(1);
    for (const size of ["0", "lots"]) {
      const refused = await run.work(["--all", "--dry-run", "-n", size], { PATH });
      expect(refused).toMatchObject({ code: 2, err: expect.stringContaining("--parallel must be auto or a number") });
    }
  });

  it("says when the tests are red before the first task", async () => {
    const run = await project({ tasks: 1 });
    run.write("old.txt", "BROKEN");
    expect((await run.work(["--all"])).out).toContain("Note: the tests fail before the first task");
  });

  it("not logged in: one line with the remedy after one session, and the tasks are free again", async () => {
    const run = await project({ tasks: 1, script: `agent.error(undefined, "Not logged in · Please run /login");` });
    const { code, out } = await run.work(["--all"]);
    expect(code).toBe(1);
    expect(out).toContain("Stopped (client-fails): Not logged in · Please run /login (log in to the client");
    expect(run.sessions()).toHaveLength(1);
    expect(await run.status()).toEqual({ [run.tasks[0]!]: "todo" });
  });

  it("an empty scope, everything done, everything blocked: says by what", async () => {
    const run = await project({ tasks: 1 });
    const { id } = JSON.parse((await run.haversack("story", "create", "Empty", "--json")).out);
    expect((await run.work(["--story", id])).err).toContain("there is no task in this scope");
    await run.haversack("task", "block", run.tasks[0]!, "the key is missing");
    const blocked = await run.work(["--all"]);
    expect(blocked).toMatchObject({ code: 1, err: expect.stringContaining("the key is missing") });
    await run.haversack("task", "unblock", run.tasks[0]!);
    const { id: later } = JSON.parse((await run.haversack("task", "create", "Later", "--story", id, "--json")).out);
    await run.haversack("task", "dep", later, "--add", run.tasks[0]!);
    expect((await run.work(["--story", id])).err).toContain(`"Later": waits for ${run.tasks[0]} "Task 1" (todo)`);
    await run.haversack("task", "dep", later, "--rm", run.tasks[0]!);
    await run.haversack("task", "done", later);
    await run.haversack("task", "done", run.tasks[0]!);
    for (const more of [[], ["--continue"], ["--dry-run"]]) {
      const finished = await run.work(["--all", ...more]);
      expect(finished).toMatchObject({ code: 0, err: expect.stringContaining("every task of this scope is done") });
    }
    expect(run.sessions()).toEqual([]);
  });

  it("no git, no commit, no tests", async () => {
    const run = await project({ tasks: 1, settings: { work: { test_command: "" } } });
    const tests = await run.work(["--all"]);
    expect(tests).toMatchObject({ code: 1, err: expect.stringContaining("no test command was found") });
    expect(tests.err).toContain("--no-tests");
    rmSync(join(run.root, ".git"), { recursive: true });
    expect((await run.work(["--all"])).err).toContain("no git repository");
    run.git("init", "--quiet");
    expect((await run.work(["--all"])).err).toContain("no commit yet");
    expect(run.sessions()).toEqual([]);
  });

  it("--dry-run: what would be claimed, told and started, with the user's own options; nothing is changed", async () => {
    const run = await project({ tasks: 3 });
    const { out, code } = await run.work(["--all", "--dry-run", "--", "--permission-mode", "acceptEdits"]);
    expect(code).toBe(0);
    expect(out).toContain(`Would claim: ${run.tasks[0]} "Task 1", ${run.tasks[1]} "Task 2"`);
    expect(out).toContain("--permission-mode acceptEdits");
    expect(out).toContain("Tests: sh check.sh\nReviewers: none\nLimits: 10 sessions, 480 minutes\n");
    expect(Object.values(await run.status())).toEqual(["todo", "todo", "todo"]);
    expect((await run.haversack("runs", "list", "--json")).out.trim()).toBe("[]");
    const json = JSON.parse((await run.work(["--all", "--dry-run", "--json"])).out);
    expect(json.prompt_chars).toBe(json.prompt.length);
  });

  it("--dry-run of a run to continue: what it would check and go on with; of another one: what an interrupted run holds", async () => {
    const script = `if (agent.number === 1) agent.finish(agent.tasks[0]); agent.answer("x"); await agent.sleep(60_000);`;
    const run = await project({ tasks: 4, script });
    const running = run.start(["work", "--all", "--max-chains", "7"]);
    await running.says("Session 1");
    while (Object.values(await run.status()).filter((status) => status === "done").length === 0);
    running.child.kill("SIGKILL");
    await running.ended;
    const [first, second, third] = run.tasks as [string, string, string];
    const again = await run.work(["--all", "--continue", "--dry-run"]);
    expect(again.out).toMatch(/Would continue: run R\d+\n/);
    expect(again.out).toContain(`Would check first: ${first} "Task 1"\nWould go on with: ${second} "Task 2"\n`);
    expect(again.out).toContain("Limits: 7 sessions\n");
    expect(JSON.parse((await run.work(["--all", "--continue", "--dry-run", "--json"])).out)).toMatchObject({
      continues: expect.stringMatching(/^R/),
      checks: [{ id: first }],
      tasks: [{ id: second }],
    });
    run.git("clean", "--quiet", "--force");
    const other = await run.work(["--all", "--dry-run", "--isolate"]);
    expect(other.err).toMatch(new RegExp(`run R\\d+ was interrupted and holds ${second}: a new run would free`));
    expect(other.out).toContain(`Would run, once per task: `);
    expect(other.out).toContain(`Prompt for ${third} "Task 3" (`);
    expect(run.sessions()).toHaveLength(1);
  });

  it("--continue without a run to continue starts a new one, and says so", async () => {
    const run = await project({ tasks: 1 });
    const { code, err } = await run.work(["--all", "--continue"]);
    expect({ code, err }).toMatchObject({ code: 0, err: expect.stringContaining("so a new one starts") });
  });

  it("says when the client is not connected: then nothing captures its work in progress", async () => {
    const run = await project({ tasks: 1 });
    expect((await run.work(["--all"])).out).toContain("Note: Haversack is not connected to Claude Code here");
    await run.haversack("init", "--yes", "--project", "--client", "claude-code");
    await run.haversack("task", "create", "One more");
    expect((await run.work(["--all"])).out).not.toContain("not connected");
  });

  it("no options that give permissions are added, and a project's own config can add none", async () => {
    const run = await project({ tasks: 1 });
    run.write(
      ".haversack/config.json",
      JSON.stringify({
        headless: { args: ["--dangerously-skip-permissions"], notify: "touch told" },
        work: { test_command: "touch tested" },
      }),
    );
    const { out } = await run.haversack("config", "list", "--json");
    expect(out).toContain("counts only in your own config");
    await run.work(["--all"]);
    expect(run.sessions()[0]?.args.join(" ")).not.toContain("danger");
    expect(run.git("status", "--porcelain")).not.toMatch(/told|tested/);
    // Not even when the user accepts everything that the project brings.
    expect((await run.haversack("trust", "--yes")).code).toBe(0);
    await run.haversack("task", "create", "One more");
    await run.work(["--all"]);
    expect(run.sessions()[1]?.args.join(" ")).not.toContain("danger");
    expect(run.git("status", "--porcelain")).not.toContain("told");
    // The test command is part of what was accepted.
    expect(run.git("status", "--porcelain")).toContain("tested");
    const set = await run.haversack("config", "set", "headless.args", '["--yolo"]');
    expect(set).toMatchObject({ code: 1, err: expect.stringContaining("only in your own config") });
  });

  it("--continue takes options only from what this user has started, not from a store", async () => {
    const run = await project({ tasks: 3 });
    await run.work(["--all", "--max-chains", "1", "-n", "1", "--", "--permission-mode", "acceptEdits"]);
    await run.work(["--all", "--continue"]);
    expect(run.sessions().every(({ args }) => args.includes("acceptEdits"))).toBe(true);
    const before = run.sessions().length;
    // As when the store comes from elsewhere: this user's folder does not know the run.
    await run.haversack("task", "create", "One more");
    await run.work(["--all", "--max-chains", "1", "-n", "1", "--", "--yolo"]);
    await run.haversack("task", "create", "And another");
    rmSync(join(run.base, "home/.local/state/haversack/runs"), { recursive: true, force: true });
    const { out } = await run.work(["--all", "--continue"]);
    const later = run.sessions().slice(before + 1);
    expect(later.length).toBeGreaterThan(0);
    expect(later.flatMap(({ args }) => args)).not.toContain("--yolo");
    expect(out).toContain("give them again");
  });
});

describe("the repository", () => {
  it("uncommitted changes are kept under a ref; branch, index, stash and working tree stay as they are", async () => {
    const run = await project({ tasks: 1 });
    run.write("mine.txt", "mine");
    run.write("staged.txt", "staged");
    run.git("add", "staged.txt");
    run.write("check.sh", `${run.read("check.sh")}# changed\n`);
    const before = [
      run.git("rev-parse", "HEAD"),
      run.git("diff", "--cached"),
      run.git("stash", "list"),
      run.git("branch"),
    ];
    const { code } = await run.work(["--all"]);
    expect(code).toBe(0);
    expect([
      run.git("rev-parse", "HEAD"),
      run.git("diff", "--cached"),
      run.git("stash", "list"),
      run.git("branch"),
    ]).toEqual(before);
    const { id } = run.report();
    // As it was before the first session, and after it.
    expect(run.git("show", `refs/haversack/runs/${id}/0:mine.txt`)).toBe("mine");
    expect(run.report().kept_before).toBe(`refs/haversack/runs/${id}/0`);
    expect((await run.haversack("runs", "show")).out).toContain(
      `Uncommitted before the run: kept as refs/haversack/runs/${id}/0`,
    );
    const files = run.git("ls-tree", "-r", "--name-only", `refs/haversack/runs/${id}/1`).trim().split("\n");
    expect(files).toEqual(expect.arrayContaining(["mine.txt", "staged.txt", `${run.tasks[0]}.txt`]));
    expect(files.filter((file) => file.includes(".haversack"))).toEqual([]);
  });

  it("a session that goes to another branch is named, and what it took away is still under the ref", async () => {
    const run = await project({
      tasks: 1,
      script: `
        const { execSync } = await import("node:child_process");
        execSync("git checkout -q -b wild && git stash -q -u && git reset -q --hard && git clean -fdq");
        ${FINISH_ALL}`,
    });
    run.write("mine.txt", "mine");
    const { out } = await run.work(["--all"]);
    expect(out).toContain("Note: session 1 left main for wild: the run goes on there");
    expect(existsSync(join(run.root, "mine.txt"))).toBe(false);
    expect(run.git("show", `${run.report().kept_before}:mine.txt`)).toBe("mine");
  });

  it("from a subfolder works in the whole repository; from a worktree in that worktree, with the same queue", async () => {
    const run = await project({ tasks: 2 });
    const [first, second] = run.tasks as [string, string];
    const tree = join(run.base, "tree");
    run.git("worktree", "add", "--quiet", tree);
    mkdirSync(join(run.root, "src/deep"), { recursive: true });
    const below = await run.start(["work", "--all", "--max-chains", "1", "-n", "1"], {}, join(run.root, "src/deep"))
      .ended;
    expect(below.out).toContain("Tests (sh check.sh): green");
    expect(run.read(`${first}.txt`)).toBe("sound\n");
    const apart = await run.start(["work", "--all"], {}, tree).ended;
    expect(apart.code).toBe(0);
    expect(readFileSync(join(tree, `${second}.txt`), "utf8")).toBe("sound\n");
    expect(existsSync(join(run.root, `${second}.txt`))).toBe(false);
    expect(Object.values(await run.status())).toEqual(["done", "done"]);
  });

  it("headless.keep branch: on a branch of the run; .haversack is never in it, ignored or not", async () => {
    const run = await project({ tasks: 1, settings: { headless: { keep: "branch" } } });
    run.write(".gitignore", "");
    await run.work(["--all"]);
    const { id } = run.report();
    const files = run.git("ls-tree", "-r", "--name-only", `haversack/run-${id}`);
    expect(files).toContain(`${run.tasks[0]}.txt`);
    expect(files).not.toContain(".haversack");
    expect(run.git("branch", "--show-current").trim()).toBe("main");
  });

  it("changes that cannot be kept stop the run: they are still in the folder", async () => {
    const run = await project({
      tasks: 4,
      script: `agent.haversack; await import("node:fs").then((fs) => { fs.rmSync(".git/objects", { recursive: true }); fs.writeFileSync(".git/objects", ""); }); ${FINISH_ALL}`,
    });
    const { code, out } = await run.work(["--all"]);
    expect(out).toContain("Stopped (cannot-keep)");
    expect(code).toBe(1);
    expect(run.sessions()).toHaveLength(1);
    expect(run.read(`${run.tasks[0]}.txt`)).toContain("sound");
  });
});
