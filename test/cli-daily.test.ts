/** What daily users expect of the commands, through the built bin: settings, agents, several tasks at once, handoffs, exit codes. */
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openDatabase } from "../packages/haversack/src/store/sqlite/open.ts";
import { type Scratch, scratchProject } from "./bins.ts";
import { run } from "./skills-run.ts";

interface Daily extends Scratch {
  say(...words: string[]): string;
  task(title: string, ...more: string[]): string;
}

function daily(): Daily {
  const project = scratchProject();
  const say = (...words: string[]): string => {
    const { code, out, err } = project.haversack(words);
    expect({ words, code, err }).toEqual({ words, code: 0, err: "" });
    return out;
  };
  return {
    ...project,
    say,
    task: (title, ...more) => JSON.parse(say("task", "create", title, ...more, "--json")).id,
  };
}

describe("config set and unset", () => {
  const file = (project: Scratch) => join(project.root, ".haversack/config.json");
  const userFile = (project: Scratch) => join(project.home, ".config/haversack/config.json");

  it("change one setting, keep the rest of the file, and say what is in effect", () => {
    const project = daily();
    const before = '{\n    "log": { "keep": 7 },\n\n    "wake.budget_chars": 900\n}\n';
    project.write(".haversack/config.json", before);
    expect(project.say("config", "set", "skills.max_skills", "5")).toBe(`skills.max_skills = 5  (${file(project)})\n`);
    expect(project.say("config", "set", "wake.budget_chars", "800")).toContain("wake.budget_chars = 800");
    const after = readFileSync(file(project), "utf8");
    expect(after).toContain('{\n    "log": { "keep": 7 },\n\n    "wake.budget_chars": 800,');
    expect(JSON.parse(after)).toEqual({ log: { keep: 7 }, "wake.budget_chars": 800, skills: { max_skills: 5 } });
    expect(project.say("config", "unset", "skills.max_skills")).toBe("skills.max_skills = 3  (default)\n");
    project.say("config", "set", "wake.budget_chars", "900");
    expect(readFileSync(file(project), "utf8")).toBe(before);
    expect(project.haversack(["config", "unset", "skills.max_skills"])).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringContaining(`haversack: error: skills.max_skills is not set in ${file(project)}\n`),
    });
  });

  it("know two levels, and say when the other one wins", () => {
    const project = daily();
    expect(project.say("config", "set", "skills.enforce", "on", "--user")).toBe(
      `skills.enforce = true  (${userFile(project)})\n`,
    );
    expect(existsSync(file(project))).toBe(false);
    expect(project.haversack(["config", "set", "skills.enforce", "no", "--json"]).json()).toEqual({
      key: "skills.enforce",
      value: false,
      origin: file(project),
      file: file(project),
    });
    const ran = project.haversack(["config", "set", "skills.enforce", "true", "--user"]);
    expect(ran).toMatchObject({ code: 0, out: `skills.enforce = false  (${file(project)})\n` });
    expect(ran.err).toContain(`${file(project)} sets it too, and wins in this project`);
    expect(project.say("config", "unset", "skills.enforce")).toBe(`skills.enforce = true  (${userFile(project)})\n`);
  });

  it("read lists, and numbers within their bounds", () => {
    const project = daily();
    project.say("config", "set", "skills.folders", "docs/skills", "../more skills");
    expect(JSON.parse(readFileSync(file(project), "utf8"))).toEqual({
      skills: { folders: ["docs/skills", "../more skills"] },
    });
    expect(project.say("config", "set", "skills.folders", "[]")).toContain("skills.folders = []");
    expect(project.say("config", "set", "skills.recommend_threshold", "0.55")).toContain("= 0.55");
  });

  it.each([
    [["skills.maxSkill", "5"], 'there is no setting "skills.maxSkill"'],
    [["skills.max_skills", "50"], "skills.max_skills must be a whole number from 1 to 10, but is 50"],
    [["skills.max_skills", "many"], 'must be a whole number from 1 to 10, but is "many"'],
    [["skills.enforce", "maybe"], 'skills.enforce must be true or false, but is "maybe"'],
    [["skills.auto_load", "never"], "must be one of asked, confident"],
    [["skills.folders", "[1]"], "must be a list of texts"],
    [["skills.folders", "[x"], "is not valid JSON"],
    [["skills.max_skills", "5", "6"], "takes one value"],
    [["skills.max_skills"], "VALUE is missing"],
    [["skills.max_skills", "5", "--user", "--project"], "cannot be used together"],
  ])("refuse %j as wrong usage and write nothing", (words, text) => {
    const project = daily();
    const ran = project.haversack(["config", "set", ...words]);
    expect(ran).toMatchObject({ code: 2, out: "" });
    expect(ran.err).toContain(text);
    expect(existsSync(file(project))).toBe(false);
  });

  it("leave a file alone that is no JSON, and mend a wrong value", () => {
    const project = daily();
    const broken = '{"skills": {,}}';
    project.write(".haversack/config.json", broken);
    expect(project.haversack(["config", "set", "skills.max_skills", "5"])).toMatchObject({ code: 1, out: "" });
    expect(readFileSync(file(project), "utf8")).toBe(broken);
    project.write(".haversack/config.json", '{"skills": 7}');
    expect(project.haversack(["config", "set", "skills.max_skills", "5"]).err).toContain("skills must be an object");
    project.write(".haversack/config.json", '{"skills": {"maxSkills": "three"}}');
    expect(project.say("config", "set", "skills.max_skills", "5")).toContain("= 5");
    expect(readFileSync(file(project), "utf8")).toBe('{"skills": {"max_skills": 5}}');
  });

  it("keep Windows line ends", () => {
    const project = daily();
    project.write(".haversack/config.json", '{\r\n  "log": {\r\n    "keep": 4\r\n  }\r\n}\r\n');
    project.say("config", "set", "skills.max_skills", "5");
    expect(readFileSync(file(project), "utf8")).not.toMatch(/(?<!\r)\n/);
  });

  it("keep both changes of two that run at once", async () => {
    const project = daily();
    project.say("config", "set", "log.keep", "4");
    await Promise.all([
      run(project, ["config", "set", "skills.max_skills", "5"]),
      run(project, ["config", "set", "work.max_claims", "2"]),
    ]);
    expect(JSON.parse(readFileSync(file(project), "utf8"))).toEqual({
      log: { keep: 4 },
      skills: { max_skills: 5 },
      work: { max_claims: 2 },
    });
  });
});

