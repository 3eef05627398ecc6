/**
 * A packet with 10,000 tasks and 300 skills in the store: assembled in a process that has everything open, and by the hook when a
 * session starts or a call starts a sub-agent.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { wakeUp } from "../../packages/haversack/src/engine/wake/make-packet.ts";
import { profileOf } from "../../packages/haversack/src/skills/showing/activation.ts";
import { openDatabase } from "../../packages/haversack/src/store/sqlite/open.ts";
import { SqliteLocalStore } from "../../packages/haversack/src/store/sqlite/sessions/sqlite-local-store.ts";
import { SqliteSkillIndex } from "../../packages/haversack/src/store/sqlite/skills/skill-index.ts";
import { SqliteWorkStore } from "../../packages/haversack/src/store/sqlite/work/sqlite-work-store.ts";
import { type Benchmark, type Candidate, quantile, timedTable, timeProcesses } from "../harness.ts";
import { BIN, HOOK, makeScratch, type Scratch } from "../scratch.ts";
import { syntheticSkills } from "../synthetic-skills.ts";
import { fillWork } from "./work-queue-store.ts";

const TASKS = 10_000;
const SKILLS = 300;
/** Rounds in one process, after a warm-up. */
const ROUNDS = 300;

export const wake: Benchmark = {
  name: "wake",
  summary: `a packet with ${TASKS} tasks and ${SKILLS} skills behind it, in process and by the hook`,
  async run({ runs }) {
    const scratch = makeScratch();
    const left = makeScratch();
    try {
      const { taskId, sessionId } = await fill(scratch, { name: "june" });
      await fill(left, { isOver: true });
      const inProcess = assembled(scratch, sessionId);
      const spawn = { tool_name: "Agent", tool_use_id: "t" };
      const timed = timeProcesses(
        [
          sessionStart(scratch, "session start with a packet", { HAVERSACK_AGENT: "june" }),
          sessionStart(left, "session start with what another left"),
          event(scratch, "a sub-agent's packet", {
            hook_event_name: "PreToolUse",
            ...spawn,
            tool_input: { prompt: `Task ${taskId}`, subagent_type: "haversack-implementer" },
          }),
          event(scratch, "end of a turn, no message", { hook_event_name: "Stop", stop_hook_active: false }),
        ],
        { runs },
      );
      const { columns, rows } = timedTable(timed);
      const ratioOf = (wanted: string) => timed.find(({ name }) => name === wanted)?.ratio ?? Number.NaN;
      return {
        table: {
          columns,
          rows: [
            ...rows,
            ["packet in process", quantile(inProcess, 0.5).toFixed(1), quantile(inProcess, 0.9).toFixed(1), "-"],
          ],
        },
        goals: [
          { name: "packet in process, p95", value: quantile(inProcess, 0.95), limit: 6, side: "at-most", unit: " ms" },
          ...["session start with a packet", "session start with what another left"].map((name) => ({
            name: `${name}, ratio`,
            value: ratioOf(name),
            limit: 1.6,
            side: "at-most" as const,
          })),
        ],
        data: { timed, inProcess },
      };
    } finally {
      scratch.remove();
      left.remove();
    }
  },
};

interface Holder {
  /** Default: the name of an agent that nobody named. */
  name?: string;
  /** Its session has ended. Default: no hook has seen the session. */
  isOver?: boolean;
}

