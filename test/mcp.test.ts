/** The MCP server as a client runs it: the built bin, newline-delimited JSON-RPC on its standard input and output. */
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { readLog } from "../packages/haversack/src/base/log.ts";
import { makeRecordedStore, userStateFolder } from "../packages/haversack/src/base/project-trust.ts";
import type { StoreHandle } from "../packages/haversack/src/store/sqlite/access.ts";
import { openDatabase } from "../packages/haversack/src/store/sqlite/open.ts";
import { SessionState } from "../packages/haversack/src/store/sqlite/sessions/session-state.ts";
import { SqliteLocalStore } from "../packages/haversack/src/store/sqlite/sessions/sqlite-local-store.ts";
import { countTokens } from "../packages/haversack/src/tokens/count.ts";
import { type Scratch, scratchProject } from "./bins.ts";
import { spawnServer, startServer } from "./mcp-client.ts";

const BODY = "Always answer with a problem document.";
const NOTE = "Skill 'api-errors' is already in this window, unchanged; ask with reload to get its text again.";

describe("the handshake", () => {
  it("offers the skill tool, small, and says how to use it", async () => {
    const server = await startServer(skillProject());
    const { tools } = await server.request("tools/list");
    const [skill] = tools;
    expect(skill).toEqual({
      name: "skill",
      description: expect.any(String),
      inputSchema: { type: "object", properties: expect.any(Object) },
      annotations: { readOnlyHint: true },
      _meta: { "anthropic/alwaysLoad": true },
    });
    expect(Object.keys(skill.inputSchema.properties)).toEqual(
      expect.arrayContaining(["name", "query", "resource", "reload", "includeResources"]),
    );
    expect(await countTokens(JSON.stringify(skill))).toBeLessThanOrEqual(110);
    expect(server.opening.serverInfo.name).toBe("haversack");
    expect(server.opening.instructions).toBeUndefined();
    // The server must not list the skills themselves unasked.
    expect(server.opening.capabilities).toEqual({ tools: {} });
  });

  it("speaks the protocol's newer revision, which has no handshake, as well", async () => {
    const server = spawnServer(skillProject());
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const { tools } = await server.request("tools/list", { _meta });
    expect(tools.map(({ name }: { name: string }) => name)).toContain("skill");
    const result = await server.request("tools/call", { name: "skill", arguments: { name: "api-errors" }, _meta });
    expect(result.content[0].text).toContain(BODY);
  });

  it("takes --tools all, and refuses another set", async () => {
    const project = skillProject();
    const server = await startServer(project, { args: ["--tools", "all"] });
    const { tools } = await server.request("tools/list");
    expect(tools[0].name).toBe("skill");
    const { code, err } = project.haversack(["mcp", "--tools", "some"]);
    expect(code).toBe(2);
    expect(err).toContain('--tools must be one of default, all, but is "some"');
  });

  it("writes nothing into a project that does not use Haversack, and serves it all the same", async () => {
    const project = skillProject({ hasState: false });
    const server = await startServer(project, { session: "s1" });
    expect((await server.skill({ name: "api-errors" })).text).toContain(BODY);
    expect((await server.skill({ name: "api-errors" })).text).toContain(BODY);
    expect(await server.end()).toBe(0);
    expect(existsSync(join(project.root, ".haversack"))).toBe(false);
  });

  it("works in CLAUDE_PROJECT_DIR, wherever it was started", async () => {
    const project = skillProject();
    const server = await startServer(project, { cwd: project.home, env: { CLAUDE_PROJECT_DIR: project.root } });
    expect((await server.skill({ name: "api-errors" })).text).toContain(BODY);
  });
});

