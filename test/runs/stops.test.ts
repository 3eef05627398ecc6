/** Runs that are stopped, killed, or not alone: no task is lost or done twice, and no process is left behind. */
import { spawn } from "node:child_process";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { FINISH_ALL, type ProjectOptions, type RunProject, runProject } from "./run-project.ts";

async function project(options?: ProjectOptions) {
  const made = await runProject(options);
  onTestFinished(() => made.remove());
  return made;
}

/** Works until it is asked to end. */
const LONG = `
  if (agent.number === 1) {
    agent.answer("at work");
    await agent.hears(2);
    agent.haversack("wip", "set", agent.tasks[0], '{"next_step":"the rest"}');
    return agent.result();
  }
  ${FINISH_ALL}`;

/** Hears nothing. */
const DEAF = `if (agent.number === 1) { agent.answer("at work"); await agent.sleep(600000); }\n${FINISH_ALL}`;

async function firstSession(run: RunProject): Promise<number> {
  for (;;) {
    const [first] = run.sessions();
    if (first) return first.pid;
    await sleep(50);
  }
}

describe("stopping", () => {
  it("SIGINT once: the session saves and ends; --continue goes on with its tasks", async () => {
    const run = await project({ tasks: 2, script: LONG });
    const running = run.start(["work", "--all"]);
    await firstSession(run);
    running.child.kill("SIGINT");
    const { code, out } = await running.ended;
    expect(out).toContain("The run is to stop: asked to save and end. Ctrl-C again");
    expect(out).toContain("Session 1 stopped; window");
    expect(out).toContain("Stopped (stopped)");
    expect(out).toMatch(/\nContinue with: haversack work --all --continue\n$/);
    expect(code).toBe(1);
    expect(Object.values(await run.status())).toEqual(["todo", "todo"]);
    const again = await run.work(["--all", "--continue"]);
    expect(again.out).toContain("continues with claude-code");
    expect(again.code).toBe(0);
    expect(run.sessions()[1]?.tasks.toSorted()).toEqual(run.sessions()[0]?.tasks.toSorted());
    expect(run.sessions()[1]?.prompt).toContain("the rest");
  });

  it("SIGINT twice: at once, and what was changed is kept", async () => {
    const run = await project({ tasks: 1, script: `agent.write("half.txt", "half"); ${DEAF}` });
    const running = run.start(["work", "--all"]);
    while (!existsSync(join(run.root, "half.txt"))) await sleep(50);
    running.child.kill("SIGINT");
    await running.says("asked to save and end");
    running.child.kill("SIGINT");
    const { code } = await running.ended;
    expect(code).toBe(1);
    expect(run.leftovers()).toEqual([]);
    const { id } = run.report();
    expect(run.git("show", `refs/haversack/runs/${id}/1:half.txt`)).toBe("half");
  });

  it("closing the terminal: the session saves and ends, although nobody sees the output any more", async () => {
    const run = await project({ tasks: 2, script: LONG });
    // A terminal of its own; without `script` from util-linux this fails.
    const words = `"${process.execPath}" "${run.env["HAVERSACK_BIN"]}" work --all`;
    const terminal = spawn("script", ["-qfec", words, "/dev/null"], {
      cwd: run.root,
      env: { ...run.env, SHELL: "/bin/sh" },
      stdio: ["pipe", "ignore", "ignore"],
    });
    await firstSession(run);
    terminal.kill("SIGKILL");
    for (let waited = 0; run.leftovers().length > 0 && waited < 50_000; waited += 100) await sleep(100);
    const [seen] = JSON.parse((await run.haversack("runs", "list", "--json")).out);
    expect(seen).toMatchObject({ state: "ended", stopped: "stopped: it was told to stop" });
    expect(Object.values(await run.status())).toEqual(["todo", "todo"]);
    expect((await run.work(["--all", "--continue"])).code).toBe(0);
    expect(run.sessions()[1]?.prompt).toContain("the rest");
  });

  it("one that does not end when it is asked is stopped after the grace period", async () => {
    const run = await project({ tasks: 1, script: DEAF, settings: { headless: { grace_seconds: 30 } } });
    const running = run.start(["work", "--all"]);
    await firstSession(run);
    running.child.kill("SIGTERM");
    expect((await running.ended).out).toContain("Stopped (stopped)");
    expect(run.leftovers()).toEqual([]);
  });

  it("during the tests no task is blocked: its tests are run when the run goes on", async () => {
    const test_command = "test ! -e slow || { : > ../testing; sleep 60; }";
    const run = await project({ tasks: 1, settings: { work: { test_command } } });
    run.script(`agent.write("slow", ""); ${FINISH_ALL}`);
    const running = run.start(["work", "--all"]);
    while (!existsSync(join(run.base, "testing"))) await sleep(50);
    running.child.kill("SIGINT");
    const { out } = await running.ended;
    expect(out).toContain(`${run.tasks[0]}: its session says that it is finished; --continue checks it`);
    expect(Object.values(await run.status())).toEqual(["todo"]);
    run.config({ work: { test_command: "true" }, headless: { reviewers: [] } });
    const again = await run.work(["--all", "--continue"]);
    expect(again.code).toBe(0);
    // Nobody had to do it again.
    expect(run.sessions()).toHaveLength(1);
  });

  it("`runs stop` from another terminal, gracefully and now", async () => {
    const run = await project({ tasks: 1, script: DEAF });
    const running = run.start(["work", "--all"]);
    await firstSession(run);
    const [{ id, state }] = JSON.parse((await run.haversack("runs", "list", "--json")).out);
    expect(state).toBe("running");
    expect((await run.haversack("runs", "stop", id)).code).toBe(0);
    await running.says("asked to save and end");
    // A newer one has ended: without a name, the one at work is meant.
    await run.haversack("task", "create", "Another");
    expect((await run.work(["--all", "--max-chains", "1"])).code).toBe(1);
    expect((await run.haversack("runs", "list", "--json")).out).toMatch(/^\[\{"id":"R\d+","state":"ended"/);
    expect((await run.haversack("runs", "stop", "--now")).out).toContain(`Run ${id} `);
    expect((await running.ended).out).toContain("Stopped (stopped)");
    expect(run.leftovers()).toEqual([]);
  });
});

describe("a runner that is killed", () => {
  it("while it tests: the scope does not count as done before --continue has checked it", async () => {
    const run = await project({ tasks: 1, settings: { work: { test_command: "test ! -e slow || sleep 60" } } });
    run.script(`agent.write("slow", ""); ${FINISH_ALL}`);
    const running = run.start(["work", "--all"]);
    await running.says("Session 1 completed");
    running.child.kill("SIGKILL");
    await running.ended;
    expect(Object.values(await run.status())).toEqual(["done"]);
    run.config({ work: { test_command: "true" }, headless: { reviewers: [] } });
    const again = await run.work(["--all"]);
    expect(again.code).toBe(1);
    expect(again.err).toContain(`was interrupted before it had checked ${run.tasks[0]}`);
    expect(again.err).toContain("`haversack work --all --continue` checks them");
    expect((await run.work(["--all", "--continue"])).out).toContain("1 done, 0 blocked");
    expect((await run.work(["--all"])).code).toBe(0);
    expect(run.sessions()).toHaveLength(1);
  });

  it("is named, with the command that goes on, by whoever looks at its tasks", async () => {
    const run = await project({ tasks: 1, script: DEAF });
    const running = run.start(["work", "--all"]);
    await firstSession(run);
    running.child.kill("SIGKILL");
    await running.ended;
    const [{ id }] = JSON.parse((await run.haversack("runs", "list", "--json")).out);
    expect((await run.haversack("status")).out).toContain(
      `Run ${id} was interrupted and still holds tasks; \`haversack work --all --continue\` continues it.`,
    );
    const looked = await run.work(["--all", "--dry-run"]);
    expect(looked.code).toBe(1);
    expect(looked.err).toContain(`run ${id} was interrupted and still holds tasks`);
    expect(looked.err).toContain(`\`haversack work --all --continue\` continues run ${id}`);
    expect((await run.work(["--all", "--continue"])).code).toBe(0);
    expect((await run.haversack("status")).out).not.toContain("interrupted");
  });

  it("at any moment: --continue finishes everything, once, and the client is ended", async () => {
    const run = await project({
      tasks: 4,
      script: `
        for (const task of agent.tasks) {
          await agent.sleep(100);
          agent.haversack("handoff", "set", task, "--status", "PASS", "--summary", "built in " + agent.number);
          agent.finish(task);
        }
        agent.result();`,
    });
    for (const ms of [300, 900, 1700, 2600]) {
      const running = run.start(["work", "--all", "--continue", "--max-chains", "40"]);
      await sleep(ms);
      running.child.kill("SIGKILL");
      await running.ended;
    }
    const { code, out, err } = await run.work(["--all", "--continue"]);
    expect(`${out}${err}`).toMatch(/every task of (the|this) scope is done/);
    expect(code === 0 || err.includes("is done")).toBe(true);
    expect(Object.values(await run.status())).toEqual(Array(4).fill("done"));
    expect(run.leftovers()).toEqual([]);
    // Done once: no session was given a task after another had finished it.
    const finished = JSON.parse((await run.haversack("activity", "--json", "--limit", "200")).out);
    const dones = JSON.stringify(finished).match(/→ done/g) ?? [];
    expect(dones.length).toBe(4);
  });

  it("has noted what its session used, so limits hold when it goes on; what is still to be checked counts as open", async () => {
    const run = await project({
      tasks: 2,
      hasMovingClock: true,
      script: `if (agent.number === 1) { agent.finish(agent.tasks[0]); agent.answer("much", 5000); await agent.sleep(600000); }\n${FINISH_ALL}`,
    });
    const running = run.start(["work", "--all", "--max-tokens", "4000"], { HAVERSACK_TEST_SPEED: "1" });
    await running.says("A limit is reached: asked to save and end.");
    // Its next heartbeat is due.
    run.moveClock(0.02);
    const noted = async () => JSON.parse((await run.haversack("runs", "show", "--json")).out).sessions[0].tokens;
    for (let tries = 0; (await noted()) === 0 && tries < 50; tries++) await sleep(200);
    running.child.kill("SIGKILL");
    await running.ended;
    const { out } = await run.work(["--all", "--continue"]);
    expect(out).toContain("continues with claude-code: 2 open tasks");
    expect(out).toContain("Stopped (max-tokens)");
    expect(run.report().sessions[0]).toMatchObject({ end: "crashed", tokens: 5000 });
  });

  it("while a session saves, as it was asked to: its end is no crash; that of one that was not asked is", async () => {
    const run = await project({
      tasks: 1,
      script: `
        if (agent.number <= 2) {
          agent.answer("much", agent.number === 1 ? 150000 : 1000);
          await agent.hears(2);
          await agent.sleep(200);
          return process.exit(0);
        }
        ${FINISH_ALL}`,
    });
    for (const text of ["asked to save and end", "Session 2 (batch)"]) {
      const running = run.start(["work", "--all", "--continue"]);
      await running.says(text);
      while (run.sessions().length < (text.startsWith("Session") ? 2 : 1)) await sleep(50);
      running.child.kill("SIGKILL");
      await running.ended;
      // Its input has ended, and so does it.
      while (run.leftovers().length > 0) await sleep(50);
    }
    expect((await run.work(["--all", "--continue"])).code).toBe(0);
    const ends = run.report().sessions.map(({ end }: { end: string }) => end);
    expect(ends).toEqual(["window-full", "crashed", "completed"]);
  });

  it("leaves its tasks to the next run when nobody continues it", async () => {
    const run = await project({ tasks: 2, script: DEAF });
    const running = run.start(["work", "--all"]);
    const client = await firstSession(run);
    running.child.kill("SIGKILL");
    await running.ended;
    expect(run.leftovers()).toContain(client);
    const listed = await run.haversack("runs", "list");
    expect(listed.out).toContain("interrupted");
    const { code } = await run.work(["--all"]);
    expect(code).toBe(0);
    expect(run.leftovers()).toEqual([]);
  });
});

it("waits for a task that another agent holds, says so once, and goes on when it is done", async () => {
  const run = await project({ tasks: 2 });
  const [first, second] = run.tasks as [string, string];
  await run.haversack("task", "dep", second, "--add", first);
  await run.haversack("task", "create", "Free");
  await run.haversack("claim", first);
  const running = run.start(["work", "--all"]);
  await running.says("1 in progress elsewhere, 1 wait");
  await sleep(1500);
  await run.haversack("done", first);
  const { out, code } = await running.ended;
  expect(code).toBe(0);
  expect(out.match(/in progress elsewhere/g)).toHaveLength(1);
});

it("waits for a task in progress elsewhere that touches the same files, and says so once", async () => {
  const run = await project({ tasks: 0 });
  const create = async (title: string) =>
    (JSON.parse((await run.haversack("task", "create", title, "--files", "a.ts", "--json")).out) as { id: string }).id;
  const [first] = [await create("One"), await create("Two")];
  await run.haversack("claim", first);
  const running = run.start(["work", "--all"]);
  await running.says("Waits 5 s: 1 in progress elsewhere, 1 wait, 1 of them touch the same files");
  await sleep(1500);
  await run.haversack("done", first);
  const { out, code } = await running.ended;
  expect(code).toBe(0);
  expect(out.match(/in progress elsewhere/g)).toHaveLength(1);
});

it("gives up a task that a person archives or takes over while a session works on it, and says so", async () => {
  const run = await project({
    tasks: 3,
    script: `const { existsSync } = await import("node:fs"); while (!existsSync("../go")) await agent.sleep(50);\n${FINISH_ALL}`,
  });
  const running = run.start(["work", "--all", "-n", "3"]);
  await firstSession(run);
  const [dropped, taken, kept] = run.tasks as [string, string, string];
  await run.haversack("task", "archive", dropped);
  await run.haversack("claim", taken, "--steal", "I know how");
  writeFileSync(join(run.base, "go"), "");
  const { out, code } = await running.ended;
  expect(code).toBe(1);
  expect(out).toContain(`${dropped} "Task 1" returned: it is archived now`);
  expect(out).toContain(`${taken} "Task 2" returned: person has it now`);
  expect(out).toContain(`${kept} "Task 3" done`);
  expect(out).toMatch(/Stopped \(nothing-ready\): 1 in progress elsewhere, 0 blocked\. 1 done, 0 blocked/);
  expect(run.report()).toMatchObject({ tasks_completed: 1, next_steps: [] });
});

it("says at its end which task outside of its scope the rest waits for", async () => {
  const run = await project({ tasks: 1 });
  const { id: story } = JSON.parse((await run.haversack("story", "create", "S", "--json")).out);
  const { id: later } = JSON.parse((await run.haversack("task", "create", "Later", "--story", story, "--json")).out);
  await run.haversack("task", "create", "Now", "--story", story);
  await run.haversack("task", "dep", later, "--add", run.tasks[0]!);
  const { out, code } = await run.work(["--story", story]);
  expect(code).toBe(1);
  const why = `${later} "Later": waits for ${run.tasks[0]} "Task 1" (todo)`;
  expect(out).toContain(`Stopped (blocked): 1 waiting, 0 blocked (${why}). 1 done`);
});

it("two runners share a scope: each task is done once", async () => {
  const run = await project({
    tasks: 6,
    script: `for (const task of agent.tasks) { await agent.sleep(300); agent.finish(task); } agent.result();`,
  });
  const ends = await Promise.all([run.work(["--all"]), run.work(["--all"])]);
  expect(ends.map(({ out }) => out).join("\n")).toContain("every task of the scope is done");
  expect(Object.values(await run.status())).toEqual(Array(6).fill("done"));
  const given = run.sessions().flatMap(({ tasks }) => tasks);
  expect([...given].sort()).toEqual([...run.tasks].sort());
});

it("a store that is locked for a while costs time and nothing else", async () => {
  const run = await project({ tasks: 2, script: `await agent.sleep(500);\n${FINISH_ALL}` });
  const running = run.start(["work", "--all"]);
  await firstSession(run);
  const { DatabaseSync } = await import("node:sqlite");
  const db = new DatabaseSync(`${run.root}/.haversack/haversack.db`, { timeout: 20_000 });
  db.exec("BEGIN IMMEDIATE");
  await sleep(3000);
  db.exec("COMMIT");
  db.close();
  const { out } = await running.ended;
  expect(out).toContain("every task of the scope is done");
});

it("a store that is removed stops the run, which saves what it knew; with that it goes on", async () => {
  const run = await project({ tasks: 2, script: `agent.write("half.txt", "half"); ${DEAF}` });
  const running = run.start(["work", "--all"]);
  while (!existsSync(join(run.root, "half.txt"))) await sleep(50);
  const [store, id] = [join(run.root, ".haversack/haversack.db"), (await run.haversack("runs", "list")).out];
  for (const end of ["", "-wal", "-shm"]) rmSync(`${store}${end}`, { force: true });
  const { out, code } = await running.ended;
  expect(code).toBe(1);
  expect(out).toContain("Stopped (store-gone): somebody removed or replaced the project's store");
  expect(run.leftovers()).toEqual([]);
  const [, copy] = /`haversack store restore (\S+)` restores it/.exec(out) ?? [];
  const [name] = /R\d+/.exec(id) ?? [];
  expect(run.git("show", `refs/haversack/runs/${name}/1:half.txt`)).toBe("half");
  expect((await run.haversack("store", "restore", copy ?? "")).code).toBe(0);
  expect(Object.values(await run.status())).toEqual(["todo", "todo"]);
  expect((await run.work(["--all", "--continue"])).code).toBe(0);
  expect(Object.values(await run.status())).toEqual(["done", "done"]);
});

it("time in which everything was stopped does not make a session hang", async () => {
  const run = await project({
    tasks: 1,
    script: `agent.answer("at work"); await agent.sleep(2000);\n${FINISH_ALL}`,
    settings: { headless: { quiet_minutes: 12 } },
  });
  const running = run.start(["work", "--all"]);
  const client = await firstSession(run);
  for (const pid of [running.child.pid!, client]) process.kill(pid, "SIGSTOP");
  await sleep(14_000);
  for (const pid of [client, running.child.pid!]) process.kill(pid, "SIGCONT");
  const { code, out } = await running.ended;
  expect(out).not.toContain("hung");
  expect(code).toBe(0);
});

describe("a clock that jumps by hours", () => {
  it("forward, with two runners: each task is done once, and no limit of time holds", async () => {
    const run = await project({
      tasks: 4,
      hasMovingClock: true,
      script: `await agent.sleep(agent.number === 1 ? 7000 : 1500);\n${FINISH_ALL}`,
    });
    const runners = [run.start(["work", "--all", "--max-minutes", "100"])];
    await firstSession(run);
    runners.push(run.start(["work", "--all", "--max-minutes", "100"]));
    while (run.sessions().length < 2) await sleep(50);
    run.moveClock(9);
    const ends = await Promise.all(runners.map(({ ended }) => ended));
    expect(ends.map(({ out }) => out).join("\n")).not.toMatch(/max-minutes|hung/);
    expect(Object.values(await run.status())).toEqual(Array(4).fill("done"));
    expect(
      run
        .sessions()
        .flatMap(({ tasks }) => tasks)
        .sort(),
    ).toEqual([...run.tasks].sort());
  });

  it("back: what a session has handed over afterwards still counts", async () => {
    const run = await project({
      tasks: 1,
      hasMovingClock: true,
      settings: { headless: { reviewers: ["spec-reviewer"] } },
      script: `
        await agent.sleep(1500);
        const task = agent.tasks[0];
        const role = agent.purpose === "review" ? ["--role", "spec-reviewer"] : [];
        const verdict = agent.purpose === "review" && agent.number < 3 ? "FAIL" : "PASS";
        if (agent.purpose === "batch") agent.write(task + ".txt", "sound " + agent.number);
        const { err } = agent.haversack("handoff", "set", task, "--status", verdict, "--summary", "said in " + agent.number, ...role);
        agent.answer(err);
        agent.result();`,
    });
    const running = run.start(["work", "--all"]);
    await firstSession(run);
    run.moveClock(-9);
    const { out, code } = await running.ended;
    expect(out).toContain("spec-reviewer: said in 2");
    expect(code).toBe(0);
    expect(run.sessions().map(({ purpose }) => purpose)).toEqual(["batch", "review", "batch", "review"]);
  });
});