describe("agent rm", () => {
  it("removes a name, keeps its messages, and brings both back", () => {
    const project = daily();
    project.say("agent", "add", "june", "--role", "orchestrator");
    project.say("agent", "message", "@june", "Look at the spec.");
    expect(project.say("agent", "rm", "june")).toBe("Removed @june.\n1 unread message stays stored.\n");
    expect(project.haversack(["agent", "list", "--json"]).json()).toEqual([]);
    expect(project.haversack(["agent", "message", "@june", "Hello?"])).toMatchObject({ code: 1 });
    expect(project.haversack(["agent", "rm", "june"])).toMatchObject({
      code: 1,
      err: expect.stringContaining('there is no agent "june"'),
    });
    project.say("agent", "add", "june", "--role", "implementer");
    expect(project.say("agent", "inbox", "june")).toContain("Look at the spec.");
    const kinds = project
      .haversack(["task", "log", "--json"])
      .json()
      .map(({ kind }: { kind: string }) => kind);
    expect(kinds).toEqual(["agent-added", "agent-removed", "agent-added"]);
  });

  it("refuses while it holds tasks; forced, they go back to the queue with a note", () => {
    const project = daily();
    const id = project.task("Limit logins");
    project.say("agent", "add", "june", "--role", "implementer");
    project.say("claim", id, "--agent", "june");
    const refused = project.haversack(["agent", "rm", "@june"]);
    expect(refused).toMatchObject({ code: 1, out: "" });
    expect(refused.err).toBe(
      `haversack: error: @june holds ${id}\nhaversack: hint: \`--force\` puts them back into the queue\n`,
    );
    // An agent cannot release another agent's tasks.
    expect(project.haversack(["agent", "rm", "june", "--force", "--agent", "bob"])).toMatchObject({ code: 1 });
    expect(project.haversack(["agent", "rm", "june", "--force", "--json"]).json()).toEqual({
      name: "june",
      removed: true,
      released: [id],
    });
    expect(project.haversack(["task", "show", id, "--json"]).json()).toMatchObject({
      status: "todo",
      note: "@june was removed.",
    });
    // Nobody is notified about june's work: she is gone and gave it back on purpose.
    const status = project.say("status");
    expect(status).not.toContain("june");
    expect(status).not.toContain("Left unfinished");
  });

  it("of a name on two branches removes one; a session under its name brings it back; an export keeps it", () => {
    const project = daily();
    project.say("agent", "add", "june", "--role", "implementer", "--branch", "a");
    project.say("agent", "add", "june", "--role", "fixer", "--branch", "b");
    project.say("agent", "rm", "june", "--branch", "a");
    const left = () => project.haversack(["agent", "list", "--json"]).json();
    expect(left()).toMatchObject([{ name: "june", branch: "b" }]);
    const lines = project.say("export");
    expect(lines).toContain('"removed_at"');
    const other = daily();
    expect(other.haversack(["import", "-"], { stdin: lines })).toMatchObject({ code: 0 });
    expect(other.haversack(["agent", "list", "--json"]).json()).toMatchObject([{ branch: "b" }]);
    other.say("agent", "add", "june", "--role", "implementer", "--branch", "a");
    expect(other.haversack(["import", "-"], { stdin: lines })).toMatchObject({ code: 0 });
    expect(other.haversack(["agent", "list", "--json"]).json()).toHaveLength(2);
    project.say("agent", "rm", "june", "--branch", "b");
    project.hook(
      { session_id: "s1", cwd: project.root, hook_event_name: "SessionStart", source: "startup" },
      { env: { HAVERSACK_AGENT: "june" } },
    );
    expect(left()).toMatchObject([{ name: "june", session_id: "s1" }]);
  });
});

