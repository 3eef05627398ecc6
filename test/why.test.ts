/** `haversack why` after events of Claude Code: it explains every text that the hook put into a window. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openDatabase } from "../packages/haversack/src/store/sqlite/open.ts";
import { noteInjection } from "../packages/haversack/src/store/sqlite/skills/injections.ts";
import { type Scratch, scratchProject } from "./bins.ts";

const FIXTURES = join(import.meta.dirname, "fixtures/claude-code");
const SKILL =
  "---\nname: tdd\ndescription: Use when writing tests first.\n---\n\n# TDD\n\nWrite the test before the code.\n";

interface Part {
  part: string;
  because: string;
  tokens?: number;
}

interface Shown {
  what: string;
  event: string;
  window: number;
  agent_id: string;
  tokens: number;
  text: string;
  parts: Part[];
}

function world() {
  const project = scratchProject();
  project.write(".git/HEAD", "ref: refs/heads/main\n");
  project.write(".claude/skills/tdd/SKILL.md", SKILL);
  const { haversack } = project;
  haversack(["init", "--bare"]);
  haversack(["skill", "index"]);
  /** Sends a recorded payload, with changes, in this project and session. Returns what the model sees. */
  const send = (fixture: string, changes: object = {}, { session = "s1", env = {}, cwd = project.root } = {}) => {
    const { payload } = JSON.parse(readFileSync(join(FIXTURES, `${fixture}.json`), "utf8"));
    const { out, err, code } = project.hook({ ...payload, session_id: session, cwd, ...changes }, { env });
    expect({ err, code }).toEqual({ err: "", code: 0 });
    return out;
  };
  const createTask = (...words: string[]): string => haversack(["task", "create", ...words, "--json"]).json().id;
  const claim = (id: string, env: Record<string, string> = { CLAUDE_CODE_SESSION_ID: "s1" }) =>
    expect(haversack(["claim", id], { env })).toMatchObject({ code: 0 });
  const why = (...words: string[]): Shown[] => haversack(["why", "--json", ...words]).json().injections;
  return { ...project, send, createTask, claim, why };
}

function because(parts: readonly Part[], part: string): string | undefined {
  return parts.find((each) => each.part === part)?.because;
}

function enforce(project: Scratch, isOn: boolean): void {
  // Set by the user, because a file that came with the project would not count.
  project.haversack(["config", "set", "skills.enforce", String(isOn)]);
}

