/**
 * Backlog.md's files are what version 1.52 wrote here. The others have the shape that the tools document: beads' issues.jsonl,
 * task-master's tasks.json with tags, and `gh issue list --json`.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openMemoryStore } from "../../store/sqlite/open.ts";
import { SqliteWorkStore } from "../../store/sqlite/work/sqlite-work-store.ts";
import { faultOf } from "../../store/work-under-test.suite.ts";
import { detectTools, type ForeignTool, importForeign } from "./import-foreign.ts";

const by = { name: "ann", isPerson: true, at: new Date("2026-11-16T09:30:00.000Z") };

let folder: string;
let store: SqliteWorkStore;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "haversack-foreign-"));
  store = new SqliteWorkStore(openMemoryStore());
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function put(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

async function take(tool: ForeignTool) {
  const report = await importForeign(store, { tool, path: folder }, by);
  const again = await importForeign(store, { tool, path: folder }, by);
  expect(again.added, "a second import adds nothing").toEqual(
    Object.fromEntries(Object.keys(again.added).map((kind) => [kind, 0])),
  );
  expect(again).toMatchObject({ updated: [], kept: [], renamed: [] });
  return report;
}

const get = (id: string) => store.getTask(id, by.at);

const BACKLOG = `---
id: TASK-1
title: Add a login page
status: In Progress
assignee:
  - '@ann'
created_date: '2026-11-18 14:28'
updated_date: '2026-11-18 14:29'
labels:
  - auth
dependencies: []
priority: high
ordinal: 1000
---

## Description

<!-- SECTION:DESCRIPTION:BEGIN -->
People sign in.
<!-- SECTION:DESCRIPTION:END -->

## Acceptance Criteria
<!-- AC:BEGIN -->
- [x] #1 Has a form
- [ ] #2 Shows errors
<!-- AC:END -->

## Implementation Notes

<!-- SECTION:NOTES:BEGIN -->
Half done
<!-- SECTION:NOTES:END -->
`;

describe("work from other tools", () => {
  it("comes from Backlog.md: ids, parts, dependencies, criteria as steps", async () => {
    put("backlog/tasks/task-1 - Add-a-login-page.md", BACKLOG);
    const head = (id: string, title: string, more: string) =>
      `---\nid: ${id}\ntitle: ${title}\nstatus: To Do\nassignee: []\ncreated_date: '2026-11-18 14:28'\nlabels: []\n${more}\nordinal: 1\n---\n\n\n`;
    put("backlog/tasks/task-2 - b.md", head("TASK-2", "Write the tests", "dependencies:\n  - TASK-1"));
    put(
      "backlog/tasks/task-1.1 - c.md",
      head("TASK-1.1", "Style the form", "dependencies: []\nparent_task_id: TASK-1"),
    );
    put("backlog/completed/task-3 - d.md", head("TASK-3", "Set up", "dependencies: []"));
    const { left, problems } = await take("backlog");
    expect(problems).toEqual([]);
    expect(left).toEqual([{ where: "labels", count: 1, why: "has no place here" }]);
    expect(await get("TASK-1")).toMatchObject({
      title: "Add a login page",
      status: "todo",
      note: "In progress in Backlog.md.",
      priority: "P1",
      assignee: "ann",
      description: "People sign in.",
      steps: [
        { text: "Has a form", done: true },
        { text: "Shows errors", done: false },
      ],
      handoffNotes: "Half done",
      parts: [{ id: "TASK-1.1" }],
      createdAt: new Date("2026-11-18T14:28:00Z"),
    });
    expect((await get("TASK-2")).waitsFor).toMatchObject([{ id: "TASK-1" }]);
    expect((await get("TASK-3")).status).toBe("done");
  });

  it("comes from beads: epics as stories, blocking and related issues, closed and deleted ones", async () => {
    const at = { created_at: "2026-10-01T08:00:00.123456+02:00", updated_at: "2026-10-02T08:00:00Z" };
    const edge = (issue_id: string, depends_on_id: string, type: string) => ({ issue_id, depends_on_id, type, ...at });
    const issues = [
      { id: "bd-e", title: "Login", issue_type: "epic", status: "open", priority: 1, ...at },
      {
        id: "bd-1",
        title: "Form",
        issue_type: "task",
        status: "in_progress",
        priority: 0,
        ...at,
        dependencies: [edge("bd-1", "bd-e", "parent-child")],
      },
      {
        id: "bd-2",
        title: "Crash",
        issue_type: "bug",
        status: "open",
        priority: 4,
        estimated_minutes: 90,
        ...at,
        dependencies: [edge("bd-2", "bd-1", "blocks")],
        labels: ["x"],
      },
      {
        id: "bd-3",
        title: "Old",
        issue_type: "chore",
        status: "closed",
        priority: 2,
        ...at,
        dependencies: [edge("bd-3", "bd-2", "discovered-from")],
      },
      { id: "bd-4", title: "Gone", status: "tombstone", ...at },
    ];
    put(".beads/issues.jsonl", `${issues.map((issue) => JSON.stringify(issue)).join("\n")}\n`);
    expect(await take("beads")).toMatchObject({ problems: [], added: { task: 3, story: 1, dependency: 2 } });
    expect(await get("bd-1")).toMatchObject({ storyId: "bd-e", priority: "P0", note: "In progress in beads." });
    expect(await get("bd-2")).toMatchObject({
      type: "bug",
      priority: "P3",
      estimateHours: 1.5,
      waitsFor: [{ id: "bd-1" }],
    });
    expect(await get("bd-3")).toMatchObject({ status: "done", relatesTo: [{ id: "bd-2" }] });
  });

  it("comes from task-master: tags as stories, sub-tasks that wait for their siblings", async () => {
    const tasks = [
      {
        id: 1,
        title: "Model",
        description: "d",
        details: "more",
        testStrategy: "unit tests",
        status: "done",
        priority: "high",
        dependencies: [],
        subtasks: [],
      },
      {
        ...{ id: 2, title: "View", description: "d", status: "pending", priority: "medium", dependencies: [1] },
        subtasks: [
          { id: 1, title: "Sketch", status: "in-progress", dependencies: [] },
          { id: 2, title: "Draw", status: "cancelled", dependencies: [1] },
        ],
      },
    ];
    const metadata = { created: "2026-09-01T00:00:00.000Z", updated: "2026-09-02T00:00:00.000Z" };
    const file = { master: { tasks, metadata }, later: { tasks: [{ id: 1, title: "Other", status: "odd" }] } };
    put(".taskmaster/tasks/tasks.json", JSON.stringify(file));
    expect(await take("task-master")).toMatchObject({ problems: [], added: { task: 5, story: 2, dependency: 2 } });
    expect(await get("tm-1")).toMatchObject({ status: "done", priority: "P1", description: "d\n\n## Details\n\nmore" });
    expect(await get("tm-2")).toMatchObject({ storyId: "tm-tasks", parts: [{ id: "tm-2.1" }] });
    expect(await get("tm-2.2")).toMatchObject({ status: "archived", parentId: "tm-2", waitsFor: [{ id: "tm-2.1" }] });
    expect(await get("tm-later-1")).toMatchObject({ status: "todo", note: "Status in task-master: odd." });
    // No time of its own: another time of the file does not make it another task.
    put(
      ".taskmaster/tasks/tasks.json",
      JSON.stringify({ later: { tasks: [{ id: 1, title: "Renamed", status: "pending" }] } }),
    );
    await take("task-master");
    expect(await store.listTasks({ storyId: "tm-later-tasks", limit: 9, at: by.at })).toMatchObject({ total: 1 });
  });

  it("comes from GitHub: milestones as stories, priorities from labels, `depends on #1` as a dependency", async () => {
    const at = { createdAt: "2026-10-01T08:00:00Z", updatedAt: "2026-10-02T08:00:00Z" };
    const milestone = { number: 3, title: "Beta", description: "" };
    const issues = [
      {
        number: 1,
        title: "Crash",
        body: "It crashes.",
        state: "OPEN",
        labels: [{ name: "bug" }, { name: "P1" }],
        assignees: [{ login: "ann" }],
        milestone,
        ...at,
      },
      {
        number: 2,
        title: "Docs",
        body: "Depends on #1 and blocked by #99.",
        state: "OPEN",
        labels: [{ name: "docs" }],
        assignees: [],
        ...at,
      },
      {
        number: 3,
        title: "No",
        body: "",
        state: "CLOSED",
        stateReason: "NOT_PLANNED",
        labels: [],
        assignees: [],
        ...at,
      },
    ];
    put("issues.json", JSON.stringify(issues));
    expect(await take("github")).toMatchObject({ problems: [], left: [{ where: "labels", count: 1 }] });
    expect(await get("gh-1")).toMatchObject({
      type: "bug",
      priority: "P1",
      assignee: "ann",
      storyId: "gh-milestone-3",
    });
    expect((await get("gh-2")).waitsFor).toMatchObject([{ id: "gh-1" }]);
    expect((await get("gh-3")).status).toBe("archived");
  });

  it("keeps what was done here since", async () => {
    const issue = {
      number: 1,
      title: "t",
      state: "OPEN",
      createdAt: "2026-10-01T08:00:00Z",
      updatedAt: "2026-10-02T08:00:00Z",
    };
    put("issues.json", JSON.stringify([issue]));
    await importForeign(store, { tool: "github", path: folder }, by);
    await store.setStatus({ taskId: "gh-1", status: "in_progress", leaseMs: 60_000 }, by);
    await store.setStatus({ taskId: "gh-1", status: "done", leaseMs: 1 }, by);
    expect(await importForeign(store, { tool: "github", path: folder }, by)).toMatchObject({ kept: [{ id: "gh-1" }] });
    expect((await get("gh-1")).status).toBe("done");
  });

  it("keeps what was done here since, also if the file has no times and is newer", async () => {
    const files: [ForeignTool, string, string, object][] = [
      ["task-master", ".taskmaster/tasks/tasks.json", "tm-1", { tasks: [{ id: 1, title: "t", status: "pending" }] }],
      ["beads", ".beads/issues.jsonl", "bd-1", { id: "bd-1", title: "t", status: "open" }],
      ["github", "issues.json", "gh-1", [{ number: 1, title: "t", state: "OPEN" }]],
    ];
    for (const [tool, path, id, content] of files) {
      const again = async () => {
        put(path, JSON.stringify(content));
        utimesSync(join(folder, path), new Date("2026-11-17T00:00:00Z"), new Date("2026-11-17T00:00:00Z"));
        return importForeign(store, { tool, path: folder }, by);
      };
      await again();
      await store.updateTask(id, { title: "Mine" }, by);
      await store.setStatus({ taskId: id, status: "in_progress", leaseMs: 60_000 }, by);
      expect(await again()).toMatchObject({ updated: [], unchanged: expect.arrayContaining([id]) });
      expect(await get(id)).toMatchObject({ title: "Mine", status: "in_progress", claim: { agent: "ann" } });
      await store.setStatus({ taskId: id, status: "done", leaseMs: 1 }, by);
      await again();
      expect(await get(id)).toMatchObject({ title: "Mine", status: "done" });
    }
  });

  it("takes new tasks of a file without times, and the tag's time of task-master is not that of each task", async () => {
    const file = (updated: string, ...tasks: object[]) =>
      JSON.stringify({ master: { tasks, metadata: { created: "2026-09-01T00:00:00.000Z", updated } } });
    const one = { id: 1, title: "One", status: "pending" };
    put("tasks.json", file("2026-09-02T00:00:00.000Z", one));
    await importForeign(store, { tool: "task-master", path: folder }, by);
    await store.setStatus({ taskId: "tm-1", status: "done", leaseMs: 1 }, by);
    const two = { id: 2, title: "Two", status: "pending", dependencies: [1] };
    put("tasks.json", file("2026-11-16T10:00:00.000Z", one, two));
    const later = { ...by, at: new Date("2026-11-16T11:00:00.000Z") };
    const report = await importForeign(store, { tool: "task-master", path: folder }, later);
    expect(report).toMatchObject({ added: { task: 1, dependency: 1 }, unchanged: ["tm-tasks", "tm-1"] });
    expect((await get("tm-1")).status).toBe("done");
  });

  it("takes the first of two things with one id, and says so", async () => {
    put(".beads/issues.jsonl", '{"id":"bd-1","title":"Good one"}\n{"id":"bd-1","title":"Another"}\n');
    const { added, problems } = await take("beads");
    expect(added.task).toBe(1);
    expect(problems).toEqual([{ where: "bd-1", text: "is in the file twice: only the first one was imported" }]);
    expect((await get("bd-1")).title).toBe("Good one");
    expect((await store.listTasks({ limit: 9, at: by.at })).total).toBe(1);
  });

  it("reads only files: a folder and a pipe of Backlog.md are left out", async () => {
    put("backlog/tasks/task-1.md", BACKLOG);
    mkdirSync(join(folder, "backlog/tasks/folder.md"));
    symlinkSync("nowhere", join(folder, "backlog/tasks/gone.md"));
    if (process.platform !== "win32") execFileSync("mkfifo", [join(folder, "backlog/tasks/pipe.md")]);
    const { problems, added } = await importForeign(store, { tool: "backlog", path: folder }, by);
    expect(added.task).toBe(1);
    expect(problems).toEqual([
      { where: "tasks/folder.md", text: "is not a file: left out" },
      { where: "tasks/gone.md", text: "cannot be read (ENOENT): left out" },
      ...(process.platform === "win32" ? [] : [{ where: "tasks/pipe.md", text: "is not a file: left out" }]),
    ]);
  });

  it("names words that are unknown here, also those that every object has", async () => {
    const odd = { title: "t", issue_type: "constructor", status: "__proto__", priority: "toString" };
    put(
      ".beads/issues.jsonl",
      `${JSON.stringify({ id: "bd-1", ...odd })}\n${JSON.stringify({ id: "bd-2", ...odd })}\n`,
    );
    const { left, problems } = await take("beads");
    expect(problems).toEqual([]);
    expect(left).toEqual([
      { where: 'status "__proto__"', count: 2, why: "is unknown here: imported as todo" },
      { where: 'priority "tostring"', count: 2, why: "is unknown here: imported as P2" },
      { where: 'issue_type "constructor"', count: 2, why: "is unknown here: imported as feature" },
    ]);
    expect(await get("bd-2")).toMatchObject({ status: "todo", type: "feature", priority: "P2" });
  });

  it("is detected by its place or its shape", () => {
    expect(detectTools(folder)).toEqual([]);
    put("a/.beads/issues.jsonl", "");
    put("b/.taskmaster/tasks/tasks.json", "{}");
    put("c/backlog/tasks/x.md", BACKLOG);
    put("d/tasks.json", '{"later":{"tasks":[{"id":1,"title":"t"}]}}');
    put("d/list.json", '[{"number":1,"title":"t"}]');
    put("d/other.json", '{"compilerOptions":{}}');
    put("d/mine.jsonl", '{"haversack":"work","version":1}\n');
    put("d/issues.jsonl", '{"id":"bd-1","title":"t","status":"open"}\n');
    const of = (path: string) => detectTools(join(folder, path));
    expect(["a", "a/.beads", "a/.beads/issues.jsonl"].map(of)).toEqual([["beads"], ["beads"], ["beads"]]);
    expect(["b", "b/.taskmaster", "b/.taskmaster/tasks/tasks.json", "d/tasks.json"].map(of)).toEqual(
      Array(4).fill(["task-master"]),
    );
    expect(["c", "c/backlog"].map(of)).toEqual([["backlog"], ["backlog"]]);
    expect(of("d/list.json")).toEqual(["github"]);
    expect(["d/other.json", "d/mine.jsonl", "d/none.json"].map(of)).toEqual([[], [], []]);
    expect(of("d")).toEqual(["beads", "task-master"]);
  });

  it("that is malformed is refused in one line, and nothing has changed; what can be read of a list is taken", async () => {
    const bad: [ForeignTool, string, string][] = [
      ["beads", ".beads/issues.jsonl", "{\nnot json\n"],
      ["task-master", ".taskmaster/tasks/tasks.json", '{"master": {"tasks": 3}}'],
      ["task-master", ".taskmaster/tasks/tasks.json", "[1]"],
      ["github", "issues.json", '{"message": "Bad credentials"}'],
      ["github", "issues.json", ""],
      ["backlog", "backlog/tasks/x.md", "# No head"],
    ];
    for (const [tool, path, text] of bad) {
      put(path, text);
      const fault = await faultOf(importForeign(store, { tool, path: folder }, by));
      expect(fault).toMatchObject({
        code: "input-invalid",
        message: expect.stringMatching(/^\S+ was not imported: [^\n]+$/),
      });
    }
    expect((await store.listTasks({ limit: 1, at: by.at })).total).toBe(0);
    put(".beads/issues.jsonl", '{"id":"bd-1","title":"t","status":"open"}\n{"id":\n');
    expect(await importForeign(store, { tool: "beads", path: folder }, by)).toMatchObject({
      added: { task: 1 },
      problems: [{ where: "line 2" }],
    });
    expect(await faultOf(importForeign(store, { tool: "beads", path: join(folder, "no") }, by))).toMatchObject({
      code: "not-found",
    });
  });
});
