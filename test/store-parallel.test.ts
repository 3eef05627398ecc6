/** Many processes on one store: opening, writing, being killed, losing power. */
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { backupStore, restoreStore } from "../packages/haversack/src/store/sqlite/maintenance/backup.ts";
import { checkStore } from "../packages/haversack/src/store/sqlite/maintenance/check-store.ts";
import { migrations } from "../packages/haversack/src/store/sqlite/migrations.ts";
import { openDatabase } from "../packages/haversack/src/store/sqlite/open.ts";
import { SqliteWorkStore } from "../packages/haversack/src/store/sqlite/work/sqlite-work-store.ts";
import { killLoop } from "./store-workers/kill-loop.ts";
import { runTogether, startWorker, type WorkerResult } from "./store-workers/run-worker.ts";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "haversack-parallel-"));
  file = join(folder, ".haversack", "haversack.db");
});
afterEach(() => rmSync(folder, { recursive: true }));

const troubles = ({ exitCode, printed, stderr }: WorkerResult) =>
  exitCode === 0 && stderr === "" ? [] : [{ printed, stderr }];

it("lets 16 processes open a new store at the same moment, ten times over", async () => {
  for (let round = 1; round <= 10; round++) {
    const path = join(folder, `round-${round}`, "haversack.db");
    const results = await runTogether(16, "open", path);
    expect(results.flatMap(troubles)).toEqual([]);
    expect(
      new Set(results.map(({ printed }) => `${printed["version"]} ${printed["journal"]} ${printed["tables"]}`)).size,
    ).toBe(1);
    expect(results[0]?.printed).toMatchObject({ version: migrations.length, journal: "wal" });
    expect(checkStore(path)).toMatchObject({ ok: true });
  }
});

it("has all 800 records of 16 processes that write 50 each", async () => {
  const results = await runTogether(16, "write", file, { count: 50 });
  expect(results.flatMap(troubles)).toEqual([]);
  const ids = results.flatMap(({ printed }) => printed["ids"] as number[]);
  expect(new Set(ids).size).toBe(800);
  expect(checkStore(file)).toMatchObject({ ok: true, facts: { rows: { activity: 800 } } });
  const { db } = openDatabase(file, { durability: "full", readOnly: true });
  expect(db.prepare("SELECT count(DISTINCT text) AS n FROM activity").get()).toEqual({ n: 800 });
  db.close();
});

it("keeps every acknowledged write through 200 kills", async () => {
  const counts = await killLoop(file, { kills: 200 });
  console.log(`kill test: ${JSON.stringify(counts)}`);
  expect(counts).toMatchObject({ kills: 200, problems: [], checks: 11 });
  expect(counts.acknowledged).toBeGreaterThan(200);
  expect(counts.found).toBe(counts.acknowledged);
}, 180_000);

it("is the old store or the restored one when a restore is killed", async () => {
  const sources = ["a", "b"].map((name) => join(folder, `${name}.db`));
  for (const [index, source] of sources.entries()) {
    const handle = openDatabase(source, { durability: "normal" });
    const store = new SqliteWorkStore(handle);
    for (let number = 0; number < 300; number++)
      await store.recordActivity({ at: new Date(), actor: "a", kind: "k", text: `${index}` });
    handle.db.close();
  }
  openDatabase(file, { durability: "full" }).db.close();
  for (let round = 0; round < 10; round++) {
    const worker = startWorker("restore", file, { from: sources });
    await new Promise((resolve) => worker.child.stdout?.once("data", resolve));
    await new Promise((resolve) => setTimeout(resolve, 20 + Math.random() * 80));
    worker.child.kill("SIGKILL");
    await worker.done;
    expect(checkStore(file)).toMatchObject({ ok: true });
    const { db } = openDatabase(file, { durability: "full", readOnly: true });
    const kinds = db.prepare("SELECT text, count(*) AS n FROM activity GROUP BY text").all();
    db.close();
    // Empty is the state before the first restore.
    expect([[], [{ text: "0", n: 300 }], [{ text: "1", n: 300 }]]).toContainEqual(kinds);
  }
});

