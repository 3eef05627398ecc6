/** Tasks through the MCP server as a client runs it: names and sizes of the tools, their answers, and invalid input. */
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { makeRecordedStore, userStateFolder } from "../packages/haversack/src/base/project-trust.ts";
import { openDatabase } from "../packages/haversack/src/store/sqlite/open.ts";
import { SessionState } from "../packages/haversack/src/store/sqlite/sessions/session-state.ts";
import { SqliteLocalStore } from "../packages/haversack/src/store/sqlite/sessions/sqlite-local-store.ts";
import { countTokens } from "../packages/haversack/src/tokens/count.ts";
import { type Scratch, scratchProject } from "./bins.ts";
import { type ServerOptions, startServer } from "./mcp-client.ts";

const DEFAULT_TOOLS = [
  "skill",
  "get_session_context",
  "get_next_batch",
  "get_tasks",
  "get_task",
  "create_task",
  "update_task_status",
  "update_task_wip",
  "set_task_handoff",
  "get_task_handoff",
];

/** The 37 tools of ohno 0.20. */
const OHNO_TOOLS =
  "get_project_status get_session_context get_tasks get_task get_next_task get_next_batch get_blocked_tasks update_task_status add_task_activity set_handoff_notes update_task_progress set_blocker resolve_blocker set_needs_rework create_task create_story get_story list_stories update_story create_epic get_epic get_epics update_epic get_kanban_board update_task archive_task reopen_task add_dependency remove_dependency get_task_dependencies summarize_task_activity record_task_failure update_task_wip set_task_handoff get_task_handoff compact_story_handoffs delete_epic_handoffs".split(
    " ",
  );

describe("the tools", () => {
  it("are ten by default, in at most 1,000 tokens", async () => {
    const server = await startServer(workProject());
    const result = await server.request("tools/list");
    expect(result.tools.map(({ name }: { name: string }) => name)).toEqual(DEFAULT_TOOLS);
    expect(await countTokens(JSON.stringify(result))).toBeLessThanOrEqual(1000);
  });

  it("have no boilerplate, and annotations only where they differ from the protocol's defaults", async () => {
    const server = await startServer(workProject(), { args: ["--tools", "all"] });
    const { tools } = await server.request("tools/list");
    expect(JSON.stringify(tools)).not.toMatch(/\$schema|additionalProperties|"default"/);
    for (const { name, annotations } of tools) {
      // The batch is stored to learn how much the session manages.
      const isRead = /^(get_|list_|artifact_|skill$|wake$|summarize_|recall$)/.test(name) && name !== "get_next_batch";
      const { openWorldHint = false, ...rest } = annotations;
      expect({ name, openWorldHint, rest }).toEqual({
        name,
        openWorldHint: false,
        rest: isRead ? { readOnlyHint: true } : { destructiveHint: false },
      });
    }
  });

  it("include all of ohno's with --tools all, and claims", async () => {
    const server = await startServer(workProject(), { args: ["--tools", "all"] });
    const { tools } = await server.request("tools/list");
    const names = tools.map(({ name }: { name: string }) => name);
    expect(names).toEqual(expect.arrayContaining([...OHNO_TOOLS, "claim_task", "release_task", "heartbeat"]));
    expect(names.slice(0, 10)).toEqual(DEFAULT_TOOLS);
    expect(new Set(names).size).toBe(names.length);
  });
});

it("create_task shows how to make a sub-task", async () => {
  const { ask, text, request } = await workServer();
  const { tools } = await request("tools/list");
  const create = tools.find(({ name }: { name: string }) => name === "create_task");
  expect(Object.keys(create.inputSchema.properties)).toContain("parent_id");
  const { id: parent } = await ask("create_task", { title: "Whole" });
  const { id } = await ask("create_task", { title: "Part", parent_id: parent });
  expect(await text("get_tasks", { parent_id: parent })).toBe(`${id} Part`);
});

