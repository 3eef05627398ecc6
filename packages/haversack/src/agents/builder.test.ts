import { chmodSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { jsonSchema, type LanguageModel } from "ai";
import { describe, expect, expectTypeOf, it } from "vitest";
import { parseAgent, readAgentFolder } from "./agent-file.ts";
import { AgentSystemBuilder } from "./builder.ts";
import { AgentError } from "./errors.ts";
import { consoleLogger, formatEvent, jsonLinesLogger, memoryLogger, noLogger } from "./events.ts";
import { ANALYST, scratchFolder, scriptedModel, tenderFolder } from "./fixtures.suite.ts";
import { folderStore } from "./folder-store.ts";
import type { AgentMiddleware, AgentResult } from "./index.ts";

const model = scriptedModel("x");
const errorOf = async (promise: Promise<unknown>): Promise<AgentError> => {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(AgentError);
  return error as AgentError;
};

describe("AgentSystemBuilder", () => {
  it("has a skilled agent in ten lines", async () => {
    const folder = tenderFolder();
    const system = await AgentSystemBuilder.default()
      .withAgentsFrom(`${folder}/agents`)
      .withSkillsFrom(`${folder}/skills`)
      .withModel(model)
      .build();
    const { text, skills } = await system.executor.execute("technical-analyst", "Analyze Danish tender document");
    expect([text, skills[0]?.name]).toEqual(["x", "danish-tender-guidelines"]);
    await system.close();
  });

  it("registers skill, read, write and grep by default, with auto-trigger on; nothing without default", async () => {
    const full = scriptedModel("x");
    const agent = { name: "a", instructions: "You are." };
    const system = await AgentSystemBuilder.default()
      .withAgent(agent)
      .withSkillsFrom(`${tenderFolder()}/skills`)
      .withModel(full)
      .build();
    await system.executor.execute("a", "Hello");
    expect(full.calls[0]?.tools?.map(({ name }) => name)).toEqual(["skill", "read", "write", "grep"]);
    const bare = scriptedModel("x");
    const other = await new AgentSystemBuilder().withAgent(agent).withModel(bare).build();
    await other.executor.execute("a", "Hello");
    expect(bare.calls[0]?.tools).toBeUndefined();
  });

  it("checks its settings when it builds", async () => {
    const agent = { name: "a", instructions: "You are." };
    const build = (options: unknown) =>
      errorOf(
        new AgentSystemBuilder()
          .withAgent(agent)
          .withModel(model)
          .withConfig(options as never)
          .build(),
      );
    for (const [options, field] of [
      [{ limits: { maxSteps: Number.NaN } }, "limits.maxSteps"],
      [{ limits: { maxSteps: -1 } }, "limits.maxSteps"],
      [{ limits: { maxSteps: 2.5 } }, "limits.maxSteps"],
      [{ limits: { maxTokens: "1000" } }, "limits.maxTokens"],
      [{ limits: 3 }, "limits"],
      [{ limit: { maxSteps: 3 } }, "limit"],
      [{ limits: { maxStep: 3 } }, "limits.maxStep"],
      [{ limits: JSON.parse('{ "__proto__": 1 }') }, "limits.__proto__"],
      [{ skills: { autoTrigger: { confidenceThreshold: 70 } } }, "skills.autoTrigger.confidenceThreshold"],
      [{ skills: { autoTrigger: { injectAs: "assistant" } } }, "skills.autoTrigger.injectAs"],
      [{ agents: { onInvalid: "ignore" } }, "agents.onInvalid"],
      [{ call: { maxRetry: 1 } }, "call.maxRetry"],
    ] as const)
      expect(await build(options)).toMatchObject({ code: "config-invalid", field });
    expect((await build({ limits: { maxStep: 3 } })).hint).toContain("Did you mean 'maxSteps'?");
    expect((await build(null)).code).toBe("config-invalid");
    const fine = { limits: { maxSteps: 1, maxTokens: Number.POSITIVE_INFINITY }, skills: { refreshMs: 0 } };
    await new AgentSystemBuilder().withAgent(agent).withModel(model).withConfig(fine).build();
  });

  it("checks agents from code", async () => {
    const build = (agent: unknown) =>
      errorOf(
        new AgentSystemBuilder()
          .withAgent(agent as never)
          .withModel(model)
          .build(),
      );
    for (const [agent, field] of [
      [{ name: "", instructions: "x" }, "name"],
      [{ name: " ", instructions: "x" }, "name"],
      [{ instructions: "x" }, "name"],
      [{ name: "a" }, "instructions"],
      [{ name: "a", instructions: "x", tols: ["read"] }, "tols"],
      [{ name: "a", instructions: "x", tools: "read" }, "tools"],
      [{ name: "a", instructions: "x", temperature: 7 }, "temperature"],
    ] as const)
      expect(await build(agent)).toMatchObject({ code: "agent-invalid", file: "code", field });
  });

  it("finds tools by their exact name, then in any case, for agents from code and from files", async () => {
    const tool = { description: "x", inputSchema: jsonSchema({ type: "object" }), execute: async () => "x" } as never;
    const folder = scratchFolder({ "a.md": "---\nname: file\ntools: [getWeather, READ]\n---\nYou are.\n" });
    const own = scriptedModel("x");
    const system = await AgentSystemBuilder.default({ root: folder })
      .withAgentsFrom(folder)
      .withAgent({ name: "exact", instructions: "You are.", tools: ["getWeather"] })
      .withAgent({ name: "loose", instructions: "You are.", tools: ["GETTIME", "Delegate"] })
      .withTools({ getweather: tool, getWeather: tool, getTime: tool })
      .withModel(own)
      .build();
    const names = async (agent: string) => {
      await system.executor.execute(agent, "Hello");
      return own.calls.at(-1)?.tools?.map(({ name }) => name);
    };
    expect(await names("exact")).toEqual(["getWeather"]);
    expect(await names("loose")).toEqual(["getTime", "delegate"]);
    expect(await names("file")).toEqual(["read", "getWeather"]);
  });

  it("gives an agent no tool that its file disallows", async () => {
    const folder = scratchFolder({ "a.md": "---\nname: a\ndisallowedTools: Write, Task, Bash\n---\nYou are." });
    const given = scriptedModel("Done.");
    const { executor } = await AgentSystemBuilder.default()
      .withAgentsFrom(folder)
      .withAgent({ name: "b", instructions: "You are.", disallowedTools: ["grep"] })
      .withModel(given)
      .build();
    for (const agent of ["a", "b"]) await executor.execute(agent, "Hello");
    expect(given.calls.map(({ tools }) => tools?.map(({ name }) => name))).toEqual([
      ["read", "grep"],
      ["read", "write", "delegate"],
    ]);
  });

  it("chooses the model by the agent", async () => {
    const [small, large] = [scriptedModel("small"), scriptedModel("large")];
    const system = await new AgentSystemBuilder()
      .withAgent({ name: "quick", instructions: "Q", model: "haiku" })
      .withAgent({ name: "deep", instructions: "D" })
      .withModel((agent) => (agent.model === "haiku" ? small : large))
      .build();
    expect((await system.executor.execute("quick", "Hello")).text).toBe("small");
    expect((await system.executor.execute("deep", "Hello")).text).toBe("large");
  });

  it("writes nothing to disk without a store", async () => {
    const folder = tenderFolder();
    const before = readdirSync(folder, { recursive: true }).sort();
    const system = await AgentSystemBuilder.default({ root: folder })
      .withAgentsFrom(`${folder}/agents`)
      .withSkillsFrom(`${folder}/skills`)
      .withModel(model)
      .build();
    await system.executor.execute("technical-analyst", "Analyze Danish tender document");
    await system.close();
    expect(readdirSync(folder, { recursive: true }).sort()).toEqual(before);
  });

  it("says which file and field is wrong, and what to do", async () => {
    const build = (files: Record<string, string>, choice: Parameters<AgentSystemBuilder["withModel"]>[0] = model) =>
      errorOf(AgentSystemBuilder.default().withAgentsFrom(scratchFolder(files)).withModel(choice).build());
    expect(await build({ "a.md": ANALYST.replace("grep", "grap, bash") })).toMatchObject({
      code: "tool-unknown",
      field: "tools",
      file: expect.stringMatching(/\/a\.md$/),
      hint: expect.stringContaining("Did you mean 'grep'?"),
      problems: [
        { text: "there is no tool 'grap'" },
        { text: "there is no tool 'bash'", hint: expect.stringContaining("withTools({ bash: … })") },
      ],
    });
    expect(await build({ "a.md": ANALYST, "b.md": ANALYST })).toMatchObject({
      code: "agent-duplicate",
      field: "name",
      message: expect.stringMatching(/b\.md: name: 'technical-analyst' is also the name of the agent in .*a\.md/),
    });
    expect(await build({ "a.md": ANALYST.replace("tools:", "model: gpt-99\ntools:") }, () => undefined)).toMatchObject({
      code: "model-unknown",
      field: "model",
      message: expect.stringContaining("the model 'gpt-99' of technical-analyst"),
    });
    const thrower = () => {
      throw new Error("no such provider");
    };
    expect(await build({ "a.md": ANALYST }, thrower)).toMatchObject({
      message: expect.stringContaining("no such provider"),
    });
    expect(await build({ "a.md": "---\nname: a\ntemperature: hot\n---\nx" })).toMatchObject({
      code: "agent-invalid",
      field: "temperature",
    });
  });

  it("refuses what is no model, and a tool that is missing", async () => {
    const agent = { name: "a", instructions: "You are." };
    const build = (change: (builder: AgentSystemBuilder) => unknown) => {
      const builder = new AgentSystemBuilder().withAgent(agent).withModel(model);
      change(builder);
      return errorOf(builder.build());
    };
    expect((await build((builder) => builder.withModel(null as never))).message).toBe("The system has no model.");
    expect((await build((builder) => builder.withModel({} as never))).message).toBe(
      "The value given to withModel is not a model.",
    );
    expect(await build((builder) => builder.withTools({ lost: undefined as never }))).toMatchObject({
      code: "tool-unsupported",
      message: "The tool 'lost' is missing.",
    });
  });

  it("needs a model, and folders that exist", async () => {
    expect(await errorOf(AgentSystemBuilder.default().build())).toMatchObject({
      code: "model-unknown",
      hint: expect.stringContaining("withModel"),
    });
    expect(
      await errorOf(AgentSystemBuilder.default().withAgentsFrom("/nowhere/at/all").withModel(model).build()),
    ).toMatchObject({ code: "agent-invalid", file: "/nowhere/at/all" });
  });

  it("needs folders of skills that exist, and takes a link for its root", async () => {
    const build = (folder: string) =>
      errorOf(AgentSystemBuilder.default().withSkillsFrom(folder).withModel(model).build());
    expect(await build("/nowhere/at/all")).toMatchObject({ code: "skills-missing", file: "/nowhere/at/all" });
    const folder = scratchFolder({ "real/a.txt": "text" });
    symlinkSync(`${folder}/real`, `${folder}/link`);
    const reader = scriptedModel([{ tool: "read", input: { path: "a.txt" } }], "ok");
    const system = await AgentSystemBuilder.default({ root: `${folder}/link` })
      .withAgent({ name: "a", instructions: "A" })
      .withModel(reader)
      .build();
    expect((await system.executor.execute("a", "Read")).toolCalls).toMatchObject([{ output: "1\ttext" }]);
    expect(AgentSystemBuilder.default({ root: `${folder}/not yet` })).toBeInstanceOf(AgentSystemBuilder);
  });

  it("can leave out agents that cannot be used, and logs them", async () => {
    const logger = memoryLogger();
    const folder = scratchFolder({ "good.md": ANALYST, "bad.md": "---\nname: bad\ntools: [bash]\n---\nx\n" });
    const system = await AgentSystemBuilder.default()
      .withAgentsFrom(folder)
      .withSkillsFrom(scratchFolder({ "x/SKILL.md": "\u0000" }))
      .withModel(model)
      .withLogger(logger)
      .withConfig({ agents: { onInvalid: "skip" }, skills: undefined as never })
      .build();
    expect(system.registry.listAgents().map(({ name }) => name)).toEqual(["technical-analyst"]);
    expect(logger.of("warning").map(({ text }) => text)).toEqual([
      expect.stringContaining("there is no tool 'bash'"),
      expect.stringContaining("not text"),
    ]);
    const unknown = await errorOf(system.executor.execute("bad", "Hello"));
    expect(unknown.code).toBe("agent-unknown");
    const none = await new AgentSystemBuilder().withModel(model).build();
    expect((await errorOf(none.executor.execute("x", "Hello"))).hint).toContain("withAgent");
  });

  it("fails at the turn if the function gives no model any more", async () => {
    let isThere = true;
    const system = await new AgentSystemBuilder()
      .withAgent({ name: "a", instructions: "A" })
      .withModel(() => (isThere ? model : undefined))
      .build();
    isThere = false;
    expect((await errorOf(system.executor.execute("a", "Hello"))).code).toBe("model-unknown");
  });

  it("has the types that people write against", () => {
    const builder = AgentSystemBuilder.default();
    expectTypeOf(builder.withConfig)
      .parameter(0)
      .toMatchTypeOf<{ skills?: { autoTrigger?: { confidenceThreshold?: number } } }>();
    expectTypeOf(builder.withModel).parameter(0).extract<LanguageModel>().not.toBeNever();
    expectTypeOf(builder.use).parameter(0).toEqualTypeOf<AgentMiddleware>();
    expectTypeOf(builder.build).returns.resolves.toHaveProperty("executor");
    expectTypeOf<AgentResult["text"]>().toEqualTypeOf<string>();
    expectTypeOf<AgentResult["stoppedBy"]>().toEqualTypeOf<"model" | "steps" | "budget">();
    const neverCalled = () => {
      // @ts-expect-error: a threshold is a number
      builder.withConfig({ skills: { autoTrigger: { confidenceThreshold: "high" } } });
      // @ts-expect-error: there is no such strategy
      builder.withConfig({ skills: { autoTrigger: { cacheStrategy: "for-ever" } } });
      // @ts-expect-error: an agent needs instructions
      builder.withAgent({ name: "a" });
      // @ts-expect-error: a middleware is a function
      builder.use({ name: "x" });
      // @ts-expect-error: skills are folders
      builder.withSkillsFrom(3);
    };
    expect(neverCalled).toBeTypeOf("function");
  });
});

describe("agents from markdown", () => {
  const parse = (header: string, body = "You are.") => parseAgent(`---\n${header}\n---\n${body}\n`, "/a.md");

  it("refuses a misspelt key, which would otherwise have no effect, and warns of other unknown ones", async () => {
    for (const [line, field, key] of [
      ["tols: [read]", "tols", "tools"],
      ["Tool: read", "Tool", "tools"],
      ["temperatur: 0", "temperatur", "temperature"],
      ["max-output-token: 5", "max-output-token", "max_output_tokens"],
      ["permision_mode: plan", "permision_mode", "permissionMode"],
    ] as const)
      expect(parse(`name: a\n${line}`)).toMatchObject({
        problems: [{ code: "agent-invalid", file: "/a.md", field, hint: expect.stringContaining(`\`${key}\``) }],
      });
    const all =
      "name: a\ndescription: d\nmodel: m\ntools: x\nskills: y\npermissionMode: plan\ncolor: red\nbehavior: precise\ntop_p: 0.5\nresponse_format: text\nthinking: true\nmaxTokens: 5";
    expect(parse(all)).toMatchObject({ problems: [], warnings: [] });
    const others = parse("name: a\nmode: subagent\nmcpServers: [x]\nversion: 1");
    expect(others?.agent?.name).toBe("a");
    expect(others?.warnings.map(({ field }) => field)).toEqual(["mode", "mcpServers", "version"]);
    const folder = scratchFolder({ "a.md": "---\nname: a\nversion: 1\n---\nYou are.\n" });
    const logger = memoryLogger();
    await new AgentSystemBuilder().withAgentsFrom(folder).withModel(model).withLogger(logger).build();
    expect(logger.of("warning").map(({ text }) => text)).toEqual([expect.stringContaining("a.md: version: is an")]);
  });

  it("reads every way to write tools and skills", () => {
    const tools = (line: string) => parse(`name: a\n${line}`)?.agent?.tools;
    expect(tools("tools: Read, Grep, Skill")).toEqual(["Read", "Grep", "Skill"]);
    expect(tools("tools: [Read, skill]")).toEqual(["Read", "skill"]);
    expect(tools("tools:\n  - read\n  - Agent")).toEqual(["read", "delegate"]);
    expect(tools("tools: Bash(git add:*, git diff), Read")).toEqual(["Bash", "Read"]);
    expect(tools('tools: "*"')).toBe("*");
    expect(tools("description: x")).toBe("*");
    expect(tools("tools: []")).toEqual([]);
    expect(parse("name: a\nskills: x, y")?.agent?.skills).toEqual(["x", "y"]);
    expect(parse("name: a\ndisallowedTools: Write, Bash(rm:*)")?.agent?.disallowedTools).toEqual(["Write", "Bash"]);
  });

  it("reads the settings of a model", () => {
    const agent = (lines: string) => parse(`name: a\n${lines}`)?.agent;
    expect(
      agent("model: sonnet\npermissionMode: plan\ncolor: blue\ntemperature: 0.4\ntop_p: 0.9\nmaxOutputTokens: 100"),
    ).toMatchObject({
      model: "sonnet",
      permissionMode: "plan",
      color: "blue",
      temperature: 0.4,
      topP: 0.9,
      maxOutputTokens: 100,
    });
    expect(agent("model: inherit")?.model).toBeUndefined();
    expect(agent("behavior: Creative")?.temperature).toBe(0.9);
    expect(agent("behavior: precise\ntemperature: '1'")?.temperature).toBe(1);
    expect(agent("response_format: { type: json_object }")?.responseFormat).toBe("json");
    expect(agent("responseFormat: markdown")?.responseFormat).toBe("text");
    const thinking = (value: string) => agent(`thinking: ${value}`)?.reasoning;
    expect(
      [
        "true",
        "false",
        "high",
        "enabled",
        "disabled",
        "{ type: enabled, budget_tokens: 1000 }",
        "{ type: enabled }",
        "{ enabled: true, budgetTokens: 32000 }",
        "{ type: disabled }",
      ].map(thinking),
    ).toEqual(["medium", "none", "high", "medium", "none", "low", "medium", "high", "none"]);
  });

  it("names the field that is wrong", () => {
    const field = (header: string, body?: string) => parse(header, body)?.problems.map((problem) => problem.field);
    expect(field("description: x")).toEqual(["name"]);
    expect(field("name: ../../x")).toEqual(["name"]);
    expect(field("name: [1]")).toEqual(["name", "name"]);
    expect(field("name: a", "")).toEqual(["body"]);
    expect(field("name: a\ntemperature: 3")).toEqual(["temperature"]);
    expect(field("name: a\nbehavior: wild")).toEqual(["behavior"]);
    expect(field("name: a\nresponse_format: xml")).toEqual(["response_format"]);
    expect(field("name: a\nthinking: deeply")).toEqual(["thinking"]);
    // The agent would have no tools.
    expect(field("name: a\ntools: { write: false }")).toEqual(["tools"]);
    expect(field("name: a\nskills: 5\ndisallowedTools: true")).toEqual(["disallowedTools", "skills"]);
    expect(field("name: a\nTop_P: 2")).toEqual(["Top_P"]);
    expect(parseAgent("---\nname: a\nno end\n", "/a.md")?.problems[0]).toMatchObject({
      code: "agent-invalid",
      hint: expect.stringContaining("---"),
    });
  });

  it("leaves out files that are no agents, and reports those that cannot be read", () => {
    const folder = scratchFolder({ "README.md": "# Agents\n", "notes.txt": "x", "a.md": ANALYST });
    mkdirSync(`${folder}/folder.md`);
    expect(readAgentFolder(folder)).toMatchObject({
      agents: [{ name: "technical-analyst", file: `${folder}/a.md` }],
      problems: [],
    });
    const fs = {
      readDir: () => [{ name: "x.md", kind: "file" as const }],
      readFile: () => {
        throw new Error("EACCES");
      },
      stat: () => {
        throw new Error("x");
      },
      realpath: (path: string) => path,
    };
    expect(readAgentFolder("/agents", fs).problems).toMatchObject([
      { file: "/agents/x.md", text: "cannot be read: EACCES" },
    ]);
  });
});

describe("loggers", () => {
  const who = { agent: "a", conversationId: "c" };
  const usage = {
    inputTokens: 1,
    outputTokens: 1,
    totalTokens: 2,
    inputTokenDetails: {},
    outputTokenDetails: {},
  } as never;

  it("say when a skill is loaded and when the cached one is used", () => {
    expect(
      formatEvent({
        ...who,
        type: "skill-loaded",
        skill: "x",
        by: "auto",
        reason: "Matched: y",
        confidence: 0.94,
        tokens: 12,
      }),
    ).toBe("a: Loading skill x (94% confidence): Matched: y; 12 tokens");
    expect(formatEvent({ ...who, type: "skill-loaded", skill: "x", by: "tool", reason: "asked", tokens: 12 })).toBe(
      "a: Loading skill x: asked; 12 tokens",
    );
    expect(
      formatEvent({ ...who, type: "skill-cached", skill: "x", by: "auto", reason: "Matched: y", sent: false }),
    ).toBe("a: Using cached skill x: Matched: y");
  });

  it("have a line for every event", () => {
    const lines = [
      { type: "agent-start", task: "t", turn: 1, depth: 0 },
      { type: "agent-end", turn: 1, steps: 2, usage, stoppedBy: "model" },
      { type: "agent-failed", code: "aborted", text: "t" },
      { type: "skill-failed", skill: "x", by: "auto", text: "t" },
      { type: "topic-changed", skills: ["x"], before: [] },
      { type: "step", step: 1, usage, toolCalls: ["read"] },
      { type: "step", step: 1, usage, toolCalls: [] },
      { type: "tool-start", tool: "read", toolCallId: "1", input: {} },
      { type: "tool-end", tool: "read", toolCallId: "1", ms: 3 },
      { type: "tool-failed", tool: "read", toolCallId: "1", text: "t" },
      { type: "delegated", to: "b", task: "t", depth: 1 },
      { type: "handed-off", from: "b", status: "completed", tokens: 9, handoffTokens: 3 },
      { type: "migration-hint", text: "t" },
      { type: "budget-spent", usedTokens: 2, maxTokens: 1 },
      { type: "warning", text: "t" },
      { type: "text", text: "t" },
    ].map((event) => formatEvent({ ...who, ...event } as never));
    expect(new Set(lines).size).toBeGreaterThan(12);
    for (const line of lines) expect(line).toMatch(/^a: \S/);
  });

  it("write lines for people, JSON lines, keep the latest, or nothing", () => {
    const people: string[] = [];
    const json: string[] = [];
    const memory = memoryLogger({ limit: 2 });
    const warning = (text: string) => ({ ...who, type: "warning" as const, text });
    for (const logger of [
      consoleLogger({ write: (line) => people.push(line) }),
      jsonLinesLogger({ write: (line) => json.push(line) }),
      memory,
      noLogger,
    ]) {
      logger.log({ ...who, type: "text", text: "piece" });
      for (const text of ["one", "two"]) logger.log(warning(text));
    }
    expect(people).toEqual(["[haversack] a: one\n", "[haversack] a: two\n"]);
    expect(json.map((line) => JSON.parse(line))).toMatchObject([warning("one"), warning("two")]);
    expect(memory.events).toEqual([warning("one"), warning("two")]);
    memory.clear();
    expect(memory.events).toEqual([]);
    expect([consoleLogger(), jsonLinesLogger()]).toHaveLength(2);
  });
});

describe("folderStore", () => {
  it("keeps files for their owner alone, and takes no other conversation's file for its own", async () => {
    const folder = scratchFolder();
    const store = folderStore(folder);
    expect(await store.loadConversation("a")).toBeUndefined();
    await store.saveConversation("a", { messages: [{ role: "user", content: "Hello" }], ledger: [], turns: 1 });
    expect(await store.loadConversation("a")).toMatchObject({ turns: 1, messages: [{ content: "Hello" }] });
    const [file] = readdirSync(folder);
    writeFileSync(`${folder}/${file}`, JSON.stringify({ id: "b", turns: 1, ledger: [], messages: [] }));
    await expect(store.loadConversation("a")).rejects.toThrow("holds another conversation");
    writeFileSync(`${folder}/${file}`, "half a fi");
    await expect(store.loadConversation("a")).rejects.toThrow("is damaged");
    chmodSync(`${folder}/${file}`, 0o600);
    await store.deleteConversation("a");
    await store.deleteConversation("never there");
    expect(readdirSync(folder)).toEqual([]);
  });
});
