import { createHash } from "node:crypto";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { formatRecord } from "../../store/record-fields.ts";
import { openMemoryStore } from "../../store/sqlite/open.ts";
import { sqlite } from "../../store/sqlite/quiet.ts";
import { SqliteWorkStore } from "../../store/sqlite/work/sqlite-work-store.ts";
import { importOhno } from "./import-ohno.ts";

const by = { name: "ann", isPerson: true, at: new Date("2026-11-16T09:30:00.000Z") };
const at = "2026-11-01T08:00:00.000Z";

let folder: string;
let store: SqliteWorkStore;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "haversack-ohno-"));
  mkdirSync(join(folder, ".ohno"));
  store = new SqliteWorkStore(openMemoryStore());
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Tables and columns of ohno 0.20. */
const SCHEMA = `
  CREATE TABLE projects (id, name, description, created_at, updated_at);
  CREATE TABLE epics (id, project_id, title, description, priority, status, created_at, updated_at);
  CREATE TABLE stories (id, epic_id, title, description, status, created_at, updated_at);
  CREATE TABLE tasks (id, story_id, title, status, task_type, estimate_hours, description, context_summary, working_files,
    blockers, handoff_notes, progress_percent, actual_hours, created_at, updated_at, created_by, activity_summary, source,
    needs_rework, work_in_progress, wip_updated_at);
  CREATE TABLE task_activity (id, task_id, activity_type, description, old_value, new_value, actor, created_at);
  CREATE TABLE task_files (id, task_id, file_path, file_type, created_at);
  CREATE TABLE task_dependencies (id, task_id, depends_on_task_id, dependency_type, created_at);
  CREATE TABLE task_failures (id, task_id, failure_type, failure_reason, attempt, created_at);
  CREATE TABLE task_handoffs (task_id, status, summary, files_changed, full_details, created_at, compacted_at);
  CREATE TABLE work_queue (task_id, priority_score, batch_group, blocked_by, ready, computed_at);
`;

type Values = Record<string, string | number | null>;

function make(rows: [table: string, values: Values][], schema = SCHEMA, name = "tasks.db"): string {
  const file = join(folder, ".ohno", name);
  const db = new sqlite.DatabaseSync(file);
  db.exec(schema);
  for (const [table, values] of rows) {
    const names = Object.keys(values);
    const sql = `INSERT INTO ${table} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`;
    db.prepare(sql).run(...Object.values(values));
  }
  db.close();
  return file;
}

const task = (id: string, more: Values = {}): [string, Values] => [
  "tasks",
  {
    id,
    title: `Title of ${id}`,
    status: "todo",
    task_type: "bug",
    created_at: at,
    updated_at: at,
    source: "human",
    progress_percent: 0,
    ...more,
  },
];

const REAL: [string, Values][] = [
  ["epics", { id: "epic-1", title: "Epic", priority: "P1", status: "todo", created_at: at, updated_at: at }],
  ["stories", { id: "story-1", epic_id: "epic-1", title: "Story", status: "todo", created_at: at, updated_at: at }],
  task("task-1", {
    story_id: "story-1",
    status: "in_progress",
    estimate_hours: 2,
    context_summary: "half way",
    handoff_notes: "see branch",
    working_files: '["src/a.ts"]',
    needs_rework: 1,
    work_in_progress: '{"phase":"testing","own":{"x":1}}',
    wip_updated_at: at,
  }),
  task("task-2", { story_id: "story-1", status: "blocked", blockers: "no key", updated_at: "2026-11-02 08:00:00" }),
  task("task-3", { story_id: "story-1", status: "done" }),
  ["task_files", { id: "f", task_id: "task-1", file_path: "src/b.ts", file_type: "modified" }],
  [
    "task_dependencies",
    { id: "d", task_id: "task-2", depends_on_task_id: "task-1", dependency_type: "requires", created_at: at },
  ],
  [
    "task_failures",
    {
      id: "x",
      task_id: "task-1",
      failure_type: "spec",
      failure_reason: "first line\nmore",
      attempt: 2,
      created_at: at,
    },
  ],
  [
    "task_handoffs",
    {
      task_id: "task-3",
      status: "PASS",
      summary: "done",
      files_changed: '["src/c.ts"]',
      full_details: "whole",
      created_at: at,
    },
  ],
  [
    "task_activity",
    {
      id: "a",
      task_id: "task-3",
      activity_type: "status_change",
      description: "done now",
      old_value: "todo",
      new_value: "done",
      actor: null,
      created_at: "2026-11-03T08:00:00.000Z",
    },
  ],
  ["work_queue", { task_id: "task-1", priority_score: 1, batch_group: 1, ready: 1, computed_at: at }],
];

