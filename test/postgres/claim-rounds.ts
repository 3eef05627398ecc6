/** Many claimers, each in a process of its own, on one queue; with a server that crashes and connections that break. */
import { spawn } from "node:child_process";
import { createServer, type Server as Listener, connect as open, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readPlace } from "../../packages/haversack/src/store/postgres/place.ts";
import { PostgresWorkStore } from "../../packages/haversack/src/store/postgres/postgres-work-store.ts";
import { Server } from "../../packages/haversack/src/store/postgres/server.ts";
import type { TestServer } from "./server.ts";

export interface Round {
  server: TestServer;
  claimers: number;
  tasks: number;
  /** How often the server crashes and is started again. */
  crashes?: number;
  /** Break connections at random, on the average after so many milliseconds each. */
  cutEveryMs?: number;
}

export interface RoundReport {
  /** How often each task was taken, as the claimers know it. */
  taken: Map<string, number>;
  /** As the activity says. */
  recorded: Map<string, number>;
  done: number;
  crashes: number;
  cuts: number;
  ms: number;
}

let rounds = 0;

export async function claimRound({ server, claimers, tasks, crashes = 0, cutEveryMs }: Round): Promise<RoundReport> {
  const url = new URL(server.url);
  url.searchParams.set("project", `round${process.pid}_${++rounds}`);
  const control = new Server(readPlace(url.href), { patienceMs: 60_000 });
  const store = new PostgresWorkStore(control);
  const by = () => ({ name: "lead", isPerson: true, at: new Date() });
  const story = await store.createStory({ title: "Round" }, by());
  const plan = Array.from({ length: tasks }, (_, index) => ({
    kind: "task",
    id: `T${100_000 + index}`,
    title: `Task ${index}`,
    type: "feature",
    status: "todo",
    priority: "P2",
    // Half of them in a story: it changes its status with the first and the last.
    ...(index % 2 === 0 && { story_id: story.id }),
    created_at: new Date().toISOString(),
    updated_at: new Date().toISOString(),
  }));
  await store.importRecords(plan as never, {}, by());
  const proxy = cutEveryMs === undefined ? undefined : await cuttingProxy(server.port, cutEveryMs);
  if (proxy) url.port = String(proxy.port);
  const began = performance.now();
  const names = Array.from({ length: claimers }, (_, index) => `claimer-${index}`);
  let isOver = false;
  const work = Promise.all(names.map((name) => claimer(url.href, name))).finally(() => {
    isOver = true;
  });
  let crashed = 0;
  // Handled below; the loop only has to notice the end.
  work.catch(() => undefined);
  while (crashed < crashes && !isOver) {
    await sleep(300 + Math.random() * 700);
    await server.kill();
    await server.start();
    crashed++;
  }
  try {
    const taken = new Map<string, number>();
    for (const id of (await work).flat()) taken.set(id, (taken.get(id) ?? 0) + 1);
    const recorded = new Map<string, number>();
    let beforeId: number | undefined;
    do {
      const page = await store.listActivity({
        limit: 1000,
        kind: "task-claimed",
        ...(beforeId !== undefined && { beforeId }),
      });
      for (const { subject = "" } of page.activity) recorded.set(subject, (recorded.get(subject) ?? 0) + 1);
      beforeId = page.nextBeforeId;
    } while (beforeId !== undefined);
    const { done } = await store.countTasks({}, new Date());
    return { taken, recorded, done, crashes: crashed, cuts: proxy?.cuts() ?? 0, ms: performance.now() - began };
  } finally {
    await control.close();
    proxy?.close();
  }
}

function claimer(url: string, name: string): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(import.meta.dirname, "claimer.ts"), url, name], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    let [out, err] = ["", ""];
    child.stdout.on("data", (text) => (out += text));
    child.stderr.on("data", (text) => (err += text));
    child.once("close", (code) => {
      if (code === 0) resolve(out.split("\n").filter(Boolean));
      else reject(new Error(`${name} ended with ${code}: ${err.slice(-2000)}`));
    });
  });
}

/** Passes bytes on, and cuts each connection at a random moment: also in the middle of an answer. */
async function cuttingProxy(target: number, everyMs: number): Promise<{ port: number; cuts(): number; close(): void }> {
  let cuts = 0;
  const sockets = new Set<Socket>();
  const listener: Listener = createServer((here) => {
    const there = open(target, "127.0.0.1");
    for (const [from, to] of [
      [here, there],
      [there, here],
    ] as const) {
      sockets.add(from);
      from.on("data", (bytes) => to.write(bytes));
      from.on("error", () => to.destroy());
      from.on("close", () => {
        sockets.delete(from);
        to.destroy();
      });
    }
    const timer = setTimeout(
      () => {
        cuts++;
        here.destroy();
        there.destroy();
      },
      -Math.log(1 - Math.random()) * everyMs,
    );
    here.on("close", () => clearTimeout(timer));
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  return {
    port: (listener.address() as { port: number }).port,
    cuts: () => cuts,
    close: () => {
      listener.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** One line for each thing that is wrong. */
export function faultsOf({ taken, recorded, done }: RoundReport, tasks: number): string[] {
  const faults: string[] = [];
  const twice = [...taken].filter(([, times]) => times > 1);
  if (twice.length > 0) faults.push(`${twice.length} tasks were taken twice: ${twice.slice(0, 5).join("; ")}`);
  if (taken.size !== tasks) faults.push(`${tasks - taken.size} of ${tasks} tasks were taken by nobody`);
  const recordedTwice = [...recorded].filter(([, times]) => times > 1);
  if (recordedTwice.length > 0) faults.push(`${recordedTwice.length} claims are recorded twice`);
  if (recorded.size !== tasks) faults.push(`${recorded.size} of ${tasks} claims are recorded`);
  if (done !== tasks) faults.push(`${done} of ${tasks} tasks are done`);
  return faults;
}