describe("the life of a task", () => {
  it("is short to tell: created, started, its state kept, handed off, done", async () => {
    const { ask, text } = await workServer();
    const { id, ...rest } = await ask("create_task", {
      title: "Add 🎉 login",
      description: "With a form",
      files: ["src/a.ts"],
    });
    expect(id).toMatch(/^T\d{4,12}$/);
    expect(rest).toEqual({});
    expect(await text("get_next_batch")).toBe(`${id} Add 🎉 login`);
    expect(await text("get_tasks")).toBe(`${id} Add 🎉 login`);
    expect(await ask("update_task_status", { task_id: id, status: "in_progress" })).toEqual({ ok: true });
    expect(
      await ask("update_task_wip", { task_id: id, wip_data: { phase: "testing", next_step: "fix the test" } }),
    ).toEqual({ ok: true });
    expect(await ask("update_task_wip", { task_id: id, wip_data: '{"phase": "testing"}' })).toEqual({
      ok: true,
      changed: false,
    });
    expect(await ask("get_session_context")).toEqual({
      resume: `Resuming ${id} from testing, next: fix the test`,
      in_progress: [{ id, title: "Add 🎉 login", status: "in_progress" }],
      ready: 0,
    });
    expect(await text("get_next_batch")).toBe("nothing is ready: 1 in progress");
    // The status is left out if it is todo or was asked for.
    expect(await text("get_tasks")).toBe(`${id} Add 🎉 login (in_progress)`);
    expect(await text("get_tasks", { status: "in_progress" })).toBe(`${id} Add 🎉 login`);
    expect(await text("get_tasks", { status: "done" })).toBe("no tasks");
    expect(await ask("get_tasks", { fields: "full" })).toMatchObject({
      tasks: [{ id, status: "in_progress", description: "With a form", wip: { phase: "testing" } }],
    });
    expect(await ask("get_task", { task_id: id })).toEqual({
      id,
      title: "Add 🎉 login",
      status: "in_progress",
      description: "With a form",
      task_type: "feature",
      priority: "P2",
      files: ["src/a.ts"],
    });
    expect(await ask("get_task", { task_id: id, fields: "full" })).toMatchObject({
      wip: { phase: "testing" },
      claim: { agent: expect.stringMatching(/^test-\d{4}$/), lease_until: expect.any(String) },
    });
    expect(await ask("get_task", { task_id: id, fields: "minimal" })).toEqual({
      id,
      title: "Add 🎉 login",
      status: "in_progress",
    });
    const handoff = {
      task_id: id,
      status: "PASS",
      summary: "It works.",
      files_changed: ["src/a.ts"],
      full_details: "All of it.",
    };
    expect(await ask("set_task_handoff", handoff)).toEqual({ status: "PASS", summary: "It works." });
    const stored = {
      role: "implementer",
      attempt: 1,
      status: "PASS",
      summary: "It works.",
      files_changed: ["src/a.ts"],
      details_chars: 10,
    };
    expect(await ask("get_task_handoff", { task_id: id })).toEqual(stored);
    expect(await ask("get_task_handoff", { task_id: id, include_details: true })).toEqual({
      ...stored,
      full_details: "All of it.",
    });
    expect(await ask("update_task_status", { task_id: id, status: "done" })).toEqual({
      ok: true,
      boundaries: { story_completed: false, epic_completed: false },
    });
    expect(await text("get_next_batch")).toBe("no task is open");
  });

  it("ends its story and epic, which the answer says", async () => {
    const { ask, text } = await workServer({ args: ["--tools", "all"] });
    const epic = await ask("create_epic", { title: "Auth", priority: "P0" });
    const story = await ask("create_story", { title: "Log in", epic_id: epic.id });
    const task = await ask("create_task", { title: "Form", story_id: story.id, estimate_hours: 2, source: "human" });
    expect(await text("get_next_batch", { epic_id: epic.id, batch_size: 3 })).toBe(`${task.id} Form`);
    expect(await ask("get_next_batch", { fields: "standard" })).toMatchObject({
      tasks: [{ id: task.id, priority: "P2" }],
    });
    expect(await ask("update_task_status", { task_id: task.id, status: "done", notes: "ok" })).toEqual({
      ok: true,
      boundaries: { story_completed: true, epic_completed: true, story_id: story.id, epic_id: epic.id },
    });
    expect(await ask("get_epic", { epic_id: epic.id })).toMatchObject({ status: "done", tasks: { done: 1 } });
    expect(await text("get_epics")).toBe(`${epic.id} Auth (done)`);
    expect(await text("list_stories", { epic_id: epic.id, status: "done" })).toBe(`${story.id} Log in`);
    expect(await ask("get_story", { story_id: story.id })).toMatchObject({ epic_id: epic.id });
    expect(await ask("update_story", { story_id: story.id, title: "Sign in" })).toEqual({ ok: true });
    expect(await ask("update_epic", { epic_id: epic.id, status: "archived" })).toEqual({ ok: true });
    expect(await ask("compact_story_handoffs", { story_id: story.id })).toEqual({ compacted: 0, archived: 0 });
    expect(await ask("delete_epic_handoffs", { epic_id: epic.id })).toEqual({ compacted: 0, archived: 0 });
  });

  it("through the rest of ohno's tools", async () => {
    const { ask, refuse, text } = await workServer({ args: ["--tools", "all"] });
    const a = (await ask("create_task", { title: "A" })).id;
    const b = (await ask("create_task", { title: "B" })).id;
    expect(await ask("add_dependency", { task_id: b, depends_on_task_id: a })).toEqual({ ok: true });
    expect(await refuse("add_dependency", { task_id: a, depends_on_task_id: b })).toContain(`${a} -> ${b} -> ${a}`);
    expect(await text("get_task_dependencies", { task_id: b })).toBe(`depends_on:\n${a} A (blocks)`);
    expect(await refuse("claim_task", { task_id: b })).toContain(`${b} waits for ${a} (todo: A)`);
    expect(await ask("remove_dependency", { task_id: b, depends_on_task_id: a })).toEqual({ ok: true });
    expect(await text("get_next_task")).toBe(`${a} A`);
    await ask("update_task", { task_id: a, priority: "P1", description: "d" });
    expect(await text("get_next_task")).toBe(`${a} A (P1)\n{"description":"d"}`);
    expect(await ask("claim_task")).toMatchObject({ id: a, lease_until: expect.any(String) });
    expect(await text("heartbeat")).toMatch(new RegExp(`^${a} until \\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\dZ$`));
    expect(await ask("release_task", { task_id: a, reason: "later" })).toEqual({ ok: true });
    expect(await ask("set_blocker", { task_id: b, reason: "no key" })).toEqual({ ok: true });
    expect(await text("get_blocked_tasks")).toBe(`${b} B: no key`);
    expect(await ask("resolve_blocker", { task_id: b })).toEqual({ ok: true, status: "todo" });
    expect(await ask("update_task", { task_id: b, title: "B2", description: "d" })).toEqual({ ok: true });
    expect(await ask("update_task", { task_id: b, description: "" })).toEqual({ ok: true });
    expect(await ask("set_handoff_notes", { task_id: b, notes: "half way" })).toEqual({ ok: true });
    expect(await ask("update_task_progress", { task_id: b, progress_percent: 40, context_summary: "begun" })).toEqual({
      ok: true,
    });
    const full = await ask("get_task", { task_id: b, fields: "full" });
    expect(full).toMatchObject({
      title: "B2",
      handoff_notes: "half way",
      context_summary: "begun",
      wip: { progress_percent: 40 },
    });
    expect(full).not.toHaveProperty("description");
    expect(await ask("add_task_activity", { task_id: b, activity_type: "decision", description: "use SQL" })).toEqual({
      ok: true,
    });
    expect(await text("summarize_task_activity", { task_id: b, limit: 1, delete_raw: true })).toMatch(
      /^\S+Z decision test-\d{4}: use SQL\n\d+ left out; before: \d+\nhistory is append-only; nothing was deleted$/,
    );
    expect(
      await ask("record_task_failure", { task_id: b, failure_type: "quality", reason: "no test", attempt: 2 }),
    ).toEqual({ count: 1 });
    expect(await ask("archive_task", { task_id: b, reason: "not needed" })).toMatchObject({ ok: true });
    expect(await ask("reopen_task", { task_id: b })).toEqual({ ok: true });
    expect(await ask("set_needs_rework", { task_id: b, value: true })).toEqual({ ok: true });
    expect((await text("get_kanban_board")).split("\n").sort()).toEqual([`${a} A`, `${b} B2`, "todo:"].sort());
    expect(await ask("get_project_status")).toMatchObject({ tasks: { todo: 2, ready: 2 } });
  });
});

