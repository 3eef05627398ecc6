/** What stops a run: limits, no progress, errors of the model's server, a client that fails. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it, onTestFinished } from "vitest";
import { FINISH_ALL, type ProjectOptions, runProject } from "./run-project.ts";

async function project(options?: ProjectOptions) {
  const made = await runProject(options);
  onTestFinished(() => made.remove());
  return made;
}

describe("limits", () => {
  it("--max-chains: so many sessions, and what is left is free again", async () => {
    const run = await project({ tasks: 4 });
    const { code, out } = await run.work(["--all", "--max-chains", "1"]);
    expect(out).toContain("Stopped (max-chains)");
    expect(code).toBe(1);
    expect(run.sessions()).toHaveLength(1);
    expect(Object.values(await run.status()).filter((one) => one === "todo")).toHaveLength(2);
  });

  it.each([
    ["--max-chains", "1"],
    ["--max-tokens", "500"],
  ])("%s that is reached with the last task: everything is done", async (option, value) => {
    const run = await project({ tasks: 1 });
    const { code, out } = await run.work(["--all", option, value]);
    expect(out).toContain("Stopped (done): every task of the scope is done. 1 done, 0 blocked, 1 session,");
    expect(code).toBe(0);
  });

  it.each([
    ["--max-tokens", "500", "max-tokens"],
    ["--max-cost", "0.005", "max-cost"],
  ])("%s: after the session that reaches it", async (option, value, reason) => {
    const run = await project({ tasks: 4 });
    const { code, out } = await run.work(["--all", option, value]);
    expect(out).toContain(`Stopped (${reason})`);
    expect(code).toBe(1);
    expect(run.sessions()).toHaveLength(1);
  });

  it("--max-cost: each session gets what is left as its own limit, unless the user gives one", async () => {
    const run = await project({ tasks: 4 });
    await run.work(["--all", "--max-cost", "0.5"]);
    const budgets = run.sessions().map(({ args }) => args[args.indexOf("--max-budget-usd") + 1]);
    expect(budgets).toEqual(["0.50", "0.49"]);
    await run.haversack("task", "create", "One more");
    await run.work(["--all", "--max-cost", "0.5", "--", "--max-budget-usd=0.2"]);
    expect(run.sessions()[2]?.args.filter((word) => word.startsWith("--max-budget"))).toEqual(["--max-budget-usd=0.2"]);
  });

  it("--max-cost: a client that notices the limit first, and takes its time to leave, is not asked to end", async () => {
    const run = await project({
      tasks: 1,
      script: `
        agent.result({ subtype: "error_max_budget_usd", is_error: true, total_cost_usd: 1.5 });
        // Longer than the runner takes to look at its limits.
        await agent.sleep(3000);
        agent.write("heard.txt", String(agent.heard.length));`,
    });
    const { code, out } = await run.work(["--all", "--max-cost", "1"]);
    expect(out).toContain("Session 1 stopped: the run's limit of cost was reached; window 0%, 1010 tokens, $1.50.");
    expect(out).not.toContain("asked to save and end");
    expect(out).toContain("Stopped (max-cost)");
    expect(run.read("heard.txt")).toBe("1");
    expect(code).toBe(1);
  });

  it("--max-tokens: a session that goes on and on is asked to end in the middle", async () => {
    const run = await project({
      tasks: 1,
      script: `
        for (let i = 0; agent.heard.length < 2 && i < 300; i++) { agent.answer("more", 1000); await agent.sleep(100); }
        agent.result({ modelUsage: {} });`,
    });
    const { out } = await run.work(["--all", "--max-tokens", "3000"]);
    expect(out).toContain("A limit is reached: asked to save and end.");
    expect(out).toContain("Session 1 stopped: the run's limit of tokens was reached");
    expect(out).toContain("Stopped (max-tokens)");
    expect(Object.values(await run.status())).toEqual(["todo"]);
  });
});

it("--max-minutes: holds in the middle of a session, and counts what an earlier process of the run has worked", async () => {
  const run = await project({
    tasks: 1,
    script: `
      agent.answer("on it");
      await agent.hears(2);
      agent.result();`,
  });
  const running = run.start(["work", "--all", "--max-minutes", "30"]);
  await running.says("Session 1");
  running.child.kill("SIGKILL");
  await running.ended;
  // It had worked for half an hour, less as much as the next session needs to start on a busy machine.
  const db = new DatabaseSync(join(run.root, ".haversack/haversack.db"), { timeout: 5000 });
  db.exec("UPDATE runs SET data = json_set(data, '$.workedMs', 1780000)");
  db.close();
  const { code, out } = await run.work(["--all", "--continue"]);
  expect(out).toContain("A limit is reached: asked to save and end.");
  expect(out).toContain("Session 2 stopped: the run's limit of time was reached");
  expect(out).toContain("Stopped (max-minutes)");
  expect(code).toBe(1);
  expect(run.leftovers()).toEqual([]);
});

describe("no progress", () => {
  it("blocks tasks on which two sessions achieved nothing, and stops when that happens again", async () => {
    const run = await project({
      tasks: 3,
      script: `for (let i = 0; i < 12; i++) agent.tool("Read", { file_path: "same.txt" }); agent.result();`,
    });
    const { code, out } = await run.work(["--all", "-n", "1"]);
    expect(code).toBe(1);
    expect(out).toContain("Stopped (no-progress)");
    expect(out).toContain("repeated the same calls (Read: same.txt)");
    expect(run.sessions()).toHaveLength(4);
    expect(Object.values(await run.status()).sort()).toEqual(["blocked", "blocked", "todo"]);
  });

  it("a session that repeats a call for ever is asked to end; what it was not allowed is told once, and counted", async () => {
    const run = await project({
      tasks: 1,
      script: `
        for (let i = 0; agent.heard.length < 2 && i < 500; i++) {
          agent.tool("Bash", { command: "make" });
          agent.event({ type: "system", subtype: "permission_denied", tool_name: "Bash", message: "needs approval" });
          await agent.sleep(5);
        }
        agent.result();`,
    });
    const { out } = await run.work(["--all"]);
    expect(out).toContain("It only repeats the same calls: asked to save and end.");
    expect(out).toContain("Session 1 circling: it only repeated the same calls");
    expect(out).toContain(
      "Note: Bash was not allowed: needs approval (the client's own options after -- give permissions)",
    );
    expect(out.match(/needs approval/g)).toHaveLength(2);
    expect(out).toMatch(/Note: Bash was not allowed \d+ times in session 1\n/);
    expect(run.sessions()).toHaveLength(2);
    expect(Object.values(await run.status())).toEqual(["blocked"]);
  });

  it("the same calls again and again are none, even if a file changes; different edits of one file are", async () => {
    const play = (input: string) =>
      project({
        tasks: 1,
        script: `
          for (let i = 0; i < 12; i++) agent.tool("Edit", ${input});
          agent.write("log.txt", String(agent.number));
          agent.result();`,
      });
    const circles = await play(`{ file_path: "log.txt", new_string: "x" }`);
    const { out } = await circles.work(["--all", "--max-chains", "4"]);
    expect(out).toContain("2 sessions in a row repeated the same calls (Edit: log.txt) and finished no task");
    expect(Object.values(await circles.status())).toEqual(["blocked"]);
    const works = await play(`{ file_path: "log.txt", new_string: "x" + i }`);
    expect((await works.work(["--all", "--max-chains", "4"])).out).toContain("Stopped (max-chains)");
    expect(Object.values(await works.status())).toEqual(["todo"]);
  });

  it("blocks a task that three sessions gave up on", async () => {
    const run = await project({
      tasks: 1,
      script: `
        agent.write("try" + agent.number, "x");
        agent.haversack("handoff", "set", agent.tasks[0], "--role", "implementer", "--status", "FAIL", "--summary", "cannot be done, try " + agent.number);
        agent.result();`,
    });
    const { out } = await run.work(["--all"]);
    expect(out).toContain("3 sessions gave up on it: cannot be done");
    expect(run.sessions()).toHaveLength(3);
  });
});

describe("the model's server", () => {
  it.each([
    [429, "rate-limited"],
    [500, "server-error"],
    [529, "overloaded"],
  ])("%i: waits, longer each time, and goes on", async (status, reason) => {
    const run = await project({
      tasks: 1,
      script: `if (agent.number <= 2) return agent.error(${status}, "not now");\n${FINISH_ALL}`,
    });
    const { code, out } = await run.work(["--all"]);
    const waits = [...out.matchAll(/Waits (\d+) s: (\S+):/g)];
    expect(waits.map(([, , why]) => why)).toEqual([reason, reason]);
    expect(Number(waits[1]?.[1])).toBeGreaterThan(Number(waits[0]?.[1]));
    expect(code).toBe(0);
  });

  it("gives up after six errors in a row", async () => {
    const run = await project({ tasks: 1, script: `agent.error(529, "Overloaded");`, settings: {} });
    const { code, out } = await run.work(["--all"], { HAVERSACK_TEST_SPEED: "2000" });
    expect(out).toContain("Stopped (model-errors): overloaded: Overloaded");
    expect(run.sessions()).toHaveLength(6);
    expect(code).toBe(1);
    expect(Object.values(await run.status())).toEqual(["todo"]);
  });

  it("does not hold an error during a fix against the task", async () => {
    const run = await project({
      tasks: 1,
      script: `
        if (agent.number === 2) return agent.error(529, "Overloaded");
        if (agent.purpose === "fix") { agent.write(agent.tasks[0] + ".txt", "mended"); return agent.result(); }
        agent.finish(agent.tasks[0], "BROKEN"); agent.result();`,
    });
    const { code } = await run.work(["--all"]);
    expect(code).toBe(0);
    expect(run.report().tasks[0]).toMatchObject({ state: "done", fixes: 1 });
  });

  it("stops at once where no wait helps, and says what does", async () => {
    const run = await project({ tasks: 1, script: `agent.error(401, "Invalid API key");` });
    const { code, out } = await run.work(["--all"]);
    expect(out).toContain("Stopped (client-fails): Invalid API key (log in to the client, or set its key)");
    expect(code).toBe(1);
    expect(run.sessions()).toHaveLength(1);
  });
});

describe("a client that fails", () => {
  it("is tried three times", async () => {
    const run = await project({ tasks: 1, script: `process.stderr.write("cannot go on\\n"); process.exit(7);` });
    const { code, out } = await run.work(["--all"]);
    expect(out).toContain("Stopped (client-fails): 3 sessions in a row ended like this: it ended with 7");
    expect(out).toContain("cannot go on");
    expect(code).toBe(1);
    expect(Object.values(await run.status())).toEqual(["todo"]);
  });

  it("that reports an error which no wait helps is tried three times", async () => {
    const run = await project({ tasks: 1, script: `agent.error(400, "the request is wrong");` });
    const { out } = await run.work(["--all"]);
    expect(out).toContain("Stopped (client-fails): 3 sessions in a row ended like this: the request is wrong");
    expect(run.sessions()).toHaveLength(3);
  });

  it("that stops at its limit of turns without having done anything is no progress", async () => {
    const run = await project({
      tasks: 1,
      script: `agent.tool("Read", {}); agent.result({ subtype: "error_max_turns", is_error: true });`,
    });
    const { out } = await run.work(["--all"]);
    expect(out).toContain("no progress: 2 sessions in a row changed no file and finished no task");
    expect(run.sessions()).toHaveLength(2);
  });

  it("that hangs is ended with everything it started, and its tasks go on in the next session", async () => {
    const run = await project({
      tasks: 1,
      script: `
        if (agent.number === 1) {
          process.on("SIGTERM", () => undefined);
          agent.spawn("sleep", ["600"], { detached: true, stdio: "ignore" }).unref();
          await agent.sleep(600000);
        }
        // From now on three times as long.
        agent.tool("Bash", { command: "make" });
        ${FINISH_ALL}`,
      settings: { headless: { quiet_minutes: 6 } },
    });
    const { code, out } = await run.work(["--all"]);
    expect(out).toContain("Session 1 hung");
    expect(code).toBe(0);
    expect(run.leftovers()).toEqual([]);
  });

  it("that prints garbage is followed all the same", async () => {
    const run = await project({
      tasks: 1,
      script: `process.stdout.write("\\u0000garbage\\n{\\"type\\":\\n[]\\n" + "x".repeat(200000) + "\\n");\n${FINISH_ALL}`,
    });
    expect((await run.work(["--all"])).code).toBe(0);
  });
});

describe("tests of the project", () => {
  it("that hang are stopped and count as red", async () => {
    const run = await project({
      tasks: 1,
      settings: { work: { test_minutes: 1, test_command: "test ! -e hang || sleep 600", auto_fix: false } },
    });
    run.script(`agent.write("hang", ""); ${FINISH_ALL}`);
    const { code, out } = await run.work(["--all"]);
    expect(out).toContain("took longer than work.test_minutes");
    expect(code).toBe(1);
    expect(Object.values(await run.status())).toEqual(["blocked"]);
    expect(run.leftovers()).toEqual([]);
  });

  it("may write 1 GB without the runner growing with it", async () => {
    const run = await project({
      tasks: 1,
      settings: { work: { test_minutes: 1000, test_command: "head -c 1000000000 /dev/zero | tr '\\\\0' x" } },
    });
    const { code } = await run.work(["--all"], { NODE_OPTIONS: "--max-old-space-size=200" });
    expect(code).toBe(0);
  });
});
