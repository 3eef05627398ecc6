/** Agents, messages, packets and workflows through the built bin: as a person reads them, as a script does, and with a client. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { claudeProcess } from "../packages/haversack/src/engine/events/event-project.ts";
import { openDatabase } from "../packages/haversack/src/store/sqlite/open.ts";
import {
  type SessionTouch,
  SqliteLocalStore,
} from "../packages/haversack/src/store/sqlite/sessions/sqlite-local-store.ts";
import { SqliteWorkStore } from "../packages/haversack/src/store/sqlite/work/sqlite-work-store.ts";
import { type Ran, type RunOptions, type Scratch, scratchProject } from "./bins.ts";

const MESSAGE = /^M\d{4,12}$/;

describe("agents", () => {
  it("are named, listed and shown", () => {
    const project = wakeProject();
    expect(project.say("agent", "list")).toContain("No agents yet");
    expect(project.say("agent", "add", "@june", "--role", "orchestrator")).toBe("@june is orchestrator.\n");
    expect(project.json("agent", "add", "backend", "--role", "implementer", "--branch", "auth")).toEqual({
      name: "backend",
      role: "implementer",
      branch: "auth",
      created_at: expect.any(String),
    });
    expect(project.json("agent", "list").map(({ name }: { name: string }) => name)).toEqual(["backend", "june"]);
    expect(project.say("agent", "list")).toMatch(/@backend +implementer +auth +never seen\n@june +orchestrator/);

    const task = project.json("task", "create", "Log in").id;
    project.say("claim", task, "--agent", "backend");
    project.say("agent", "message", "backend", "hello");
    const text = project.say("agent", "show", "@backend");
    for (const part of ["@backend, implementer", "branch  auth", `${task} Log in (in progress)`, "unread  1;"])
      expect(text).toContain(part);
    expect(project.json("agent", "show", "backend")).toMatchObject({
      name: "backend",
      tasks: [{ id: task, title: "Log in", status: "in_progress" }],
      unread: 1,
    });
  });

  it("are listed in pages, and what is left out is counted", () => {
    const project = wakeProject("ann", "bob", "eve");
    const page = project.say("agent", "list", "--limit", "2");
    expect(page).toMatch(
      /@ann [\s\S]*@bob [\s\S]*\n2 of 3 agents; `haversack agent list --limit 2 --offset 2` shows the next\.\n$/,
    );
    expect(project.json("agent", "list", "--offset", "2")).toMatchObject([{ name: "eve" }]);
    expect(project.json("agent", "list", "--offset", "2")[0]).not.toHaveProperty("id");
    const { out, err } = project.haversack(["agent", "list", "--max-tokens", "90", "--json"]);
    expect(JSON.parse(out)).toMatchObject([{ name: "ann" }]);
    expect(err).toContain("1 of 3 agents");
  });

  it("of one name are told apart by the branch of the working folder", () => {
    const project = wakeProject();
    for (const branch of ["auth", "pay"]) project.say("agent", "add", "backend", "--role", "fixer", "--branch", branch);
    project.write(".git/HEAD", "ref: refs/heads/pay\n");
    project.say("agent", "message", "@backend", "for pay");
    expect(project.json("agent", "inbox", "backend", "--keep-unread")).toHaveLength(1);
    expect(project.json("agent", "inbox", "backend", "--branch", "auth")).toEqual([]);
    project.write(".git/HEAD", "ref: refs/heads/main\n");
    expect(project.refused("agent", "message", "@backend", "which")).toBe(
      "haversack: error: @backend works on several branches: auth, pay\nhaversack: hint: run this on one of these branches, or name the branch\n",
    );
  });
});

describe("messages", () => {
  it("go to the names before the text, with or without an @, and to those in the text", () => {
    const project = wakeProject("kim", "lou", "may");
    const to = (...words: string[]) => project.json("agent", "message", ...words).to;
    expect(to("kim", "ask @lou about it")).toEqual(["kim", "lou"]);
    expect(to("kim", "lou", "ask @may")).toEqual(["kim", "lou", "may"]);
    expect(to("@kim", "ask", "lou")).toEqual(["kim"]);
    expect(to("ask @lou about it")).toEqual(["lou"]);
    expect(project.json("agent", "inbox", "lou").map(({ text }: { text: string }) => text)).toEqual([
      "ask @lou about it",
      "ask @may",
      "ask @lou about it",
    ]);
  });

  it("reach all who are named, and are read once by each", () => {
    const project = wakeProject("ann", "bob", "eve");
    const sent = project.json("agent", "message", "@ann", "@bob", "Look at", "this, @eve and @nobody");
    expect(sent).toEqual({ id: expect.stringMatching(MESSAGE), to: ["ann", "bob", "eve"] });
    expect(project.say("agent", "inbox", "ann", "--keep-unread")).toContain("  Look at this, @eve and @nobody\n");
    expect(project.json("agent", "inbox", "@ann")).toEqual([
      { id: sent.id, from: "person", from_user: true, at: expect.any(String), text: "Look at this, @eve and @nobody" },
    ]);
    expect(project.say("agent", "inbox", "ann")).toBe("No unread messages for @ann.\n");
    expect(project.json("agent", "inbox", "ann", "--all")).toMatchObject([
      { id: sent.id, read_at: expect.any(String) },
    ]);
    expect(project.json("agent", "inbox", { env: { HAVERSACK_AGENT: "bob" } })).toHaveLength(1);
  });

  it("come from standard input, from an agent, and about a task", () => {
    const project = wakeProject("ann");
    const task = project.json("task", "create", "T").id;
    project.say("agent", "message", "@ann", "-", "--agent", "june", "--about", task.slice(0, -1), {
      stdin: "two\nlines\n",
    });
    expect(project.json("agent", "inbox", "ann")).toMatchObject([{ from: "june", about: task, text: "two\nlines" }]);
  });

  it("are shown in pages, and what is left is said", () => {
    const project = wakeProject("ann");
    for (const text of ["one", "two", "three"]) project.say("agent", "message", "@ann", text);
    const page = project.say("agent", "inbox", "ann", "--limit", "2");
    expect(page).toContain("2 of 3 messages; `haversack agent inbox ann --limit 2` shows the next.");
    expect(project.say("agent", "inbox", "ann", "--limit", "2")).toContain("three");
  });

  it("come out of handoffs that name somebody", () => {
    const project = wakeProject("june");
    const task = project.json("task", "create", "T").id;
    project.say("handoff", "set", task, "--status", "PASS", "--summary", "Ready for you, @june", "--agent", "ann");
    expect(project.json("agent", "inbox", "june")).toMatchObject([
      { from: "ann", about: task, text: "PASS as implementer: Ready for you, @june" },
    ]);
  });

  it("and agents are in an export and come back from it", () => {
    const project = wakeProject("ann", "bob");
    project.say("agent", "message", "@ann", "@bob", "kept");
    project.say("agent", "inbox", "ann");
    const bytes = project.say("export");
    expect(bytes).toMatch(/"kind":"agent","name":"ann"/);
    const copy = wakeProject();
    expect(copy.say("import", "-", { stdin: bytes })).toContain("2 agents, 1 message");
    expect(copy.say("export")).toBe(bytes);
    expect(copy.json("agent", "inbox", "ann")).toEqual([]);
    expect(copy.json("agent", "inbox", "bob")).toHaveLength(1);
  });
});

describe("wake", () => {
  it("says in one line that there is nothing to resume", () => {
    const project = wakeProject("june");
    expect(project.refused("wake", "june")).toMatch(
      /^haversack: error: nothing to resume: @june holds no task and has no unread message\nhaversack: hint: .*\n$/,
    );
    expect(project.refused("wake", "june", "--json")).toContain("nothing to resume");
  });

  it("prints the packet, within the budget, and marks nothing as read", () => {
    const project = wakeProject("backend");
    const task = project.json("task", "create", "Log in", "--description", "word ".repeat(4000)).id;
    project.say("claim", task, "--agent", "backend");
    project.say("agent", "message", "@backend", "use argon2");
    const whole = project.say("wake", "backend");
    for (const part of ["You are @backend", `${task} "Log in" is in progress`, "use argon2", "## Your Next Action"])
      expect(whole).toContain(part);
    expect(project.say("wake", { env: { HAVERSACK_AGENT: "backend" } })).toBe(whole);
    expect(project.say("wake", "--task", task)).toContain("You are @backend");

    const small = project.json("wake", "backend", "--budget", "60");
    expect(small).toMatchObject({ agent: "backend", role: "implementer", task_id: task });
    expect(small.tokens).toBeLessThanOrEqual(60);
    expect(small.left_out.length).toBeGreaterThan(0);
    expect(project.json("wake", "backend", "--client", "claude-code").chars).toBeLessThanOrEqual(9500);
    expect(project.json("agent", "inbox", "backend")).toHaveLength(1);
  });

  it("uses the template of the project for the role", () => {
    const project = wakeProject("backend");
    project.say("agent", "message", "@backend", "hi");
    project.write(".haversack/templates/implementer.md", "# Ours\n{{identity}}\n\n## Mail\n{{messages}}\n");
    const before = project.haversack(["wake", "backend"]);
    expect(before.out).not.toContain("# Ours");
    expect(before.err).toMatch(
      /^haversack: note: \.haversack\/templates\/implementer\.md is not used.*haversack trust/m,
    );
    project.say("trust", "--yes");
    expect(project.say("wake", "backend")).toMatch(/^# Ours\n[\s\S]*You are @backend[\s\S]*## Mail\n/);
  });
});

describe("an orchestrator that holds no task", () => {
  it("hears of the plan, who does what, the verdicts and whom to send next, in the order of review", () => {
    const { project, ids } = planProject();
    const [model = "", login = "", jwt = ""] = ids;
    project.say("task", "done", model);
    project.say("claim", login, "--agent", "backend");
    const begun = project.say("wake", "june");
    for (const part of [
      "You are @june, the orchestrator for this project",
      "**File:** docs/plan.md",
      "Logins for people.",
      "(1 of 3 done, plan docs/plan.md)\n- [x] Add user model (done)\n",
      `- [ ] ${login} Add login endpoint (@backend, in progress)`,
      `Dispatch implementer for what is ready: ${jwt} "Add JWT middleware".`,
      `Check whether @backend has finished ${login} "Add login endpoint".`,
      "You are using `subagent-driven-development` (for the orchestrator).",
    ])
      expect(begun).toContain(part);

    project.say("handoff", "set", login, "--status", "PASS", "--summary", "SEVEN-TESTS", "--agent", "backend");
    project.say("task", "review", login);
    const [spec, quality] = ["Spec review", "Code quality review"].map(
      (title) => project.json("task", "create", title, "--parent", login).id,
    );
    expect(nextOf(project.say("wake", "june"))).toContain(`Dispatch spec-reviewer for ${login} "Add login endpoint".`);
    project.say("claim", spec, "--agent", "rev");
    const running = project.say("wake", "june");
    expect(running).toContain(`    - [ ] ${spec} Spec review (@rev, in progress)\n`);
    expect(nextOf(running)).toContain(`Check whether @rev has finished ${spec} "Spec review".`);
    expect(nextOf(running)).not.toContain(quality);
    expect(nextOf(running)).not.toContain("quality-reviewer");
    // Other agents that look for work are not offered a review before its turn either.
    project.say("task", "archive", jwt);
    project.say("agent", "message", "@backend", "What next?");
    expect(project.say("wake", "backend")).not.toContain(quality);
    project.say(
      "handoff",
      "set",
      spec,
      "--status",
      "PASS",
      "--summary",
      "ok",
      "--agent",
      "rev",
      "--role",
      "spec-reviewer",
    );
    project.say("task", "done", spec);
    expect(nextOf(project.say("wake", "june"))).toContain(
      `Dispatch quality-reviewer for ${login} "Add login endpoint".`,
    );
  });

  it("hears of several stories at once, and of nothing where nothing is open", () => {
    const { project, ids } = planProject();
    project.write("docs/other.md", "# Exports\n\n### Task 1: Write CSV\n\n### Task 2: Write XLSX\n");
    project.say("import", "docs/other.md");
    const csv = project.json("task", "list").find(({ title }: { title: string }) => title === "Write CSV").id;
    project.say("claim", ids[0]!, "--agent", "backend");
    project.say("claim", csv, "--agent", "rev");
    const text = project.say("wake", "june");
    expect(text).toMatch(/\*\*Story S\d+ Exports\*\* \(0 of 2 done, plan docs\/other\.md\)/);
    expect(text).toMatch(/\*\*Story S\d+ Authentication\*\* \(0 of 3 done, plan docs\/plan\.md\)/);
    expect(nextOf(text)).toContain("Check whether @rev has finished");
    expect(project.json("wake", "june", "--budget", "150").tokens).toBeLessThanOrEqual(150);
    for (const { id } of project.json("task", "list")) project.say("task", "done", id);
    expect(project.refused("wake", "june")).toContain("nothing to resume: @june holds no task");
  });
});

describe("a part of a task", () => {
  it("comes with the task that it is a part of, and the skill of whoever reviews", () => {
    const { project, ids } = planProject();
    const login = ids[1]!;
    const spec = project.json("task", "create", "Spec review", "--parent", login).id;
    project.say("claim", spec, "--agent", "rev");
    const text = project.say("wake", "rev");
    for (const part of [
      `${spec} "Spec review" of ${login} "Add login endpoint" is in progress`,
      "POST /login takes a name and a password.",
      "- Wrong passwords get 401.",
      "internal/auth/login.go, internal/auth/login_test.go",
      'docs/plan.md (24 lines), section "Task 2: Add login endpoint"',
      "Also in force: `test-driven-development` (for implementation).\n\nIts core",
      "#### Core\n1. **Red**",
    ])
      expect(text).toContain(part);
    expect(text).not.toContain("subagent-driven-development");
    expect(text).not.toContain("#### When it is hard");
    const small = project.say("wake", "rev", "--budget", "200");
    expect(small).toContain(`${spec} "Spec review" of ${login} "Add login endpoint"`);
  });

  it("names no file and no step of the plan twice", () => {
    const { project, ids } = planProject();
    project.say("claim", ids[1]!, "--agent", "backend");
    const text = project.say("wake", "backend");
    for (const part of [
      "internal/auth/login.go",
      "internal/auth/login_test.go",
      "Write a failing test",
      "Make it pass",
    ])
      expect(text.split(part).length - 1, part).toBe(1);
    expect(text).toContain("CODE-OF-STEP-ONE");
    expect(text).not.toMatch(/commit/i);
    project.write(".haversack/config.json", JSON.stringify({ wake: { commitSteps: true } }));
    expect(nextOf(project.say("wake", "backend"))).toContain("Commit after each step.");
  });
});

describe("unread messages", () => {
  it("are shown from the newest on, and all others are counted", () => {
    const project = wakeProject("backend");
    for (let number = 1; number <= 24; number++) project.say("agent", "message", "@backend", `number ${number}.`);
    const text = project.say("wake", "backend");
    expect(text).toContain('"number 24."');
    expect(text).not.toContain('"number 1."');
    const shown = text.match(/"number \d+\."/g)?.length ?? 0;
    expect(text).toContain(`Left out: ${24 - shown} unread messages (haversack agent inbox backend)`);
  });
});

describe("what is missing", () => {
  it("a skill that no longer exists and a plan that is gone leave a useful packet", () => {
    const project = wakeProject("backend");
    const task = project.json("task", "create", "Log in", "--skill", "gone-skill", "--plan", "docs/gone.md#Task 1").id;
    project.say("claim", task, "--agent", "backend");
    const text = project.say("wake", "backend");
    expect(text).toContain('"Log in" is in progress');
    expect(linesWith(text, "gone-skill")).toEqual([expect.stringMatching(/^Missing: .*is not installed/)]);
    expect(linesWith(text, "Missing: The plan")).toEqual(["Missing: The plan docs/gone.md cannot be read."]);
    expect(project.json("wake", "backend").missing).toHaveLength(2);
  });

  it("a template's unknown placeholder becomes nothing, and one line", () => {
    const project = wakeProject();
    project.say("agent", "add", "june", "--role", "orchestrator");
    project.say("agent", "message", "@june", "hi");
    project.write(".haversack/templates/orchestrator.md", "# Ours\n{{identity}}\n{{nonsense}}\n\n{{messages}}\n");
    project.say("trust", "--yes");
    const { out, err, code } = project.haversack(["wake", "june"]);
    expect(code).toBe(0);
    expect(out).toContain("You are @june");
    expect(out).toContain("\nMissing: template orchestrator.md: unknown {{nonsense}}\n");
    expect(out.match(/\{\{/g)).toHaveLength(1);
    expect(err).toMatch(/^haversack: note: .*\{\{nonsense\}\}/m);
  });

  it("a skill of 200 KB comes with the sections that matter, within the budget", () => {
    const project = wakeProject("backend");
    const sections = Array.from({ length: 420 }, (_, at) => `## Part ${at}\n\n${"filler text ".repeat(40)}\n`);
    const wanted = "## Argon2 hashing\n\nTHE-PART-THAT-MATTERS: hash passwords with argon2.\n";
    const body = [...sections.slice(0, 60), wanted, ...sections.slice(60)].join("\n");
    expect(body.length).toBeGreaterThan(200_000);
    project.write(
      ".haversack/skills/passwords/SKILL.md",
      `---\nname: passwords\ndescription: Stores passwords.\n---\n# Passwords\n\n${body}`,
    );
    const task = project.json("task", "create", "Hash with argon2", "--skill", "passwords").id;
    project.say("claim", task, "--agent", "backend");
    const { text, chars } = project.json("wake", "backend", "--client", "claude-code");
    expect(chars).toBeLessThanOrEqual(9500);
    expect(text).toContain("THE-PART-THAT-MATTERS");
    expect(text).toContain("## Your Next Action");
  });

  it("takes any word for a role, and asks where it is nearly one of ours and has no template", () => {
    const project = wakeProject("backend");
    const add = (role: string) => project.haversack(["agent", "add", "june", "--role", role]);
    expect(add("poet")).toMatchObject({ code: 0, out: "@june is poet.\n", err: "" });
    expect(add("implementer").err).toBe("");
    const note =
      "haversack: note: implementor is not a shipped role; did you mean implementer? Put the text of your own role into .haversack/templates/implementor.md\n";
    expect(add("implementor")).toMatchObject({ code: 0, out: "@june is implementor.\n", err: note });
    mkdirSync(join(project.root, ".haversack/templates"), { recursive: true });
    writeFileSync(join(project.root, ".haversack/templates/implementor.md"), "{{task}}");
    expect(add("implementor").err).toBe("");
  });

  it("an agent with two sessions gets what it was seen with last, and one line on the rest", async () => {
    const project = wakeProject("backend");
    const ids = ["First", "Second"].map((title) => project.json("task", "create", title).id);
    for (const [at, sessionId] of ["s1", "s2"].entries()) {
      project.say("claim", ids[at], "--agent", "backend", { env: { CLAUDE_CODE_SESSION_ID: sessionId } });
    }
    await project.seen("backend", "s2");
    const { out, err } = project.haversack(["wake", "backend"]);
    expect(out).toContain(`${ids[1]} "Second" is in progress`);
    expect(out).toContain(
      `\n@backend is also at work in session s1, which holds ${ids[0]}: leave that to it, unless it has stopped.\n`,
    );
    expect(err).toBe("");
    expect(project.say("wake", "backend", "--session", "s1")).toContain(`${ids[0]} "First" is in progress`);
  });

  it.each<[what: string, words: string[], code: number, line: string]>([
    [
      "an unknown agent",
      ["wake", "backedn"],
      1,
      'there is no agent "backedn"\nhaversack: hint: did you mean @backend?',
    ],
    [
      "a message to one",
      ["agent", "message", "@backedn", "x"],
      1,
      'there is no agent "backedn"\nhaversack: hint: did you mean @backend?',
    ],
    [
      "an inbox of one",
      ["agent", "inbox", "backedn"],
      1,
      'there is no agent "backedn"\nhaversack: hint: did you mean @backend?',
    ],
    [
      "a prompt to one",
      ["agent", "prompt", "backedn", "x"],
      1,
      'there is no agent "backedn"\nhaversack: hint: did you mean @backend?',
    ],
    ["nobody's inbox", ["agent", "inbox"], 2, "agent is missing: name one"],
    [
      "a message to nobody",
      ["agent", "message", "nobody", "x"],
      1,
      'there is no agent "nobody"\nhaversack: hint: there is @backend',
    ],
    [
      "a message to an agent and to nobody",
      ["agent", "message", "backend", "nobody", "x"],
      1,
      'there is no agent "nobody"\nhaversack: hint: there is @backend; a text of several words needs quotes',
    ],
    ["a message of names without an @", ["agent", "message", "backend", "@backend"], 2, "the text is missing"],
    ["a message without a name", ["agent", "message", "hello"], 2, "name at least one agent with an @"],
    ["a message of names", ["agent", "message", "@backend"], 2, "the text is missing"],
    ["an empty message", ["agent", "message", "@backend", " "], 2, "text must not be empty"],
    ["a message too long", ["agent", "message", "@backend", "x".repeat(20_001)], 2, "text has 20001 characters"],
    ["an unknown subject", ["agent", "message", "@backend", "x", "--about", "T1X"], 1, 'nothing has the id "T1X"'],
    ["an unknown task", ["wake", "backend", "--task", "T1X"], 1, 'there is no task "T1X"'],
    ["no role", ["agent", "add", "x"], 2, "agent add needs --role: orchestrator, implementer"],
    ["an empty role", ["agent", "add", "x", "--role", " "], 2, "role must not be empty"],
    ["a role that is a path", ["agent", "add", "x", "--role", "../../etc/passwd"], 2, "role must be a word of letters"],
    ["a name with a space", ["agent", "add", "a b", "--role", "fixer"], 2, "name must be letters, digits"],
    ["a client nobody knows", ["wake", "backend", "--client", "codec"], 2, "did you mean codex?"],
    ["a budget of nothing", ["wake", "backend", "--budget", "0"], 2, "--budget must be a whole number of at least 1"],
    ["a workflow nobody knows", ["workflow", "add", "develop"], 1, "did you mean development?"],
    ["JSON of a client", ["agent", "prompt", "backend", "x", "--json"], 2, "--json needs --print"],
    ["words without quotes", ["agent", "prompt", "backend", "two", "words"], 2, 'unexpected argument "words"'],
  ])("%s is one error with one hint", (_, words, code, line) => {
    const project = wakeProject("backend");
    const ran = project.haversack(words);
    expect({ code: ran.code, out: ran.out }).toEqual({ code, out: "" });
    expect(ran.err).toContain(line);
    expect(ran.err).toMatch(/^haversack: error: .*\nhaversack: hint: .*\n$/);
    expect(project.json("agent", "inbox", "backend", "--all")).toEqual([]);
  });
});

describe("wake without a name", () => {
  it("is for the only agent, asks for a name where there are several, and says what to do where there is nobody", () => {
    const one = wakeProject("backend");
    one.haversack(["agent", "message", "@backend", "Look at the spec."]);
    const ran = one.haversack(["wake"]);
    expect(ran).toMatchObject({ code: 0, out: expect.stringContaining("Look at the spec.") });
    expect(ran.err).toContain("haversack: note: for @backend, the only agent\n");
    one.haversack(["agent", "add", "june", "--role", "implementer"]);
    expect(one.haversack(["wake"])).toMatchObject({
      code: 2,
      out: "",
      err: expect.stringMatching(
        /^haversack: error: there are several agents: name one\nhaversack: hint: .*backend, june\n$/,
      ),
    });
    expect(wakeProject().haversack(["wake"])).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringContaining("haversack: hint: `haversack agent add NAME --role ROLE`"),
    });
  });
});

describe("prompt", () => {
  it("starts a new session with the packet as its prompt, as that agent", () => {
    const project = wakeProject("backend");
    const env = { ...project.claude(), HAVERSACK_AGENT: "june", CLAUDECODE: "1", CLAUDE_CODE_SESSION_ID: "outer" };
    const text = "Say \"$(touch pwned)\" `touch pwned`; 'x' && touch pwned";
    const ran = project.haversack(["agent", "prompt", "@backend", text], { env });
    expect(ran).toMatchObject({ code: 0, out: "said by the client\n" });
    expect(ran.err).toBe(`haversack: note: starting a session for @backend in ${project.root}\n`);
    const started = project.started();
    expect(started.args).toEqual(["-p"]);
    expect(started.env).toMatchObject({ cwd: project.root, agent: "backend", woken: "1", inside: "", session: "" });
    expect(started.stdin).toMatch(/^# Implementer/);
    expect(started.stdin).toContain(`@june: "${text.replaceAll('"', '\\"')}"`);
    expect(existsSync(join(project.root, "pwned"))).toBe(false);
    // The packet contains the whole message, so it counts as read.
    expect(project.json("agent", "inbox", "backend")).toEqual([]);
    expect(project.json("agent", "inbox", "backend", "--all")).toHaveLength(1);
  });

  it("resumes the agent's session where that was, with the user's options, and passes the exit code on", async () => {
    const project = wakeProject("backend");
    const folder = join(project.root, "sub");
    mkdirSync(folder);
    await project.seen("backend", "s-1", { cwd: folder, event: "end" });
    const words = ["agent", "prompt", "backend", "go on", "--", "--permission-mode", "plan", "--json"];
    expect(project.haversack(words, { env: project.claude(7) }).code).toBe(7);
    expect(project.started()).toMatchObject({
      args: ["-p", "--resume", "s-1", "--permission-mode", "plan", "--json"],
      env: { cwd: folder },
    });
    project.haversack(["agent", "prompt", "backend", "anew", "--new"], { env: project.claude() });
    expect(project.started().args).toEqual(["-p"]);
  });

  it("leaves a running session alone: the message is kept for its next event", async () => {
    const project = wakeProject("backend");
    const process = claudeProcess({ CLAUDE_PID: String(globalThis.process.pid) });
    await project.seen("backend", "s-1", { process });
    const ran = project.haversack(["agent", "prompt", "backend", "hello"], { env: project.claude() });
    expect(ran).toMatchObject({ code: 1, out: "" });
    const who = process?.space ? `process ${process.id}` : "seen 0 s ago";
    expect(ran.err).toContain(`@backend is at work (${who}); the message is sent and will reach it at its next event`);
    expect(project.hasStarted()).toBe(false);
    expect(project.json("agent", "inbox", "backend")).toHaveLength(1);
  });

  it("keeps the message when the client is not there or cannot be started", () => {
    const project = wakeProject();
    project.say("agent", "add", "backend", "--role", "fixer");
    project.say("agent", "add", "other", "--role", "fixer", "--client", "codex");
    const bare = { env: { PATH: join(project.root, "nothing") } };
    expect(project.refused("agent", "prompt", "backend", "x", bare)).toContain(
      "there is no program claude on the PATH",
    );
    const line = project.refused("agent", "prompt", "other", "x", bare);
    expect(line).toContain(
      "there is no program codex on the PATH\nhaversack: hint: install Codex, or name another client with --client;",
    );
    expect(line).toContain("the message is kept, and `haversack agent prompt --print` prints what it should be given");
    expect(project.refused("agent", "prompt", "other", "x", "--client", "plain", bare)).toContain(
      "plain cannot be started from here",
    );
    for (const [name, count] of [
      ["backend", 1],
      ["other", 2],
    ] as const) {
      expect(project.json("agent", "inbox", name)).toHaveLength(count);
    }
  });

  it.each([
    ["codex", ["exec", "-m", "x", "-"], ["exec", "resume", "s-1", "-m", "x", "-"]],
    ["gemini", ["-m", "x"], ["--resume", "s-1", "-m", "x"]],
    ["opencode", ["run", "-m", "x"], ["run", "--session", "s-1", "-m", "x"]],
  ])(
    "starts and resumes %s in its own way; a session of another client is not its own",
    async (client, begin, resume) => {
      const project = wakeProject();
      project.say("agent", "add", "backend", "--role", "fixer", "--client", client);
      const env = project.program(client);
      const words = ["agent", "prompt", "backend", "hi", "--", "-m", "x"];
      expect(project.haversack(words, { env }).code).toBe(0);
      expect(project.started().args).toEqual(begin);
      expect(project.started().stdin).toContain('the user (person): "hi"');
      await project.seen("backend", "s-1", { client, event: "end" });
      project.haversack(words, { env });
      expect(project.started().args).toEqual(resume);
      project.haversack(["agent", "prompt", "backend", "hi", "--client", "claude-code"], { env: project.claude() });
      expect(project.started().args).toEqual(["-p"]);
    },
  );

  it("only prints with --print: nothing is stored and nobody started", () => {
    const project = wakeProject("backend");
    const env = project.claude();
    expect(project.say("agent", "prompt", "backend", "look", "--print", { env })).toContain(
      'the user (person): "look"',
    );
    expect(project.json("agent", "prompt", "backend", "look", "--print", { env })).toMatchObject({ agent: "backend" });
    expect(project.hasStarted()).toBe(false);
    expect(project.json("agent", "inbox", "backend", "--all")).toEqual([]);
  });

  it("message send starts idle agents only with --wake", async () => {
    const project = wakeProject("ann", "bob");
    const env = project.claude();
    project.say("agent", "message", "@ann", "@bob", "later", { env });
    expect(project.hasStarted()).toBe(false);
    await project.seen("bob", "s-2");
    const ran = project.haversack(["agent", "message", "@bob", "@ann", "now", "--wake", "--", "--model", "x"], { env });
    expect(ran.code).toBe(0);
    expect(ran.err).toContain("@bob is at work");
    expect(project.started()).toMatchObject({ args: ["-p", "--model", "x"], env: { agent: "ann" } });
    expect(project.started().stdin).toContain('the user (person): "now"');
  });

  it("message send --wake starts the others although one client is not there", () => {
    const project = wakeProject("bob");
    project.say("agent", "add", "ann", "--role", "fixer", "--client", "codex");
    const { PATH = "" } = project.claude();
    const env = { PATH: `${PATH.split(":")[0]}:${join(project.root, "nothing")}` };
    const ran = project.haversack(["agent", "message", "@ann", "@bob", "now", "--wake"], { env });
    expect(ran.code).toBe(1);
    expect(ran.err).toContain("haversack: error: @ann: there is no program codex on the PATH");
    expect(project.started()).toMatchObject({ env: { agent: "bob" } });
  });
});

describe("workflow", () => {
  it("is listed, shown before it is added, added once, and never over what is there", () => {
    const project = wakeProject();
    const [development] = project.json("workflow", "list");
    expect(development).toMatchObject({ name: "development", skills: expect.arrayContaining(["brainstorming"]) });
    expect(development.skills).toHaveLength(12);
    const skills = join(project.root, ".haversack/skills");
    expect(project.json("workflow", "add", "development", "--dry-run")).toMatchObject({
      added: development.skills,
      written: false,
    });
    expect(existsSync(skills)).toBe(false);

    project.write(".haversack/skills/debugging/SKILL.md", "mine\n");
    expect(project.json("workflow", "add", "development")).toMatchObject({ kept: ["debugging"], written: true });
    expect(readFileSync(join(skills, "debugging/SKILL.md"), "utf8")).toBe("mine\n");
    expect(project.json("workflow", "add", "development")).toMatchObject({ kept: ["debugging"], written: false });
    expect(project.say("skill", "show", "brainstorming")).toMatch(/^# brainstorming\n/);
    expect(project.say("skill", "list")).toContain("test-driven-development");
  });
});

describe("help and completion", () => {
  it("have the commands under a heading of their own", () => {
    const project = wakeProject();
    expect(project.say("help", "all")).toMatch(/\nAgents:\n {2}agent add\|rm /);
    expect(project.say("completion", "bash")).toContain('agent) words="add rm list show wake prompt message inbox"');
    expect(project.say("agent", "prompt", "--help")).toContain(
      "Usage: haversack agent prompt AGENT MESSAGE [options] [-- ARGS…]",
    );
  });
});

type Words = (string | RunOptions)[];

interface WakeProject extends Scratch {
  say(...words: Words): string;
  json(...words: Words): ReturnType<Ran["json"]>;
  /** Standard error of a command that must end with 1 and print nothing. */
  refused(...words: Words): string;
  /** The agent was seen in this session. */
  seen(name: string, sessionId: string, more?: Partial<SessionTouch>): Promise<void>;
  /** A client on the PATH that records how it was started. */
  claude(exitCode?: number): Record<string, string>;
  program(name: string, exitCode?: number): Record<string, string>;
  hasStarted(): boolean;
  started(): { args: string[]; env: Record<string, string>; stdin: string };
}

