/** Tasks that run apart: a worktree, a branch and a session each, merged back in order; and who is told at the end. */

import { chmodSync, existsSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { FINISH_ALL, type ProjectOptions, runProject } from "./run-project.ts";

async function project(options?: ProjectOptions) {
  const made = await runProject(options);
  onTestFinished(() => made.remove());
  return made;
}

describe("--isolate", () => {
  it("gives each task a worktree and a session, and merges what is green", async () => {
    const run = await project({
      tasks: 3,
      settings: {
        work: { setup_command: "touch set-up-$$.log; echo '*.log' >> .git/info/exclude 2>/dev/null || true" },
      },
    });
    run.write(".gitignore", ".haversack/\n*.log\n");
    run.git("commit", "--quiet", "-am", "ignore logs");
    const { code, out } = await run.work(["--all", "--isolate"]);
    expect(out).toContain("every task of the scope is done");
    expect(code).toBe(0);
    expect(run.sessions().map(({ tasks }) => tasks.length)).toEqual([1, 1, 1]);
    for (const task of run.tasks) expect(run.read(`${task}.txt`)).toBe("sound\n");
    expect(run.git("log", "--merges", "--first-parent", "--format=%s").trim().split("\n")).toHaveLength(3);
    // Nothing is left of the worktrees.
    expect(run.git("worktree", "list").trim().split("\n")).toHaveLength(1);
    expect(run.git("branch", "--list", "haversack/*")).toBe("");
    expect(run.git("status", "--porcelain")).toBe("");
  });

  it("keeps what is in conflict on its branch, and says so", async () => {
    const run = await project({
      tasks: 2,
      script: `agent.write("shared.txt", agent.tasks[0]); ${FINISH_ALL}`,
    });
    const { code, out } = await run.work(["--all", "--isolate"]);
    expect(code).toBe(1);
    expect(out).toContain("conflict in shared.txt");
    expect(Object.values(await run.status()).sort()).toEqual(["blocked", "done"]);
    const branch = run.git("branch", "--list", "haversack/*").trim();
    expect(run.git("show", `${branch}:shared.txt`)).toBe(branch.split("-").at(-1));
    expect(run.git("status", "--porcelain")).toBe("");
    expect(run.report().next_steps.join()).toContain(branch);
  });

  it("merges in order what is green, blocks what is red, and keeps what is in conflict", async () => {
    const run = await project({
      tasks: 4,
      settings: { headless: { max_chains: 20 }, work: { auto_fix: false } },
      script: `
        const [task] = agent.tasks;
        const at = agent.haversack("task", "show", task).out.match(/Task (\\d)/)[1];
        if (at === "1" || at === "2") agent.write("shared.txt", task);
        agent.finish(task, at === "3" ? "BROKEN" : "sound");
        agent.answer("done");
        agent.result();`,
    });
    const { code, out } = await run.work(["--all", "--isolate", "-n", "4"]);
    expect(code).toBe(1);
    const [first, second, third, fourth] = run.tasks as [string, string, string, string];
    expect(await run.status()).toEqual({ [first]: "done", [second]: "blocked", [third]: "blocked", [fourth]: "done" });
    expect(out).toContain("conflict in shared.txt");
    expect(run.git("log", "--merges", "--first-parent", "--reverse", "--format=%s").trim().split("\n")).toEqual([
      expect.stringContaining(`${first}: Task 1`),
      expect.stringContaining(`${fourth}: Task 4`),
    ]);
    expect(run.git("status", "--porcelain")).toBe("");
    expect(existsSync(join(run.root, `${third}.txt`))).toBe(false);
  });

  it("merges what a session committed on a branch of its own, or on none", async () => {
    const run = await project({
      tasks: 2,
      script: `
        const { execSync } = await import("node:child_process");
        const [task] = agent.tasks;
        execSync(agent.number === 1 ? "git checkout -q -b feature/mine" : "git checkout -q --detach");
        agent.finish(task);
        execSync("git add " + task + ".txt && git commit -q -m made");
        agent.write("more-" + task + ".txt", "not committed");
        agent.result();`,
    });
    const { code, out } = await run.work(["--all", "--isolate", "-n", "1"]);
    expect(code, out).toBe(0);
    for (const task of run.tasks) {
      expect(run.git("show", `main:${task}.txt`)).toContain("sound");
      expect(run.git("show", `main:more-${task}.txt`)).toBe("not committed");
    }
  });

  it("keeps what a session spread over two branches", async () => {
    const run = await project({
      tasks: 1,
      script: `
        const { execSync } = await import("node:child_process");
        agent.write("one.txt", "one");
        execSync("git add one.txt && git commit -q -m one && git checkout -q -b other HEAD~1");
        agent.finish(agent.tasks[0]);
        agent.result();`,
    });
    const { out } = await run.work(["--all", "--isolate"]);
    expect(out).toMatch(
      /kept on haversack\/\S+: other, which its session left it for, does not have all of its commits/,
    );
    expect(Object.values(await run.status())).toEqual(["blocked"]);
    const branch = run.git("for-each-ref", "--format=%(refname:short)", "refs/heads/haversack").trim();
    expect(run.git("show", `${branch}:one.txt`)).toBe("one");
    expect(run.git("show", `other:${run.tasks[0]}.txt`)).toContain("sound");
  });

  it("gives the user's branch only what is green together: tests run again where the branch has moved", async () => {
    const run = await project({
      tasks: 2,
      settings: {
        work: {
          auto_fix: false,
          test_command: "if test -e one.txt && test -e two.txt; then echo FAIL both; exit 1; fi",
        },
      },
      script: `
        agent.write(agent.haversack("task", "show", agent.tasks[0]).out.includes("Task 1") ? "one.txt" : "two.txt", "x");
        ${FINISH_ALL}`,
    });
    const { out } = await run.work(["--all", "--isolate"]);
    const status = await run.status();
    expect(run.tasks.map((task) => status[task])).toEqual(["done", "blocked"]);
    expect(out).toContain("FAIL both");
    expect([existsSync(join(run.root, "one.txt")), existsSync(join(run.root, "two.txt"))]).toEqual([true, false]);
    // The other one is on its branch.
    const branch = run.git("branch", "--list", "haversack/*").trim();
    expect(run.git("show", `${branch}:two.txt`)).toBe("x");
  });

  it("refuses a detached HEAD, and a lock that another git process holds", async () => {
    const run = await project({ tasks: 1 });
    run.git("switch", "--quiet", "--detach");
    const detached = await run.work(["--all", "--isolate"]);
    expect(detached).toMatchObject({ code: 1, err: expect.stringContaining("HEAD is detached") });
    expect(detached.err).toContain("git switch");
    run.git("switch", "--quiet", "main");
    run.write(".git/index.lock", "");
    expect((await run.work(["--all", "--isolate"])).err).toContain("index.lock is there");
    expect(run.sessions()).toEqual([]);
  });

  it("does not merge into a branch that the user has switched to meanwhile", async () => {
    const run = await project({
      tasks: 1,
      script: `await new Promise((end) => agent.spawn("git", ["-C", ${"process.env.HOME"} + "/../project", "switch", "--quiet", "-c", "other"]).on("close", end)); ${FINISH_ALL}`,
    });
    const { code, out } = await run.work(["--all", "--isolate"]);
    expect(code).toBe(1);
    expect(out).toContain("main is no longer checked out (now: other)");
    expect(run.git("rev-parse", "other")).toBe(run.git("rev-parse", "main"));
    const branch = run.git("branch", "--list", "haversack/*").trim();
    expect(run.git("show", `${branch}:${run.tasks[0]}.txt`)).toBe("sound\n");
  });

  it("goes on after the runner was killed in the middle of a merge", async () => {
    const run = await project({ tasks: 3, script: `agent.write(agent.tasks[0] + ".md", "x"); ${FINISH_ALL}` });
    // Git stops in the middle of the first merge and kills the runner there.
    const filter = join(run.base, "filter.sh");
    writeFileSync(
      filter,
      `#!/bin/sh\ncat\nif test "$PWD" = "${run.root}" && test ! -e "${run.base}/struck" && kill -0 "$(cat "${run.base}/pid")" 2>/dev/null; then touch "${run.base}/struck"; kill -9 "$(cat "${run.base}/pid")"; sleep 1; fi\n`,
    );
    chmodSync(filter, 0o755);
    run.git("config", "filter.slow.smudge", filter);
    run.write(".gitattributes", "*.md filter=slow\n");
    run.git("add", ".gitattributes");
    run.git("commit", "--quiet", "-m", "attributes");
    const first = run.start(["work", "--all", "--isolate"]);
    writeFileSync(join(run.base, "pid"), String(first.child.pid));
    expect((await first.ended).code).toBe(null);
    expect(existsSync(join(run.base, "struck"))).toBe(true);
    const { code, out } = await run.work(["--all", "--isolate", "--continue"]);
    expect(out).toContain("every task of the scope is done");
    expect(code).toBe(0);
    expect(run.git("log", "--merges", "--first-parent", "--format=%s").trim().split("\n")).toHaveLength(3);
    for (const task of run.tasks) expect(run.read(`${task}.txt`)).toBe("sound\n");
    expect(run.git("status", "--porcelain")).toBe("");
    expect(run.git("worktree", "list").trim().split("\n")).toHaveLength(1);
    expect(run.git("branch", "--list", "haversack/*")).toBe("");
  });

  it("says where the work of a stopped run is, and goes on there", async () => {
    const run = await project({
      tasks: 1,
      script: `agent.write("half.txt", "half"); if (agent.number === 1) { agent.tool("Bash", { command: "x" }); await agent.hears(2); return agent.result(); } ${FINISH_ALL}`,
    });
    const running = run.start(["work", "--all", "--isolate"]);
    await running.says("Session 1");
    while (run.sessions().length === 0) await new Promise((resolve) => setTimeout(resolve, 50));
    running.child.kill("SIGINT");
    await running.ended;
    const [step] = run.report().next_steps;
    const [, folder = ""] = /its work is in (\S+), on branch haversack\/R\d+-T\d+; --continue/.exec(step) ?? [];
    expect(existsSync(join(folder, "half.txt"))).toBe(true);
    expect((await run.work(["--all", "--continue"])).code).toBe(0);
    expect(run.read("half.txt")).toBe("half");
    expect(existsSync(folder)).toBe(false);
  });

  it("wants a clean tree", async () => {
    const run = await project({ tasks: 1 });
    run.write("mine.txt", "mine");
    const { code, err } = await run.work(["--all", "--isolate"]);
    expect(code).toBe(1);
    expect(err).toContain("mine.txt has uncommitted changes");
    expect(run.sessions()).toEqual([]);
  });
});

describe("at the end", () => {
  it("a command of the user's own config gets the reason and the report", async () => {
    const run = await project({
      tasks: 1,
      settings: { headless: { notify: 'echo "$HAVERSACK_REASON $HAVERSACK_REPORT" > "$HOME/told"' } },
    });
    await run.work(["--all"]);
    expect(run.read("../home/told")).toMatch(/^done .*chain-R\d+-report\.md\n$/);
  });

  it("a webhook gets the report as JSON; one that cannot be reached fails nothing", async () => {
    const bodies: string[] = [];
    const server = createServer((request, response) => {
      let body = "";
      request
        .on("data", (chunk) => (body += chunk))
        .on("end", () => {
          bodies.push(body);
          response.end();
        });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as { port: number };
    const run = await project({ tasks: 1, settings: { headless: { notify: `http://127.0.0.1:${port}/hook` } } });
    expect((await run.work(["--all"])).code).toBe(0);
    expect(JSON.parse(bodies[0] ?? "")).toMatchObject({ tasks_completed: 1, stopped: expect.stringContaining("done") });
    server.close();
    await run.haversack("task", "create", "One more");
    const again = await run.work(["--all"]);
    expect(again).toMatchObject({ code: 0, err: expect.stringContaining("headless.notify failed") });
  });

  it("headless.report decides what is printed; the file is always there", async () => {
    const run = await project({ tasks: 1, settings: { headless: { report: "always" } } });
    expect((await run.work(["--all"])).out).toContain("# Session Chain Report");
    expect(readdirSync(join(run.root, ".haversack/reports"))).toHaveLength(2);
    const quiet = await project({ tasks: 1, settings: { headless: { report: "never" } } });
    const { out } = await quiet.work(["--all", "--max-chains", "1"]);
    expect(out).not.toContain("# Session Chain Report");
    expect(existsSync(join(quiet.root, ".haversack/reports"))).toBe(true);
  });
});

it("headless.command: any program of the user's own that reads a prompt", async () => {
  const run = await project({
    tasks: 1,
    settings: {
      headless: {
        command:
          'read -r line; task=$(echo "$line" | grep -o "T[0-9][0-9]*" | head -1); echo sound > "$task.txt"; "$NODE" "$HAVERSACK_BIN" task done "$task"; echo "$1" > said.txt; :',
      },
    },
  });
  const { code, out } = await run.work(["--all", "--client", "command", "--", "hello"], { NODE: process.execPath });
  expect(out).toContain("every task of the scope is done");
  expect(code).toBe(0);
  expect(run.read("said.txt")).toBe("hello\n");
});

it("a session that ends before it reads that it should end leaves that message to no later one", async () => {
  const full = { type: "assistant", message: { id: "m", usage: { input_tokens: 190_000 }, content: [] } };
  const inbox = '"$NODE" "$HAVERSACK_BIN" agent inbox --keep-unread --json';
  const run = await project({
    tasks: 1,
    settings: {
      headless: {
        command: `cat > /dev/null
          if test -e first.json; then ${inbox} > second.json; exit; fi
          echo '${JSON.stringify(full)}'
          until ${inbox} | grep nearly > first.json; do sleep 0.1; done
          :`,
      },
    },
  });
  const words = ["--all", "--client", "command", "--max-chains", "2"];
  const { out } = await run.work(words, { NODE: process.execPath, HAVERSACK_TEST_SPEED: "1" });
  expect(run.read("first.json")).toContain("Your window is nearly full.");
  expect(out).toContain("Session 1 window-full");
  expect(JSON.parse(run.read("second.json"))).toEqual([]);
});

it("`runs show` and `metrics` tell what was recorded", async () => {
  const run = await project({ tasks: 3 });
  await run.work(["--all"]);
  const shown = JSON.parse((await run.haversack("runs", "show", "--json")).out);
  expect(shown).toMatchObject({ state: "ended", tasks_completed: 3, machine: expect.any(String) });
  expect((await run.haversack("runs", "follow")).code).toBe(0);
  expect((await run.haversack("runs", "stop")).err).toMatch(/run R\w+ has ended/);
  const metrics = JSON.parse((await run.haversack("metrics", "--json")).out);
  expect(metrics).toMatchObject({ tasks_done: 3, tasks_per_session: 1.5, batch_completion: 1, restarts: 0 });
  const both = JSON.parse((await run.haversack("metrics", "--before-after", "2020-01-01", "--json")).out);
  expect(both).toMatchObject({ before: { runs: 0 }, after: { runs: 1 } });
  expect((await run.haversack("metrics")).out).toContain("Tasks per session");
  expect((await run.haversack("metrics", "--since", "yesterday")).code).toBe(2);
});
