/** Every command of the work part through the built bin, with output for people and for scripts. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openDatabase } from "../packages/haversack/src/store/sqlite/open.ts";
import { SqliteWorkStore } from "../packages/haversack/src/store/sqlite/work/sqlite-work-store.ts";
import { type Ran, type Scratch, scratchProject } from "./bins.ts";

const ID = { epic: /^E\d{4,12}$/, story: /^S\d{4,12}$/, task: /^T\d{4,12}$/, handoff: /^H\d{4,12}$/ };

describe("making and changing", () => {
  it("a title is enough for a task", () => {
    const project = workProject();
    const made = project.json("task", "create", "Fix the login");
    expect(made).toEqual({ id: expect.stringMatching(ID.task), title: "Fix the login", status: "todo" });
    expect(project.say("task", "create", "Another")).toMatch(/^Created task T\d{4,12}: Another\n$/);
    expect(project.say("task", "list")).toContain("2 tasks.");
  });

  it("keeps every field of a task and shows it", () => {
    const project = workProject();
    const epic = project.json("epic", "create", "Passkeys", "--priority", "P0").id;
    const story = project.json("story", "create", "Register", "--epic", epic, "--criteria", "a second device works").id;
    const parent = project.json("task", "create", "All of it").id;
    const words = ["--story", story, "--parent", parent, "--type", "bug", "--priority", "P1", "--description", "What"];
    words.push("--criteria", "It works", "--files", "src/a.ts,src/b.ts", "--files", "src/c.ts", "--estimate", "2.5");
    words.push(
      "--skill",
      "api-errors",
      "--plan",
      "docs/plan.md#Task 3",
      "--assignee",
      "maria",
      "--context",
      "Background",
    );
    words.push("--step", "One", "--step", "Two, with a comma", "--depends-on", parent, "--source", "issue 7");
    const { id } = project.json("task", "create", "Store the key", ...words);
    const full = project.json("task", "show", id, "--fields", "full");
    expect(full).toMatchObject({
      id,
      title: "Store the key",
      status: "todo",
      story_id: story,
      epic_id: epic,
      parent_id: parent,
      task_type: "bug",
      priority: "P1",
      description: "What",
      acceptance_criteria: "It works",
      files: ["src/a.ts", "src/b.ts", "src/c.ts"],
      steps: [{ text: "One" }, { text: "Two, with a comma" }],
      estimate_hours: 2.5,
      skill: "api-errors",
      traceability_ref: "docs/plan.md#Task 3",
      assignee: "maria",
      context_summary: "Background",
      source: "issue 7",
      waits_for: [{ id: parent, title: "All of it", status: "todo" }],
    });
    const text = project.say("task", "show", id);
    for (const part of [
      "Store the key",
      "bug, P1",
      `${story} Register`,
      `${epic} Passkeys`,
      "[ ] One",
      "src/c.ts",
      "2.5 h",
    ])
      expect(text).toContain(part);
    expect(project.json("task", "show", id, "--fields", "minimal")).toEqual({
      id,
      title: "Store the key",
      status: "todo",
    });
  });

  it("changes some fields, clears others, and leaves the rest", () => {
    const project = workProject();
    const { id } = project.json(
      "task",
      "create",
      "Old",
      "--estimate",
      "3",
      "--skill",
      "x",
      "--files",
      "a,b",
      "--type",
      "api",
    );
    expect(
      project.json("task", "update", id, "--title", "New", "--clear", "estimate", "--clear", "files"),
    ).toMatchObject({ title: "New" });
    const task = project.json("task", "show", id, "--fields", "full");
    expect(task).toMatchObject({ title: "New", skill: "x", task_type: "api" });
    expect(task).not.toHaveProperty("estimate_hours");
    expect(task).not.toHaveProperty("files");
    expect(project.refused("task", "update", id).err).toContain("give at least one field to change");
    expect(project.refused("task", "update", id, "--skill", "y", "--clear", "skill").err).toContain(
      "skill cannot be both given and cleared",
    );
  });

  it("takes long texts from standard input with -", () => {
    const project = workProject();
    const made = project.haversack(["task", "create", "T", "--description", "-", "--json"], {
      stdin: "line 1\nline 2\n",
    });
    expect(project.json("task", "show", made.json().id).description).toBe("line 1\nline 2");
    expect(project.refused("task", "create", "T", "--description", "-").err).toContain(
      "- reads standard input, but nothing came",
    );
  });

  it("makes, lists, shows and changes epics and stories, and their status follows the tasks", () => {
    const project = workProject();
    const low = project.json("epic", "create", "Low", "--priority", "P3").id;
    const high = project.json("epic", "create", "High", "--description", "why").id;
    expect(low).toMatch(ID.epic);
    expect(project.json("epic", "list").map(({ id }: { id: string }) => id)).toEqual([high, low]);
    project.json("epic", "update", low, "--priority", "P0", "--title", "Lifted");
    expect(project.say("epic", "list").split("\n")[0]).toMatch(new RegExp(`^${low} +todo +P0 +Lifted$`));

    const story = project.json("story", "create", "Story", "--epic", low).id;
    expect(story).toMatch(ID.story);
    const task = project.json("task", "create", "Only one", "--story", story).id;
    project.json("task", "claim", task);
    expect(project.json("story", "show", story)).toMatchObject({
      id: story,
      status: "in_progress",
      epic_id: low,
      tasks: { in_progress: 1 },
    });
    expect(project.say("epic", "show", low)).toMatch(/tasks +1 in progress\n/);
    const done = project.haversack(["task", "done", task]);
    expect(done.out).toContain(`Story ${story} is complete: Story`);
    expect(done.out).toContain(`Epic ${low} is complete: Lifted`);
    expect(project.json("story", "list", "--status", "done")).toEqual([{ id: story, title: "Story", status: "done" }]);
    project.json("story", "update", story, "--clear", "epic");
    expect(project.json("story", "show", story)).not.toHaveProperty("epic_id");
    expect(project.json("epic", "update", high, "--status", "archived")).toMatchObject({ status: "archived" });
    expect(project.json("epic", "list").map(({ id }: { id: string }) => id)).toEqual([low]);
  });
});

describe("lists", () => {
  it("obeys --limit, says how many were left out and the command that shows them", () => {
    const project = workProject();
    for (let at = 1; at <= 5; at++) project.json("task", "create", `Task ${at}`, "--type", "chore");
    const text = project.say("task", "list", "--type", "chore", "--limit", "2");
    expect(text.match(/^T\d/gm)).toHaveLength(2);
    const more = /2 of 5 tasks; `haversack (.*)` shows the next\.\n$/.exec(text)?.[1];
    expect(more).toBe("task list --type chore --limit 2 --offset 2");
    expect(project.say(...(more ?? "").split(" "))).toContain("3 to 4 of 5 tasks;");
    expect(project.say("task", "list", "--limit", "2", "--offset", "4")).toContain("\n5 tasks.\n");
    expect(project.say("task", "list", "--offset", "9")).toBe("No more: there are 5 tasks.\n");

    const ran = project.haversack(["task", "list", "--limit", "2", "--json"]);
    expect(ran.json()).toHaveLength(2);
    expect(ran.err).toBe(
      "haversack: note: 2 of 5 tasks; `haversack task list --limit 2 --offset 2 --json` shows the next\n",
    );
    expect(project.json("task", "list", "--limit", "5")).toHaveLength(5);
  });

  it("lists 50 unless told otherwise, minimal unless told otherwise, within a budget of tokens", async () => {
    const project = workProject();
    await fill(project, 60);
    expect(project.json("task", "list")).toHaveLength(50);
    expect(project.json("task", "list", "--limit", "60")).toHaveLength(60);
    expect(Object.keys(project.json("task", "list")[0])).toEqual(["id", "title", "status"]);
    expect(project.json("task", "list", "--fields", "standard")[0]).toHaveProperty("priority");
    const few = project.haversack(["task", "list", "--max-tokens", "200", "--json"]);
    expect(few.json().length).toBeGreaterThan(1);
    expect(few.json().length).toBeLessThan(15);
    expect(few.err).toContain("of 60 tasks");
    expect(project.json("next")).toHaveLength(10);
    expect(project.json("next", "--limit", "25")).toHaveLength(25);
  });

  it("narrows by status, type, priority, assignee, parent, plan, story and WIP", () => {
    const project = workProject();
    const story = project.json("story", "create", "S").id;
    const a = project.json("task", "create", "A", "--type", "bug", "--assignee", "maria", "--story", story).id;
    const b = project.json("task", "create", "B", "--priority", "P0", "--parent", a, "--plan", "p.md#1").id;
    project.json("wip", b, '{"phase":"x"}');
    project.json("task", "done", a);
    const ids = (...words: string[]) => project.json("task", "list", ...words).map(({ id }: { id: string }) => id);
    expect(ids("--status", "done")).toEqual([a]);
    expect(ids("--type", "bug")).toEqual([a]);
    expect(ids("--priority", "P0")).toEqual([b]);
    expect(ids("--assignee", "maria")).toEqual([a]);
    expect(ids("--parent", a)).toEqual([b]);
    expect(ids("--plan", "p.md")).toEqual([b]);
    expect(ids("--story", story)).toEqual([b, a]);
    expect(ids("--wip")).toEqual([b]);
    expect(ids("--status", "review")).toEqual([]);
    expect(project.say("task", "list", "--status", "review")).toBe("No tasks match.\n");
  });

  it("an empty project says what to do, and prints empty lists to scripts", () => {
    const project = workProject();
    expect(project.say("task", "list")).toBe('No tasks yet; `haversack task create "TITLE"` creates one.\n');
    expect(project.say("status")).toContain("No tasks yet");
    expect(project.say("next")).toBe("Nothing is ready: there are no tasks.\n");
    for (const list of [
      ["task", "list"],
      ["epic", "list"],
      ["story", "list"],
      ["handoff", "list"],
      ["next"],
      ["task", "list", "--tree"],
      ["task", "log"],
    ])
      expect(project.json(...list)).toEqual([]);
  });
});

describe("the queue", () => {
  it("next follows priorities and dependencies, within an epic or a story", () => {
    const project = workProject();
    const epic = project.json("epic", "create", "E", "--priority", "P0").id;
    const story = project.json("story", "create", "S", "--epic", epic).id;
    const inEpic = project.json("task", "create", "In the epic", "--story", story).id;
    const low = project.json("task", "create", "Low", "--priority", "P3").id;
    const high = project.json("task", "create", "High", "--priority", "P0").id;
    const waiting = project.json("task", "create", "Waiting", "--depends-on", inEpic, "--story", story).id;
    const ids = (...words: string[]) => project.json("next", ...words).map(({ id }: { id: string }) => id);
    expect(ids()).toEqual([inEpic, high, low]);
    expect(ids("--limit", "1")).toEqual([inEpic]);
    expect(ids("--epic", epic)).toEqual([inEpic]);
    project.json("task", "done", inEpic);
    expect(ids("--story", story)).toEqual([waiting]);
    expect(project.say("next", "--limit", "1")).toMatch(
      new RegExp(
        `^${waiting} +P2 +feature +Waiting\n\n1 of 3 ready\\. \`haversack task next --limit 10\` shows more\\.\n$`,
      ),
    );
  });

  it("a batch shares no file", () => {
    const project = workProject();
    const a = project.json("task", "create", "A", "--files", "src/a.ts").id;
    project.json("task", "create", "Also A", "--files", "src/");
    const b = project.json("task", "create", "B", "--files", "docs/b.md").id;
    expect(project.json("next", "--batch", "--limit", "3").map(({ id }: { id: string }) => id)).toEqual([a, b]);
    expect(project.say("next", "--batch", "--limit", "3")).toContain("1 touches files of those");
  });

  it("dependencies are added, listed, removed; a cycle is refused and shown", () => {
    const project = workProject();
    const [a, b, c] = ["A", "B", "C"].map((title) => project.json("task", "create", title).id) as [
      string,
      string,
      string,
    ];
    expect(project.json("task", "dep", b, "--add", a)).toEqual({
      id: b,
      depends_on: [{ id: a, title: "A", status: "todo", type: "blocks" }],
      notes: [`${b} waits for ${a}.`],
    });
    expect(project.say("task", "dep", c, "--add", b, "--type", "requires")).toBe(`${c} waits for ${b}.\n`);
    expect(project.say("task", "dep", c, "--add", b, "--type", "requires")).toBe(`${c} waits for ${b} already.\n`);
    const cycle = project.haversack(["task", "dep", a, "--add", c, "--json"]);
    expect(cycle).toMatchObject({ code: 1, out: "" });
    expect(cycle.err).toContain(`${a} -> ${c} -> ${b} -> ${a}`);
    expect(project.json("task", "dep", b)).toEqual({
      id: b,
      depends_on: [{ id: a, title: "A", status: "todo", type: "blocks" }],
      needed_by: [{ id: c, title: "C", status: "todo", type: "requires" }],
    });
    expect(project.say("task", "dep", b)).toMatch(
      new RegExp(`^${b} depends on\n  ${a} +todo +blocks +A\n${b} is needed by\n`),
    );
    expect(project.json("task", "dep", b, "--rm", a)).toEqual({
      id: b,
      needed_by: [{ id: c, title: "C", status: "todo", type: "requires" }],
      notes: [`${b} no longer depends on ${a}.`],
    });
    const again = project.haversack(["task", "dep", b, "--rm", a]);
    expect(again.code).toBe(1);
    expect(again.err).toContain(`${b} does not depend on ${a}`);
  });
});

describe("claims", () => {
  it("the first wins, and the others are told who has it", () => {
    const project = workProject();
    const { id } = project.json("task", "create", "Wanted");
    const claimed = project.json("claim", "--agent", "alice", "--lease", "30");
    expect(claimed).toMatchObject({ id, status: "in_progress", claim: { agent: "alice" } });
    const minutes = (Date.parse(claimed.claim.lease_until) - Date.now()) / 60_000;
    expect(minutes).toBeGreaterThan(25);
    expect(minutes).toBeLessThanOrEqual(30);
    const late = project.haversack(["claim", id, "--agent", "bob", "--json"]);
    expect(late).toMatchObject({ code: 1, out: "" });
    expect(late.err).toContain(`${id} is held by alice`);
    // People are told how to take it, agents are not.
    expect(late.err).not.toContain("--steal");
    expect(project.haversack(["claim", id], { env: { USER: "maria" } }).err).toContain(`claim ${id} --steal REASON`);
    const none = project.haversack(["claim", "--agent", "bob", "--json"]);
    expect(none).toMatchObject({ code: 1, out: "" });
    expect(none.err).not.toBe("");
    expect(project.say("task", "claim", id, "--agent", "bob", "--steal", "alice is gone")).toContain(
      `${id} is bob's for 60 min`,
    );
    expect(project.haversack(["task", "heartbeat", id, "--agent", "alice"])).toMatchObject({ code: 1, out: "" });
  });

  it("takes the agent's name from HAVERSACK_AGENT", () => {
    const project = workProject();
    project.json("task", "create", "T");
    expect(project.haversack(["claim", "--json"], { env: { HAVERSACK_AGENT: "carol" } }).json().claim.agent).toBe(
      "carol",
    );
    expect(project.refused("claim", "--agent", "").err).toContain("--agent must not be empty");
  });

  it("heartbeat prolongs, release gives back with a reason, and only the holder's", () => {
    const project = workProject();
    const { id } = project.json("task", "create", "T");
    project.json("claim", id, "--agent", "alice", "--lease", "1");
    const [{ id: held, lease_until: until }] = project.json("task", "heartbeat", "--agent", "alice", "--lease", "90");
    expect(held).toBe(id);
    expect(Date.parse(until) - Date.now()).toBeGreaterThan(80 * 60_000);
    expect(project.say("task", "heartbeat", id, "--agent", "alice")).toBe(`${id}: alice, 90 min left\n`);
    expect(project.haversack(["task", "heartbeat", "--agent", "nobody"]).code).toBe(1);
    const other = project.haversack(["task", "release", id, "--agent", "bob"]);
    expect(other.code).toBe(1);
    expect(other.err).toContain("held by alice");
    expect(project.json("task", "release", id, "--agent", "alice", "--reason", "needs a database")).toEqual({
      id,
      status: "todo",
    });
    expect(project.json("task", "show", id).note).toContain("needs a database");
    expect(project.haversack(["task", "release", id, "--agent", "alice"]).code).toBe(1);
  });

  it("hands out no quality review before the spec review, and names what it waits for", () => {
    const project = workProject();
    const parent = project.json("task", "create", "Add login").id;
    const quality = project.json("task", "create", "Code quality review", "--parent", parent, "--priority", "P0").id;
    const spec = project.json("task", "create", "Spec review", "--parent", parent).id;
    const ready = () => project.json("next").map(({ id }: { id: string }) => id);
    expect(ready()).not.toContain(quality);
    const { code, err } = project.haversack(["claim", quality, "--agent", "ann"]);
    expect(code).toBe(1);
    expect(err).toContain(`${quality} waits for ${spec} (todo: Spec review)`);
    expect(project.json("claim", quality, "--agent", "ann", "--force").id).toBe(quality);
    project.say("task", "release", quality, "--agent", "ann");
    project.say("task", "done", spec);
    expect(ready()[0]).toBe(quality);
  });

  it("tells who may release what another agent holds, and takes ids without their letter", () => {
    const project = workProject();
    const { id } = project.json("task", "create", "A");
    project.say("claim", id.slice(1), "--agent", "rev");
    for (const [words, verb] of [
      [["task", "release", id], "release"],
      [["task", "done", id], "change"],
    ] as const) {
      const { err } = project.haversack([...words, "--agent", "june"]);
      expect(err).toMatch(
        new RegExp(`^haversack: error: ${id} is held by rev until \\S+; only rev or a person can ${verb} it\\n`),
      );
    }
    expect(project.json("task", "show", id.slice(1)).id).toBe(id);
    expect(project.say("task", "dep", id.slice(1))).toContain(id);
    expect(project.say("task", "log", id.slice(1))).toContain("claimed by rev");
  });

  it("does not start what waits, unless it is forced", () => {
    const project = workProject();
    const first = project.json("task", "create", "First").id;
    const second = project.json("task", "create", "Second", "--depends-on", first).id;
    const refused = project.haversack(["task", "claim", second]);
    expect(refused.code).toBe(1);
    expect(refused.err).toContain(`${second} waits for ${first}`);
    expect(project.json("task", "claim", second, "--force")).toMatchObject({ id: second, status: "in_progress" });
  });
});

describe("statuses", () => {
  it("goes through review, done, reopen, block, unblock and archive", () => {
    const project = workProject();
    const { id } = project.json("task", "create", "T");
    const steps: [words: string[], status: string][] = [
      [["task", "claim", id], "in_progress"],
      [["task", "review", id, "--notes", "please look"], "review"],
      [["task", "done", id], "done"],
      [["task", "done", id], "done"],
      [["task", "reopen", id], "todo"],
      [["task", "block", id, "no access"], "blocked"],
      [["task", "unblock", id], "todo"],
      [["task", "archive", id], "archived"],
    ];
    for (const [words, status] of steps) expect(project.json(...words)).toMatchObject({ id, status });
    expect(project.json("task", "list")).toEqual([]);
    expect(project.json("task", "list", "--status", "archived")).toHaveLength(1);
    expect(project.say("task", "reopen", id)).toBe(`${id} is todo, was archived: T\n`);
    const story = project.json("task", "log", id).map(({ text }: { text: string }) => text);
    expect(story.join("\n")).toContain("no access");
    expect(story.join("\n")).toContain("please look");
  });

  it("refuses a status that cannot follow, and names those that can", () => {
    const project = workProject();
    const { id } = project.json("task", "create", "T");
    project.json("task", "archive", id);
    const ran = project.haversack(["task", "review", id, "--json"]);
    expect(ran).toMatchObject({ code: 1, out: "" });
    expect(ran.err).toContain("it can go to todo");
    expect(project.json("task", "list", "--status", "archived")).toEqual([{ id, title: "T", status: "archived" }]);
  });
});

describe("WIP", () => {
  it("merges, keeps what was replaced, and reads JSON from standard input", () => {
    const project = workProject();
    const { id } = project.json("task", "create", "T");
    expect(project.json("wip", id, '{"phase":"testing","files_modified":["a.ts"],"mine":{"x":1}}')).toEqual({
      id,
      changed: true,
    });
    const stdin = '{"phase":"review","files_modified":["b.ts"]}';
    expect(project.haversack(["wip", id, "-"], { stdin }).out).toBe(`Work in progress of ${id} saved.\n`);
    expect(project.haversack(["wip", id, "-", "--json"], { stdin }).json()).toEqual({ id, changed: false });
    const shown = project.json("wip", id, "--history");
    expect(shown).toMatchObject({
      id,
      wip: { phase: "review", files_modified: ["a.ts", "b.ts"], mine: { x: 1 } },
      history: [{ path: "phase", before: "testing", after: "review" }],
    });
    const text = project.say("wip", id, "--history");
    expect(text).toContain('- mine: {"x":1}');
    expect(text).toMatch(/phase +testing → review/);
    expect(project.say("task", "show", id)).toContain("Phase: review");
  });

  it("shows a session's too, with its history", () => {
    const project = workProject();
    project.json("skill", "index");
    const event = (command: string, output: string) => ({
      session_id: "s1",
      cwd: project.root,
      hook_event_name: "PostToolUse",
      tool_name: "Bash",
      tool_input: { command },
      tool_response: { stdout: output, stderr: "", interrupted: false, isImage: false },
    });
    project.hook(event("npx vitest run", " Test Files  1 failed (1)\n      Tests  1 failed | 2 passed (3)\n"));
    project.hook(event("npx vitest run", " Test Files  1 passed (1)\n      Tests  3 passed (3)\n"));
    const shown = project.json("wip", "--session", "s1", "--history");
    expect(shown).toMatchObject({ session_id: "s1", agent_id: "", wip: { test_results: { passed: 3 } } });
    expect(shown.history[0]).toMatchObject({ path: expect.stringContaining("test_results") });
    expect(project.say("wip", "--session", "s1")).toContain("Tests: 3 passed");
    expect(project.refused("wip", "T1", "--session", "s1").err).toContain("a task or a session, not both");
  });
});

describe("handoffs", () => {
  it("stores details whole, answers small, and reads them in pages", () => {
    const project = workProject();
    const { id } = project.json("task", "create", "T");
    const details = "0123456789".repeat(1_000_000);
    const words = ["handoff", "set", id, "--status", "PASS", "--summary", "Works", "--files", "a.ts,b.ts"];
    const set = project.haversack([...words, "--details", "-", "--json"], { stdin: details });
    expect(set.json()).toEqual({
      id: expect.stringMatching(ID.handoff),
      task_id: id,
      status: "PASS",
      summary: "Works",
    });
    const shown = project.json("handoff", "show", id);
    expect(shown).toMatchObject({
      role: "implementer",
      attempt: 1,
      status: "PASS",
      files_changed: ["a.ts", "b.ts"],
      details_chars: 10_000_000,
    });
    expect(shown).not.toHaveProperty("full_details");

    const page = project.haversack(["handoff", "show", id, "--details", "--json"]);
    expect(page.json().full_details).toHaveLength(20_000);
    expect(page.err).toContain(`\`haversack handoff show ${id} --details --from 20000 --json\` shows more`);
    const last = project.haversack(["handoff", "show", id, "--from", "9999990", "--json"]);
    expect(last.json()).toEqual({ id: shown.id, task_id: id, full_details: "0123456789" });
    expect(last.err).toBe("");
  });

  it("has one per role and attempt, and lists them", () => {
    const project = workProject();
    const { id } = project.json("task", "create", "T");
    const file = project.write("out.txt", "the whole story\n");
    project.say("handoff", "set", id, "--status", "FAIL", "--summary", "First", "--details", file);
    expect(project.say("handoff", "set", id, "--status", "PASS", "--summary", "Second")).toMatch(
      /PASS for T\d+ stored as H\d+ \(implementer, attempt 2\)\.\n/,
    );
    project.say("handoff", "set", id, "--status", "BLOCKED", "--summary", "Third", "--role", "spec-reviewer");
    expect(project.json("handoff", "list").map(({ summary }: { summary: string }) => summary)).toEqual([
      "Third",
      "Second",
      "First",
    ]);
    expect(project.json("handoff", "show", id, "--role", "implementer")).toMatchObject({
      summary: "Second",
      attempt: 2,
    });
    const text = project.say("handoff", "show", id, "--attempt", "1", "--role", "implementer", "--details");
    expect(text).toContain("FAIL for");
    expect(text).toContain("the whole story");
    expect(project.say("handoff", "list", "--task", id, "--limit", "1")).toContain(
      `1 of 3 handoffs; \`haversack handoff list --task ${id} --limit 3\` shows all.`,
    );
    expect(project.json("handoff", "list", "--fields", "full")[2]).toMatchObject({ state: "whole", details_chars: 16 });
    expect(project.json("handoff", "list", "--max-tokens", "80").length).toBeLessThan(3);
    const other = project.json("task", "create", "Other").id;
    expect(project.haversack(["handoff", "show", other])).toMatchObject({ code: 1, out: "" });
  });

  it("shrink when their story completes, failed ones never by themselves, and come back", () => {
    const project = workProject();
    const epic = project.json("epic", "create", "E").id;
    const story = project.json("story", "create", "S", "--epic", epic).id;
    const a = project.json("task", "create", "A", "--story", story).id;
    const b = project.json("task", "create", "B", "--story", story).id;
    const set = (id: string, status: string) =>
      project.haversack(["handoff", "set", id, "--status", status, "--summary", "x", "--details", "-"], {
        stdin: "long",
      });
    set(a, "PASS");
    set(b, "FAIL");
    project.json("task", "done", a);
    project.json("task", "done", b);
    expect(project.json("handoff", "list")).toHaveLength(1);
    expect(project.json("handoff", "list", "--archived")).toHaveLength(2);
    expect(project.json("handoff", "decay")).toEqual({ compacted: 0, archived: 0 });
    expect(project.say("handoff", "decay")).toBe("Nothing to archive.\n");
    expect(project.json("handoff", "restore", a)).toEqual({ id: a, restored: 1 });
    expect(project.json("handoff", "list")).toHaveLength(2);
    expect(project.json("handoff", "show", a, "--details").full_details).toBe("long");
    expect(project.refused("handoff", "decay", "--force").err).toContain("--force needs --epic or --story");
    const forced = project.json("handoff", "decay", "--story", story, "--force", "--include-failed");
    expect(forced.compacted + forced.archived).toBeGreaterThan(0);
    expect(project.say("handoff", "restore", story)).toMatch(/Restored \d+ handoffs? of S\d+/);
  });
});

describe("status, tree, activity", () => {
  it("status is one screen: counts, who does what, what is blocked and why, what comes next", () => {
    const project = workProject();
    const [a, b, c] = ["Alpha", "Beta", "Gamma"].map((title) => project.json("task", "create", title).id) as [
      string,
      string,
      string,
    ];
    project.json("claim", a, "--agent", "alice");
    project.json("task", "block", b, "no access");
    const text = project.say("status");
    expect(text).toContain("3 tasks: 1 in progress, 1 blocked, 1 todo (1 ready)");
    expect(text).toMatch(new RegExp(`In progress\n  ${a} +alice, 60 min left +Alpha\n`));
    expect(text).toMatch(new RegExp(`Blocked\n  ${b} +Beta: no access\n`));
    expect(text).toMatch(new RegExp(`Next\n  ${c} +P2 +feature +Gamma\n`));
    expect(project.json("status")).toMatchObject({
      tasks: { in_progress: 1, blocked: 1, todo: 1, ready: 1 },
      in_progress: [{ id: a, title: "Alpha", status: "in_progress", claim: { agent: "alice" } }],
      blocked: [{ id: b, blockers: ["no access"] }],
      next: [{ id: c, title: "Gamma" }],
    });
  });

  it("tree nests, folds what is done, and stays within its limit", () => {
    const project = workProject();
    const epic = project.json("epic", "create", "Epic").id;
    const story = project.json("story", "create", "Story", "--epic", epic).id;
    const done = project.json("task", "create", "Done", "--story", story).id;
    const open = project.json("task", "create", "Open", "--story", story).id;
    const loose = project.json("task", "create", "Loose").id;
    project.json("task", "done", done);
    const text = project.say("task", "list", "--tree");
    expect(text.split("\n").map((line) => line.trimEnd())).toEqual([
      expect.stringMatching(new RegExp(`^${epic} +in progress +Epic \\(1 of 2 done\\)$`)),
      expect.stringMatching(new RegExp(`^  ${story} +in progress +Story \\(1 of 2 done\\)$`)),
      expect.stringMatching(new RegExp(`^    ${open} +todo +Open$`)),
      "    1 done",
      expect.stringMatching(new RegExp(`^${loose} +todo +Loose$`)),
      "",
    ]);
    expect(project.json("task", "list", "--tree")).toEqual([
      {
        kind: "epic",
        id: epic,
        title: "Epic",
        status: "in_progress",
        stories: [
          {
            kind: "story",
            id: story,
            title: "Story",
            status: "in_progress",
            done: 1,
            tasks: [{ id: open, title: "Open", status: "todo" }],
          },
        ],
      },
      { kind: "task", id: loose, title: "Loose", status: "todo" },
    ]);
    expect(project.say("task", "list", "--tree", "--all")).toContain(done);
    expect(project.say("task", "list", "--tree", story)).not.toContain(epic);
    const cut = project.say("task", "list", "--tree", "--limit", "2");
    expect(cut.match(/^ *[EST]\d{4,12}/gm)).toHaveLength(2);
    expect(cut).toContain("2 of 4 rows; `haversack task list --tree --limit 4` shows all.");
    expect(project.refused("task", "list", "--tree", open).err).toContain(`${open} is a task`);
  });

  it("warns when a review is closed that did not pass, and not when it passed", () => {
    const project = workProject();
    const id = project.json("task", "create", "Spec review").id;
    const verdict = (status: string) => project.say("handoff", "set", id, "--status", status, "--summary", "as asked");
    verdict("FAIL");
    const free = "and tasks that waited for it are ready now; reopen it to hold them back";
    expect(project.say("task", "done", id)).toContain(`Warning: its last verdict is FAIL, ${free}.`);
    project.say("task", "reopen", id);
    verdict("PASS");
    expect(project.say("task", "done", id)).not.toContain("Warning");
  });

  it("shows sub-tasks below their parent, and says when a parent is done before they are", () => {
    const project = workProject();
    const story = project.json("story", "create", "Accounts").id;
    const parent = project.json("task", "create", "Add login", "--story", story).id;
    const quality = project.json("task", "create", "Code quality review", "--parent", parent).id;
    const spec = project.json("task", "create", "Spec review", "--parent", parent, "--story", story).id;
    const other = project.json("task", "create", "Other").id;
    project.say("claim", spec, "--agent", "rev");
    const rows = project.say("task", "list", "--tree").split("\n");
    const places = rows.flatMap((row) => /^( *)([EST]\d+)/.exec(row)?.slice(1, 3).join("") ?? []);
    expect(places).toEqual([story, `  ${parent}`, `    ${quality}`, `    ${spec}`, other]);
    const [node] = project.json("task", "list", "--tree", story);
    expect(node.tasks).toMatchObject([{ id: parent, tasks: [{ id: quality }, { id: spec, status: "in_progress" }] }]);
    expect(project.say("task", "list", "--tree", story, "--limit", "3")).toContain("3 of 4 rows");
    expect(project.say("task", "list", "--tree", "--limit", "2")).toContain("2 of 5 rows");

    const shown = project.say("task", "show", parent);
    expect(shown).toContain(`${quality} Code quality review (todo)\n  ${spec} Spec review (in progress, rev)`);
    expect(project.json("task", "show", parent).sub_tasks).toMatchObject([{ id: quality }, { id: spec }]);
    expect(project.say("task", "show", spec)).toContain(`${parent} Add login`);

    const ended = project.say("task", "done", parent);
    expect(ended).not.toContain("is complete");
    expect(ended).toContain(
      `Warning: 2 sub-tasks are still open: ${spec} "Spec review" (in progress, held by rev), ${quality} "Code quality review" (todo).`,
    );
    // The parent stays listed until they are done too.
    const placesNow = () =>
      project
        .say("task", "list", "--tree")
        .split("\n")
        .flatMap((row) => /^( *)([EST]\d+)/.exec(row)?.slice(1, 3).join("") ?? []);
    expect(placesNow()).toEqual([story, `  ${parent}`, `    ${quality}`, `    ${spec}`, other]);
    expect(project.say("task", "list", "--tree")).toContain("Accounts (1 of 3 done)");
    expect(project.say("task", "list", "--tree", "--limit", "2")).toContain("2 of 5 rows");
    project.say("task", "done", spec, "--agent", "rev");
    project.say("task", "reopen", parent);
    project.say("task", "done", quality);
    const last = project.json("task", "done", parent);
    expect(last).not.toHaveProperty("warning");
    expect(last.boundaries).toMatchObject({ story_completed: true });
    expect(placesNow()).toEqual([story, other]);
  });

  it("hands out the sub-tasks of a task, and the task itself only when it is named or they are done", () => {
    const project = workProject();
    const parent = project.json("task", "create", "Cart total").id;
    const part = project.json("task", "create", "Implement cart total", "--parent", parent).id;
    const ids = (words: string[]) => project.json(...words).map(({ id }: { id: string }) => id);
    expect(ids(["next"])).toEqual([part]);
    expect(ids(["next", "--batch"])).toEqual([part]);
    expect(project.say("claim", parent, "--agent", "ann")).toContain(
      `Warning: a sub-task is still open: ${part} "Implement cart total" (todo). The queue hands out those.`,
    );
    project.say("task", "release", parent, "--agent", "ann");
    expect(project.json("claim", "--agent", "ann").id).toBe(part);
    expect(project.haversack(["claim", "--agent", "ben"]).code).toBe(1);
    project.say("task", "done", part);
    expect(project.say("claim", "--agent", "ben")).toContain(
      "All sub-tasks are done: check the task as a whole and close it.",
    );
    expect(project.json("task", "show", parent).status).toBe("in_progress");
  });

  it("activity says who did what, and pages backwards", () => {
    const project = workProject();
    const { id } = project.json("task", "create", "T");
    project.json("claim", id, "--agent", "alice");
    project.json("task", "done", id);
    const all = project.json("task", "log");
    expect(all[0]).toMatchObject({
      id: expect.any(Number),
      at: expect.any(String),
      actor: expect.any(String),
      subject: id,
    });
    expect(
      all.some(({ actor, kind }: { actor: string; kind: string }) => actor === "alice" && kind.includes("claim")),
    ).toBe(true);
    const text = project.say("task", "log", "--limit", "1");
    const more = /`haversack (.*)` shows older ones\.\n$/.exec(text)?.[1] ?? "";
    expect(project.say(...more.split(" "))).not.toContain(text.split("\n")[0]);
  });
});

/** Writes to the store directly, because a process for each would be too slow. */
async function fill(project: WorkProject, count: number): Promise<void> {
  // The first uses a command, which creates the store and records it as the user's own.
  project.json("task", "create", "Task 0");
  const handle = openDatabase(join(project.root, ".haversack/haversack.db"), { durability: "normal" });
  const store = new SqliteWorkStore(handle);
  for (let at = 1; at < count; at++) await store.createTask({ title: `Task ${at}` }, { name: "test", at: new Date() });
  handle.db.close();
}

interface WorkProject extends Scratch {
  /** Must succeed: what it prints with `--json`. */
  // biome-ignore lint/suspicious/noExplicitAny: a test states the shape by what it expects of it.
  json(...words: string[]): any;
  /** Must succeed: what it prints for people. */
  say(...words: string[]): string;
  /** Must fail as wrong usage. */
  refused(...words: string[]): Ran;
}

function workProject(): WorkProject {
  const project = scratchProject();
  const succeed = (words: string[]) => {
    const ran = project.haversack(words);
    if (ran.code !== 0) throw new Error(`${words.join(" ")}: exit ${ran.code}: ${ran.err}`);
    return ran;
  };
  const json = (...words: string[]) => succeed([...words, "--json"]).json();
  return {
    ...project,
    json,
    say: (...words) => succeed(words).out,
    refused: (...words) => {
      const ran = project.haversack(words);
      expect({ code: ran.code, out: ran.out }).toEqual({ code: 2, out: "" });
      return ran;
    },
  };
}