function wakeProject(...agents: string[]): WakeProject {
  const project = scratchProject();
  const run = (words: Words, code: number): Ran => {
    const options = words.filter((word): word is RunOptions => typeof word === "object");
    const ran = project.haversack(words.filter((word) => typeof word === "string") as string[], options[0]);
    if (ran.code !== code) throw new Error(`${words.join(" ")}: exit ${ran.code}\n${ran.out}\n${ran.err}`);
    return ran;
  };
  const bin = join(project.home, "bin");
  const record = join(project.home, "started");
  const made: WakeProject = {
    ...project,
    say: (...words) => run(words, 0).out,
    json: (...words) => run([...words, "--json"], 0).json(),
    refused(...words) {
      const { out, err } = run(words, 1);
      expect(out).toBe("");
      return err;
    },
    async seen(name, sessionId, more = {}) {
      const handle = openDatabase(join(project.root, ".haversack/haversack.db"), { durability: "normal" });
      onTestFinished(() => void (handle.db.isOpen && handle.db.close()));
      const at = new Date();
      await new SqliteWorkStore(handle).seeAgent({ name, sessionId, client: more.client ?? "claude-code" }, at);
      const touch = { sessionId, client: "claude-code", cwd: project.root, at, ...more };
      new SqliteLocalStore(handle).touchSession(touch);
      handle.db.close();
    },
    claude: (exitCode = 0) => made.program("claude", exitCode),
    program(name, exitCode = 0) {
      mkdirSync(bin, { recursive: true });
      const file = join(bin, name);
      writeFileSync(file, fakeClaude(record, exitCode));
      chmodSync(file, 0o755);
      return { PATH: `${bin}:${process.env["PATH"]}` };
    },
    hasStarted: () => existsSync(record),
    started: () => JSON.parse(readFileSync(record, "utf8")),
  };
  for (const name of agents) made.say("agent", "add", name, "--role", "implementer");
  return made;
}

