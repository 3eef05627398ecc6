/** Kills, races, damage and full disks, on the built programs. */
import { spawn, spawnSync } from "node:child_process";
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { checkStore } from "../../packages/haversack/src/store/sqlite/maintenance/check-store.ts";
import { migrations } from "../../packages/haversack/src/store/sqlite/migrations.ts";
import { openDatabase } from "../../packages/haversack/src/store/sqlite/open.ts";
import { SqliteWorkStore } from "../../packages/haversack/src/store/sqlite/work/sqlite-work-store.ts";
import { killLoop } from "../store-workers/kill-loop.ts";
import { bundleWorker, runWorker } from "../store-workers/run-worker.ts";
import { workKillLoop } from "../store-workers/work-kill-loop.ts";
import { hookPayload } from "./payloads.ts";
import { type CommandRun, DIST, haversack, hook, makeProject, type Project } from "./project.ts";
import type { Random } from "./random.ts";
import { countHook, newTally, type Tally, tell } from "./tally.ts";

/** Writers of activity, of tasks, and of claims with all that belongs to them, killed at random moments. */
export async function kills(_: Random, count: number): Promise<Tally> {
  const tally = newTally();
  const folder = mkdtempSync(join(tmpdir(), "haversack-campaign-"));
  const half = Math.ceil(count / 2);
  const plain = await killLoop(join(folder, "plain/haversack.db"), { kills: half });
  const queue = join(folder, "work/haversack.db");
  // Enough that no worker runs out of tasks before it is killed.
  await makeQueue(queue, 400 + half * 10);
  const work = await workKillLoop(queue, { kills: half });
  rmSync(folder, { recursive: true });
  const acknowledged = plain.acknowledged + Object.values(work.acknowledged).reduce((sum, one) => sum + one, 0);
  const lost = plain.acknowledged - plain.found + work.missing.length;
  tally.cases = plain.kills + work.kills;
  tally.notes.push(`${acknowledged} acknowledged writes, ${lost} lost, ${work.claimedTwice.length} claimed twice`);
  if (lost > 0) tell(tally, `${lost} acknowledged writes were lost: ${work.missing.slice(0, 3).join(", ")}`);
  if (work.claimedTwice.length > 0) tell(tally, `claimed twice: ${work.claimedTwice.slice(0, 3).join(", ")}`);
  if (work.heldAfterLease > 0) tell(tally, `${work.heldAfterLease} claims outlive their lease`);
  for (const problem of [...plain.problems, ...work.problems]) tell(tally, problem);
  return tally;
}

const CLAIMERS = 16;
const TASKS = 150;

/** Processes that start claiming at the same moment, until no task is left. */
export async function claims(_: Random, rounds: number): Promise<Tally> {
  const tally = newTally();
  const worker = bundleWorker("work-worker.mjs");
  let doubles = 0;
  for (let round = 0; round < rounds; round++) {
    const folder = mkdtempSync(join(tmpdir(), "haversack-campaign-"));
    const file = join(folder, ".haversack/haversack.db");
    await makeQueue(file, TASKS);
    const children = Array.from({ length: CLAIMERS }, (_unused, at) => {
      const child = spawn(process.execPath, [worker, "drain", file, `claimer-${at}`], {
        stdio: ["pipe", "pipe", "pipe"],
      });
      let stdout = "";
      let stderr = "";
      child.stderr.on("data", (chunk) => (stderr += chunk));
      const ready = new Promise<void>((resolve) => {
        child.stdout.on("data", (chunk) => {
          stdout += chunk;
          resolve();
        });
      });
      const done = new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) =>
        child.on("close", (code) => resolve({ code, stdout, stderr })),
      );
      return { child, ready, done };
    });
    await Promise.all(children.map(({ ready }) => ready));
    const startedAt = performance.now();
    for (const { child } of children) child.stdin.end();
    const ended = await Promise.all(children.map(({ done }) => done));
    tally.longestMs = Math.max(tally.longestMs, performance.now() - startedAt);
    tally.cases += CLAIMERS;
    const claimed = ended.flatMap(({ stdout }) => [...stdout.matchAll(/"claimed":"([^"]+)"/g)].map(([, id]) => id));
    doubles += claimed.length - new Set(claimed).size;
    if (new Set(claimed).size !== TASKS) tell(tally, `${new Set(claimed).size} of ${TASKS} tasks were claimed`);
    for (const { code, stderr } of ended) {
      if (code !== 0) tally.badExits++;
      if (stderr) tally.noise++;
    }
    rmSync(folder, { recursive: true });
  }
  tally.notes.push(`${rounds} rounds of ${CLAIMERS} claimers on ${TASKS} tasks, ${doubles} doubles`);
  if (doubles > 0) tell(tally, `${doubles} tasks were claimed twice`);
  return tally;
}

