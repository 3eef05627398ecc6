import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { StoreHandle } from "../access.ts";
import { openDatabase } from "../open.ts";
import { acceptTime, leaseTime } from "./claims.ts";
import { SqliteWorkStore } from "./sqlite-work-store.ts";

const DAY_MS = 24 * 60 * 60_000;
const LEASE_MS = 60 * 60_000;
const time = (days: number) => new Date(Date.parse("2031-05-06T07:08:09.123Z") + days * DAY_MS);

let folder: string;
let handle: StoreHandle;
let store: SqliteWorkStore;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "haversack-clock-"));
  handle = openDatabase(join(folder, "haversack.db"), { durability: "full" });
  store = new SqliteWorkStore(handle);
});
afterEach(() => {
  handle.db.close();
  rmSync(folder, { recursive: true });
});

describe("the store's clock", () => {
  const accept = (days: number) => acceptTime(handle.db, time(days));
  const HOUR = 1 / 24;

  it("follows callers that are at most a week from the latest time", () => {
    for (const days of [0, 1, 8, 15, 9, 16]) expect(accept(days)).toEqual(time(days));
  });

  it("goes on from the remembered time for one that is far ahead or behind, and forgets it when another contradicts", () => {
    accept(0);
    for (const far of [36_000, -4000, 36_000]) {
      expect(accept(far)).toEqual(time(0));
      expect(accept(far + HOUR / 2)).toEqual(time(HOUR / 2));
      expect(accept(0.01)).toEqual(time(0.01));
      expect(accept(far + 2 * HOUR)).toEqual(time(0));
    }
  });

  it("believes one that nobody contradicts for an hour, and moves what it claimed meanwhile", async () => {
    accept(0);
    const by = (days: number) => ({ name: "ann", at: time(days) });
    const { id } = await store.createTask({ title: "after a month" }, by(30));
    await store.claim({ taskId: id, leaseMs: 2 * LEASE_MS }, by(30));
    expect(accept(30 + HOUR)).toEqual(time(30 + HOUR));
    expect(await store.listClaims({ at: time(30 + HOUR) })).toMatchObject([{ leaseUntil: time(30 + 2 * HOUR) }]);
    expect(leaseTime(handle.db, time(31))).toEqual(time(31));
  });
});

describe("a process whose clock is far ahead", () => {
  const by = (name: string, days: number) => ({ name, isNamed: true, at: time(days) });

  it("does not end the claims of others, whatever it does", async () => {
    const { id } = await store.createTask({ title: "t" }, by("ann", 0));
    await store.claim({ taskId: id, leaseMs: LEASE_MS }, by("ann", 0));
    await store.createTask({ title: "from 2121" }, by("zoe", 33_000));
    await store.nextTasks({ limit: 5, at: time(33_000) });
    expect(await store.claim({ taskId: id, leaseMs: LEASE_MS }, by("zoe", 33_000))).toMatchObject({ kind: "held" });
    expect(await store.listClaims({ at: time(0.01) })).toMatchObject([{ agent: "ann" }]);
    await store.heartbeat({ leaseMs: LEASE_MS }, by("ann", 0.02));
    expect(await store.getTask(id, time(0.05))).toMatchObject({ status: "in_progress" });
  });

  it("gets a lease that ends by the clock of the others", async () => {
    const { id } = await store.createTask({ title: "t" }, by("ann", 0));
    await store.claim({ taskId: id, leaseMs: LEASE_MS }, by("zoe", 3650));
    await store.heartbeat({ leaseMs: LEASE_MS }, by("zoe", 3650.01));
    expect(await store.listClaims({ at: time(0.01) })).toMatchObject([
      { agent: "zoe", leaseUntil: new Date(time(0.01).getTime() + LEASE_MS) },
    ]);
    expect(await store.getTask(id, time(0.1))).toMatchObject({ status: "todo" });
  });

  it("holds its claim for its lease alone, though it was the first", async () => {
    const { id } = await store.createTask({ title: "t" }, by("zoe", 3650));
    await store.claim({ taskId: id, leaseMs: LEASE_MS }, by("zoe", 3650));
    expect(await store.getTask(id, time(0))).toMatchObject({ status: "in_progress" });
    expect(await store.getTask(id, time(0.1))).toMatchObject({ status: "todo" });
    expect(await store.claim({ taskId: id, leaseMs: LEASE_MS }, by("ann", 0.2))).toMatchObject({
      claim: { leaseUntil: new Date(time(0.2).getTime() + LEASE_MS) },
    });
  });

  it("leaves no lease of years behind, wherever it came from", async () => {
    const { id } = await store.createTask({ title: "t" }, by("ann", 0));
    await store.claim({ taskId: id, leaseMs: LEASE_MS }, by("ann", 0));
    handle.db
      .prepare("UPDATE claims SET heartbeat_at = ?, lease_until = ?")
      .run(time(3650).toISOString(), time(3650).getTime() + LEASE_MS);
    expect(await store.listClaims({ at: time(0.01) })).toMatchObject([
      { leaseUntil: new Date(time(0.01).getTime() + LEASE_MS) },
    ]);
  });
});