describe("loading", () => {
  it("brings the text and the resources, and leaves those out on request", async () => {
    const server = await startServer(skillProject());
    const { text } = await server.skill({ name: "api-errors" });
    expect(text).toContain(BODY);
    expect(text).toContain("references/codes.md");
    expect((await server.skill({ name: "api-errors", includeResources: false })).text).not.toContain("codes.md");
  });

  it("comes once per window, again with reload, and again in the next window", async () => {
    const project = skillProject();
    const { sessions, at } = openState(project);
    sessions.touchSession({ sessionId: "s1", client: "claude-code", cwd: project.root, at });
    const server = await startServer(project, { session: "s1" });
    expect((await server.skill({ name: "api-errors" })).text).toContain(BODY);
    expect((await server.skill({ name: "api-errors" })).text).toBe(NOTE);
    expect((await server.skill({ name: "api-errors", reload: true })).text).toContain(BODY);
    sessions.touchSession({ sessionId: "s1", client: "claude-code", cwd: project.root, at, event: "window" });
    expect((await server.skill({ name: "api-errors" })).text).toContain(BODY);
    expect((await server.skill({ name: "api-errors" })).text).toBe(NOTE);
  });

  it("always comes where the window is unknown: no session, or one that no hook has seen", async () => {
    const project = skillProject();
    const nameless = await startServer(project);
    const unseen = await startServer(project, { session: "never-seen" });
    for (const server of [nameless, unseen, nameless, unseen]) {
      expect((await server.skill({ name: "api-errors" }, { toolUseId: "toolu_1" })).text).toContain(BODY);
    }
  });

  it("tells a sub-agent's window from its parent's by the tool-use id, and guesses neither", async () => {
    const project = skillProject();
    const { sessions, state, at } = openState(project);
    const touch = { client: "claude-code", cwd: project.root, at };
    sessions.touchSession({ ...touch, sessionId: "s1" });
    sessions.touchSession({ ...touch, sessionId: "s1", agentId: "a1" });
    for (const [agentId, ids] of Object.entries({ "": ["main_1", "main_2"], a1: ["a1_1", "a1_2"] })) {
      for (const toolUseId of ids) state.noteToolCall({ sessionId: "s1", agentId }, toolUseId, at);
    }
    const server = await startServer(project, { session: "s1" });
    const load = async (toolUseId: string) => (await server.skill({ name: "api-errors" }, { toolUseId })).text;
    expect(await load("main_1")).toContain(BODY);
    expect(await load("main_2")).toBe(NOTE);
    expect(await load("a1_1")).toContain(BODY);
    expect(await load("a1_2")).toBe(NOTE);
    expect(await load("seen_by_no_hook")).toContain(BODY);
    sessions.touchSession({ ...touch, sessionId: "s1", agentId: "a1", event: "end" });
    expect(await load("seen_by_no_hook")).toBe(NOTE);
  });

  it("follows the client into the session that /clear begins, though the environment names the old one", async () => {
    const project = skillProject();
    const { sessions, state, at } = openState(project);
    const touch = { client: "claude-code", cwd: project.root, at };
    sessions.touchSession({ ...touch, sessionId: "before" });
    const server = await startServer(project, { session: "before" });
    const load = async (toolUseId: string) => (await server.skill({ name: "api-errors" }, { toolUseId })).text;
    expect(await load("toolu_1")).toContain(BODY);
    expect(await load("toolu_2")).toBe(NOTE);
    sessions.touchSession({ ...touch, sessionId: "after" });
    for (const id of ["toolu_3", "toolu_4"]) state.noteToolCall({ sessionId: "after" }, id, at);
    expect(await load("toolu_3")).toContain(BODY);
    expect(await load("toolu_4")).toBe(NOTE);
    sessions.touchSession({ ...touch, sessionId: "before", event: "end" });
    expect(await load("seen_by_no_hook")).toContain(BODY);
  });

  it("tells Codex's windows apart by their id when its hooks do not run", async () => {
    const server = await startServer(skillProject());
    const load = async (windowId: string) =>
      (await server.skill({ name: "api-errors" }, { more: { threadId: "t1", windowId } })).text;
    expect(await load("t1:0")).toContain(BODY);
    expect(await load("t1:0")).toBe(NOTE);
    expect(await load("t1:1")).toContain(BODY);
  });

  it("names the nearest skills for an unknown one", async () => {
    const server = await startServer(skillProject());
    const { text, isError } = await server.skill({ name: "api-erors" });
    expect(isError).toBe(true);
    expect(text).toContain("Did you mean 'api-errors'?");
  });
});