async function makeQueue(file: string, tasks: number): Promise<void> {
  const handle = openDatabase(file, { durability: "normal" });
  const store = new SqliteWorkStore(handle);
  for (let number = 0; number < tasks; number++)
    await store.createTask({ title: `task ${number}` }, { name: "a", at: new Date() });
  handle.db.close();
}

/** A command is killed while it upgrades an old store. The next command must find every row. */
export async function killedMigrations(random: Random, count: number): Promise<Tally> {
  const tally = newTally();
  const project = makeProject();
  const byVersion = new Map<number, number>();
  let midway = 0;
  for (let round = 0; round < count; round++) {
    const version = 1 + random.below(migrations.length - 1);
    byVersion.set(version, (byVersion.get(version) ?? 0) + 1);
    const old = join(project.base, `old-${version}.db`);
    if (!existsSync(old)) makeOldStore(old, version);
    replaceStore(project, old);
    const child = spawn(process.execPath, [join(DIST, "haversack.cjs"), "activity"], {
      cwd: project.root,
      env: project.env,
      stdio: "ignore",
    });
    const ended = new Promise<void>((resolve) => child.on("close", () => resolve()));
    const afterMs = 20 + random.below(140);
    const timer = setTimeout(() => child.kill("SIGKILL"), afterMs);
    await ended;
    clearTimeout(timer);
    if (child.signalCode === "SIGKILL") midway++;
    const next = haversack(project, ["task", "log", "--json"]);
    tally.cases++;
    tally.longestMs = Math.max(tally.longestMs, next.tookMs);
    if (next.code !== 0) {
      tally.badExits++;
      tell(
        tally,
        `from version ${version}, killed after ${afterMs} ms: exit ${next.code}: ${next.stderr.slice(0, 200)}`,
      );
      continue;
    }
    const { ok, problems } = checkStore(project.store);
    if (!ok) tell(tally, `from version ${version}: ${problems[0]}`);
    const db = new DatabaseSync(project.store, { readOnly: true });
    const rows = db.prepare("SELECT count(*) AS n FROM activity WHERE kind = 'campaign'").get() as { n: number };
    const now = db.prepare("PRAGMA user_version").get() as { user_version: number };
    db.close();
    if (rows.n !== OLD_ROWS) tell(tally, `from version ${version}: ${rows.n} of ${OLD_ROWS} rows are left`);
    if (now.user_version !== migrations.length) tell(tally, `from version ${version}: it stays at ${now.user_version}`);
  }
  tally.notes.push(`from ${byVersion.size} old versions; ${midway} were killed before they ended`);
  project.remove();
  return tally;
}

const OLD_ROWS = 3000;

function makeOldStore(file: string, version: number): void {
  const { db } = openDatabase(file, { durability: "normal", migrations: migrations.slice(0, version) });
  const insert = db.prepare("INSERT INTO activity (at, actor, kind, text) VALUES (?, 'a', 'campaign', ?)");
  db.exec("BEGIN");
  for (let row = 0; row < OLD_ROWS; row++) insert.run(new Date(row).toISOString(), "some words ".repeat(20));
  db.exec("COMMIT");
  db.close();
}

/** Only the bytes are replaced: the file stays the one that the user's record names. */
function replaceStore({ store }: Project, from: string): void {
  for (const suffix of ["-wal", "-shm"]) rmSync(store + suffix, { force: true });
  const bytes = readFileSync(from);
  truncateSync(store, 0);
  writeAt(store, bytes, 0);
}

function writeAt(file: string, bytes: Uint8Array, position: number): void {
  const opened = openSync(file, "r+");
  writeSync(opened, bytes, 0, bytes.length, position);
  closeSync(opened);
}

