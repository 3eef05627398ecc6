/** Runs that go well, or nearly: sessions follow one another until everything is done or blocked with evidence. */
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { FINISH_ALL, type ProjectOptions, runProject } from "./run-project.ts";

async function project(options?: ProjectOptions) {
  const made = await runProject(options);
  onTestFinished(() => made.remove());
  return made;
}

it("goes on with session after session until every task is done, in growing batches", async () => {
  const run = await project({ tasks: 6 });
  const { code, out } = await run.work(["--all"]);
  expect(out).toContain("every task of the scope is done");
  expect(code).toBe(0);
  expect(run.sessions().map(({ tasks }) => tasks.length)).toEqual([2, 3, 1]);
  expect(Object.values(await run.status())).toEqual(Array(6).fill("done"));
  expect(run.report()).toMatchObject({ tasks_completed: 6, tasks_failed: 0, batch_sizes: [2, 3, 1] });
  expect(run.leftovers()).toEqual([]);
});

it("asks a session to save and end when its window is nearly full; the next one goes on from its WIP", async () => {
  const run = await project({
    tasks: 2,
    script: `
      if (agent.number === 1) {
        agent.haversack("wip", "set", agent.tasks[0], '{"next_step":"the second half"}');
        agent.write("half.txt", "half");
        agent.answer("much to read", 150000);
        const asked = await agent.hears(2);
        agent.answer(asked, 150000);
        return agent.result();
      }
      ${FINISH_ALL}`,
  });
  const { code, out } = await run.work(["--all"]);
  expect(out).toContain("Its window is nearly full: asked to save and end.");
  expect(out).toContain("Session 1 window-full");
  const [first, second] = run.sessions();
  expect(second?.tasks).toEqual(first?.tasks);
  expect(second?.prompt).toContain("the second half");
  expect(code).toBe(0);
  const { sessions } = run.report();
  expect(sessions[0]).toMatchObject({
    end: "window-full",
    fill: 0.75,
    kept: expect.stringContaining("refs/haversack/"),
  });
});

it("lets a fixer repair what the tests show, and tells it only the failure, the change and the files", async () => {
  const run = await project({
    tasks: 1,
    script: `
      if (agent.purpose === "fix") {
        agent.write(agent.tasks[0] + ".txt", "mended");
        return agent.result();
      }
      for (const task of agent.tasks) agent.finish(task, "BROKEN");
      agent.result();`,
  });
  const { code, out } = await run.work(["--all"]);
  expect(out).toContain("every task of the scope is done");
  expect(code).toBe(0);
  const fix = run.sessions()[1];
  expect(fix).toMatchObject({ purpose: "fix", tasks: run.tasks });
  expect(fix?.prompt).toContain("FAIL: a file is BROKEN");
  expect(fix?.prompt).toContain("+BROKEN");
  expect(run.report().tasks[0]).toMatchObject({ state: "done", fixes: 1 });
});

it("blocks what no fixer can repair, with the evidence, and does the others", async () => {
  const run = await project({
    tasks: 4,
    script: `
      if (agent.purpose === "fix") {
        agent.write(agent.tasks[0] + ".txt", "BROKEN attempt " + agent.number);
        return agent.result();
      }
      for (const task of agent.tasks) agent.finish(task, task === process.env.BAD ? "BROKEN" : "sound");
      for (const task of agent.tasks) agent.haversack("handoff", "set", task, "--role", "implementer", "--status", "PASS", "--summary", "built", "--files", task + ".txt");
      agent.result();`,
  });
  const bad = run.tasks[1]!;
  const { code, out } = await run.work(["--all"], { BAD: bad });
  expect(out).toContain("1 blocked, the rest is done");
  expect(code).toBe(1);
  const status = await run.status();
  expect(status[bad]).toBe("blocked");
  expect(Object.values(status).filter((one) => one === "done")).toHaveLength(3);
  const shown = JSON.parse((await run.haversack("task", "show", bad, "--json", "--fields", "full")).out);
  expect(JSON.stringify(shown)).toContain("sh check.sh");
  const task = run.report().tasks.find(({ id }: { id: string }) => id === bad);
  expect(task).toMatchObject({ state: "blocked", evidence: expect.stringContaining("BROKEN") });
  // The same failure twice is enough: a third fixer would not help.
  expect(run.sessions().filter(({ purpose }) => purpose === "fix")).toHaveLength(2);
});

