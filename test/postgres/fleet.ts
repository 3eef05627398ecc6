/**
 * Several machines on one queue: each has its own home and clone, and runs `haversack work` with a scripted client. Prints what each did.
 * One may vanish half-way: its processes are killed at once, and its tasks are done by the others when their leases end. Where the system permits
 * it, each has a network of its own, in which it finds nobody: only the server's socket file is shared, and the folder of the common repository.
 *
 * npm run fleet [-- TASKS [MACHINES]]
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { isOfRun } from "../../packages/haversack/src/runs/run-agents.ts";
import { readPlace } from "../../packages/haversack/src/store/postgres/place.ts";
import { PostgresRunStore } from "../../packages/haversack/src/store/postgres/postgres-run-store.ts";
import { PostgresWorkStore } from "../../packages/haversack/src/store/postgres/postgres-work-store.ts";
import { Server } from "../../packages/haversack/src/store/postgres/server.ts";
import { type Ran, type Running, type RunProject, runProject } from "../runs/run-project.ts";
import { startServer } from "./server.ts";

export interface FleetOptions {
  /** The address of an empty project. */
  url: string;
  tasks: number;
  machines: number;
  /** Kill one when so many tasks are done, and it holds some. */
  killAfter?: number;
  /** How long the client takes for a task. Default: 0. */
  taskMs?: number;
  /** Drain one when so many tasks are done. */
  drainAfter?: number;
}

export interface FleetResult {
  tookMs: number;
  /** Who has set each task to done, once for each time that it worked. */
  done: Map<string, string[]>;
  /** What the store says of each task in the end. */
  statuses: string[];
  /** By machine. */
  ended: Record<string, Ran>;
  /** As `runs list` shows them to the first machine. */
  runs: { id: string; machine: string; state: string; stopped?: string }[];
  /** The file of each task that is on a branch of the common repository. */
  pushed: Set<string>;
  /** The networks in which tasks were done. */
  networks: Set<string>;
  /** Claims that ended because their lease did. */
  expired: number;
  leftovers: number;
}

/** Works on the tasks it is given, commits each, and notes who has done which. */
const SCRIPT = `
  const { appendFileSync, readlinkSync } = await import("node:fs");
  const network = process.platform === "linux" ? readlinkSync("/proc/self/ns/net") : "";
  const { execFileSync } = await import("node:child_process");
  for (const task of agent.tasks) {
    await agent.sleep(Number(process.env.TASK_MS));
    const { code } = agent.finish(task);
    if (code !== 0) continue;
    appendFileSync(process.env.DONE_FILE, task + " " + process.env.HAVERSACK_MACHINE + " " + network + "\\n");
    execFileSync("git", ["add", "--all"]);
    execFileSync("git", ["commit", "--quiet", "-m", task]);
  }
  agent.answer("done");
  agent.result();
`;

const OWN_NETWORK = ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$0" "$@"'];

/** Why the machines share this one's network. Undefined: they need not. */
function whyOneNetwork(): string | undefined {
  const [program = "", ...words] = [...OWN_NETWORK, "true"];
  const { status, stderr, error } = spawnSync(program, words, { encoding: "utf8" });
  return status === 0 ? undefined : (error?.message ?? stderr.trim());
}