/** Flipped bytes, zeros, a repeated block, a cut: at random places of the store, its log, its shared memory. */
export async function damagedStore(random: Random, count: number): Promise<Tally> {
  const tally = newTally();
  const project = makeProject();
  const good = join(project.base, "good");
  mkdirSync(good);
  // Leaves something in the log that is not in the main file yet.
  for (let at = 0; at < 5; at++) hook(project, "claude-code", JSON.stringify(promptPayload(project, `before-${at}`)));
  const parts = ["", "-wal", "-shm"].filter((suffix) => existsSync(project.store + suffix));
  for (const suffix of parts) copyFileSync(project.store + suffix, join(good, `store${suffix}`));
  let refused = 0;
  for (let round = 0; round < count; round++) {
    restore(project, good, parts);
    const part = random.pick(parts);
    const places = 1 + (random.chance(0.5) ? random.below(30) : 0);
    const what = Array.from({ length: places }, () => damage(project.store + part, random))
      .join("; ")
      .slice(0, 200);
    const { client, bytes, value } = hookPayload(random, project);
    for (const [who, input, given] of [
      [client, bytes, value],
      ["claude-code", Buffer.from(JSON.stringify(promptPayload(project, `after-${round}`))), undefined],
    ] as const) {
      const { code, ...ran } = hook(project, who, input);
      countHook(tally, { client: who, exitCode: code, ...ran, given, label: `haversack.db${part}: ${what}` });
    }
    for (const words of [["status"], ["task", "list"], ["store", "check"]]) {
      const ran = haversack(project, words);
      if (ran.code !== 0) refused++;
      countCommand(tally, ran, `${words.join(" ")} with haversack.db${part}: ${what}`);
    }
  }
  tally.notes.push(`${refused} commands refused, with one line each`);
  project.remove();
  return tally;
}

function promptPayload({ root }: Project, session: string): Record<string, unknown> {
  const prompt = "report error status codes from the endpoint and write the release notes";
  return { session_id: session, cwd: root, hook_event_name: "UserPromptSubmit", prompt };
}

function restore({ root, store }: Project, good: string, parts: readonly string[]): void {
  for (const suffix of ["-wal", "-shm", "-journal"]) rmSync(store + suffix, { force: true });
  rmSync(join(root, ".haversack/spool"), { recursive: true, force: true });
  for (const suffix of parts) {
    const bytes = readFileSync(join(good, `store${suffix}`));
    if (suffix === "") truncateSync(store, bytes.length);
    else closeSync(openSync(store + suffix, "w", 0o600));
    writeAt(store + suffix, bytes, 0);
  }
}

function damage(file: string, random: Random): string {
  const { size } = statSync(file);
  if (size === 0) return "empty";
  // The first page holds the header and the schema.
  const at = random.below(random.chance(0.2) ? Math.min(size, 4096) : size);
  const length = 1 + random.below(random.chance(0.5) ? 16 : 6000);
  switch (random.below(5)) {
    case 0:
      truncateSync(file, at);
      return `cut off at ${at}`;
    case 1:
      writeAt(file, Buffer.alloc(length), at);
      return `${length} zeros at ${at}`;
    case 2: {
      const block = readFileSync(file).subarray(at, at + length);
      const to = random.below(size);
      writeAt(file, block, to);
      return `${length} bytes of ${at} at ${to}`;
    }
    default: {
      const bytes = Buffer.from(Array.from({ length }, () => random.below(256)));
      writeAt(file, bytes, at);
      return `${length} random bytes at ${at}`;
    }
  }
}

/** A refusal is one line and a hint; never a stack trace or a signal. */
function countCommand(tally: Tally, { code, stdout, stderr, tookMs }: CommandRun, label: string): void {
  tally.cases++;
  tally.longestMs = Math.max(tally.longestMs, tookMs);
  if (code === null || code > 3) {
    tally.badExits++;
    tell(tally, `exit ${code}: ${label}`);
  }
  const lines = stderr.trimEnd().split("\n");
  const isClear = stderr === "" ? code === 0 || stdout !== "" : lines.length <= 2 && !/^\s+at /m.test(stderr);
  if (isClear && !/internal (fault|error)/i.test(stderr)) return;
  tally.noise++;
  tell(tally, `${label}: exit ${code}: ${JSON.stringify(stderr.slice(0, 300))}`);
}

/** The compiled code in the user's cache folder. */
export async function damagedCache(random: Random, count: number): Promise<Tally> {
  const tally = newTally();
  const project = makeProject();
  const cache = join(project.env["XDG_CACHE_HOME"] ?? "", "haversack");
  const ask = (session: string) => hook(project, "claude-code", JSON.stringify(promptPayload(project, session)));
  for (let at = 0; at < 3; at++) ask(`warm-${at}`);
  const filesOf = () =>
    (existsSync(cache) ? readdirSync(cache, { recursive: true, encoding: "utf8" }) : [])
      .map((name) => join(cache, name))
      .filter((file) => statSync(file).isFile());
  for (let round = 0; round < count; round++) {
    if (filesOf().length === 0) ask(`again-${round}`);
    const files = filesOf();
    if (files.length === 0) {
      tally.notes.push("the hook keeps no compiled code");
      break;
    }
    const file = random.pick(files);
    const what = damage(file, random);
    for (const session of ["one", "two"]) {
      const { code, ...ran } = ask(`${session}-${round}`);
      countHook(tally, { client: "claude-code", exitCode: code, ...ran, label: `code cache: ${what}` });
    }
  }
  project.remove();
  return tally;
}

