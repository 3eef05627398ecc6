/** When the store cannot be used, there is one clear line and the file stays unchanged. */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openDatabase } from "../packages/haversack/src/store/sqlite/open.ts";
import { SqliteWorkStore } from "../packages/haversack/src/store/sqlite/work/sqlite-work-store.ts";
import { runWorker, startWorker, type WorkerResult } from "./store-workers/run-worker.ts";

let outer: string;
let folder: string;
let file: string;
beforeEach(() => {
  outer = mkdtempSync(join(tmpdir(), "haversack-faults-"));
  chmodSync(outer, 0o755);
  folder = join(outer, ".haversack");
  file = join(folder, "haversack.db");
});
afterEach(() => {
  if (existsSync(folder)) chmodSync(folder, 0o755);
  rmSync(outer, { recursive: true });
});

/** A store with `rows` records, closed, so it is a single file. */
async function makeStore(rows = 3): Promise<void> {
  const handle = openDatabase(file, { durability: "full" });
  const store = new SqliteWorkStore(handle);
  for (let number = 0; number < rows; number++) {
    await store.recordActivity({ at: new Date(), actor: "a", kind: "k", text: "some words ".repeat(20) });
  }
  handle.db.close();
}

function expectFault({ exitCode, printed, stderr }: WorkerResult, code: string): void {
  expect({ ...printed, stderr }).toMatchObject({ code, hint: expect.stringMatching(/^.{20,}$/), stderr: "" });
  expect(printed["message"]).toMatch(/^[^\n]{20,}$/);
  expect(printed["message"]).toContain(folder);
  expect(exitCode).toBe(3);
}

/** Runs it and expects no change of the file's bytes or the folder's names. */
async function unchanged(run: () => Promise<WorkerResult>): Promise<WorkerResult> {
  const before = { bytes: readFileSync(file), names: readdirSync(folder) };
  const result = await run();
  expect(readFileSync(file).equals(before.bytes)).toBe(true);
  expect(readdirSync(folder)).toEqual(before.names);
  return result;
}

describe("a read-only folder", () => {
  const lock = (mode = 0o444) => {
    for (const name of readdirSync(folder)) chmodSync(join(folder, name), mode);
    chmodSync(folder, 0o555);
  };
  const run = (verb: string) => runWorker(verb, file, { dropRights: true });

  it("refuses a write, and still lets a store be read", async () => {
    await makeStore();
    lock();
    expectFault(await unchanged(() => run("append")), "store-read-only");
    expect((await unchanged(() => run("read"))).printed).toEqual({ read: 3 });
  });

  it("is named too when the file itself may be written", async () => {
    await makeStore();
    lock(0o666);
    expectFault(await unchanged(() => run("append")), "store-read-only");
    expect((await unchanged(() => run("read"))).printed).toEqual({ read: 3 });
  });

  /** Leaves -wal and -shm behind, like a process that ends without closing. */
  async function makeUnclosedStore(): Promise<void> {
    await makeStore();
    expect((await runWorker("append", file)).exitCode).toBe(0);
    const handle = openDatabase(file, { durability: "full" });
    await new SqliteWorkStore(handle).recordActivity({ at: new Date(), actor: "a", kind: "k", text: "in the log" });
    for (const suffix of ["", "-wal", "-shm"]) copyFileSync(file + suffix, `${outer}/saved${suffix}`);
    handle.db.close();
    for (const suffix of ["", "-wal", "-shm"]) copyFileSync(`${outer}/saved${suffix}`, file + suffix);
  }

  it("lets a store be read whose last changes are still in its log", async () => {
    await makeUnclosedStore();
    lock();
    expect((await unchanged(() => run("read"))).printed).toEqual({ read: 5 });
    expectFault(await unchanged(() => run("append")), "store-read-only");
  });

  it("does not show an older state when the log cannot be read", async () => {
    await makeUnclosedStore();
    rmSync(`${file}-shm`);
    lock();
    expectFault(await unchanged(() => run("read")), "store-read-only");
  });

  it("is named when there is no store yet", async () => {
    mkdirSync(folder);
    lock();
    expectFault(await run("append"), "store-read-only");
    expect(readdirSync(folder)).toEqual([]);
  });

  it("is told apart from a file that may not be read and from a folder in its place", async () => {
    await makeStore();
    const bytes = readFileSync(file);
    // The folder is private by default; here only the file should be unreadable.
    chmodSync(folder, 0o755);
    chmodSync(file, 0o000);
    for (const verb of ["read", "append"]) expectFault(await run(verb), "store-unreadable");
    chmodSync(file, 0o644);
    expect(readFileSync(file).equals(bytes)).toBe(true);
    rmSync(file);
    mkdirSync(file);
    expectFault(await runWorker("append", file), "store-unreadable");
  });
});