describe("several tasks", () => {
  it("are started, reviewed, blocked, unblocked, done, reopened, archived and released in one call", () => {
    const project = daily();
    const [a, b] = [project.task("A"), project.task("B")];
    const statuses = (...words: string[]) =>
      project
        .haversack([...words, "--json"])
        .json()
        .map(({ status }: { status: string }) => status);
    expect(statuses("task", "claim", a, b, "--agent", "ann")).toEqual(["in_progress", "in_progress"]);
    expect(statuses("task", "release", a, b, "--agent", "ann")).toEqual(["todo", "todo"]);
    expect(statuses("claim", a, b, "--agent", "ann")).toEqual(["in_progress", "in_progress"]);
    expect(statuses("task", "review", a, b)).toEqual(["review", "review"]);
    expect(statuses("task", "block", a, b, "no access")).toEqual(["blocked", "blocked"]);
    expect(project.say("task", "block", a, b, "and no key")).toBe(
      `${a} is blocked by one more reason, 2 in all: A\n${b} is blocked by one more reason, 2 in all: B\n`,
    );
    expect(statuses("task", "unblock", a, b)).toEqual(["todo", "todo"]);
    expect(project.say("task", "done", a, b, a)).toBe(`${a} is done, was todo: A\n${b} is done, was todo: B\n`);
    expect(statuses("task", "reopen", a, b)).toEqual(["todo", "todo"]);
    expect(statuses("task", "archive", a, b)).toEqual(["archived", "archived"]);
  });

  it("are each reported: those that fail make the exit code 1, the others are done", () => {
    const project = daily();
    const [a, b, c] = [project.task("A"), project.task("B"), project.task("C")];
    project.say("claim", b, "--agent", "bob");
    const ran = project.haversack(["task", "claim", a, "T99999999", b, c, "--agent", "ann"]);
    expect(ran.code).toBe(1);
    expect(ran.out).toContain(`${a} is ann's`);
    expect(ran.out).toContain(`${c} is ann's`);
    expect(ran.err).toContain("T99999999");
    expect(ran.err).toContain(`${b} is held by bob`);
    const json = project.haversack(["task", "done", a, "T99999999", "--json", "--notes", "merged"]);
    expect(json.code).toBe(1);
    expect(json.json()).toMatchObject([
      { id: a, status: "done" },
      { id: "T99999999", error: expect.stringContaining("T99999999") },
    ]);
    const forgotten = project.haversack(["task", "block", a, c]);
    expect(forgotten).toMatchObject({ code: 2, out: "" });
    expect(forgotten.err).toContain(`the reason is missing: ${c} is a task`);
    expect(project.haversack(["task", "done", "T99999999", "--json"])).toMatchObject({ code: 1, out: "" });
    expect(project.haversack(["task", "done", c, "--json"]).json()).toMatchObject({ id: c, status: "done" });
  });
});