describe("a packet", () => {
  it("at the start of a session is explained part by part, though no prompt was seen", () => {
    const { haversack, send, createTask, claim, why } = world();
    const id = createTask("Limit logins", "--skill", "tdd", "--description", "Lock the account after five.");
    claim(id);
    const out = send("session-start.startup");
    const [shown, ...others] = why();
    expect(others).toEqual([]);
    expect(shown).toMatchObject({
      what: "packet at the start of the session",
      event: "startup",
      window: 1,
      agent_id: "",
    });
    expect(JSON.parse(out).hookSpecificOutput.additionalContext).toBe(shown?.text);
    const parts = shown?.parts ?? [];
    const claimedAt = haversack(["task", "log", "--json"])
      .json()
      .find(({ kind }: { kind: string }) => kind === "task-claimed").at;
    expect(because(parts, "task")).toBe(`${id} "Limit logins": held by @claude-code-s1 since ${claimedAt}`);
    expect(because(parts, "skill tdd")).toBe("named by the task");
    expect(because(parts, "next action")).toBe(`follows from the state of ${id}`);
    for (const { tokens = 0 } of parts) expect(tokens).toBeGreaterThan(0);
    const sum = parts.reduce((all, { tokens = 0 }) => all + tokens, 0);
    expect(sum).toBeLessThanOrEqual((shown?.tokens ?? 0) + parts.length);

    const text = haversack(["why"]).out;
    expect(text).toMatch(
      /^Packet at the start of the session\n {2}Added \d+ tokens\n[\s\S]*?\n {2}session s1, window 1, /m,
    );
    expect(text).toContain(`held by @claude-code-s1 since ${claimedAt}`);
    expect(text).toContain("1 text in session s1 (claude-code, last seen just now)");
    expect(text).not.toContain("Write the test before the code.");
    expect(haversack(["why", "--text"]).out).toContain("  Write the test before the code.");
  });

  it("after a compaction and for a sub-agent names the window and the sub-agent", () => {
    const { send, createTask, claim, why } = world();
    const id = createTask("Limit logins", "--skill", "tdd");
    claim(id);
    send("session-start.startup");
    send("user-prompt-submit", { prompt: "hello" });
    send("session-start.compact");
    const input = { description: "x", prompt: `Build ${id}.`, subagent_type: "haversack-implementer" };
    send("pre-tool-use.agent", { tool_input: input, tool_use_id: "toolu_1" });
    expect(why().map(({ what, window, agent_id }) => [what, window, agent_id])).toEqual([
      ["packet for a sub-agent", 1, "call:toolu_1"],
      ["packet after a compaction", 2, ""],
      ["prompt", 1, ""],
      ["packet at the start of the session", 1, ""],
    ]);
    expect(because(why()[0]?.parts ?? [], "task")).toBe(
      `${id} "Limit logins": the call that started the sub-agent names it`,
    );
    send("post-tool-use.agent.completed", {
      tool_use_id: "toolu_1",
      tool_response: { status: "completed", agentId: "a77", content: [] },
    });
    expect(why("--sub-agent", "a77").map(({ what }) => what)).toEqual(["packet for a sub-agent"]);
  });

  it("of work that a session left says whose it was", () => {
    const { send, createTask, claim, why } = world();
    const id = createTask("Limit logins");
    send("session-start.startup");
    claim(id);
    send("session-end.other");
    send("session-start.startup", {}, { session: "s2" });
    const [packet] = why("--session", "s2");
    expect(because(packet?.parts ?? [], "tasks")).toContain(`${id} "Limit logins": left by @claude-code-s1`);
  });

  it("of a resumed session is news, with its size and the tasks it is about", () => {
    const { haversack, send, createTask, claim, why } = world();
    const id = createTask("Limit logins");
    send("session-start.startup");
    claim(id);
    expect(haversack(["task", "update", id, "--priority", "P0"], { env: { USER: "bob" } })).toMatchObject({ code: 0 });
    send("session-start.resume");
    const [news] = why();
    expect(news).toMatchObject({ what: "news as the session resumed", tokens: expect.any(Number) });
    expect(news?.tokens).toBeGreaterThan(5);
    expect(because(news?.parts ?? [], "news")).toContain(id);
  });

  it("of a fork is a whole sentence, though nobody changed a task", () => {
    const { root, send, why } = world();
    send("session-start.startup");
    const handle = openDatabase(join(root, ".haversack/haversack.db"), { durability: "normal" });
    const told = { event: "fork", format: "news", text: "It now holds T1.", at: new Date() } as const;
    const reason = { kind: "news", since: told.at.toISOString(), tasks: [] } as const;
    noteInjection(handle, { sessionId: "s1" }, { ...told, because: reason });
    handle.db.close();
    expect(because(why()[0]?.parts ?? [], "news")).toBe("who holds the tasks of the session that it was forked from");
  });
});

