/**
 * Faults that strike a run, one cell each: what is done to it, and what must hold afterwards. No task is lost or done twice, no uncommitted
 * change is lost, no process is left behind, and the limit of sessions holds.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { type ProjectOptions, type Running, type RunProject, runProject } from "./run-project.ts";

export interface Cell {
  about: string;
  script?: string;
  settings?: ProjectOptions["settings"];
  hasMovingClock?: boolean;
  /** Needs a small file system. */
  isOnSmallDisk?: boolean;
  strike?(running: Running, run: RunProject, random: () => number): Promise<void>;
}

const TASKS = 4;
const MAX_CHAINS = 12;
/** A changed clock must not trigger the time limit. */
const WORDS = ["work", "--all", "--max-chains", String(MAX_CHAINS), "--max-minutes", "50"];

/** What a good session does; `before` each task something may happen. */
const session = (before: string) => `
  const fs = await import("node:fs");
  await agent.turns(async (tasks) => {
    for (const task of tasks) {
      await agent.sleep(50 + Math.random() * 150);
      ${before}
      if (agent.finish(task).code === 0) fs.appendFileSync("../done.log", task + "\\n");
    }
    agent.answer("done");
    agent.result();
  });`;

const kill = (pid: number, name: NodeJS.Signals) => {
  try {
    process.kill(pid, name);
  } catch {
    // It has just ended.
  }
};

async function firstSession(run: RunProject): Promise<number> {
  for (let waited = 0; waited < 30_000; waited += 20) {
    const [first] = run.sessions();
    if (first) return first.pid;
    await sleep(20);
  }
  throw new Error("no session has started");
}

async function jumpWithTwo(run: RunProject, hours: number, random: () => number): Promise<void> {
  await firstSession(run);
  const second = run.start(WORDS);
  await sleep(random() * 2_000);
  run.moveClock(hours);
  await second.ended;
}

export const CELLS: Record<string, Cell> = {
  "runner SIGKILL": {
    about: "at a random moment",
    // Long enough that the run is not over before.
    script: session("await agent.sleep(700);"),
    async strike({ child }, _run, random) {
      await sleep(200 + random() * 3200);
      child.kill("SIGKILL");
    },
  },
  "client SIGKILL": {
    about: "at a random moment of its first session",
    async strike(_running, run, random) {
      const pid = await firstSession(run);
      await sleep(random() * 800);
      kill(pid, "SIGKILL");
    },
  },
  "client hangs": {
    about: "in the middle of a task, deaf to SIGTERM, with a shell of its own",
    script: session(`if (agent.number === 1) {
      process.on("SIGTERM", () => undefined);
      agent.spawn("sleep", ["600"], { detached: true, stdio: "ignore" }).unref();
      await agent.sleep(600000);
    }`),
    settings: { headless: { quiet_minutes: 1 } },
  },
  "garbage stream": {
    about: "binary, cut and very long lines between the events",
    script: session(
      `process.stdout.write(Buffer.from([0, 255, 254, 10, 123, 10])); process.stdout.write('{"type":"assistant","message":' + "x".repeat(300000) + "\\n");`,
    ),
  },
  "model 429": {
    about: "twice, then it works",
    script: `if (agent.number <= 2) return agent.error(429, "slow down");${session("")}`,
  },
  "model 500": {
    about: "twice, then it works",
    script: `if (agent.number <= 2) return agent.error(500, "oh");${session("")}`,
  },
  overloaded: {
    about: "twice, then it works",
    script: `if (agent.number <= 2) return agent.error(529, "Overloaded");${session("")}`,
  },
  "disk full": {
    about: "from the first session on, for two seconds",
    isOnSmallDisk: true,
    script: session(""),
    async strike(_running, run, random) {
      await firstSession(run);
      await sleep(random() * 500);
      const ballast = join(run.base, "ballast");
      spawnSync("sh", ["-c", 'cat /dev/zero > "$0" 2> /dev/null', ballast]);
      await sleep(2_000);
      spawnSync("rm", ["-f", ballast]);
    },
  },
  "tests hang": {
    about: "after the first task; the time limit ends them",
    script: `if (agent.purpose === "fix") return agent.result();${session(`if (agent.number === 1) agent.write("hang", "");`)}`,
    settings: { work: { test_command: "if test -e hang; then rm hang; sleep 600; fi; sh check.sh", test_minutes: 1 } },
  },
  "store locked": {
    about: "by another process, for one to three seconds",
    async strike(_running, run, random) {
      await firstSession(run);
      const db = new DatabaseSync(join(run.root, ".haversack/haversack.db"), { timeout: 5000 });
      db.exec("BEGIN IMMEDIATE");
      await sleep(1_000 + random() * 2_000);
      db.exec("COMMIT");
      db.close();
    },
  },
  "machine suspended": {
    about: "every process stands still longer than a hang takes, and wakes eight hours later by its clock",
    settings: { headless: { quiet_minutes: 12 } },
    hasMovingClock: true,
    async strike(_running, run) {
      await firstSession(run);
      const all = run.leftovers();
      for (const one of all) kill(one, "SIGSTOP");
      await sleep(13_000);
      run.moveClock(8);
      for (const one of all) kill(one, "SIGCONT");
    },
  },
  "clock set forward": {
    about: "by up to two days, with two runners on the scope",
    hasMovingClock: true,
    strike: (_running, run, random) => jumpWithTwo(run, 1 + random() * 47, random),
  },
  "clock set back": {
    about: "by up to two days, with two runners on the scope",
    hasMovingClock: true,
    strike: (_running, run, random) => jumpWithTwo(run, -1 - random() * 47, random),
  },
};

