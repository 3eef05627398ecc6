/**
 * Many events that hooks write while the server is away; then forwarders that are killed at random moments. At the end the server has each
 * event once and in order, and the snapshot has the server's rows.
 */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openMachine, rowsOf, rowsOnServer } from "../../packages/haversack/src/engine/team/team-machine.suite.ts";
import { connect } from "../../packages/haversack/src/store/postgres/connection.ts";
import { readPlace } from "../../packages/haversack/src/store/postgres/place.ts";
import { listConflicts, readSnapshotState } from "../../packages/haversack/src/store/sqlite/outbox/outbox.ts";
import type { Actor } from "../../packages/haversack/src/store/work-store.ts";

const LEASE_MS = 30 * 60_000;
const TASKS = 4;
/** Every tenth event is not a hook's, but a command's. */
const COMMANDS = 10;

export interface ForwardOptions {
  url: string;
  events: number;
  kills: number;
}

export interface ForwardReport {
  kills: number;
  /** How often a forwarder was killed after the server had saved entries and before they left the outbox. */
  lostAnswers: number;
  ms: number;
  faults: string[];
}

export async function forwardRound({ url, events, kills }: ForwardOptions): Promise<ForwardReport> {
  const machine = openMachine(url);
  const report: ForwardReport = { kills: 0, lostAnswers: 0, ms: 0, faults: [] };
  try {
    const tasks: string[] = [];
    for (let index = 0; index < TASKS; index++) {
      const by: Actor = { name: `agent-${index}`, sessionId: `session-${index}`, at: new Date() };
      const { id } = await machine.online.createTask({ title: `task ${index}` }, by);
      await machine.online.claim({ taskId: id, leaseMs: LEASE_MS }, by);
      tasks.push(id);
    }
    const written = tasks.map(() => [] as string[]);
    const said: string[] = [];
    for (let event = 0; event < events; event++) {
      const text = `event ${event}`;
      if (event % COMMANDS === 0) {
        const by = { at: new Date(), actor: "agent-0", kind: "said", text };
        await machine.offline.recordActivity(by);
        said.push(text);
        continue;
      }
      machine.tool(`session-${event % TASKS}`, { phase: text });
      written[event % TASKS]?.push(text);
    }
    const waiting = readSnapshotState(machine.handle).backlog.count;
    if (waiting !== events) report.faults.push(`${waiting} of ${events} events are in the outbox`);

    const start = performance.now();
    const file = join(machine.folder, "haversack.db");
    const look = await connect(readPlace(url), { timeoutMs: 5000 });
    const { schema } = readPlace(url);
    const applied = async () => {
      const [row] = await look.exec(`SELECT count(*) AS applied FROM ${schema}.applied_entries`);
      return Number(row?.["applied"]);
    };
    for (let isDone = false; !isDone; ) {
      const left = readSnapshotState(machine.handle).backlog.count;
      const killsLeft = kills - report.kills;
      const before = await applied();
      const moments = [
        // About as many entries in each life as there are lives for the rest.
        () => sleep(Math.random() * Math.max(20, (left / killsLeft) * 2 * MS_PER_ENTRY)),
        // The server has saved entries and may not have answered yet.
        async () => {
          for (let looks = 0; looks < 5000 && (await applied()) === before; looks++);
        },
      ];
      const how = await life(file, url, killsLeft > 0 ? moments[report.kills % moments.length] : undefined);
      if (how === "killed") {
        report.kills++;
        const { count } = readSnapshotState(machine.handle).backlog;
        if (count > 0 && (await applied()) + count > events) report.lostAnswers++;
      }
      isDone = how === "done";
    }
    report.ms = performance.now() - start;

    const there = await rowsOnServer(url);
    await look.close();
    for (const [index, taskId] of tasks.entries()) {
      const rows = (
        there["task_wip_changes"] as { task: number; path: string; before: string; after: string }[]
      ).filter(({ task, path }) => task === index + 1 && path === "phase");
      // The first value replaces nothing, so it is only seen as what the second replaces.
      const chain = [rows[0]?.before, ...rows.map(({ after }) => after)].map((text) => JSON.parse(text ?? "null"));
      if (JSON.stringify(chain) !== JSON.stringify(written[index])) {
        report.faults.push(
          `${taskId}: ${chain.length} events arrived of ${written[index]?.length}, or in another order`,
        );
      }
      if (rows.some(({ before }, at) => at > 0 && before !== rows[at - 1]?.after))
        report.faults.push(`${taskId}: a gap`);
    }
    const heard = (there["activity"] as { kind: string; text: string }[])
      .filter(({ kind }) => kind === "said")
      .map(({ text }) => text);
    if (JSON.stringify(heard) !== JSON.stringify(said)) {
      report.faults.push(`${heard.length} commands arrived of ${said.length}, or in another order`);
    }
    const conflicts = listConflicts(machine.handle, { limit: 3 });
    for (const { reason } of conflicts) report.faults.push(`conflict: ${reason}`);
    if (JSON.stringify(rowsOf(machine.handle)) !== JSON.stringify(await rowsOnServer(url)))
      report.faults.push("the snapshot differs from the server");
    return report;
  } finally {
    await machine.close();
  }
}

/** What an entry takes, roughly. */
const MS_PER_ENTRY = 0.7;

/** A forwarder from its start to its end, or until it is killed at that moment. */
async function life(
  file: string,
  url: string,
  moment: (() => Promise<unknown>) | undefined,
): Promise<"done" | "killed"> {
  const child = spawn(process.execPath, [join(import.meta.dirname, "forwarder.ts"), file, url], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  let problem = "";
  child.stderr.on("data", (data) => {
    problem += data;
  });
  const begun = new Promise<void>((resolve) => {
    child.stdout.on("data", (data) => {
      said += data;
      resolve();
    });
  });
  const ended = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
  });
  await Promise.race([begun, ended]);
  if (moment) {
    await Promise.race([moment(), ended]);
    child.kill("SIGKILL");
  }
  await ended;
  if (said.includes("done")) return "done";
  if (child.signalCode === "SIGKILL") return "killed";
  throw new Error(`the forwarder failed: ${problem}`);
}