describe("sizes, in o200k tokens", () => {
  it("50 tasks in 500, a batch of 3 in 40, the next in 18, a handoff's reply in 60", async () => {
    const server = await workServer();
    const titles = [
      "Add login form validation",
      "Fix token expiry check",
      "Write the API tests",
      "Refactor session store",
    ];
    let first = "";
    for (let number = 0; number < 60; number++) {
      const { id } = await server.ask("create_task", { title: titles[number % 4], description: "long ".repeat(50) });
      first ||= id;
    }
    const list = await server.text("get_tasks");
    const lines = list.split("\n");
    expect(lines).toHaveLength(51);
    expect(lines.slice(0, 50)).toEqual(Array(50).fill(expect.stringMatching(/^T\d{4,12} \w+ [\w ]+$/)));
    expect(lines[50]).toBe("10 left out; offset: 50");
    expect(await countTokens(list)).toBeLessThanOrEqual(500);
    const batch = await server.text("get_next_batch", { limit: 3 });
    expect(batch.split("\n")).toHaveLength(4);
    expect(batch).toMatch(/\n57 more$/);
    expect(await countTokens(batch)).toBeLessThanOrEqual(40);
    expect(await countTokens(await server.text("get_next_batch", { limit: 1 }))).toBeLessThanOrEqual(18);
    const summary = "The form now checks the address and the password on every key, with tests. ".repeat(20);
    const reply = await server.text("set_task_handoff", {
      task_id: first,
      status: "PASS",
      summary,
      full_details: "x ".repeat(50_000),
    });
    expect(await countTokens(reply)).toBeLessThanOrEqual(60);
    expect(await countTokens(await server.text("get_session_context"))).toBeLessThanOrEqual(400);
    const few = JSON.parse(await server.text("get_tasks", { max_tokens: 200, fields: "standard" }));
    expect(await countTokens(JSON.stringify(few))).toBeLessThanOrEqual(200);
    expect(few.left_out).toBe(60 - few.tasks.length);
    expect((await server.text("get_tasks", { offset: 50 })).split("\n")).toHaveLength(10);
    const some = await server.text("get_tasks", { max_tokens: 200 });
    expect(await countTokens(some)).toBeLessThanOrEqual(200);
    // The token limit applies to the lines that are actually sent.
    expect(some.split("\n").length).toBeGreaterThan(10);
  });
});