it("loses no acknowledged write to a restore: it is in the store or in a kept copy", async () => {
  openDatabase(file, { durability: "full" }).db.close();
  const source = join(folder, "source.db");
  backupStore(file, source);
  const writers = [1, 2].map(() => startWorker("loop", file));
  const told = writers.map(() => "");
  for (const [index, { child }] of writers.entries()) child.stdout?.on("data", (chunk) => (told[index] += chunk));
  await Promise.all(writers.map(({ child }) => new Promise((resolve) => child.stdout?.once("data", resolve))));
  const kept: string[] = [];
  for (let round = 0; round < 8; round++) {
    kept.push(restoreStore(file, source).kept ?? "");
    await new Promise((resolve) => setTimeout(resolve, 40));
  }
  for (const { child } of writers) child.kill("SIGKILL");
  await Promise.all(writers.map(({ done }) => done));

  const there = new Set<unknown>();
  for (const database of [file, ...kept]) {
    const { db } = openDatabase(database, { durability: "full", readOnly: true });
    for (const { text } of db.prepare("SELECT text FROM activity").all()) there.add(text);
    db.close();
  }
  const acknowledged = told.flatMap((text) =>
    text
      .split("\n")
      .slice(0, -1)
      .map((line) => line.split(" ")[1]),
  );
  expect(acknowledged.length).toBeGreaterThan(50);
  expect(acknowledged.filter((text) => !there.has(text))).toEqual([]);
  expect(checkStore(file)).toMatchObject({ ok: true });
});

/** What a disk would hold at one moment: the writer is paused while its files are copied. */
async function snapshots(
  count: number,
  options: { noCheckpoint?: boolean },
  take: (round: number, told: number) => void,
): Promise<void> {
  const worker = startWorker("loop", file, options);
  let stdout = "";
  worker.child.stdout?.on("data", (chunk) => (stdout += chunk));
  await new Promise((resolve) => worker.child.stdout?.once("data", resolve));
  for (let round = 0; round < count; round++) {
    await new Promise((resolve) => setTimeout(resolve, 10 + Math.random() * 60));
    worker.child.kill("SIGSTOP");
    take(round, stdout.split("\n").length - 1);
    worker.child.kill("SIGCONT");
  }
  worker.child.kill("SIGKILL");
  await worker.done;
}

function copyStore(copy: string): void {
  copyFileSync(file, copy);
  if (existsSync(`${file}-wal`)) copyFileSync(`${file}-wal`, `${copy}-wal`);
}

/** IDs in the store. After a power loss it must hold all writes up to some moment and none after it. */
function idsOf(database: string): number[] {
  const { db } = openDatabase(database, { durability: "full", create: false });
  const ids = db.prepare("SELECT id FROM activity ORDER BY id").all();
  db.close();
  return ids.map(({ id }) => Number(id));
}

it("opens and passes its check from a copy of its files at any moment, with rubbish after the end", async () => {
  const copies: { copy: string; told: number }[] = [];
  await snapshots(30, {}, (round, told) => {
    const copy = join(folder, `cut-${round}.db`);
    copyStore(copy);
    // Space that the file system allocated to the log but never wrote: it holds old disk content.
    const wal = `${copy}-wal`;
    if (existsSync(wal))
      writeFileSync(wal, Buffer.concat([readFileSync(wal), Buffer.alloc(Math.floor(Math.random() * 9000), 0xee)]));
    copies.push({ copy, told });
  });
  for (const { copy, told } of copies) {
    const ids = idsOf(copy);
    expect(checkStore(copy)).toMatchObject({ ok: true });
    expect(ids).toEqual(ids.map((_, index) => index + 1));
    expect(ids.length).toBeGreaterThanOrEqual(told);
  }
  expect(copies.at(-1)?.told).toBeGreaterThan(100);
});

it("holds a prefix of the writes when its log is torn off at any byte", async () => {
  // Without checkpoints the whole log is still needed, so it may be cut anywhere: SQLite syncs the log before it copies
  // from it, so a disk never holds pages in the main file that a cut log no longer explains.
  const lengths: number[] = [];
  const copies: string[] = [];
  await snapshots(30, { noCheckpoint: true }, (round) => {
    const copy = join(folder, `torn-${round}.db`);
    copyStore(copy);
    const { size } = statSync(`${copy}-wal`);
    truncateSync(`${copy}-wal`, Math.floor(size * Math.random()));
    copies.push(copy);
  });
  for (const copy of copies) {
    const ids = idsOf(copy);
    expect(checkStore(copy)).toMatchObject({ ok: true });
    expect(ids).toEqual(ids.map((_, index) => index + 1));
    lengths.push(ids.length);
  }
  expect(new Set(lengths).size).toBeGreaterThan(10);
});