describe("handoffs", () => {
  it("are listed by task, and an unknown task is an error", () => {
    const project = daily();
    const [a, b] = [project.task("A"), project.task("B")];
    for (const id of [a, b]) project.say("handoff", "set", id, "--status", "PASS", "--summary", `Built ${id}`);
    const ids = (...words: string[]) =>
      project
        .haversack(["handoff", "list", ...words, "--json"])
        .json()
        .map(({ task_id }: { task_id: string }) => task_id);
    expect(ids(a)).toEqual([a]);
    expect(ids(a)).toEqual(ids("--task", a));
    expect(ids()).toEqual([b, a]);
    expect(project.haversack(["handoff", "list", "T99999999"])).toMatchObject({ code: 1, out: "" });
    expect(project.haversack(["handoff", "list", a, "--task", a])).toMatchObject({ code: 2 });
  });

  it("are shown with all their details at a terminal, and in pages elsewhere", async () => {
    const project = daily();
    const id = project.task("A");
    const details = Array.from({ length: 3_000 }, (_, line) => `line ${line} of the report`).join("\n");
    const file = project.write("details.txt", details);
    project.say("handoff", "set", id, "--status", "PASS", "--summary", "Built", "--details", file);
    const words = ["handoff", "show", id, "--details"];
    const whole = await run(project, words, { isTerminal: true });
    expect(whole).toMatchObject({ code: 0, err: "" });
    expect(whole.out).toContain(details);
    const paged = await run(project, words);
    expect(paged.out).not.toContain("line 2999 of");
    expect(paged.err).toContain("the details go on");
    const one = await run(project, [...words, "--max-chars", "100"], { isTerminal: true });
    expect(one.err).toContain("the details go on");
    expect((await run(project, [...words, "--json"], { isTerminal: true })).json().next_from).toBe(20_000);
  });
});

it("dep list keeps related tasks apart from those that wait", () => {
  const project = daily();
  const [a, b, c] = [project.task("A"), project.task("B"), project.task("C")];
  project.say("task", "dep", a, "--add", b, "--type", "relates_to");
  project.say("task", "dep", c, "--add", a);
  expect(project.haversack(["task", "dep", a, "--json"]).json()).toEqual({
    id: a,
    needed_by: [{ id: c, title: "C", status: "todo", type: "blocks" }],
    related_to: [{ id: b, title: "B", status: "todo", type: "relates_to" }],
  });
  expect(project.say("task", "dep", b)).toBe(`${b} is related to\n  ${a}  todo  relates_to  A\n`);
  expect(project.say("task", "dep", a)).toMatch(/ is needed by\n.* C\n.* is related to\n.* B\n$/);
});

