/**
 * What the runner itself costs: processor time and memory while a client works, the time from the end of one session to the start of the next
 * (without tests), and a stream of 50 MB. The client is scripted and uses no model.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type RunProject, runProject } from "../../test/runs/run-project.ts";
import type { Benchmark } from "../harness.ts";

const WORK_SECONDS = 20;
const STREAM_MB = 50;
const SESSIONS = 10;
/** The kernel's clock ticks per second, the unit of /proc. */
const TICKS_PER_SECOND = 100;

export const runs: Benchmark = {
  name: "runs",
  summary: "the runner's processor time and memory, the gap between sessions, a stream of 50 MB",
  async run() {
    const cost = await costWhileWorking();
    const gaps = await gapsBetweenSessions();
    const stream = await largeStream();
    const middle = gaps[Math.floor(gaps.length / 2)] ?? 0;
    const longest = gaps.at(-1) ?? 0;
    return {
      table: {
        columns: ["what", "value"],
        rows: [
          [
            `processor time while a client works ${WORK_SECONDS} s, 20 events a second`,
            `${cost.percent.toFixed(2)} % of a core`,
          ],
          ["memory at most", `${cost.megabytes.toFixed(0)} MB`],
          [`end of a session to the start of the next, median of ${gaps.length}`, `${middle.toFixed(0)} ms`],
          ["the longest", `${longest.toFixed(0)} ms`],
          [`a stream of ${STREAM_MB} MB: written by the client in`, `${stream.writtenMs.toFixed(0)} ms`],
          ["and the session is over after its last line within", `${stream.behindMs.toFixed(0)} ms`],
          ["memory at most with that stream", `${stream.megabytes.toFixed(0)} MB`],
        ],
      },
      goals: [
        { name: "processor time while a client works", value: cost.percent, limit: 1, side: "at-most", unit: "%" },
        { name: "memory while a client works", value: cost.megabytes, limit: 120, side: "at-most", unit: "MB" },
        { name: "end of a session to the start of the next", value: middle, limit: 1000, side: "at-most", unit: "ms" },
        { name: "behind a stream of 50 MB", value: stream.behindMs, limit: 1000, side: "at-most", unit: "ms" },
      ],
    };
  },
};

async function withProject<T>(
  options: Parameters<typeof runProject>[0],
  use: (run: RunProject) => Promise<T>,
): Promise<T> {
  const run = await runProject(options);
  try {
    return await use(run);
  } finally {
    run.remove();
  }
}

function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

function megabytes(pid: number): number {
  const [, kilobytes = "0"] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "latin1")) ?? [];
  return Number(kilobytes) / 1024;
}

function costWhileWorking() {
  const script = `
    for (let i = 0; i < ${(WORK_SECONDS + 6) * 20}; i++) {
      agent.tool("Bash", { command: "step " + i });
      agent.event({ type: "user", message: { content: [{ type: "tool_result", content: "x".repeat(2000) }] } });
      await agent.sleep(50);
    }
    for (const task of agent.tasks) agent.finish(task);
    agent.result();`;
  return withProject({ tasks: 1, script }, async (run) => {
    const running = run.start(["work", "--all", "--no-tests"]);
    const pid = running.child.pid ?? 0;
    await running.says("Session 1");
    await sleep(3_000);
    const [before, startedAt] = [cpuSeconds(pid), performance.now()];
    await sleep(WORK_SECONDS * 1000);
    const used = cpuSeconds(pid) - before;
    const seconds = (performance.now() - startedAt) / 1000;
    const most = megabytes(pid);
    await running.ended;
    return { percent: (100 * used) / seconds, megabytes: most };
  });
}

function gapsBetweenSessions() {
  const script = `
    for (const task of agent.tasks) agent.finish(task);
    agent.result();
    const { appendFileSync } = await import("node:fs");
    process.on("exit", () => appendFileSync(process.env.SESSIONS_FILE + ".ends", Date.now() + "\\n"));`;
  return withProject({ tasks: SESSIONS + 1, script }, async (run) => {
    await run.work(["--all", "-n", "1", "--no-tests", "--max-chains", "100"]);
    const ends = readFileSync(`${run.env["SESSIONS_FILE"]}.ends`, "utf8").trim().split("\n").map(Number);
    return run
      .sessions()
      .slice(1)
      .map(({ at }, number) => at - (ends[number] ?? at))
      .sort((a, b) => a - b);
  });
}

function largeStream() {
  const script = `
    const { writeFileSync } = await import("node:fs");
    const startedAt = Date.now();
    const text = "x".repeat(50_000);
    for (let i = 0; i < ${STREAM_MB * 20}; i++) {
      const line = JSON.stringify({ type: "user", message: { content: [{ type: "tool_result", content: text }] } }) + "\\n";
      if (!process.stdout.write(line)) await new Promise((resolve) => process.stdout.once("drain", resolve));
    }
    for (const task of agent.tasks) agent.finish(task);
    agent.result();
    writeFileSync("../stream.json", JSON.stringify({ startedAt, endedAt: Date.now() }));`;
  return withProject({ tasks: 1, script }, async (run) => {
    const running = run.start(["work", "--all", "--no-tests", "--json"]);
    let most = 0;
    const look = setInterval(() => {
      try {
        most = Math.max(most, megabytes(running.child.pid ?? 0));
      } catch {
        // It has just ended.
      }
    }, 50);
    let overAt = 0;
    running.child.stdout?.on("data", (text: string) => {
      if (overAt === 0 && text.includes('"event":"session-end"')) overAt = Date.now();
    });
    await running.ended;
    clearInterval(look);
    const { startedAt, endedAt } = JSON.parse(readFileSync(join(run.base, "stream.json"), "utf8"));
    return { writtenMs: endedAt - startedAt, behindMs: overAt - endedAt, megabytes: most };
  });
}