/** A file system without a free block where this user may mount one; otherwise a limit on the size of files. */
export async function fullDisk(random: Random, count: number): Promise<Tally> {
  const folder = mkdtempSync(join(tmpdir(), "haversack-campaign-"));
  try {
    const canMount =
      spawnSync("unshare", ["-rm", "sh", "-ec", 'mount -t tmpfs -o size=64k none "$0"', folder]).status === 0;
    if (!canMount) return await limitedFiles(random, count);
    const seed = random.below(2 ** 31);
    const script = 'mount -t tmpfs -o size=6m none "$0"; exec "$@"';
    const program = [process.execPath, join(import.meta.dirname, "full-disk.ts"), folder, String(seed), String(count)];
    const child = spawn("unshare", ["-rm", "sh", "-ec", script, folder, ...program], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let stdout = "";
    child.stdout.on("data", (chunk) => (stdout += chunk));
    await new Promise((resolve) => child.on("close", resolve));
    return JSON.parse(stdout) as Tally;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Inside of the small file system. */
export function fillAndAsk(random: Random, count: number, folder: string): Tally {
  const tally = newTally();
  const project = makeProject({ folder });
  const ballast = join(folder, "ballast");
  const acknowledged: string[] = [];
  const create = (title: string, label: string) => {
    const ran = haversack(project, ["task", "create", title, "--json"]);
    if (ran.code === 0) acknowledged.push((JSON.parse(ran.stdout) as { id: string }).id);
    else countCommand(tally, ran, label);
  };
  for (let round = 0; round < count; round++) {
    // Fills the disk to the last block, or leaves a little room, so that it becomes full during a write.
    const opened = openSync(ballast, "w");
    try {
      for (;;) writeSync(opened, Buffer.alloc(4096));
    } catch {
      // The disk is full, as intended.
    }
    closeSync(opened);
    truncateSync(ballast, Math.max(0, statSync(ballast).size - 4096 * random.below(12)));
    for (let at = 0; at < 6; at++) {
      const { client, bytes, value } = hookPayload(random, project);
      const { code, ...ran } = hook(project, client, bytes);
      countHook(tally, { client, exitCode: code, ...ran, given: value, label: `full disk: ${client}` });
    }
    create(`on a full disk ${round} ${"x".repeat(random.below(3000))}`, "task create on a full disk");
    countCommand(tally, haversack(project, ["status"]), "status on a full disk");
    rmSync(ballast);
    create(`with room again ${round}`, "task create with room again");
  }
  const { ok, problems } = checkStore(project.store);
  if (!ok) tell(tally, `after a full disk: ${problems[0]}`);
  const { stdout } = haversack(project, ["task", "list", "--json", "--limit", "1000"]);
  const lost = acknowledged.filter((id) => !stdout.includes(id));
  tally.notes.push(`tmpfs of 6 MB: ${acknowledged.length} acknowledged writes, ${lost.length} lost`);
  if (lost.length > 0) tell(tally, `lost after a full disk: ${lost.join(", ")}`);
  return tally;
}

async function limitedFiles(random: Random, count: number): Promise<Tally> {
  const tally = newTally();
  const project = makeProject();
  const limited = (bytes: number) => ["sh", "-c", `ulimit -f ${Math.ceil(bytes / 512)}; exec "$@"`, "sh"];
  for (let round = 0; round < count; round++) {
    const prefix = limited(random.below(300_000));
    for (let at = 0; at < 6; at++) {
      const { client, bytes, value } = hookPayload(random, project);
      const { code, ...ran } = hook(project, client, bytes, prefix);
      countHook(tally, { client, exitCode: code, ...ran, given: value, label: `limited files: ${client}` });
    }
    countCommand(
      tally,
      haversack(project, ["task", "create", "x"], prefix),
      "task create with a limit on the size of files",
    );
  }
  const { ok, problems } = checkStore(project.store);
  if (!ok) tell(tally, `after a full disk: ${problems[0]}`);
  project.remove();
  const folder = mkdtempSync(join(tmpdir(), "haversack-campaign-"));
  const { printed } = await runWorker("fill", join(folder, "haversack.db"), {}, limited(1600 * 512));
  rmSync(folder, { recursive: true });
  if (printed["code"] !== "store-full" || printed["found"] !== printed["acknowledged"])
    tell(tally, JSON.stringify(printed));
  tally.notes.push(`no file system may be mounted here: RLIMIT_FSIZE; ${printed["acknowledged"]} acknowledged writes`);
  return tally;
}