describe("what is left out", () => {
  it("a batch says what is in its way, or that max_tokens leaves no room, never that nothing is open", async () => {
    const { ask, text } = await workServer();
    const running = (await ask("create_task", { title: "Running", files: ["src/a.ts"] })).id;
    const same = (await ask("create_task", { title: "Same", files: ["src/a.ts"] })).id;
    expect(await text("get_next_batch", { max_tokens: 5 })).toMatch(
      /^2 ready, but max_tokens leaves no room for one; \d+ would be enough for the first$/,
    );
    await ask("update_task_status", { task_id: running, status: "in_progress" });
    expect(await text("get_next_batch")).toBe(
      `${same} is ready, but touches src/a.ts, as does ${running} (in progress)`,
    );
  });

  it("a list with room for none names a max_tokens that has", async () => {
    const { ask, text } = await workServer();
    for (const title of ["A", "B"]) await ask("create_task", { title });
    const none = await text("get_tasks", { max_tokens: 10 });
    expect(none).toMatch(/^2 left out; the first needs max_tokens \d+$/);
    const one = await text("get_tasks", { max_tokens: Number(none.split(" ").at(-1)) });
    expect(one).toMatch(/^T\d+ A\n1 left out; offset: 1$/);
  });

  it("lists around a task take a limit and max_tokens, and ohno's filters hold", async () => {
    const { ask, refuse, text } = await workServer({ args: ["--tools", "all"] });
    const epic = await ask("create_epic", { title: "E", priority: "P0" });
    const story = await ask("create_story", { title: "S", epic_id: epic.id });
    const hub = (await ask("create_task", { title: "Hub", story_id: story.id })).id;
    for (const title of ["A", "B", "C"]) await ask("create_task", { title, depends_on: [hub] });
    expect(await text("get_task_dependencies", { task_id: hub, limit: 2 })).toMatch(
      /^needed_by:\nT\d+ [ABC] \(blocks\)\nT\d+ [ABC] \(blocks\)\nleft out: 1 of needed_by; a larger limit or max_tokens$/,
    );
    expect(await text("get_kanban_board", { limit_per_column: 1 })).toMatch(
      /^todo:\nT\d+ \w+\nleft out: 3 of todo; get_tasks with status and offset$/,
    );
    expect(await refuse("get_kanban_board", { limit_per_column: 0 })).toContain("limit_per_column must be");
    expect(await text("get_tasks", { story_status: "in_progress" })).toBe("no tasks");
    expect(await text("get_tasks", { epic_status: "todo" })).toBe(`${hub} Hub`);
    await ask("set_blocker", { task_id: hub, reason: "r" });
    expect(await text("get_tasks", { story_status: "in_progress" })).toBe(`${hub} Hub (blocked)`);
    const history = await text("summarize_task_activity", { task_id: hub, limit: 1 });
    const before = /\n[1-9]\d* left out; before: (\d+)$/.exec(history)?.[1];
    const older = await text("summarize_task_activity", { task_id: hub, before: Number(before) });
    expect(older).toMatch(/^\d{4}-\S+Z \S+ /);
    expect(await text("get_epics", { priority: "P0" })).toMatch(/^E\d+ E\b/);
    expect(await text("get_epics", { priority: "P1" })).toBe("no epics");
    expect(await refuse("update_task", { task_id: hub })).toContain("give at least one field to change");
    expect(
      await ask("add_dependency", { task_id: hub, depends_on_task_id: hub, dependency_type: "blocks" }).catch(String),
    ).toContain("cycle");
  });

  it("what a completed epic has put away is not shown, and comes back with restore_handoffs", async () => {
    const { ask } = await workServer({ args: ["--tools", "all"] });
    const epic = await ask("create_epic", { title: "E" });
    const story = await ask("create_story", { title: "S", epic_id: epic.id });
    const { id } = await ask("create_task", { title: "A", story_id: story.id });
    const role = "quality-reviewer";
    await ask("set_task_handoff", { task_id: id, status: "FAIL", summary: "no test", full_details: "where", role });
    await ask("set_task_handoff", { task_id: id, status: "PASS", summary: "fine", full_details: "all of it" });
    expect(await ask("get_task_handoff", { task_id: id, status: "FAIL", include_details: true })).toMatchObject({
      role,
      full_details: "where",
    });
    await ask("update_task_status", { task_id: id, status: "done" });
    const put = await ask("get_task_handoff", { task_id: id, include_details: true });
    expect(put).toEqual({
      role: "implementer",
      attempt: 1,
      status: "PASS",
      note: expect.stringMatching(/^in the archive; restore_handoffs H\d{4,12} brings it back/),
    });
    expect(await ask("restore_handoffs", { id: put.note.match(/H\d{4,12}/)[0] })).toEqual({ restored: 1 });
    expect(await ask("get_task_handoff", { task_id: id, include_details: true })).toMatchObject({
      full_details: "all of it",
    });
  });
});