it("archiving an epic or a story is logged as that", () => {
  const project = daily();
  const epic = JSON.parse(project.say("epic", "create", "Login", "--json")).id;
  const story = JSON.parse(project.say("story", "create", "Lock", "--epic", epic, "--json")).id;
  const other = JSON.parse(project.say("story", "create", "Unlock", "--epic", epic, "--json")).id;
  project.say("story", "update", story, "--status", "archived");
  project.say("epic", "update", epic, "--status", "archived", "--title", "Logins");
  project.say("epic", "update", epic, "--status", "todo");
  const log = (id: string) =>
    project
      .haversack(["task", "log", id, "--json"])
      .json()
      .map(({ kind, text }: { kind: string; text: string }) => `${kind}: ${text}`)
      .reverse();
  expect(log(story).slice(0, 2)).toEqual(["story-created: created: Lock", "story-status: todo → archived"]);
  expect(log(other)).toEqual([
    "story-created: created: Unlock",
    "story-status: todo → archived: its epic was archived",
    "story-status: archived → todo: its epic is back",
  ]);
  expect(log(epic)).toEqual([
    "epic-created: created: Login",
    "epic-updated: title",
    "epic-status: todo → archived",
    "epic-status: archived → todo",
  ]);
});

it("a prompt goes to the agent it is for, whoever else its text names", () => {
  const project = daily();
  project.say("agent", "add", "backend", "--role", "implementer");
  project.say("agent", "add", "june", "--role", "orchestrator");
  const env = { PATH: join(project.home, "nothing") };
  project.haversack(["agent", "prompt", "backend", "Message from @june: check task 2", "--client", "claude-code"], {
    env,
  });
  expect(project.say("agent", "inbox", "backend", "--all")).toContain("Message from @june: check task 2");
  expect(project.haversack(["agent", "inbox", "june", "--all", "--json"]).json()).toEqual([]);
});

describe("what a command is given by name", () => {
  const missing: string[][] = [
    ["discover", "--rules", "none.json", "x"],
    ["rules", "check", "none.json"],
    ["import", "none.md"],
    ["import", "none.jsonl"],
    ["import", "none", "--from", "ohno"],
    ["skill", "eval", "--skills", "none", "--cases", "none.json"],
    ["skill", "eval", "--skills", ".", "--cases", "none.json"],
    ["artifacts", "section", "none.md", "A"],
    ["artifacts", "check", "none"],
    ["review", "dispatch", "spec-reviewer", "--feature", "none"],
    ["store", "restore", "none.db"],
    ["task", "show", "T99999999"],
  ];
  it.each(missing)("exits 1 when it is not there: %s %s %s", (...words) => {
    const ran = daily().haversack(words.filter(Boolean));
    expect(ran).toMatchObject({ code: 1, out: "" });
    expect(ran.err).not.toContain("ENOENT");
  });

  it("exits 1 when the folder of a file to write is not there, 2 when it is a folder", () => {
    const project = daily();
    project.write("cases.jsonl", '{"prompt": "x", "expected": []}\n');
    project.write("skills/a/SKILL.md", "---\nname: a\ndescription: does a\n---\nText\n");
    const evaluate = ["skill", "eval", "--skills", "skills", "--cases", "cases.jsonl", "--results"];
    for (const words of [evaluate, ["export"]]) {
      expect(project.haversack([...words, "none/results.jsonl"])).toMatchObject({
        code: 1,
        out: "",
        err: expect.stringContaining("haversack: error: there is no folder none\n"),
      });
      expect(project.haversack([...words, "skills"])).toMatchObject({ code: 2, out: "" });
    }
    project.say(...evaluate, "results.jsonl");
    expect(existsSync(join(project.root, "results.jsonl"))).toBe(true);
  });

  it.each([
    ["rules", "check", "folder"],
    ["import", "folder", "--from", "plan"],
    ["discover", "--rules", "folder", "x"],
    ["skill", "eval", "--skills", ".", "--cases", "folder"],
  ])("exits 2 when it is a folder instead of a file: %s %s", (...words) => {
    const project = daily();
    mkdirSync(join(project.root, "folder"));
    expect(project.haversack(words.filter(Boolean))).toMatchObject({ code: 2, out: "" });
  });
});