describe("a full disk", () => {
  const acknowledgedAreThere = ({ printed }: WorkerResult) => {
    expect(printed).toMatchObject({ ok: true, found: printed["acknowledged"] });
    expect(printed["acknowledged"]).toBeGreaterThan(5);
  };

  // SQLite's own limit: a real SQLITE_FULL, raised before any byte is written. Works everywhere.
  it("by SQLite's page limit loses nothing acknowledged, and the same process goes on when there is room", async () => {
    await makeStore();
    const result = await runWorker("fill", file, { maxPages: 60 });
    expectFault(result, "store-full");
    expect(result.printed).toMatchObject({
      ok: true,
      found: (result.printed["acknowledged"] as number) + 3,
      idAfterwards: expect.any(Number),
    });
  });

  // The kernel refuses the write in the middle of the log (EFBIG, as with a quota). Works wherever there is a shell.
  it("by a limit on the size of files is told the same way", async () => {
    const result = await runWorker("fill", file, {}, ["sh", "-c", 'ulimit -f 1600; exec "$@"', "sh"]);
    expectFault(result, "store-full");
    acknowledgedAreThere(result);
  });

  // A real file system without a free block (ENOSPC), if this user may mount one in its own namespace. Otherwise the two tests above still cover
  // the same path with other causes.
  const inSmallDisk = (script: string) => [
    "unshare",
    "-rm",
    "sh",
    "-ec",
    `mount -t tmpfs -o size=1200k none "$0"; ${script}; exec "$@"`,
    folder,
  ];
  const canMount =
    spawnSync("unshare", ["-rm", "sh", "-ec", 'mount -t tmpfs -o size=64k none "$0"', tmpdir()]).status === 0;

  it.runIf(canMount)(
    "by a file system without a free block loses nothing acknowledged, and goes on when there is room",
    async () => {
      mkdirSync(folder);
      const ballast = join(folder, "ballast");
      const result = await runWorker("fill", file, { ballast }, inSmallDisk(`head -c 100000 /dev/zero > ${ballast}`));
      expectFault(result, "store-full");
      acknowledgedAreThere(result);
      expect(result.printed["idAfterwards"]).toBeGreaterThan(5);
    },
  );

  it.runIf(canMount)(
    "is named when a store is made on it or opened on it, and a store on it can still be read",
    async () => {
      await makeStore();
      const saved = join(outer, "saved.db");
      copyFileSync(file, saved);
      const full = `cat /dev/zero > ${folder}/ballast 2>/dev/null || true`;
      expectFault(await runWorker("append", file, {}, inSmallDisk(full)), "store-full");
      expectFault(await runWorker("append", file, {}, inSmallDisk(`cp ${saved} ${file}; ${full}`)), "store-full");
      expect((await runWorker("read", file, {}, inSmallDisk(`cp ${saved} ${file}; ${full}`))).printed).toEqual({
        read: 3,
      });
    },
  );
});

describe("a damaged file", () => {
  const page = 4096;

  it("with bytes flipped in the middle of its pages", async () => {
    await makeStore(300);
    const bytes = readFileSync(file);
    for (let start = 2 * page; start < bytes.length; start += page) {
      for (let at = start; at < start + 40; at++) bytes[at] = ~(bytes[at] ?? 0) & 0xff;
    }
    writeFileSync(file, bytes);
    for (const verb of ["read", "append"]) {
      expectFault(await bytesUnchanged(() => runWorker(verb, file)), "store-corrupt");
    }
  });

  it("with a schema that cannot be read", async () => {
    await makeStore();
    const bytes = readFileSync(file);
    bytes.fill(0xff, 100, 400);
    writeFileSync(file, bytes);
    for (const verb of ["read", "append"])
      expectFault(await bytesUnchanged(() => runWorker(verb, file)), "store-corrupt");
  });

  it.each([3 * page, 3 * page + 100])("cut off after %i bytes", async (length) => {
    await makeStore(300);
    truncateSync(file, length);
    for (const verb of ["read", "append"])
      expectFault(await bytesUnchanged(() => runWorker(verb, file)), "store-corrupt");
  });
});

describe("a file that is no database", () => {
  it.each([
    ["a short text", "hello"],
    ["a long text", "This is not a database.\n".repeat(2000)],
    ["zeros", Buffer.alloc(20_000)],
    ["the first half of a header", "SQLite format 3\0 and then something else entirely".repeat(3)],
  ])("such as %s", async (_, content) => {
    mkdirSync(folder);
    writeFileSync(file, content);
    for (const verb of ["read", "append"])
      expectFault(await unchanged(() => runWorker(verb, file)), "store-not-a-database");
  });
});

describe("a locked database", () => {
  async function whileHeld(sql: string, action: () => Promise<void>): Promise<void> {
    const holder = startWorker("hold", file, { sql });
    await holder.ready;
    try {
      await action();
    } finally {
      holder.go();
      expect((await holder.done).exitCode).toBe(0);
    }
  }
  const run = (verb: string) => runWorker(verb, file, { open: { busyMs: 150 } });

  it("by a transaction of another process refuses a write and lets reading go on", async () => {
    await makeStore();
    await whileHeld("BEGIN EXCLUSIVE", async () => {
      expectFault(await bytesUnchanged(() => run("append")), "store-locked");
      expect((await run("read")).printed).toEqual({ read: 3 });
    });
    expect((await run("append")).printed).toEqual({ id: 4 });
  });

  it("by a process that wants it for itself refuses both", async () => {
    await makeStore();
    await whileHeld("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE", async () => {
      for (const verb of ["append", "read"]) expectFault(await bytesUnchanged(() => run(verb)), "store-locked");
    });
    expect((await run("append")).printed).toEqual({ id: 4 });
  });

  it("before it has any table refuses too, and becomes a store afterwards", async () => {
    mkdirSync(folder);
    await whileHeld("BEGIN EXCLUSIVE", async () => expectFault(await run("append"), "store-locked"));
    expect((await run("append")).printed).toEqual({ id: 1 });
  });
});

/** SQLite may leave an empty -wal and -shm beside a file that it could not use; the file itself must not change. */
async function bytesUnchanged(run: () => Promise<WorkerResult>): Promise<WorkerResult> {
  const before = readFileSync(file);
  const result = await run();
  expect(readFileSync(file).equals(before)).toBe(true);
  return result;
}