it("a message that came with a prompt is explained beside what the prompt brought", () => {
  const { haversack, send, why } = world();
  const env = { HAVERSACK_AGENT: "june" };
  send("session-start.startup", {}, { env });
  haversack(["agent", "message", "@june", "The spec has changed."], { env: { HAVERSACK_AGENT: "bob" } });
  expect(send("user-prompt-submit", { prompt: "write the tests first" }, { env })).toContain("The spec has changed.");
  const [messages, prompt] = why();
  expect(messages).toMatchObject({
    what: "messages with a prompt",
    parts: [{ because: expect.stringMatching(/^from @bob to @june, sent 20/) }],
  });
  expect(prompt).toMatchObject({ what: "prompt", event: "prompt", text: expect.stringContaining("tdd") });
  const { out } = haversack(["why"]);
  expect(out).toMatch(
    /^"write the tests first"\n {2}Added \d+ tokens: recommended tdd\n[^"]*"[\s\S]*?\n {2}session s1, prompt 1, window 1, /m,
  );
  expect(out).toContain("tdd: shown (full)");
});

it("a warning before an edit and a refused edit name the rule's skill and the file", () => {
  const project = world();
  const rule = {
    enforcement: "block",
    promptTriggers: { keywords: ["zebra"] },
    fileTriggers: { pathPatterns: ["src/**/*.ts"] },
  };
  project.write(".claude/skills/skill-rules.json", JSON.stringify({ version: "1.0", skills: { tdd: rule } }));
  project.haversack(["skill", "index"]);
  project.send("session-start.startup");
  const edit = { tool_input: { file_path: join(project.root, "src/a.ts"), old_string: "a", new_string: "b" } };
  expect(project.send("pre-tool-use.edit", edit)).toContain("tdd");
  enforce(project, true);
  expect(project.haversack(["trust", "--yes"]).code).toBe(0);
  expect(project.send("pre-tool-use.edit", edit)).toContain('"permissionDecision":"deny"');
  const [refused, warned] = project.why();
  expect([refused?.what, warned?.what]).toEqual(["edit refused", "warning before an edit"]);
  for (const shown of [refused, warned]) {
    expect(shown?.tokens).toBeGreaterThan(5);
    expect(because(shown?.parts ?? [], "skill tdd")).toContain('"block" asks for it before src/a.ts is edited');
  }
});

describe("which session", () => {
  it("is the latest of this folder, and of another work tree's its own", () => {
    const { root, home, send, why, haversack } = world();
    const tree = join(home, "tree");
    mkdirSync(join(root, ".git/worktrees/tree"), { recursive: true });
    writeFileSync(join(root, ".git/worktrees/tree/HEAD"), "ref: refs/heads/side\n");
    writeFileSync(join(root, ".git/worktrees/tree/commondir"), "../..\n");
    mkdirSync(tree);
    writeFileSync(join(tree, ".git"), `gitdir: ${root}/.git/worktrees/tree\n`);
    send("user-prompt-submit", { prompt: "tests first" }, { session: "here" });
    send("user-prompt-submit", { prompt: "tests first" }, { session: "there", cwd: tree });
    expect(haversack(["why", "--json"]).json().session).toBe("here");
    expect(haversack(["why", "--json"], { cwd: tree }).json().session).toBe("there");
    expect(why("--session", "there")).toHaveLength(1);
  });

  it("says so when nothing was added, when there is more, and when there is no such session", () => {
    const { haversack, send } = world();
    expect(haversack(["why"])).toMatchObject({ code: 0, out: "No session was seen here yet.\n" });
    send("session-start.startup");
    expect(haversack(["why"]).out).toMatch(/^Nothing was added to session s1 \(claude-code, last seen just now\)\.\n$/);
    for (let count = 0; count < 7; count++) send("user-prompt-submit", { prompt: `tests first ${count}` });
    expect(haversack(["why"]).out).toMatch(
      /5 of 7 shown; `haversack skill why --limit 7` shows all\. In session s1: \d texts?(?: and \d silent prompts?)?, \d+ tokens in all\.\n$/,
    );
    expect(haversack(["why", "--session", "nobody"])).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringMatching(/^haversack: error: no session "nobody" was seen here\n/),
    });
  });
});

it("skills that are only listed by name are named in the outcome", () => {
  const { haversack, send } = world();
  haversack(["config", "set", "skills.recommend_threshold", "1"]);
  send("session-start.startup");
  send("user-prompt-submit", { prompt: "write the tests first" });
  expect(haversack(["why"]).out).toMatch(/^ {2}Added \d+ tokens: listed by name: tdd$/m);
});