/** A session that holds a task in the middle of a story, with a skill, a plan, WIP and handoffs. */
export async function fill(
  { root, env }: Scratch,
  { name = "claude-code-bench", isOver = false }: Holder,
): Promise<{ taskId: string; sessionId: string }> {
  for (const { name, text } of syntheticSkills(SKILLS)) {
    const folder = join(root, ".claude/skills", name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "SKILL.md"), text);
  }
  const made = spawnSync(process.execPath, [BIN, "skill", "index"], {
    cwd: root,
    env: { ...process.env, ...env },
    encoding: "utf8",
  });
  if (made.status !== 0) throw new Error(`skill index: ${made.stderr}`);
  mkdirSync(join(root, "docs"));
  const sections = Array.from({ length: 15 }, (_, at) => `## Part ${at}\n\n${"A line of the plan.\n".repeat(20)}`);
  writeFileSync(join(root, "docs/plan.md"), `# Plan\n\n${sections.join("\n")}`);

  const handle = openDatabase(join(root, ".haversack/haversack.db"), { durability: "normal" });
  const { storyId } = fillWork(handle, TASKS);
  const store = new SqliteWorkStore(handle);
  const sessionId = "bench";
  const at = new Date();
  const by = { name, sessionId, at };
  const { items } = await store.listTasks({ storyId, limit: 50, at });
  const task = items[25]!;
  const skill = syntheticSkills(SKILLS)[100]!.name;
  await store.updateTask(task.id, { skill, planFile: "docs/plan.md", planSection: "Part 7" }, by);
  for (const { id } of items.slice(0, 10)) {
    await store.setHandoff({ taskId: id, role: "implementer", status: "PASS", summary: "Built and tested." }, by);
    await store.setStatus({ taskId: id, status: "done", leaseMs: 1 }, { ...by, isPerson: true });
  }
  await store.claim({ taskId: task.id, leaseMs: 3_600_000 }, by);
  const decisions = Array.from({ length: 12 }, (_, n) => ({
    decision: `Decision ${n}`,
    reason: "because of the tests",
  }));
  const wip = { files_modified: ["src/a.ts"], next_step: "count per address", decisions };
  await store.updateWip({ taskId: task.id, merge: () => ({ wip, changes: [] }) }, by);
  if (isOver)
    new SqliteLocalStore(handle).touchSession({ sessionId, client: "claude-code", cwd: root, at, event: "end" });
  else await store.seeAgent({ name, sessionId }, at);
  handle.db.close();
  return { taskId: task.id, sessionId };
}

function assembled({ root }: Scratch, sessionId: string): number[] {
  const handle = openDatabase(join(root, ".haversack/haversack.db"), { durability: "normal" });
  const parts = {
    handle,
    index: new SqliteSkillIndex(handle.db),
    root,
    settings: {},
    readText: (path: string) => (path.endsWith("plan.md") ? readFileSync(path, "utf8") : undefined),
    now: new Date(),
  };
  const request = { key: { sessionId }, reason: "compact" as const, client: profileOf("claude-code") };
  const times: number[] = [];
  for (let round = -30; round < ROUNDS; round++) {
    const start = process.hrtime.bigint();
    const { text } = wakeUp(request, parts);
    if (round >= 0) times.push(Number(process.hrtime.bigint() - start) / 1e6);
    for (const needed of ["count per address", "Part 7", "You are using"]) {
      if (!text.includes(needed)) throw new Error(`the packet lacks "${needed}":\n${text}`);
    }
  }
  handle.db.close();
  return times;
}

/** A new session each time, because what a session has been shown is recorded. */
function sessionStart(scratch: Scratch, name: string, env: Record<string, string> = {}): Candidate {
  let session = 0;
  const one = () => {
    const candidate = event(scratch, name, {
      session_id: `start-${session++}`,
      hook_event_name: "SessionStart",
      source: "startup",
    });
    return { ...candidate, env: { ...scratch.env, ...env } };
  };
  const { args, stdin, cwd, env: given } = one();
  const { stdout } = spawnSync(process.execPath, args, {
    input: stdin,
    cwd,
    env: { ...process.env, ...given },
    encoding: "utf8",
  });
  if (!stdout.includes("count per address")) throw new Error(`no packet: ${stdout}`);
  return Object.defineProperty(one(), "stdin", { get: () => one().stdin, enumerable: true });
}

function event({ root, env }: Scratch, name: string, fields: object): Candidate {
  const payload = { session_id: "bench", cwd: root, ...fields };
  return { name, args: [HOOK, "claude-code"], stdin: JSON.stringify(payload), cwd: root, env };
}