it("off and on say when nothing changes", () => {
  const project = daily();
  project.say("task", "create", "A");
  expect(project.say("on")).toBe("Haversack was on already.\n");
  expect(project.say("off")).toMatch(/^Haversack is off \(/);
  expect(project.say("off")).toMatch(/^Haversack was off already \(/);
  expect(project.say("on")).toBe("Haversack is on.\n");
  expect(project.say("off", "--user")).toMatch(/^Haversack is off \(/);
  expect(project.say("off", "--user")).toMatch(/^Haversack was off already \(/);
});

it("counts one skill and one file as one", () => {
  const project = daily();
  project.write(".claude/skills/a/SKILL.md", "---\nname: a\ndescription: does a\n---\nText\n");
  expect(project.say("skill", "index")).toMatch(/^1 skill indexed from 1 file in /);
  project.write(".claude/skills/b/SKILL.md", "---\nname: b\ndescription: does b\n---\nText\n");
  expect(project.say("skill", "index")).toMatch(/^2 skills indexed from 2 files in /);
});

it("completion knows the new commands and the settings", () => {
  const project = daily();
  for (const shell of ["bash", "zsh", "fish"]) {
    const script = project.say("completion", shell);
    for (const word of ["unset", "rm", "skills.max_skills", "sub-agent"]) expect(script).toContain(word);
  }
});

it("store restore refuses a file that is no backup with exit code 1, and keeps the store", () => {
  const project = daily();
  const id = project.task("Kept");
  project.write("junk.db", "no database\n".repeat(500));
  expect(project.haversack(["store", "restore", "junk.db"])).toMatchObject({
    code: 1,
    out: "",
    err: expect.stringContaining("junk.db is not a backup of a store; nothing was changed"),
  });
  expect(project.say("task", "list")).toContain(id);
});

it("store conflicts are in words for a person, and whole with --json", () => {
  const project = daily();
  const id = project.task("Wanted");
  const { db } = openDatabase(join(project.root, ".haversack/haversack.db"), { durability: "full" });
  const add = db.prepare(
    "INSERT INTO conflicts (token, op, args, at, task, agent, reason, found_at) VALUES (?, ?, ?, ?, ?, 'bob', ?, ?)",
  );
  const at = new Date().toISOString();
  const patch = { phase: "half", files_modified: ["a.ts", "b.ts"] };
  const offline = { name: "updateWip", args: [id, patch], by: { name: "bob" }, at, ids: [] };
  const seen = {
    taskId: id,
    holder: "bob",
    client: "codex",
    sessionId: "s1",
    patch: { nextStep: "Ask" },
    leaseMs: 1,
    at,
  };
  add.run("a", "updateWip", JSON.stringify(offline), at, id, `${id} is held by ann`, at);
  add.run("b", "tool", JSON.stringify(seen), at, id, `${id} is held by ann`, at);
  db.close();
  expect(project.say("store", "conflicts")).toBe(
    `1  update wip by bob, just now: ${id} is held by ann\n  ${id}; phase: half; files modified: a.ts, b.ts\n` +
      `2  tool call by bob, just now: ${id} is held by ann\n  task id: ${id}; next step: Ask\n`,
  );
  const found = JSON.parse(project.say("store", "conflicts", "--json"));
  expect(found).toMatchObject([{ operation: "updateWip", content: { args: [id, patch] } }, { operation: "tool" }]);
});