describe("searching", () => {
  it("answers with a line each, at most 8, and how to load one", async () => {
    const project = skillProject();
    for (let number = 1; number <= 12; number++)
      writeSkill(project, `deploy-${number}`, `Deploys the service to ring ${number}.`);
    const server = await startServer(project);
    const { text } = await server.skill({ query: "deploy the service" });
    const lines = text.split("\n");
    expect(lines).toHaveLength(9);
    for (const line of lines.slice(0, 8))
      expect(line).toMatch(/^deploy-\d+ \(0\.\d\d\) Deploys the service to ring \d+/);
    expect(lines[8]).toContain('"name"');
    expect((await server.skill({ query: "problem documents" })).text).toMatch(/^api-errors \(/);
  });

  it("says so when nothing fits or nothing is installed", async () => {
    const server = await startServer(skillProject());
    expect((await server.skill({ query: "xylophone" })).text).toMatch(/None of the 2 skills/);
    const bare = await startServer(scratchProject());
    expect((await bare.skill({ query: "anything" })).text).toBe("No skill is installed.");
  });
});

describe("a skill's files", () => {
  it("are read by name, and cut with the place of the whole", async () => {
    const project = skillProject();
    const long = project.write(".claude/skills/api-errors/references/long.md", `${"word ".repeat(20_000)}END`);
    const server = await startServer(project);
    expect((await server.skill({ name: "api-errors", resource: "references/codes.md" })).text).toBe("404 means gone\n");
    const { text } = await server.skill({ name: "api-errors", resource: "references/long.md" });
    expect(text).not.toContain("END");
    expect(text).toContain(`[cut: 40000 of 100003 characters; the whole file is ${long}]`);
  });

  it.each([
    "../pdf-forms/SKILL.md",
    "references/../../pdf-forms/SKILL.md",
    "/etc/hostname",
    ".env",
    "references/out.md",
    "references/missing.md",
  ])("%s is refused", async (resource) => {
    const project = skillProject();
    project.write(".claude/skills/api-errors/.env", "SECRET=1");
    project.write("outside.md", "SECRET");
    symlinkSync(join(project.root, "outside.md"), join(project.root, ".claude/skills/api-errors/references/out.md"));
    const server = await startServer(project);
    const { text, isError } = await server.skill({ name: "api-errors", resource });
    expect(isError).toBe(true);
    expect(text).toMatch(/^api-errors: /);
    expect(text).not.toContain("SECRET");
  });
});

describe("wrong input", () => {
  it.each([
    [{}, "Give the name of a skill, or a query"],
    [{ nam: "api-errors" }, 'skill: there is no parameter "nam"; did you mean name?'],
    [{ name: 7 }, "skill: name must be a string, but is 7"],
    [{ name: "api-errors", reload: "maybe" }, 'skill: reload must be true or false, but is "maybe"'],
  ])("%j is an error that says what to do", async (input, line) => {
    const { text, isError } = await (await startServer(skillProject())).skill(input);
    expect(isError).toBe(true);
    expect(text).toContain(line);
  });

  it.each([[[]], [["--serve-skills"]]])("null arguments of a call are none, with options %j", async (args) => {
    const server = await startServer(skillProject(), { args });
    const { isError, text } = await server.call("get_tasks", null);
    expect({ isError, text }).toEqual({ isError: false, text: "no tasks" });
    expect((await server.call("get_task", null)).text).toBe("get_task: task_id is missing");
  });

  it("does not stop the server: a line that is no JSON, an unknown method, an unknown tool", async () => {
    const server = await startServer(skillProject());
    server.write("this is no JSON\n");
    await expect(server.request("no/such/method")).rejects.toThrow(/-32601/);
    const unknown = await server.request("tools/call", { name: "skil", arguments: {} });
    expect(unknown).toEqual({
      content: [{ type: "text", text: 'There is no tool "skil"; did you mean skill?' }],
      isError: true,
    });
    expect((await server.skill({ name: "api-errors" })).text).toContain(BODY);
  });
});

describe("switched off", () => {
  it.each(["environment", "mark"])("by the %s: the model is told nothing", async (way) => {
    const project = skillProject();
    if (way === "mark") project.haversack(["off"]);
    const server = await startServer(project, way === "environment" ? { env: { HAVERSACK: "0" } } : {});
    expect(server.opening.instructions).toBeUndefined();
    expect(await server.request("tools/list")).toEqual({ tools: [] });
    const { text, isError } = await server.skill({ name: "api-errors" });
    expect(isError).toBe(true);
    expect(text).toMatch(/^Haversack is off: /);
  });

  it("while it runs: the tool says so, and works again afterwards", async () => {
    const project = skillProject();
    const server = await startServer(project);
    project.haversack(["off"]);
    expect((await server.skill({ name: "api-errors" })).isError).toBe(true);
    project.haversack(["on"]);
    expect((await server.skill({ name: "api-errors" })).text).toContain(BODY);
  });
});

describe("a store or settings that cannot be used", () => {
  it("is one clear line with what to do, and the server goes on when it is mended", async () => {
    const project = skillProject();
    const file = project.write(".haversack/haversack.db", "this is no database, and long enough to be taken for one");
    const server = await startServer(project);
    const { text, isError } = await server.skill({ name: "api-errors" });
    expect(isError).toBe(true);
    expect(text).toMatch(
      /^\S+haversack\.db is not a database, so it cannot be used as the store \(move that file away/,
    );
    expect(readFileSync(file, "utf8")).toMatch(/^this is no database/);
    rmSync(file);
    expect((await server.skill({ name: "api-errors" })).text).toContain(BODY);
    const [entry] = readLog(join(project.root, ".haversack/log"), { level: "error" });
    expect(entry).toMatchObject({ part: "mcp", text: expect.stringContaining("is not a database") });
  });

  it("deleted under it: the next call makes a new one", async () => {
    const project = skillProject();
    const server = await startServer(project);
    expect((await server.skill({ name: "api-errors" })).text).toContain(BODY);
    for (const ending of ["", "-wal", "-shm"])
      rmSync(join(project.root, `.haversack/haversack.db${ending}`), { force: true });
    expect((await server.skill({ name: "api-errors" })).text).toContain(BODY);
    expect(existsSync(join(project.root, ".haversack/haversack.db"))).toBe(true);
  });

  it("locked by a writer: the body comes all the same, unrecorded", async () => {
    const project = skillProject();
    const { handle, sessions, at } = openState(project);
    sessions.touchSession({ sessionId: "s1", client: "claude-code", cwd: project.root, at });
    const server = await startServer(project, { session: "s1" });
    handle.db.exec("BEGIN IMMEDIATE");
    expect((await server.skill({ name: "api-errors" })).text).toContain(BODY);
    handle.db.exec("ROLLBACK");
    expect((await server.skill({ name: "api-errors" })).text).toContain(BODY);
    expect((await server.skill({ name: "api-errors" })).text).toBe(NOTE);
    const texts = readLog(join(project.root, ".haversack/log"), { level: "warn" }).map((entry) => entry.text);
    expect(texts).toContainEqual(expect.stringMatching(/^api-errors was loaded, but that could not be recorded: /));
  });

  it("locked before there is an index: the line says so", async () => {
    const project = skillProject({ isIndexed: false });
    const { handle } = openState(project);
    handle.db.exec("BEGIN IMMEDIATE");
    const server = await startServer(project);
    const { text, isError } = await server.skill({ name: "api-errors" });
    expect(isError).toBe(true);
    expect(text).toMatch(/^the store is locked: .* \(try again/);
    handle.db.exec("ROLLBACK");
    expect((await server.skill({ name: "api-errors" })).text).toContain(BODY);
  });

  it("wrong settings stop nothing: the default counts, and `doctor` names them with their file", async () => {
    const project = skillProject();
    const file = project.write(".haversack/config.json", '{"skills": {"maxSkills": "three"}}');
    const server = await startServer(project);
    expect((await server.skill({ name: "api-errors" })).text).toContain(BODY);
    expect(project.haversack(["doctor"]).out).toContain(`${file}: skills.max_skills must be`);
  });
});

describe("the skills extension", () => {
  const EXTENSION = "io.modelcontextprotocol/skills";

  it("is offered only with --serve-skills", async () => {
    const server = await startServer(skillProject(), { args: ["--serve-skills"] });
    expect(server.opening.capabilities.extensions).toEqual({ [EXTENSION]: {} });
    const { skills } = await server.request("skills/list");
    expect(skills).toContainEqual({
      uri: "skill://api-errors/SKILL.md",
      frontmatter: { name: "api-errors", description: "Shapes API errors as problem documents." },
      resources: "dynamic",
    });
    const plain = await startServer(skillProject());
    await expect(plain.request("skills/list")).rejects.toThrow(/-32601/);
  });

  it("serves a skill's files and nothing beside them", async () => {
    const project = skillProject();
    project.write("secret.md", "SECRET");
    const server = await startServer(project, { args: ["--serve-skills"] });
    const read = async (uri: string) => (await server.request("resources/read", { uri })).contents[0].text;
    expect(await read("skill://api-errors/SKILL.md")).toContain(BODY);
    expect(await read("skill://api-errors/references/codes.md")).toBe("404 means gone\n");
    for (const uri of [
      "skill://api-errors/%2e%2e/%2e%2e/%2e%2e/secret.md",
      "skill://api-errors/..%2f..%2f..%2fsecret.md",
    ]) {
      await expect(read(uri)).rejects.toThrow(/not found/i);
    }
    expect((await server.request("resources/list")).resources).toEqual([]);
  });

  it("leaves out a skill that breaks its rules, and says so in the log", async () => {
    const project = skillProject();
    writeSkill(project, "Odd_Name", "Has a name that the extension refuses.");
    const server = await startServer(project, { args: ["--serve-skills"] });
    const { skills } = await server.request("skills/list");
    expect(skills.map(({ uri }: { uri: string }) => uri)).toEqual([
      "skill://api-errors/SKILL.md",
      "skill://pdf-forms/SKILL.md",
    ]);
    const texts = readLog(join(project.root, ".haversack/log"), { level: "warn" }).map((entry) => entry.text);
    expect(texts).toContainEqual(expect.stringContaining("Odd_Name"));
  });
});

describe("lines that are no message", () => {
  it("get an error of JSON-RPC, and the server goes on", async () => {
    const server = await startServer(skillProject());
    server.write("{no json\n");
    server.write("\n");
    server.write('[{"jsonrpc":"2.0","id":90,"method":"ping"}]\n');
    expect((await server.skill({ name: "api-errors" })).text).toContain(BODY);
    expect(server.errorsWithoutId).toEqual([-32700, -32600]);
    expect(await server.end()).toBe(0);
    expect(server.errors()).toBe("");
  });
});

describe("the end", () => {
  it("comes when nobody reads the output any more, although the input is open", async () => {
    const server = await startServer(skillProject());
    server.closeOutput();
    for (let n = 0; n < 3; n++) server.write(`${JSON.stringify({ jsonrpc: "2.0", id: 100 + n, method: "ping" })}\n`);
    expect(await server.exited).toBe(0);
    expect(server.errors()).toBe("");
  });

  it("comes with the end of standard input, with exit code 0 and nothing on standard error", async () => {
    const server = await startServer(skillProject());
    await server.skill({ name: "api-errors" });
    expect(await server.end()).toBe(0);
    expect(server.errors()).toBe("");
  });

  it("does not undo what was asked before it: every call is answered", () => {
    const project = skillProject();
    const ask = (id: number, method: string, params: object) => JSON.stringify({ jsonrpc: "2.0", id, method, params });
    const hello = { protocolVersion: "1999-01-01", capabilities: {}, clientInfo: { name: "test", version: "1" } };
    const stdin = [
      ask(1, "initialize", hello),
      JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }),
      ask(2, "tools/call", { name: "create_task", arguments: { title: "Last words" } }),
      ask(3, "tools/call", { arguments: {} }),
      ask(4, "ping", {}),
    ].join("\n");
    const { code, out } = project.haversack(["mcp"], { stdin: `${stdin}\n` });
    const answers = new Map(
      out
        .trim()
        .split("\n")
        .map((line) => [JSON.parse(line).id, JSON.parse(line)]),
    );
    expect(code).toBe(0);
    // An unknown protocol revision is answered with the newest that has a handshake.
    expect(answers.get(1)).toMatchObject({ result: { protocolVersion: "2025-11-25", capabilities: { tools: {} } } });
    expect(answers.get(2)).toMatchObject({
      result: { content: [{ text: expect.stringMatching(/^\{"id":"T\d+"\}$/) }] },
    });
    expect(answers.get(3)).toMatchObject({ error: { code: -32602 } });
    expect(answers.get(4)).toMatchObject({ result: {} });
    expect(project.haversack(["task", "list"]).out).toContain("Last words");
  });

  it("comes at once when the input is empty", async () => {
    const { code, out, err } = skillProject().haversack(["mcp"], { stdin: "" });
    expect({ code, out, err }).toEqual({ code: 0, out: "", err: "" });
  });
});

function skillProject({
  hasState = true,
  isIndexed = true,
}: {
  hasState?: boolean;
  isIndexed?: boolean;
} = {}): Scratch {
  const project = scratchProject();
  writeSkill(project, "api-errors", "Shapes API errors as problem documents.", BODY);
  writeSkill(project, "pdf-forms", "Fills in PDF forms.");
  project.write(".claude/skills/api-errors/references/codes.md", "404 means gone\n");
  if (hasState) project.write(".haversack/config.json", "{}");
  if (hasState && isIndexed) project.haversack(["skill", "index"]);
  return project;
}

function writeSkill(project: Scratch, name: string, description: string, body = `How to use ${name}.`): void {
  project.write(`.claude/skills/${name}/SKILL.md`, `---\nname: ${name}\ndescription: ${description}\n---\n\n${body}\n`);
}

/** The project's store, as hooks write to it. */
function openState({ root, home }: Scratch): {
  handle: StoreHandle;
  sessions: SqliteLocalStore;
  state: SessionState;
  at: Date;
} {
  mkdirSync(join(root, ".haversack"), { recursive: true });
  makeRecordedStore(join(root, ".haversack"), userStateFolder({ HOME: home }), new Date());
  const handle = openDatabase(join(root, ".haversack/haversack.db"), { durability: "normal" });
  onTestFinished(() => handle.db.close());
  return { handle, sessions: new SqliteLocalStore(handle), state: new SessionState(handle), at: new Date() };
}