it("blocks with what the tests said last, not with what the fixer was given", async () => {
  const run = await project({
    tasks: 1,
    settings: { work: { test_command: 'test ! -e bad || { echo "FAIL $(cat bad)"; exit 1; }' } },
    script: `
      agent.write("bad", agent.purpose === "fix" ? "after the fixer" : "before it");
      if (agent.purpose === "fix") for (let i = 0; i < 12; i++) agent.tool("Bash", { command: "make" });
      else agent.finish(agent.tasks[0]);
      agent.result();`,
  });
  await run.work(["--all"]);
  expect(run.sessions()).toHaveLength(2);
  expect(run.report().tasks[0].evidence).toContain("FAIL after the fixer");
});

it("knows what was red before: no task has to answer for it", async () => {
  const run = await project({ tasks: 2 });
  run.write("old.txt", "BROKEN");
  const { code, out } = await run.work(["--all"]);
  expect(out).toContain("red as before");
  expect(code).toBe(0);
  expect(run.sessions()).toHaveLength(1);
});

it("starts no fixer for a spike, nor when work.auto_fix is off", async () => {
  const script = `for (const task of agent.tasks) agent.finish(task, "BROKEN"); agent.result();`;
  const spike = await project({ tasks: 1, types: ["spike"], script });
  expect((await spike.work(["--all"])).code).toBe(1);
  const off = await project({ tasks: 1, script, settings: { work: { auto_fix: false } } });
  expect((await off.work(["--all"])).code).toBe(1);
  for (const run of [spike, off]) {
    expect(run.sessions()).toHaveLength(1);
    expect(Object.values(await run.status())).toEqual(["blocked"]);
  }
});

it("sends a task back that a reviewer fails, and finishes it when both have passed it", async () => {
  const run = await project({
    tasks: 1,
    script: `
      if (agent.purpose === "review") {
        const isFirst = agent.number === 2;
        agent.answer("The limit is missing.\\nVERDICT: " + (isFirst ? "FAIL" : "PASS"));
        return agent.result();
      }
      ${FINISH_ALL}`,
    settings: { headless: { reviewers: ["spec-reviewer", "quality-reviewer"] } },
  });
  const { code, out } = await run.work(["--all"]);
  expect(run.sessions().map(({ purpose }) => purpose)).toEqual(["batch", "review", "batch", "review", "review"]);
  expect(out.match(/review by [a-z-]+/g)).toEqual([
    "review by spec-reviewer",
    "review by spec-reviewer",
    "review by quality-reviewer",
  ]);
  expect(code).toBe(0);
  // The reviewer's findings, although it stored no handoff.
  expect(run.sessions()[2]?.prompt).toContain(
    `A review failed:\n- ${run.tasks[0]}: spec-reviewer: The limit is missing.`,
  );
  expect(out).toContain('"Task 1" goes back: spec-reviewer: The limit is missing.');
  const [task] = run.report().tasks;
  expect(task).toMatchObject({ state: "done", review_failures: 1 });
  // What the reviewer found is mended: nothing of it stands in the report.
  expect(task.evidence).toBeUndefined();
  expect((await run.haversack("runs", "show")).out).not.toContain("The limit is missing");
});

it("takes no verdict for none: a reviewer that says nothing is asked again, and then the task goes back", async () => {
  const run = await project({
    tasks: 1,
    script: `
      if (agent.purpose === "review") {
        agent.answer(agent.number < 5 ? "Hm." : "VERDICT: PASS");
        return agent.result();
      }
      ${FINISH_ALL}`,
    settings: { headless: { reviewers: ["spec-reviewer"] } },
  });
  const { code, out } = await run.work(["--all"]);
  expect(out).toContain("spec-reviewer: gave no verdict (completed)");
  expect(code).toBe(0);
  expect(run.sessions().map(({ purpose }) => purpose)).toEqual(["batch", "review", "review", "batch", "review"]);
});

