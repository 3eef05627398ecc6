import { beforeEach, describe, expect, it } from "vitest";
import type { RandomSource } from "../../../base/ids.ts";
import type { StoreHandle } from "../access.ts";
import { openMemoryStore } from "../open.ts";
import { createEpic, createStory } from "./groups.ts";
import { addAlias, freshId } from "./ids.ts";
import { statement } from "./rows.ts";
import { createTask } from "./tasks.ts";

const by = { name: "ann", at: new Date("2026-11-16T09:30:00.000Z") };

let handle: StoreHandle;
beforeEach(() => {
  handle = openMemoryStore();
});

/** Draws these numbers, counted from the first of their length, then repeats the last one. */
function drawing(...numbers: number[]): RandomSource & { drawn: number } {
  const source = (bytes: Uint8Array) => {
    const number = numbers[Math.min(source.drawn++, numbers.length - 1)] ?? 0;
    bytes.fill(0);
    bytes[bytes.length - 2] = number >> 8;
    bytes[bytes.length - 1] = number & 255;
  };
  source.drawn = 0;
  return source;
}

function store(id: string): void {
  const sql =
    "INSERT INTO tasks (id, title, type, status, priority, created_at, updated_at) VALUES (?, 't', 'chore', 'todo', 2, 'x', 'x')";
  statement(handle.db, sql).run(id);
}

/** Stores this many tasks with ids that are never drawn. */
function fill(count: number): void {
  handle.db.exec("BEGIN");
  for (let number = 0; number < count; number++) store(`task-${number}`);
  handle.db.exec("COMMIT");
}

describe("freshId", () => {
  it.each([
    [10, 4],
    [1_000, 6],
    [999, 5],
    [100_000, 10],
    [99_999, 9],
  ])("after %i tasks an id has %i digits", (count, digits) => {
    fill(count);
    expect(freshId(handle.db, "tasks")).toHaveLength(1 + digits);
    // Each kind's length depends on its own count.
    expect(freshId(handle.db, "epics")).toHaveLength(5);
  });

  it("takes another number when the first is taken by a task, an alias or a reserved id", () => {
    store("T1000");
    addAlias(handle.db, "T1001", "T1000");
    const random = drawing(0, 1, 2, 3);
    expect(freshId(handle.db, "tasks", { random, isReserved: (id) => id === "T1002" })).toBe("T1003");
    expect(random.drawn).toBe(4);
  });

  it("does not take an id that a thing of another kind has", () => {
    store("E1000");
    expect(freshId(handle.db, "epics", { random: drawing(0, 1) })).toBe("E1001");
  });

  it("grows when numbers of the length are scarce", () => {
    store("T1000");
    store("T10000");
    const random = drawing(0);
    expect(freshId(handle.db, "tasks", { random })).toBe("T100000");
    expect(random.drawn).toBe(21);
  });

  it("never gives an id twice, over thousands of tasks, and old ids keep their length", () => {
    store("T482913577204");
    const { id: epicId } = createEpic(handle.db, { title: "e" }, by);
    const { id: storyId } = createStory(handle.db, { title: "s", epicId }, by);
    handle.db.exec("BEGIN");
    const ids = Array.from({ length: 1_100 }, (_, at) => createTask(handle.db, { title: `t${at}`, storyId }, by).id);
    handle.db.exec("COMMIT");
    expect(new Set(ids).size).toBe(1_100);
    expect(new Set(ids.map((id) => id.length - 1))).toEqual(new Set([4, 5, 6]));
    expect(ids.every((id) => /^T[1-9]\d+$/.test(id))).toBe(true);
    expect(handle.db.prepare("SELECT 1 FROM tasks WHERE id = 'T482913577204'").get()).toBeDefined();
  });
});