describe("who calls", () => {
  it("is the session and the sub-agent that a hook has seen, and one does not take the other's task", async () => {
    const project = workProject();
    mkdirSync(join(project.root, ".haversack"), { recursive: true });
    makeRecordedStore(join(project.root, ".haversack"), userStateFolder({ HOME: project.home }), new Date());
    const handle = openDatabase(join(project.root, ".haversack/haversack.db"), { durability: "normal" });
    onTestFinished(() => handle.db.close());
    const [sessions, state, at] = [new SqliteLocalStore(handle), new SessionState(handle), new Date()];
    const touch = { client: "claude-code", cwd: project.root, at };
    sessions.touchSession({ ...touch, sessionId: "s1" });
    for (const agentId of ["a1", "a2"]) {
      sessions.touchSession({ ...touch, sessionId: "s1", agentId });
      state.noteToolCall({ sessionId: "s1", agentId }, `by_${agentId}`, at);
    }
    const server = await startServer(project, { session: "s1" });
    const { id } = JSON.parse((await server.call("create_task", { title: "A" })).text);
    const start = (toolUseId: string) =>
      server.call("update_task_status", { task_id: id, status: "in_progress" }, { toolUseId });
    expect(await start("by_a1")).toEqual({ text: '{"ok":true}', isError: false });
    expect(await start("by_a1")).toEqual({ text: '{"ok":true}', isError: false });
    const refused = await start("by_a2");
    expect(refused.isError).toBe(true);
    expect(refused.text).toMatch(`${id} is held by claude-code-s1.a1 until `);
  });

  it("sees what the command line does, and the other way round", async () => {
    const project = workProject();
    const server = await workServer({}, project);
    const { id } = await server.ask("create_task", { title: "From MCP" });
    expect(project.haversack(["task", "show", id, "--json"]).json()).toMatchObject({ id, title: "From MCP" });
    const other = project.haversack(["task", "create", "From the shell", "--json"]).json();
    expect(await server.ask("get_task", { task_id: other.id })).toMatchObject({ title: "From the shell" });
    project.haversack(["claim", id, "--agent", "shell"]);
    expect(await server.refuse("update_task_status", { task_id: id, status: "in_progress" })).toContain(
      `${id} is held by shell until `,
    );
  });
});