function fingerprint(): string[] {
  return readdirSync(join(folder, ".ohno")).map((name) => {
    const path = join(folder, ".ohno", name);
    return `${name} ${statSync(path).mtimeMs} ${createHash("sha256").update(readFileSync(path)).digest("hex")}`;
  });
}

describe("importOhno", () => {
  it("carries over every table and keeps the ids", async () => {
    make(REAL);
    const report = await importOhno(store, { path: folder }, by);
    expect(report.problems).toEqual([]);
    expect(report.added).toEqual({
      epic: 1,
      story: 1,
      task: 3,
      dependency: 1,
      blocker: 1,
      failure: 1,
      handoff: 1,
      agent: 0,
      message: 0,
      skill_use: 0,
      activity: 1,
    });
    expect(await store.getTask("task-1", by.at)).toMatchObject({
      title: "Title of task-1",
      type: "bug",
      source: "human",
      storyId: "story-1",
      epicId: "epic-1",
      estimateHours: 2,
      contextSummary: "half way",
      handoffNotes: "see branch",
      files: ["src/a.ts", "src/b.ts"],
      wip: { phase: "testing", own: { x: 1 } },
      failureCount: 1,
    });
    expect(await store.getTask("task-2", by.at)).toMatchObject({
      status: "blocked",
      blockers: [{ reason: "no key" }],
      waitsFor: [{ id: "task-1" }],
      updatedAt: new Date("2026-11-02T08:00:00.000Z"),
    });
    expect(await store.getTask("task-3", by.at)).toMatchObject({
      status: "done",
      completedAt: new Date("2026-11-03T08:00:00.000Z"),
    });
    const handoff = await store.getHandoff({ taskId: "task-3" });
    expect(handoff).toMatchObject({ status: "PASS", summary: "done", filesChanged: ["src/c.ts"], detailsChars: 5 });
    expect(await store.listFailures("task-1")).toMatchObject([
      { summary: "spec (attempt 2): first line", details: "first line\nmore" },
    ]);
    expect((await store.listActivity({ limit: 9 })).activity).toMatchObject([
      { kind: "status-change", subject: "task-3", actor: "ohno", text: "done now (todo → done)" },
    ]);
    // ohno leaves them at todo.
    expect(await store.getStory("story-1")).toMatchObject({ status: "in_progress" });
  });

  it("gives a task in progress back to the queue with its WIP and a note, and says so", async () => {
    make(REAL);
    const { left } = await importOhno(store, { path: folder }, by);
    const task1 = await store.getTask("task-1", by.at);
    expect(task1).toMatchObject({ status: "todo", note: expect.stringContaining("In progress in ohno") });
    expect(task1.note).toContain("Needs rework");
    expect((await store.nextTasks({ limit: 5, at: by.at })).tasks.map(({ id }) => id)).toEqual(["task-1"]);
    expect(left.map(({ where }) => where)).toContain("tasks.status");
  });

  it("adds nothing the second time, and nothing in a dry run", async () => {
    make(REAL);
    const dry = await importOhno(store, { path: folder, isDryRun: true }, by);
    expect((await store.listTasks({ limit: 9, at: by.at })).total).toBe(0);
    const first = await importOhno(store, { path: join(folder, ".ohno") }, by);
    expect(first).toEqual(dry);
    const again = await importOhno(store, { path: join(folder, ".ohno", "tasks.db") }, by);
    expect(Object.values(again.added).every((count) => count === 0)).toBe(true);
    expect([again.updated, again.kept, again.renamed]).toEqual([[], [], []]);
  });

  it("counts what has no place, by column and table", async () => {
    const schema = `${SCHEMA} ALTER TABLE tasks ADD COLUMN mood; CREATE TABLE moods (id);`;
    const rows: [string, Values][] = [
      ["projects", { id: "p", name: "P" }],
      ["moods", { id: 1 }],
      ["moods", { id: 2 }],
      ["epics", { id: "e", project_id: "p", title: "E", priority: "urgent", status: "review" }],
      task("t1", { actual_hours: 3, progress_percent: 40, mood: "fine", source: "kaizen-fix", created_by: "bob" }),
      task("t2", { actual_hours: 1, task_type: "docs", status: "doing", work_in_progress: "[1]", blockers: "old" }),
      ["task_files", { id: "f", task_id: "t1", file_path: "a.ts", file_type: "modified" }],
      ["task_handoffs", { task_id: "t1", status: "MAYBE", summary: "?" }],
    ];
    make(rows, schema);
    const { left, problems, added } = await importOhno(store, { path: folder }, by);
    expect(problems).toEqual([]);
    expect(added).toMatchObject({ epic: 1, task: 2, handoff: 0 });
    expect(left.map(({ where, count }) => `${where} ${count}`)).toEqual([
      "epics.priority 1",
      "epics.project_id 1",
      "moods 2",
      "projects 1",
      "task_files.file_type 1",
      "task_handoffs.status 1",
      "tasks.actual_hours 2",
      "tasks.blockers 1",
      "tasks.created_by 1",
      "tasks.mood 1",
      "tasks.progress_percent 1",
      "tasks.status 1",
      "tasks.task_type 1",
      "tasks.work_in_progress 1",
    ]);
  });

  it("reads an old file with few columns and no times", async () => {
    make([["tasks", { id: "t1", title: "two\nlines" }]], "CREATE TABLE tasks (id, title)");
    const { added, problems } = await importOhno(store, { path: folder }, by);
    expect(problems).toEqual([]);
    expect(added.task).toBe(1);
    expect(await store.getTask("t1", by.at)).toMatchObject({ title: "two lines", status: "todo", type: "feature" });
  });

  it("reports rows that refer to nothing, close a cycle or have an id that cannot be, and takes the rest", async () => {
    const depends = (task_id: string, depends_on_task_id: string): [string, Values] => [
      "task_dependencies",
      {
        id: `${task_id}-${depends_on_task_id}`,
        task_id,
        depends_on_task_id,
        dependency_type: "blocks",
        created_at: at,
      },
    ];
    make([
      task("a"),
      task("b", { story_id: "gone" }),
      task("c d"),
      depends("a", "b"),
      depends("b", "a"),
      depends("a", "z"),
    ]);
    const { problems, added } = await importOhno(store, { path: folder }, by);
    expect(added).toMatchObject({ task: 2, dependency: 1 });
    expect(problems.map(({ text }) => text)).toEqual([
      expect.stringContaining("id must be 1 to 64"),
      "story_id gone is unknown: imported without it",
      "depends_on_id z is unknown: left out",
      expect.stringContaining("would close a cycle"),
    ]);
  });

  it("leaves the file and its folder as they are, also with a write-ahead log", async () => {
    const file = make(REAL, SCHEMA, "tasks.db");
    const writer = new sqlite.DatabaseSync(file);
    writer.exec("PRAGMA journal_mode = WAL");
    writer.prepare("INSERT INTO tasks (id, title) VALUES ('late', 'in the log only')").run();
    const before = fingerprint();
    await importOhno(store, { path: folder }, by);
    expect(fingerprint()).toEqual(before);
    expect((await store.getTask("late", by.at)).title).toBe("in the log only");
    writer.close();
  });

  it("keeps what was done here since if ohno's task has no time and its file is newer", async () => {
    const file = join(folder, ".ohno", "tasks.db");
    const db = new sqlite.DatabaseSync(file);
    db.exec("CREATE TABLE tasks (id, title, status); INSERT INTO tasks VALUES ('a', 'Theirs', 'todo')");
    db.close();
    const touch = (time: string) => utimesSync(file, new Date(time), new Date(time));
    touch("2026-11-16T09:00:00Z");
    await importOhno(store, { path: folder }, by);
    await store.updateTask("a", { title: "Mine" }, by);
    await store.setStatus({ taskId: "a", status: "done", leaseMs: 1 }, by);
    touch("2026-11-16T10:00:00Z");
    const later = { ...by, at: new Date("2026-11-16T11:00:00.000Z") };
    const report = await importOhno(store, { path: folder }, later);
    expect(report).toMatchObject({ added: { task: 0 }, updated: [], renamed: [] });
    expect(report.kept[0]?.fields).toEqual(expect.arrayContaining(["title", "status"]));
    expect(await store.getTask("a", later.at)).toMatchObject({ title: "Mine", status: "done" });
  });

  it("says what is wrong with a path", async () => {
    await expect(importOhno(store, { path: join(folder, "nowhere") }, by)).rejects.toMatchObject({ code: "not-found" });
    await expect(importOhno(store, { path: folder }, by)).rejects.toMatchObject({
      code: "not-found",
      message: expect.stringContaining("no .ohno/tasks.db"),
    });
    const file = join(folder, ".ohno", "tasks.db");
    writeFileSync(file, "hello");
    await expect(importOhno(store, { path: file }, by)).rejects.toMatchObject({ code: "file-unreadable" });
    writeFileSync(file, `SQLite format 3\0${"x".repeat(5000)}`);
    await expect(importOhno(store, { path: file }, by)).rejects.toMatchObject({ code: "file-unreadable" });
    make([], "CREATE TABLE other (id)", "other.db");
    await expect(importOhno(store, { path: join(folder, ".ohno", "other.db") }, by)).rejects.toMatchObject({
      code: "input-invalid",
    });
  });

  it("gives records that an export can write", async () => {
    make(REAL);
    await importOhno(store, { path: folder }, by);
    for await (const record of store.exportRecords()) expect(JSON.parse(formatRecord(record))).toHaveProperty("kind");
  });
});
