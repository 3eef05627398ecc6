/** The board's requests on either store: they use nothing but the operations of the work store. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { readConfig } from "../base/config.ts";
import type { LiveParts } from "../engine/work/live-work.ts";
import { workSettings } from "../engine/work/work-parts.ts";
import { Listener } from "../store/postgres/listener.ts";
import { scratch, server } from "../store/postgres/scratch-postgres.suite.ts";
import { changeMark } from "../store/sqlite/connect.ts";
import { openDatabase, openMemoryStore } from "../store/sqlite/open.ts";
import { SqliteWorkStore } from "../store/sqlite/work/sqlite-work-store.ts";
import type { WorkStore } from "../store/work-store.ts";
import { BoardData } from "./board-data.ts";

interface Opened {
  store: WorkStore;
  changeMark(): string;
  /** As another process has it. */
  other: WorkStore;
}

function openSqlite(): Opened {
  const folder = mkdtempSync(join(tmpdir(), "haversack-board-"));
  const handles = [1, 2].map(() => openDatabase(join(folder, "haversack.db"), { durability: "full" }));
  onTestFinished(() => {
    for (const { db } of handles) db.close();
    rmSync(folder, { recursive: true });
  });
  const [store, other] = handles.map((handle) => new SqliteWorkStore(handle));
  return { store: store!, other: other!, changeMark: () => changeMark(handles[0]!) };
}

function openPostgres(): Opened {
  const place = scratch();
  const { store, server: connected } = place.open();
  const listener = new Listener(connected);
  onTestFinished(async () => {
    await listener.close();
    await place.close();
  });
  return { store, other: place.open().store, changeMark: () => listener.mark };
}

function boardOn({ store, changeMark }: Opened): BoardData {
  const { config } = readConfig([]);
  const handle = openMemoryStore();
  const project = { handle, cwd: "/p", env: {}, paths: { root: "/p" }, config };
  const use = <T>(action: (parts: LiveParts) => Promise<T>) => {
    const by = { name: "robin", isPerson: true, at: new Date() };
    const parts = { ...project, project, store, changeMark, by, settings: workSettings(config), for: "person" };
    return action(parts as unknown as LiveParts);
  };
  return new BoardData({
    ...{ name: "p", read: use, write: use, localMark: () => "", savings: () => [] },
    skills: { list: () => [], match: () => ({ text: "", tokens: 0, skills: [] }) as never },
    skillUses: () => [],
    runs: { list: async () => [], show: async () => ({}), stop: async () => undefined },
    audit: { view: () => ({ state: "none", days: 30 }), start: () => undefined },
  });
}

describe.each([
  { name: "SQLite", open: openSqlite, isThere: true },
  { name: "PostgreSQL", open: openPostgres, isThere: server !== undefined },
])("$name", ({ open, isThere }) => {
  it.skipIf(!isThere)("creates, moves, finds, and follows what others do", async () => {
    const opened = open();
    const { other } = opened;
    const board = boardOn(opened);
    const made = async (fields: object) => ((await board.create(fields as never)) as { id: string }).id;
    const epic = await made({ kind: "epic", title: "Bags" });
    const story = await made({ kind: "story", title: "Straps", epic_id: epic });
    const task = await made({ title: "Cut leather", story_id: story, priority: "P1" });
    const waiting = await made({ title: "Sew <b>it</b>", story_id: story });
    await other.addDependency({ taskId: waiting, dependsOnId: task, type: "blocks" }, { name: "june", at: new Date() });

    const before = await board.version();
    await other.claim({ taskId: task, leaseMs: 60_000 }, { name: "june", at: new Date() });
    await expect.poll(() => board.version(), { timeout: 10_000 }).not.toBe(before);
    const column = async (status: string) => (await board.board({})).columns.find((one) => one.status === status)!;
    expect((await column("in_progress")).tasks).toMatchObject([
      { id: task, agent: "june", lease_until: expect.any(Date), group: "Straps" },
    ]);
    expect((await column("todo")).tasks).toMatchObject([{ id: waiting, waiting: true }]);
    expect(await board.setStatus(waiting, { status: "in_progress" })).toMatchObject({
      refused: expect.stringContaining(task),
    });
    await board.setStatus(waiting, { status: "blocked", notes: "no thread" });
    expect((await column("blocked")).tasks).toMatchObject([{ id: waiting, note: "no thread" }]);
    await board.update(waiting, { priority: "P0" });
    expect(await board.groups("epic")).toMatchObject({ groups: [{ id: epic, done: 0, total: 2 }] });
    expect(await board.find("LEATHER")).toMatchObject({ tasks: [{ id: task }], is_cut: false });
    expect(await board.task(waiting)).toMatchObject({ priority: "P0", status: "blocked", handoffs: [] });
    expect(await board.ready({})).toMatchObject({ tasks: [] });
    expect(await board.agents()).toMatchObject({ claims: [{ task_id: task, title: "Cut leather", agent: "june" }] });
    await board.release(task);
    expect(await board.agents()).toMatchObject({ claims: [] });
    expect(await board.ready({})).toMatchObject({ tasks: [{ id: task }] });
  });
});

it("names the task of every claim, however many there are", async () => {
  const opened = openSqlite();
  const board = boardOn(opened);
  const claimOne = async (number: number) => {
    const { id: taskId } = (await board.create({ title: `Task ${number}` })) as { id: string };
    await opened.other.claim({ taskId, leaseMs: 600_000 }, { name: `agent-${number}`, at: new Date() });
  };
  await Promise.all(Array.from({ length: 205 }, (_, number) => claimOne(number)));
  const { claims } = (await board.agents()) as { claims: { title?: string }[] };
  expect(new Set(claims.map(({ title }) => title)).size).toBe(205);
  expect(claims.filter(({ title }) => title === undefined)).toEqual([]);
});