it("gives reviewers their role, the changed files, and references to what the project's role map lets them read", async () => {
  const run = await project({
    tasks: 0,
    script: `
      if (agent.purpose === "review") {
        agent.answer("VERDICT: PASS");
        return agent.result();
      }
      ${FINISH_ALL}`,
    settings: { headless: { reviewers: ["spec-reviewer", "security-reviewer"] } },
  });
  const folder = "docs/features/031-uploads";
  for (const one of [folder, ".haversack"]) mkdirSync(join(run.root, one), { recursive: true });
  run.write(`${folder}/spec.md`, "# Spec\nlimits\n");
  run.write(`${folder}/plan.md`, "# Plan\n");
  run.write(".haversack/rubric.md", "Look for holes in the fence.");
  run.write(
    ".haversack/artifacts.json",
    JSON.stringify({
      documents: { "spec.md": { name: "Spec" } },
      sets: {
        code: {
          dispatch: "code",
          roles: {
            "spec-reviewer": { documents: ["spec.md"] },
            "security-reviewer": { documents: ["spec.md"], rubric: "rubric.md" },
          },
        },
      },
    }),
  );
  await run.haversack("task", "create", "Uploads", "--plan", `${folder}/plan.md`);
  expect((await run.work(["--all"])).code).toBe(0);
  const [batch, spec, security] = run.sessions();
  expect(batch?.prompt).not.toContain("Required Artifacts");
  expect(spec?.prompt).toContain("You are the spec-reviewer of");
  expect(spec?.prompt).not.toContain("implementer");
  expect(spec?.prompt).toContain(`Changed since work on this task began: ${batch?.tasks[0]}.txt.`);
  for (const review of [spec, security]) {
    expect(review?.prompt).toContain(`## Required Artifacts\nYou MUST read the following files`);
    expect(review?.prompt).toContain(`- Spec: ${run.root}/${folder}/spec.md (2 lines`);
  }
  expect(spec?.prompt).toContain("against its description and criteria");
  expect(security?.prompt).toContain("Look for holes in the fence.");
});

it("leaves alone what a session reports as blocked, and does not count that against the batch size", async () => {
  const run = await project({
    tasks: 3,
    script: `
      const [first, ...others] = agent.tasks;
      if (agent.number === 1) agent.haversack("task", "block", first, "the key is missing");
      else agent.finish(first);
      for (const task of others) agent.finish(task);
      agent.result();`,
  });
  const { code, out } = await run.work(["--all"]);
  expect(code).toBe(1);
  expect(out).toContain("the key is missing");
  expect(run.report()).toMatchObject({ tasks_completed: 2, tasks_failed: 1, batch_sizes: [2, 1] });
});

it("with -n 1 works on one after another; with a story only on its tasks", async () => {
  const run = await project({ tasks: 2 });
  const { id } = JSON.parse((await run.haversack("story", "create", "A story", "--json")).out);
  for (const title of ["One", "Two"]) await run.haversack("task", "create", title, "--story", id);
  const { code } = await run.work(["--story", id, "-n", "1"]);
  expect(code).toBe(0);
  expect(run.sessions().map(({ tasks }) => tasks.length)).toEqual([1, 1]);
  const status = await run.status();
  expect(run.tasks.map((task) => status[task])).toEqual(["todo", "todo"]);
});

it("gives the next session a smaller batch when one was interrupted, also of the tasks that it left", async () => {
  const run = await project({
    tasks: 9,
    script: `
      if (agent.number === 3) return agent.answer("too much", 150000), await agent.hears(2), agent.result();
      for (const task of agent.tasks) agent.finish(task);
      agent.answer("done");
      agent.result();`,
  });
  expect((await run.work(["--all"])).code).toBe(0);
  // The tasks of the third session come first; of its four the fourth session gets three.
  const sizes = run.sessions().map(({ tasks }) => tasks.length);
  expect(sizes.slice(0, 4)).toEqual([2, 3, 4, 3]);
  const [, , third, fourth] = run.sessions();
  expect(third?.tasks).toEqual(expect.arrayContaining(fourth?.tasks ?? []));
});