export interface Outcome {
  problems: string[];
  sessions: number;
  /** How often --continue was needed. */
  restarts: number;
}

export async function playCell(name: string, random: () => number = Math.random): Promise<Outcome> {
  const cell = CELLS[name]!;
  const run = await runProject({
    tasks: TASKS,
    script: cell.script ?? session(""),
    ...(cell.hasMovingClock && { hasMovingClock: true }),
    settings: { ...cell.settings, headless: { ...cell.settings?.headless, fill_sessions: random() < 0.5 } },
  });
  const problems: string[] = [];
  try {
    run.write("mine.txt", "mine");
    const running = run.start(WORDS);
    const [, first] = await Promise.all([cell.strike?.(running, run, random), running.ended]);
    let [restarts, last] = [0, first];
    const isDone = async () => Object.values(await run.status()).every((one) => one === "done");
    // A runner that was killed may have left finished tasks unchecked.
    while (last.code !== 0 && restarts < 5 && (last.code === null || !(await isDone()))) {
      restarts++;
      last = await run.start([...WORDS, "--continue"]).ended;
    }
    const status = await run.status();
    const open = run.tasks.filter((task) => status[task] !== "done");
    if (open.length > 0)
      problems.push(
        `lost: ${open.map((task) => `${task} ${status[task]}`).join(", ")}\n${first.out}\n${last.out}\n${last.err}`,
      );
    const log = join(run.base, "done.log");
    const done = existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : [];
    if (new Set(done).size < done.length) problems.push(`done twice: ${done.join(" ")}\n${first.out}\n${last.out}`);
    for (const file of ["mine.txt", ...run.tasks.map((task) => `${task}.txt`)]) {
      if (!existsSync(join(run.root, file))) problems.push(`${file} is gone`);
    }
    const refs = run.git("for-each-ref", "--format=%(refname)", "refs/haversack").trim().split("\n").filter(Boolean);
    if (!refs.some((ref) => run.git("ls-tree", "--name-only", ref).includes("mine.txt")))
      problems.push("mine.txt was not kept");
    const left = run.leftovers();
    if (left.length > 0) problems.push(`${left.length} processes left`);
    for (const pid of left) kill(pid, "SIGKILL");
    const sessions = run.sessions().length;
    if (sessions > MAX_CHAINS * (restarts + 1)) problems.push(`${sessions} sessions`);
    return { problems, sessions, restarts };
  } finally {
    run.remove();
  }
}