export async function runFleet(options: FleetOptions): Promise<FleetResult> {
  const { url, tasks, machines, killAfter, drainAfter, taskMs = 0 } = options;
  const base = mkdtempSync(join(tmpdir(), "haversack-fleet-"));
  const doneFile = join(base, "done");
  const origin = join(base, "origin.git");
  const through = whyOneNetwork() === undefined ? OWN_NETWORK : [];
  const fleet: { name: string; project: RunProject; running?: Running }[] = [];
  const server = new Server(readPlace(url, {}));
  try {
    for (let number = 1; number <= machines; number++) {
      const headless = { max_chains: 1000, push: "origin", push_branch: "work/{machine}" };
      const project = await runProject({
        tasks: 0,
        script: SCRIPT,
        settings: { work: { lease_minutes: 1 }, headless },
        through,
      });
      if (number === 1) project.git("clone", "--quiet", "--bare", ".", origin);
      rmSync(project.root, { recursive: true });
      execFileSync("git", ["clone", "--quiet", origin, project.root], { env: project.env, stdio: "pipe" });
      const name = `machine-${number}`;
      Object.assign(project.env, {
        HAVERSACK_STORE: url,
        HAVERSACK_MACHINE: name,
        DONE_FILE: doneFile,
        TASK_MS: String(taskMs),
      });
      fleet.push({ name, project });
    }
    const store = new PostgresWorkStore(server);
    const runStore = new PostgresRunStore(server);
    const by = { name: "test", isPerson: true, at: new Date() };
    for (let number = 1; number <= tasks; number++) await store.createTask({ title: `Task ${number}` }, by);
    const began = performance.now();
    for (const each of fleet) each.running = each.project.start(["work", "--all", "-n", "4"]);
    const count = () => (existsSync(doneFile) ? readFileSync(doneFile, "utf8").split("\n").length - 1 : 0);
    const [first, second] = fleet;
    const isOver = () => fleet.every(({ running }) => running?.child.exitCode !== null || running.child.signalCode);
    const until = async (wanted: number) => {
      while (count() < wanted && !isOver()) await sleep(20);
    };
    if (killAfter !== undefined) {
      await until(killAfter);
      const isHolding = async () => {
        const run = (await runStore.listRuns({ limit: 99 })).find(({ machine }) => machine === second?.name);
        const claims = await store.listClaims({ at: new Date() });
        return run !== undefined && claims.some(({ agent }) => isOfRun(agent, run.id));
      };
      while (!(await isHolding()) && !isOver()) await sleep(20);
      // The machine is gone: the runner, its client, and what the client has started.
      for (const pid of second?.project.leftovers() ?? []) process.kill(pid, "SIGKILL");
    }
    if (drainAfter !== undefined) {
      await until(drainAfter);
      const drained = await first?.project.haversack("runs", "drain", second?.name ?? "");
      if (drained?.code !== 0) throw new Error(drained?.err);
    }
    const ended = Object.fromEntries(
      await Promise.all(fleet.map(async ({ name, running }) => [name, await running?.ended] as const)),
    ) as Record<string, Ran>;
    const tookMs = performance.now() - began;
    const done = new Map<string, string[]>();
    const networks = new Set<string>();
    for (const line of readFileSync(doneFile, "utf8").trim().split("\n")) {
      const [task = "", machine = "", network = ""] = line.split(" ");
      networks.add(network);
      done.set(task, [...(done.get(task) ?? []), machine]);
    }
    const { items } = await store.listTasks({ limit: tasks + 1, at: new Date() });
    const runs = JSON.parse((await first?.project.haversack("runs", "list", "--json"))?.out ?? "[]");
    const git = (...words: string[]) => execFileSync("git", words, { cwd: origin, encoding: "utf8" });
    const branches = git("for-each-ref", "--format=%(refname)", "refs/heads/work").trim().split("\n").filter(Boolean);
    const files = branches.flatMap((branch) => git("ls-tree", "--name-only", branch).trim().split("\n"));
    return {
      ...{ tookMs, done, ended, runs, networks },
      statuses: items.map(({ status }) => status),
      expired: (await store.listActivity({ kind: "claim-expired", limit: tasks })).activity.length,
      pushed: new Set(files.filter((file) => /^T\d+\.txt$/.test(file))),
      leftovers: fleet.reduce((sum, { project }) => sum + project.leftovers().length, 0),
    };
  } finally {
    await server.close();
    for (const { project } of fleet) {
      for (const pid of project.leftovers()) process.kill(pid, "SIGKILL");
      project.remove();
    }
    rmSync(base, { recursive: true, force: true });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const [tasks = 200, machines = 4] = process.argv.slice(2).map(Number);
  const server = await startServer();
  const why = whyOneNetwork();
  if (why !== undefined) console.log(`all machines on one network: ${why}`);
  let isWrong = false;
  try {
    for (const killAfter of [undefined, Math.floor(tasks / 4)]) {
      const url = `${server.socketUrl}&project=fleet${killAfter ?? 0}`;
      const result = await runFleet({ url, tasks, machines, ...(killAfter !== undefined && { killAfter }) });
      const twice = [...result.done].filter(([, who]) => who.length > 1);
      const notDone = result.statuses.filter((status) => status !== "done").length;
      isWrong ||= twice.length > 0 || notDone > 0 || result.statuses.length !== tasks;
      const shares = Map.groupBy([...result.done.values()].flat(), (name) => name);
      isWrong ||= result.networks.size !== (why === undefined ? shares.size : 1);
      console.log(
        `${tasks} tasks, ${machines} machines${killAfter === undefined ? "" : `, one killed after ${killAfter}`}: ` +
          `${(result.tookMs / 1000).toFixed(1)} s; done twice ${twice.length}, not done ${notDone}; ` +
          `${[...shares]
            .map(([name, list]) => `${name} ${list.length}`)
            .sort()
            .join(", ")}; ` +
          `claims that expired ${result.expired}; files pushed ${result.pushed.size}; networks ${result.networks.size}; processes left ${result.leftovers}`,
      );
      for (const { machine, state, stopped = "" } of result.runs) console.log(`  ${machine}: ${state} ${stopped}`);
    }
  } finally {
    await server.stop();
  }
  process.exitCode = isWrong ? 1 : 0;
}