describe("headless.fill_sessions", () => {
  const settings = { headless: { fill_sessions: true } };

  it("gives a session further batches while they fit into its window, and tests after each", async () => {
    const run = await project({
      tasks: 9,
      script: `
        let used = 10000;
        await agent.turns(async (tasks) => {
          for (const task of tasks) { used += 12000; agent.finish(task); }
          agent.answer("done", used);
          agent.result();
        });`,
      settings,
    });
    const { code, out } = await run.work(["--all"]);
    expect(out).toContain("every task of the scope is done");
    expect(code).toBe(0);
    expect(out).toContain("Session 1 continues");
    const { sessions, tests, tasks_completed } = run.report();
    expect(tasks_completed).toBe(9);
    // 118,000 of 140,000 tokens. After eight tasks there is room for another one, but not for four.
    expect(sessions).toHaveLength(1);
    expect(sessions[0]).toMatchObject({ end: "completed", fill: 0.59 });
    expect(sessions[0].tasks).toHaveLength(9);
    expect(run.report().batch_sizes).toEqual([2, 3, 3, 1]);
    expect(tests).toHaveLength(5);
    const metrics = JSON.parse((await run.haversack("metrics", "--json")).out);
    expect(metrics).toMatchObject({ tasks_per_session: 9, batch_completion: 1 });
  });

  it("starts another session when no further task would fit, and gives it no more than its window holds", async () => {
    const run = await project({
      tasks: 5,
      script: `await agent.turns(async (tasks) => { for (const task of tasks) agent.finish(task); agent.answer("done", 90000); agent.result(); });`,
      settings,
    });
    expect((await run.work(["--all"])).code).toBe(0);
    expect(run.report().sessions.map(({ tasks }: { tasks: string[] }) => tasks.length)).toEqual([2, 2, 1]);
  });

  it("a fixer works while the session waits; a stop while it waits ends it", async () => {
    const run = await project({
      tasks: 4,
      script: `
        if (agent.purpose === "fix") { agent.write(agent.tasks[0] + ".txt", "mended"); agent.write(agent.tasks[1] + ".txt", "mended"); return agent.result(); }
        await agent.turns(async (tasks, turn) => {
          for (const task of tasks) agent.finish(task, turn === 1 ? "BROKEN" : "sound");
          agent.answer("done", 20000);
          agent.result();
        });`,
      settings,
    });
    expect((await run.work(["--all"])).code).toBe(0);
    expect(run.report().sessions.map(({ purpose }: { purpose: string }) => purpose)).toEqual(["batch", "fix"]);
    const slow = await project({
      tasks: 4,
      script: `await agent.turns(async (tasks) => { for (const task of tasks) agent.finish(task); agent.write("slow", ""); agent.answer("done", 20000); agent.result(); });`,
      settings: { ...settings, work: { test_command: "test ! -e slow || { : > ../testing; sleep 30; }" } },
    });
    const running = slow.start(["work", "--all"]);
    await running.says("Session 1");
    while (!existsSync(`${slow.base}/testing`)) await sleep(50);
    running.child.kill("SIGINT");
    const { out } = await running.ended;
    expect(out).toContain("Stopped (stopped)");
    expect(slow.leftovers()).toEqual([]);
    expect(Object.values(await slow.status())).toEqual(Array(4).fill("todo"));
  });

  it("goes on after a task was blocked; what a reviewer sends back goes into a fresh window", async () => {
    const run = await project({
      tasks: 3,
      script: `
        if (agent.purpose === "review") {
          agent.answer("VERDICT: " + (agent.number === 2 ? "FAIL" : "PASS"));
          return agent.result();
        }
        await agent.turns(async (tasks, turn) => {
          for (const task of tasks) agent.finish(task, turn === 1 && agent.number === 1 ? "BROKEN" : "sound");
          agent.answer("done", 20000);
          agent.result();
        });`,
      settings: { work: { auto_fix: false }, headless: { fill_sessions: true, reviewers: ["spec-reviewer"] } },
    });
    expect((await run.work(["--all"])).out).toContain("2 blocked, the rest is done");
    const { sessions } = run.report();
    const all = sessions.map((one: { purpose: string; tasks: string[] }) => `${one.purpose} ${one.tasks.length}`);
    // The first session: a batch of two, which the tests fail, and a batch of one, which the reviewer sends back.
    expect(all).toEqual(["batch 3", "review 1", "batch 1", "review 1"]);
  });

  it("a session that is killed in its second batch costs only that batch", async () => {
    const run = await project({
      tasks: 5,
      script: `
        await agent.turns(async (tasks, turn) => {
          if (agent.number === 1 && turn === 2) process.kill(process.pid, "SIGKILL");
          for (const task of tasks) agent.finish(task);
          agent.answer("done", 20000);
          agent.result();
        });`,
      settings,
    });
    expect((await run.work(["--all"])).code).toBe(0);
    const { sessions } = run.report();
    expect(sessions.map(({ end }: { end: string }) => end)).toEqual(["crashed", "completed"]);
    expect(sessions[1].tasks).toHaveLength(3);
  });
});