function fakeClaude(record: string, exitCode: number): string {
  return `#!${process.execPath}
const { HAVERSACK_AGENT: agent, HAVERSACK_WOKEN: woken, CLAUDECODE: inside = "", CLAUDE_CODE_SESSION_ID: session = "" } = process.env;
const stdin = require("node:fs").readFileSync(0, "utf8");
const env = { cwd: process.cwd(), agent, woken, inside, session };
require("node:fs").writeFileSync(${JSON.stringify(record)}, JSON.stringify({ args: process.argv.slice(2), env, stdin }));
console.log("said by the client");
process.exitCode = ${exitCode};
`;
}

/** A plan of three tasks with its workflow, an orchestrator and two workers. */
function planProject(): { project: WakeProject; ids: string[] } {
  const project = wakeProject("backend");
  project.say("agent", "add", "june", "--role", "orchestrator");
  project.say("agent", "add", "rev", "--role", "spec-reviewer");
  project.say("workflow", "add", "development");
  project.say("skill", "index");
  project.write("docs/plan.md", PLAN);
  project.say("import", "docs/plan.md");
  const tasks = project.json("task", "list") as { id: string; title: string }[];
  const ids = ["model", "login", "JWT"].map((word) => tasks.find(({ title }) => title.includes(word))?.id ?? "");
  return { project, ids };
}

const PLAN = `# Authentication

Logins for people.

### Task 1: Add user model

### Task 2: Add login endpoint

POST /login takes a name and a password.

**Files:**
- Create: \`internal/auth/login.go\`
- Test: \`internal/auth/login_test.go\`

**Done when:**
- Wrong passwords get 401.

**Step 1: Write a failing test**

    CODE-OF-STEP-ONE

**Step 2:** Make it pass

### Task 3: Add JWT middleware
`;

function nextOf(packet: string): string {
  return packet.slice(packet.indexOf("## Your Next Action"));
}

function linesWith(text: string, part: string): string[] {
  return text.split("\n").filter((line) => line.includes(part));
}