describe("wrong input is an error that names the field, and nothing is changed", () => {
  it.each([
    ["create_task", {}, "create_task: title is missing"],
    [
      "create_task",
      { title: "two\nlines" },
      "title must be one line, but has a line break; put the rest into description",
    ],
    ["create_task", { title: " " }, "title must not be empty"],
    ["create_task", { title: "x".repeat(301) }, "title has 301 characters; at most 300"],
    [
      "create_task",
      { title: "x", task_type: "story" },
      'create_task: task_type must be one of feature, bug, chore, spike, test, api, but is "story"',
    ],
    ["create_task", { title: "x", priority: "high" }, "create_task: priority must be one of P0, P1, P2, P3"],
    ["create_task", { title: "x", story_id: "S123456789012" }, 'there is no story "S123456789012"'],
    ["create_task", { title: "x", depends_on: ["T000"] }, 'there is no task "T000"'],
    ["create_task", { title: "x", files: "src/a.ts" }, "create_task: files must be a list"],
    ["create_task", { title: "x", titel: "y" }, 'create_task: there is no parameter "titel"; did you mean title?'],
    ["get_tasks", { limit: -5 }, "limit must be a whole number of at least 1, but is -5"],
    ["get_tasks", { limit: 0 }, "limit must be a whole number of at least 1, but is 0"],
    ["get_tasks", { offset: -1 }, "offset must be a whole number of at least 0, but is -1"],
    ["get_tasks", { max_tokens: -1 }, "max_tokens must be a whole number of at least 1, but is -1"],
    [
      "get_tasks",
      { status: "open" },
      'get_tasks: status must be one of todo, in_progress, review, done, blocked, archived, but is "open"',
    ],
    ["get_tasks", { fields: "tiny" }, "get_tasks: fields must be one of minimal, standard, full"],
    ["get_next_batch", { limit: -1 }, "limit must be a whole number of at least 1, but is -1"],
    ["get_next_batch", { batch_size: 0 }, "batch_size must be a whole number of at least 1, but is 0"],
    ["get_session_context", { max_tokens: 0 }, "max_tokens must be a whole number of at least 1, but is 0"],
    ["get_task", {}, "get_task: task_id is missing"],
    ["update_task_status", { task_id: "ID", status: "finished" }, "update_task_status: status must be one of todo,"],
    ["update_task_status", { task_id: "ID", status: "blocked" }, "notes are missing: say what blocks the task"],
    ["update_task_status", { task_id: "ID", status: "blocked", notes: " " }, "notes are missing"],
    [
      "update_task_status",
      { task_id: "ID", status: "done", notes: "x".repeat(100_001) },
      "notes has 100001 characters; at most 100000",
    ],
    ["update_task_wip", { task_id: "ID", wip_data: [] }, "update_task_wip: wip_data must be an object, but is []"],
    ["update_task_wip", { task_id: "ID", wip_data: "next" }, "update_task_wip: wip_data must be an object"],
    [
      "update_task_wip",
      { task_id: "ID", wip_data: { a: "x".repeat(200_001) } },
      "wip_data has 200009 bytes; at most 200000",
    ],
    [
      "set_task_handoff",
      { task_id: "ID", status: "GOOD", summary: "s" },
      "set_task_handoff: status must be one of PASS, FAIL, BLOCKED",
    ],
    [
      "set_task_handoff",
      { task_id: "ID", status: "PASS", summary: "x".repeat(2001) },
      "summary has 2001 characters; at most 2000 (put the whole into full_details",
    ],
    [
      "set_task_handoff",
      { task_id: "ID", status: "PASS", summary: "s", attempt: -1 },
      "attempt must be a whole number of at least 1, but is -1",
    ],
    ["get_task_handoff", { task_id: "ID", from: -1 }, "from must be a whole number of at least 0, but is -1"],
    ["get_task_handoff", { task_id: "ID" }, "ID has no handoff yet; set_task_handoff stores one."],
  ])("%s %j", async (tool, input, line) => {
    const server = await workServer();
    const { id } = await server.ask("create_task", { title: "Only one" });
    const before = await server.ask("get_task", { task_id: id, fields: "full" });
    const given = "task_id" in input ? { ...input, task_id: id } : input;
    expect(await server.refuse(tool, given)).toContain(line.replace("ID", id));
    expect(await server.ask("get_task", { task_id: id, fields: "full" })).toEqual(before);
    expect(await server.text("get_tasks")).toBe(`${id} Only one`);
  });

  it("an error names only tools that are listed", async () => {
    const project = workProject();
    project.haversack(["epic", "create", "Accounts"]);
    const server = await workServer({}, project);
    const { tools } = await server.request("tools/list");
    const listed = tools.map(({ name }: { name: string }) => name).join(", ");
    expect(await server.refuse("zzzzzzzzzz")).toBe(`There is no tool "zzzzzzzzzz"; there is ${listed}`);
    expect(await server.refuse("get_next_batch", { epic_id: "E99999999" })).toBe(
      'there is no epic "E99999999" (`haversack epic list` shows them)',
    );
  });

  it("an unknown id brings the nearest one, in every tool that takes one", async () => {
    const server = await workServer();
    const { id } = await server.ask("create_task", { title: "A" });
    const wrong = `${id.slice(0, -1)}${id.endsWith("0") ? "1" : "0"}`;
    for (const [tool, input] of [
      ["get_task", {}],
      ["update_task_status", { status: "done" }],
      ["update_task_wip", { wip_data: {} }],
      ["set_task_handoff", { status: "PASS", summary: "s" }],
      ["get_task_handoff", {}],
    ] as const) {
      expect(await server.refuse(tool, { task_id: wrong, ...input })).toBe(
        `there is no task "${wrong}"; did you mean ${id}?`,
      );
    }
    expect(await server.text("get_tasks")).toBe(`${id} A`);
  });

  it("a shortened id is refused with the whole one, for every id parameter of every tool", async () => {
    const server = await workServer({ args: ["--tools", "all"] });
    const epic = await server.ask("create_epic", { title: "E" });
    const story = await server.ask("create_story", { title: "S", epic_id: epic.id });
    const { id } = await server.ask("create_task", { title: "A", story_id: story.id });
    const whole: Record<string, string> = { epic_id: epic.id, story_id: story.id };
    const { tools } = await server.request("tools/list");
    const names = /^(?:task_id|story_id|epic_id|parent_id|depends_on|depends_on_task_id|about|id)$/;
    let seen = 0;
    for (const { name, inputSchema } of tools) {
      const fields: Record<string, { type: string; enum?: string[] }> = inputSchema.properties;
      for (const field of Object.keys(fields)) {
        if (!names.test(field)) continue;
        seen++;
        const meant = whole[field] ?? id;
        const short = meant.slice(0, -1);
        const others = (inputSchema.required ?? []).map((required: string) => [required, valueFor(fields[required])]);
        const given = fields[field]?.type === "array" ? [meant, short] : short;
        const text = await server.refuse(name, { ...Object.fromEntries(others), [field]: given });
        expect({ name, field, text }).toEqual({
          name,
          field,
          text: expect.stringMatching(`^there is no \\w+ "${short}"; did you mean ${meant}\\?`),
        });
      }
    }
    expect(seen).toBeGreaterThan(40);
    expect(await server.refuse("get_task", { task_id: "T4" })).toMatch(/^there is no task "T4"/);
    expect(await server.ask("get_task", { task_id: id.toLowerCase() })).toMatchObject({ id });
    expect(await server.text("get_tasks")).toBe(`${id} A`);
  });

  it("what another holds says so without a way to take it, and no error names a command to run", async () => {
    const project = workProject();
    const server = await workServer({}, project);
    const { id } = await server.ask("create_task", { title: "A" });
    project.haversack(["claim", id, "--agent", "bob"]);
    for (const refused of [
      await server.refuse("update_task_status", { task_id: id, status: "in_progress" }),
      await server.refuse("update_task_wip", { task_id: id, wip_data: { phase: "mine" } }),
      await server.refuse("get_task", { task_id: "nothing-like-this" }),
      await server.refuse("get_tasks", { story_id: "nothing-like-this" }),
    ]) {
      expect(refused).not.toMatch(/`haversack|steal|claim_task/);
    }
  });

  it("a status that cannot follow says which can", async () => {
    const server = await workServer();
    const { id } = await server.ask("create_task", { title: "A" });
    await server.ask("update_task_status", { task_id: id, status: "done" });
    expect(await server.refuse("update_task_status", { task_id: id, status: "review" })).toBe(
      `${id} is done and cannot become review; from done it can go to todo or archived.`,
    );
  });

  it("a message of 11 MB is read, and the server goes on", async () => {
    const server = await workServer();
    const { id } = await server.ask("create_task", { title: "A" });
    const details = "a line of a long log\n".repeat(550_000);
    expect(details.length).toBeGreaterThan(11_000_000);
    const handoff = { task_id: id, status: "FAIL", summary: "Much.", full_details: details };
    expect(await server.ask("set_task_handoff", handoff)).toEqual({ status: "FAIL", summary: "Much." });
    expect(await server.ask("get_task_handoff", { task_id: id })).toMatchObject({
      details_chars: details.length,
    });
  });

  it("details of 10 MB are stored whole, without their secrets, and come back in pages", async () => {
    const server = await workServer();
    const { id } = await server.ask("create_task", { title: "A" });
    const line = "PASS src/auth.test.ts > takes the token (12 ms)\n";
    const key = `ghp_${"a1B2".repeat(10)}`;
    const details = `${line.repeat(Math.ceil(10_000_000 / line.length))}${key}\nend`;
    const reply = await server.text("set_task_handoff", {
      task_id: id,
      status: "FAIL",
      summary: "Much.",
      full_details: details,
    });
    expect(reply).toBe('{"status":"FAIL","summary":"Much."}');
    const { details_chars: chars } = await server.ask("get_task_handoff", { task_id: id });
    const first = await server.ask("get_task_handoff", { task_id: id, include_details: true });
    expect(first.full_details).toBe(details.slice(0, 20_000));
    expect(first.next_from).toBe(20_000);
    const last = await server.ask("get_task_handoff", { task_id: id, from: chars - 30 });
    expect(last).toEqual({ full_details: expect.stringMatching(/\[masked:github-token\]\nend$/) });
  });

  it("a project that does not use Haversack reads as empty, and gets its folder with the first task", async () => {
    const project = scratchProject();
    const server = await workServer({}, project);
    expect(await server.text("get_tasks")).toBe("no tasks");
    expect(await server.ask("get_session_context")).toEqual({ ready: 0 });
    expect(await server.refuse("update_task_status", { task_id: "T1", status: "done" })).toContain(
      'there is no task "T1"',
    );
    expect(existsSync(join(project.root, ".haversack"))).toBe(false);
    await server.ask("create_task", { title: "A" });
    expect(existsSync(join(project.root, ".haversack/haversack.db"))).toBe(true);
    expect(await server.text("get_tasks")).toMatch(/^T\d+ A$/);
  });

  it("a wrong setting stops nothing", async () => {
    const project = workProject();
    const server = await workServer({}, project);
    project.write(".haversack/config.json", '{"work": {"leaseMinutes": "soon"}}');
    expect(await server.text("get_tasks")).toBe("no tasks");
  });

  it("a store that is none is one line with what to do", async () => {
    const project = workProject();
    // The user's own file, damaged in place.
    expect(project.haversack(["task", "create", "A"]).code).toBe(0);
    for (const end of ["-wal", "-shm"]) rmSync(join(project.root, `.haversack/haversack.db${end}`), { force: true });
    const store = project.write(".haversack/haversack.db", "this is no database, and long enough to be taken for one");
    const server = await workServer({}, project);
    expect(await server.refuse("create_task", { title: "A" })).toContain(`${store} is not a database`);
  });
});

/** Any value that the schema accepts. */
function valueFor(field: { type: string; enum?: string[] } | undefined): unknown {
  if (field?.enum) return field.enum[0];
  return { boolean: true, integer: 1, number: 1, object: {}, array: [] }[field?.type ?? ""] ?? "x";
}

function workProject(): Scratch {
  const project = scratchProject();
  project.write(".haversack/config.json", "{}");
  return project;
}

async function workServer(options: ServerOptions = {}, project: Scratch = workProject()) {
  const server = await startServer(project, options);
  const text = async (tool: string, input: object = {}): Promise<string> => {
    const answer = await server.call(tool, input);
    if (answer.isError) throw new Error(`${tool}: ${answer.text}`);
    return answer.text;
  };
  /** Input that must be refused, and the expected error. */
  const refuse = async (tool: string, input: object = {}): Promise<string> => {
    const answer = await server.call(tool, input);
    if (!answer.isError) throw new Error(`${tool} was not refused: ${answer.text}`);
    return answer.text;
  };
  return {
    ...server,
    text,
    refuse,
    ask: async (tool: string, input: object = {}) => JSON.parse(await text(tool, input)),
  };
}
