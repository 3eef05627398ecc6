import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { jsonSchema, Output, type Telemetry, type UserContent, wrapLanguageModel } from "ai";
import { describe, expect, expectTypeOf, it } from "vitest";
import { estimateTokens } from "../tokens/estimate.ts";
import { AgentSystemBuilder } from "./builder.ts";
import { type AgentEvent, memoryLogger } from "./events.ts";
import { type Script, scratchFolder, scriptedModel, tenderFolder, textsOf } from "./fixtures.suite.ts";
import { folderStore } from "./folder-store.ts";
import { type AgentMiddleware, createSkillAutoTriggerMiddleware, OutputText } from "./middleware.ts";
import { SkillCache } from "./skill-cache.ts";
import { SkillRegistry } from "./skill-registry.ts";

const TASK = "Analyze Danish tender document";

async function start(script: Script, change: (builder: AgentSystemBuilder) => unknown = () => undefined, files = {}) {
  const folder = tenderFolder(files);
  const model = scriptedModel(...script);
  const logger = memoryLogger();
  const builder = AgentSystemBuilder.default({ root: folder })
    .withAgentsFrom(`${folder}/agents`)
    .withSkillsFrom(`${folder}/skills`)
    .withModel(model)
    .withLogger(logger);
  change(builder);
  const system = await builder.build();
  return { folder, model, logger, system, executor: system.executor };
}

describe("skills of a turn", () => {
  it("loads the skill that the task needs before the model is asked, and says why", async () => {
    const { executor, model, logger } = await start(["[FAKTA] It is a tender."]);
    const result = await executor.execute("technical-analyst", TASK);
    expect(result.text).toBe("[FAKTA] It is a tender.");
    expect(result.skills).toMatchObject([{ name: "danish-tender-guidelines", by: "auto", cached: false }]);
    expect(result.skills[0]?.confidence).toBeGreaterThanOrEqual(0.7);
    const [instructions, skill] = textsOf(model.calls[0], "system");
    expect(instructions).toContain("You are a Technical Analyst");
    expect(instructions).toContain("## Dynamic Knowledge System");
    expect(skill).toMatch(/^## AUTO-LOADED SKILL: danish-tender-guidelines\n/);
    expect(skill).toContain("[ESTIMAT]");
    expect(skill).toContain("Use the read tool to access these resources.");
    expect(skill).toContain("This skill was automatically loaded based on your task (Matched: ");
    expect(model.calls[0]?.prompt.map(({ role }) => role)).toEqual(["system", "system", "user"]);
    expect(logger.of("skill-loaded")).toMatchObject([{ skill: "danish-tender-guidelines", by: "auto" }]);
  });

  it("promises skills that are loaded by themselves only if they are", async () => {
    const told = async (enabled: boolean) => {
      const { executor, model } = await start(["x"], (builder) =>
        builder.withConfig({ skills: { autoTrigger: { enabled } } }),
      );
      await executor.execute("technical-analyst", "Hello");
      return textsOf(model.calls[0], "system")[0];
    };
    expect(await told(true)).toContain("is loaded for you, marked AUTO-LOADED SKILL");
    const off = await told(false);
    expect(off).not.toMatch(/AUTO-LOADED|loaded for you|Any other/);
    expect(off).toContain('- A skill is loaded with skill({ name: "skill-name" }).\n- The resources');
  });

  it("loads a skill once per conversation, and then says that it uses the cached one", async () => {
    const { executor, model, logger, system } = await start(["One.", "Two.", "Three."]);
    await executor.execute("technical-analyst", TASK, { conversationId: "test-123" });
    const second = await executor.execute("technical-analyst", `${TASK} again`, { conversationId: "test-123" });
    expect(second.skills).toMatchObject([{ name: "danish-tender-guidelines", cached: true, tokens: 0 }]);
    expect(textsOf(model.calls[1], "system").filter((text) => text.includes("AUTO-LOADED SKILL:"))).toHaveLength(1);
    expect(logger.of("skill-cached")).toMatchObject([{ skill: "danish-tender-guidelines", sent: false }]);
    // The ledger knows what the conversation has: the cache answers only the model's own calls.
    expect(system.cache.stats).toEqual({ hits: 0, misses: 0 });
    const other = await executor.execute("technical-analyst", TASK, { conversationId: "test-124" });
    expect(other.skills).toMatchObject([{ cached: false }]);
  });

  it("loads more skills when the topic changes, after the newest message", async () => {
    const { executor, model, logger } = await start(["One.", "Two."]);
    await executor.execute("technical-analyst", TASK, { conversationId: "c" });
    await executor.execute("technical-analyst", "Now an effort estimate in story points", { conversationId: "c" });
    expect(model.calls[1]?.prompt.map(({ role }) => role)).toEqual([
      "system",
      "system",
      "user",
      "assistant",
      "user",
      "system",
    ]);
    expect(textsOf(model.calls[1], "system").at(-1)).toContain("AUTO-LOADED SKILL: complexity-calculator");
    expect(logger.of("topic-changed")).toMatchObject([
      { skills: ["complexity-calculator"], before: ["danish-tender-guidelines"] },
    ]);
  });

  it("sends a skill that changed again, which is no new topic", async () => {
    const { executor, folder, system, model, logger } = await start(["One.", "Two."]);
    await executor.execute("technical-analyst", TASK, { conversationId: "c" });
    const file = join(folder, "skills/danish-tender-guidelines/SKILL.md");
    writeFileSync(file, readFileSync(file, "utf8").replace("Mark every", "Mark each and every"));
    system.skills.refresh();
    await executor.execute("technical-analyst", TASK, { conversationId: "c" });
    expect(textsOf(model.calls[1], "system").at(-1)).toContain("Mark each and every");
    expect(logger.of("topic-changed")).toEqual([]);
  });

  it("does not send a skill again that was loaded for the model", async () => {
    const { executor, model } = await start([
      [{ tool: "skill", input: { name: "danish-tender-guidelines" } }],
      "Done.",
    ]);
    const result = await executor.execute("technical-analyst", TASK);
    expect(textsOf(model.calls[1], "tool")[0]).toContain("already in this conversation");
    expect(result.skills.map(({ by, cached }) => [by, cached])).toEqual([
      ["auto", false],
      ["tool", true],
    ]);
  });

  it("loads no more skills than the settings allow, and only from their confidence on", async () => {
    const task =
      "Danish tender compliance: architecture review of the microservices, and an effort estimate in story points";
    const auto = (options: object) => (builder: AgentSystemBuilder) =>
      builder.withConfig({ skills: { autoTrigger: options } });
    const names = async (options: object) =>
      (await (await start(["x"], auto(options))).executor.execute("technical-analyst", task)).skills.map(
        ({ name }) => name,
      );
    expect(await names({})).toHaveLength(3);
    expect(await names({ maxSkills: 1 })).toHaveLength(1);
    expect(await names({ enabled: false })).toEqual([]);
    // The authors' own thresholds count before this one.
    expect(await names({ confidenceThreshold: 1 })).toHaveLength(3);
  });

  it("names a skill that is too long for the budget instead of loading it", async () => {
    const { executor, model, logger } = await start(["x"], (builder) =>
      builder.withConfig({ skills: { autoTrigger: { maxTokens: 10 } } }),
    );
    const result = await executor.execute("technical-analyst", TASK);
    expect(result.skills).toEqual([]);
    expect(textsOf(model.calls[0], "system")[1]).toMatch(
      /^The skill 'danish-tender-guidelines' fits this task .* It is long, so it was not loaded\. skill\(\{ name: "danish-tender-guidelines" \}\) loads it\.$/,
    );
    expect(logger.of("skill-failed")).toHaveLength(1);
  });

  it("logs a skill that cannot be loaded, tells the model in one line, and goes on", async () => {
    const { executor, model, logger, system } = await start(["I go on."]);
    system.skills.load = () => {
      throw new Error("the disk is gone");
    };
    expect((await executor.execute("technical-analyst", TASK)).text).toBe("I go on.");
    expect(logger.of("skill-failed")).toMatchObject([{ skill: "danish-tender-guidelines", text: "the disk is gone" }]);
    expect(textsOf(model.calls[0], "system")[1]).toBe(
      "The skill 'danish-tender-guidelines' fits this task but could not be loaded. skill({ name: \"danish-tender-guidelines\" }) tries again.",
    );
  });

  it("goes on when the matching itself fails", async () => {
    const { executor, logger, system } = await start(["I go on."]);
    system.skills.match = () => {
      throw new Error("no index");
    };
    expect((await executor.execute("technical-analyst", TASK)).text).toBe("I go on.");
    expect(logger.of("warning")).toMatchObject([{ text: expect.stringContaining("no index") }]);
  });

  it("preloads the skills that an agent's file lists, with a hint", async () => {
    const agent = "---\nname: old-school\nskills: [complexity-calculator, going]\ntools: [skill]\n---\nYou estimate.\n";
    const going = "---\nname: going\ndescription: x\n---\nx\n";
    const { executor, model, logger, folder, system } = await start(["a", "b"], undefined, {
      "agents/old-school.md": agent,
      "skills/going/SKILL.md": going,
    });
    rmSync(`${folder}/skills/going`, { recursive: true });
    system.skills.refresh();
    const result = await executor.execute("old-school", "Hello", { conversationId: "c" });
    expect(result.skills).toMatchObject([{ name: "complexity-calculator", by: "preload" }]);
    const [, skill, gone] = textsOf(model.calls[0], "system");
    expect(skill).toMatch(/^## SKILL: complexity-calculator\n/);
    expect(gone).toBe("The skill 'going' was to be loaded, but it is not installed.");
    expect(logger.of("migration-hint")[0]?.text).toMatch(
      /old-school\.md: skills: preloads complexity-calculator, going/,
    );
    await executor.execute("old-school", "And now an effort estimate", { conversationId: "c" });
    expect(textsOf(model.calls[1], "system").filter((text) => text.includes("Points ="))).toHaveLength(1);
  });

  it("warns once when a skill or its folder breaks while it runs, and goes on with the last good version", async () => {
    const { executor, model, logger, folder, system } = await start(["x"], (builder) =>
      builder.withConfig({ skills: { refreshMs: 1 } }),
    );
    const file = `${folder}/skills/danish-tender-guidelines/SKILL.md`;
    const good = readFileSync(file, "utf8");
    const run = async () => {
      logger.clear();
      system.skills.refresh();
      const { skills } = await executor.execute("technical-analyst", TASK);
      expect(skills).toMatchObject([{ name: "danish-tender-guidelines", by: "auto" }]);
      expect(textsOf(model.calls.at(-1), "system")[1]).toContain("[ESTIMAT]");
      return logger.of("warning").map(({ text }) => text);
    };
    writeFileSync(file, "\u0000\u0000\u0000");
    expect(await run()).toEqual([expect.stringContaining(file)]);
    expect(await run()).toEqual([]);
    writeFileSync(file, good);
    expect(await run()).toEqual([]);
    renameSync(`${folder}/skills`, `${folder}/away`);
    expect(await run()).toEqual([expect.stringContaining(`${folder}/skills`)]);
    renameSync(`${folder}/away`, `${folder}/skills`);
    expect(await run()).toEqual([]);
    rmSync(`${folder}/skills/danish-tender-guidelines`, { recursive: true });
    system.skills.refresh();
    expect(system.skills.getSkill("danish-tender-guidelines")).toBeUndefined();
  });

  it("does not build with an agent that preloads a skill that is not there", async () => {
    const agent = "---\nname: old-school\nskills: [complexity-calculater]\n---\nYou estimate.\n";
    await expect(start(["a"], undefined, { "agents/old-school.md": agent })).rejects.toMatchObject({
      code: "skills-missing",
      file: expect.stringContaining("old-school.md"),
      field: "skills",
      hint: expect.stringContaining("Did you mean 'complexity-calculator'?"),
    });
  });

  it("gives an agent without the skill tool no section on skills, and one that has the section no second one", async () => {
    const { executor, model } = await start(["x"], undefined, {
      "agents/plain.md": "---\nname: plain\ntools: [read]\n---\nYou read.\n",
      "agents/own.md": "---\nname: own\ntools: [skill]\n---\n## Dynamic Knowledge System\n\nMy own words.\n",
    });
    await executor.execute("plain", "Hello");
    await executor.execute("own", "Hello");
    expect(textsOf(model.calls[0], "system")).toEqual(["You read."]);
    expect(textsOf(model.calls[1], "system")).toEqual(["## Dynamic Knowledge System\n\nMy own words."]);
  });

  it("offers no skill tool and no section on skills while there are no skills", async () => {
    const model = scriptedModel("One.", [{ tool: "skill", input: { name: "late" } }], "Two.", "Three.");
    const { executor, skills } = await AgentSystemBuilder.default()
      .withAgent({ name: "bare", instructions: "You think." })
      .withModel(model)
      .build();
    const ask = () => executor.execute("bare", "Hello", { conversationId: "c" });
    const toolsOf = (at: number) => model.calls[at]?.tools?.map(({ name }) => name);
    await ask();
    expect(textsOf(model.calls[0], "system")).toEqual(["You think."]);
    expect(toolsOf(0)).toEqual(["read", "write", "grep"]);
    skills.add("late", "---\nname: late\ndescription: Came later\n---\nx");
    await ask();
    expect(textsOf(model.calls[1], "system")[0]).toContain("Dynamic Knowledge System");
    expect(toolsOf(1)).toContain("skill");
    // The conversation has a call of the tool, and some providers refuse calls of unknown tools.
    skills.remove("late");
    await ask();
    expect(toolsOf(3)).toContain("skill");
  });

  it("leaves a tool called skill to those who gave it, and still loads the skills that a task needs", async () => {
    const skill = {
      description: "Mine",
      inputSchema: jsonSchema({ type: "object" as const, properties: {} }),
      execute: () => "my own answer",
    };
    const script: Script = [[{ tool: "skill", input: {} }], "x"];
    const { executor, model } = await start(script, (builder) => builder.withTools({ skill }), {
      "agents/bare.md": "---\nname: bare\ntools: [skill]\n---\nYou think.\n",
    });
    const { toolCalls, skills } = await executor.execute("bare", TASK);
    expect(toolCalls).toMatchObject([{ tool: "skill", output: "my own answer" }]);
    expect(skills).toMatchObject([{ name: "danish-tender-guidelines", by: "auto" }]);
    expect(model.calls[0]?.tools).toMatchObject([{ name: "skill", description: "Mine" }]);
    const [prompt, loaded] = textsOf(model.calls[0], "system");
    expect(prompt).toBe("You think.");
    expect(loaded).toContain("AUTO-LOADED SKILL: danish-tender-guidelines");
    expect(loaded).not.toContain("skill({");
  });

  it("names the way to read resources that there is", async () => {
    const read = {
      description: "Reads mail",
      inputSchema: jsonSchema({ type: "object" as const, properties: {} }),
      execute: () => "mail",
    };
    const { executor, model } = await start(["x"], (builder) => builder.withTools({ read }));
    await executor.execute("technical-analyst", TASK);
    expect(textsOf(model.calls[0], "system")[1]).toContain('skill({ name: "danish-tender-guidelines", resource:');
  });

  it("lists no resources to an agent that cannot read them", async () => {
    const { executor, model } = await start(["x"], undefined, {
      "agents/bare.md": "---\nname: bare\ntools: []\n---\nYou think.\n",
    });
    await executor.execute("bare", TASK);
    expect(textsOf(model.calls[0], "system")[1]).toContain("AUTO-LOADED SKILL: danish-tender-guidelines");
    expect(textsOf(model.calls[0], "system")[1]).not.toContain("Available Resources");
  });

  it("can put skills into user messages, for models that take system messages only at the start", async () => {
    const { executor, model } = await start(["x"], (builder) =>
      builder.withConfig({ skills: { autoTrigger: { injectAs: "user" } } }),
    );
    await executor.execute("technical-analyst", TASK);
    expect(model.calls[0]?.prompt.map(({ role }) => role)).toEqual(["system", "user", "user"]);
  });

  it("puts later skills into user messages for providers that refuse later system messages", async () => {
    for (const [provider, modelId, role] of [
      ["google.generative-ai", "gemini", "user"],
      ["amazon-bedrock", "claude", "user"],
      ["gateway", "google/gemini", "user"],
      ["mistral.chat", "mistral", "system"],
    ] as const) {
      const { executor, model } = await start(["One.", "Two."]);
      Object.assign(model, { provider, modelId });
      for (const task of [TASK, "An effort estimate in story points"])
        await executor.execute("technical-analyst", task, { conversationId: "c" });
      const roles = ["system", "system", "user", "assistant", "user", role];
      expect(model.calls[1]?.prompt.map((message) => message.role)).toEqual(roles);
    }
  });

  it("names the setting when a turn with a later system message fails", async () => {
    const { executor } = await start([new Error("no"), "One.", new Error("System message must be at the beginning.")]);
    const hintOf = (task: string) =>
      executor.execute("technical-analyst", task, { conversationId: "c" }).catch(({ hint }: { hint: string }) => hint);
    expect(await hintOf(TASK)).not.toContain("injectAs");
    await hintOf(TASK);
    expect(await hintOf("An effort estimate in story points")).toContain('skills.autoTrigger.injectAs to "user"');
  });

  it("matches the text of a task with other parts", async () => {
    const { executor } = await start(["x"]);
    const file = { type: "file" as const, data: new Uint8Array([1]), mediaType: "application/pdf" };
    const result = await executor.execute("technical-analyst", [{ type: "text", text: TASK }, file]);
    expect(result.skills).toMatchObject([{ name: "danish-tender-guidelines" }]);
  });
});

describe("conversations", () => {
  it("runs 100 of them in parallel, each with its own cache and ledger", async () => {
    const { executor, system, model } = await start([
      (call) =>
        call.prompt.at(-1)?.role === "tool" ? "Done." : [{ tool: "skill", input: { name: "architecture-analyzer" } }],
    ]);
    const tasks = [TASK, "An effort estimate in story points", "Good morning"];
    const ids = Array.from({ length: 100 }, (_, at) => `c${at}`);
    const first = await Promise.all(
      ids.map((conversationId, at) => executor.execute("technical-analyst", tasks[at % 3]!, { conversationId })),
    );
    const expected = [
      ["danish-tender-guidelines", "architecture-analyzer"],
      ["complexity-calculator", "architecture-analyzer"],
      ["architecture-analyzer"],
    ];
    for (const [at, { skills, conversationId, turn }] of first.entries()) {
      expect({ conversationId, turn, skills: skills.map(({ name }) => name) }).toEqual({
        conversationId: ids[at],
        turn: 1,
        skills: expected[at % 3],
      });
      expect(skills.every(({ cached }) => !cached)).toBe(true);
      expect(system.cache.size(conversationId)).toBe(expected[at % 3]!.length);
    }
    const second = await Promise.all(
      ids.map((conversationId, at) => executor.execute("technical-analyst", tasks[at % 3]!, { conversationId })),
    );
    expect(second.every(({ turn, skills }) => turn === 2 && skills.every(({ cached }) => cached))).toBe(true);
    expect(model.calls).toHaveLength(400);
  });

  it("runs the turns of one conversation one after the other", async () => {
    let running = 0;
    const { executor } = await start([
      async () => {
        expect(++running).toBe(1);
        await new Promise((done) => setTimeout(done, 10));
        running--;
        return "x";
      },
    ]);
    const turns = await Promise.all(
      [1, 2, 3].map((at) => executor.execute("technical-analyst", `Hello ${at}`, { conversationId: "c" })),
    );
    expect(turns.map(({ turn }) => turn)).toEqual([1, 2, 3]);
    expect(turns[2]?.messages).toHaveLength(6);
  });

  it("leaves a conversation as it was when a turn fails", async () => {
    const { executor } = await start(["One.", new Error("overloaded"), "Two."], (builder) =>
      builder.withConfig({ call: { maxRetries: 0 } }),
    );
    await executor.execute("technical-analyst", "Hello", { conversationId: "c" });
    const before = await executor.messages("c");
    await expect(executor.execute("technical-analyst", TASK, { conversationId: "c" })).rejects.toMatchObject({
      code: "model-failed",
      agent: "technical-analyst",
      message: expect.stringContaining("overloaded"),
    });
    expect(await executor.messages("c")).toEqual(before);
    const { turn, skills } = await executor.execute("technical-analyst", TASK, { conversationId: "c" });
    expect({ turn, loaded: skills[0]?.cached }).toEqual({ turn: 2, loaded: false });
  });

  it("cannot be changed through a result", async () => {
    const { executor } = await start(["x"]);
    const { messages } = await executor.execute("technical-analyst", "Hello", { conversationId: "c" });
    messages.length = 0;
    expect(await executor.messages("c")).toHaveLength(2);
  });

  it("forgets on request, and the oldest when there are too many", async () => {
    const { executor, system } = await start(["x"], (builder) =>
      builder.withConfig({ limits: { maxConversations: 2 } }),
    );
    for (const conversationId of ["a", "b", "c"]) await executor.execute("technical-analyst", TASK, { conversationId });
    expect(await executor.messages("a")).toBeUndefined();
    expect(await executor.messages("b")).toHaveLength(3);
    await executor.forget("b");
    expect(await executor.messages("b")).toBeUndefined();
    expect(system.cache.size("b")).toBe(0);
  });

  it("forgets what nobody used for an hour", async () => {
    const { executor } = await start(["x"], (builder) => builder.withConfig({ limits: { conversationTtlMs: 0 } }));
    await executor.execute("technical-analyst", "Hello", { conversationId: "a" });
    expect((await executor.execute("technical-analyst", "Hello", { conversationId: "a" })).turn).toBe(1);
  });

  it("outlives the process with a store, with its ledger", async () => {
    const store = scratchFolder();
    const first = await start(["x"], (builder) => builder.withStore(folderStore(`${store}/deep/conversations`)));
    await first.executor.execute("technical-analyst", TASK, { conversationId: "a/../b" });
    await first.system.close();
    const second = await start(["y"], (builder) => builder.withStore(folderStore(`${store}/deep/conversations`)));
    const result = await second.executor.execute("technical-analyst", TASK, { conversationId: "a/../b" });
    expect(result).toMatchObject({ turn: 2, skills: [{ cached: true }] });
    expect(second.system.cache.size("a/../b")).toBe(1);
    expect(result.messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "user", "assistant"]);
    await second.executor.forget("a/../b");
    expect(await second.executor.messages("a/../b")).toBeUndefined();
  });

  it("refuses tools whose calls would wait for somebody, and never saves a conversation with such a call", async () => {
    const inputSchema = jsonSchema({ type: "object", properties: {} });
    const execute = async () => "paid";
    const pay = (more: object) => ({ pay: { description: "Pays", inputSchema, ...more } as never });
    for (const tool of [{ execute, needsApproval: true }, { execute, needsApproval: () => false }, {}])
      await expect(start(["x"], (builder) => builder.withTools(pay(tool)))).rejects.toMatchObject({
        code: "tool-unsupported",
        message: expect.stringContaining("'pay'"),
        hint: expect.stringContaining("execute"),
      });
    await start(["x"], (builder) => builder.withTools(pay({ execute, needsApproval: false })));
    await start(["x"], (builder) => builder.withTools(pay({ type: "provider", id: "a.b", isProviderExecuted: true })));

    const adds: AgentMiddleware = async (context, next) => {
      if (context.turn === 2) Object.assign(context.tools, pay({ execute, needsApproval: true }));
      await next();
    };
    const { executor } = await start(["Hello.", [{ tool: "pay", input: {} }], "I go on."], (builder) =>
      builder.use(adds),
    );
    const run = (task: string) => executor.execute("technical-analyst", task, { conversationId: "c" });
    await run("Hello");
    await expect(run("Pay")).rejects.toMatchObject({ code: "tool-unsupported", conversationId: "c" });
    expect(await executor.messages("c")).toHaveLength(2);
    expect(await run("Go on")).toMatchObject({ turn: 2, text: "I go on." });
  });

  it("says so when the model reached its limit in the middle of a call, and the conversation goes on", async () => {
    const { executor, model } = await start([[{ tool: "skill", input: { query: "x" } }], "Done."]);
    const generate = model.doGenerate;
    model.doGenerate = async (call) => ({
      ...(await generate(call)),
      ...(model.calls.length === 1 && { finishReason: { unified: "length" as const, raw: "max_tokens" } }),
    });
    const run = () => executor.execute("technical-analyst", "Hello", { conversationId: "c" });
    await expect(run()).rejects.toMatchObject({
      code: "model-failed",
      message: expect.stringMatching(/'skill'.*length/),
      hint: expect.stringContaining("maxOutputTokens"),
    });
    expect(await run()).toMatchObject({ turn: 1, text: "Done." });
  });

  it("sends no text of white space alone, which Anthropic refuses", async () => {
    const call = { tool: "skill", input: { query: "x" } };
    const { executor, model } = await start([[{ text: "\n\n" }, call], "  \n", "Done."]);
    const options = { conversationId: "c" };
    expect(await executor.execute("technical-analyst", "Hello", options)).toMatchObject({ text: "  \n" });
    expect(await executor.execute("technical-analyst", "Go on", options)).toMatchObject({ text: "Done." });
    for (const { prompt } of model.calls)
      for (const { content } of prompt)
        for (const part of typeof content === "string" ? [] : content)
          if (part.type === "text") expect(part.text.trim()).not.toBe("");
    expect(model.calls.at(-1)?.prompt.map(({ role }) => role)).toEqual([
      ...["system", "user", "assistant", "tool", "user"],
    ]);
  });

  it("lets textStream be iterated once, and the first reader gets all of it", async () => {
    const { executor } = await start(["One two three."]);
    const { textStream, result } = executor.stream("technical-analyst", "Hello");
    const readAll = async () => {
      let text = "";
      for await (const piece of textStream) text += piece;
      return text;
    };
    const first = readAll();
    await expect(readAll()).rejects.toMatchObject({ code: "agents-misused" });
    expect(await first).toBe("One two three.");
    expect((await result).text).toBe("One two three.");
    await expect(readAll()).rejects.toMatchObject({ code: "agents-misused" });
  });

  it("gives copies of its messages, and keeps a copy of the task", async () => {
    const { executor, model } = await start(["One.", "Two."]);
    const task = [{ type: "text" as const, text: "Hello" }];
    const { messages } = await executor.execute("technical-analyst", task, { conversationId: "c" });
    task[0]!.text = "changed";
    for (const message of [...messages, ...(await executor.messages("c"))!])
      for (const part of message.content as { text: string }[]) part.text = "changed";
    await executor.execute("technical-analyst", "Again", { conversationId: "c" });
    expect(JSON.stringify(model.calls[1]?.prompt)).not.toContain("changed");
  });

  it("ends a turn that waits as soon as it is aborted, and keeps the order of the others", async () => {
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const order: string[] = [];
    const says = (text: string) => () => {
      order.push(text);
      return text;
    };
    const { executor } = await start([
      async () => {
        await gate;
        return says("first")();
      },
      says("third"),
    ]);
    const run = (task: string, signal?: AbortSignal) =>
      executor.execute("technical-analyst", task, { conversationId: "c", ...(signal && { signal }) });
    const first = run("1");
    const controller = new AbortController();
    const second = run("2", controller.signal);
    const third = run("3");
    controller.abort();
    await expect(second).rejects.toMatchObject({ code: "aborted", conversationId: "c" });
    expect(order).toEqual([]);
    open();
    expect([(await first).text, (await third).text]).toEqual(["first", "third"]);
    expect((await third).turn).toBe(2);
  });

  it("does not take a damaged file for a new conversation, and leaves it alone", async () => {
    const folder = scratchFolder();
    const first = await start(["x"], (builder) => builder.withStore(folderStore(folder)));
    await first.executor.execute("technical-analyst", "Hello", { conversationId: "c" });
    await first.system.close();
    const file = join(folder, readdirSync(folder)[0]!);
    const whole = readFileSync(file, "utf8");
    for (const damaged of [whole.slice(0, -20), "", "{}", whole.replace('"id":"c"', '"id":"d"')]) {
      writeFileSync(file, damaged);
      const { executor, model } = await start(["y"], (builder) => builder.withStore(folderStore(folder)));
      await expect(executor.execute("technical-analyst", "Hello", { conversationId: "c" })).rejects.toMatchObject({
        code: "store-failed",
        message: expect.stringContaining(file),
      });
      await expect(executor.messages("c")).rejects.toMatchObject({ code: "store-failed" });
      expect(model.calls).toEqual([]);
      expect(readFileSync(file, "utf8")).toBe(damaged);
    }
    const { executor } = await start(["y"], (builder) => builder.withStore(folderStore(folder)));
    await executor.forget("c");
    expect((await executor.execute("technical-analyst", "Hello", { conversationId: "c" })).turn).toBe(1);
  });

  it("keeps images and files in a store, as bytes, as URLs and with a tag", async () => {
    const bytes = new Uint8Array([137, 80, 78, 71]);
    const base64 = "iVBORw==";
    const url = new URL("https://example.org/plan.png");
    const mediaType = "image/png";
    const content: UserContent = [
      { type: "text", text: "Look" },
      { type: "file", mediaType, data: bytes },
      { type: "file", mediaType, data: bytes.buffer as ArrayBuffer },
      { type: "file", mediaType, data: url },
      { type: "file", mediaType, data: { type: "data", data: bytes } },
      { type: "file", mediaType, data: { type: "url", url } },
      { type: "file", mediaType: "text/plain", data: { type: "text", text: "Notes" } },
      { type: "image", image: bytes },
    ];
    const store = folderStore(scratchFolder());
    const change = (builder: AgentSystemBuilder) => builder.withStore(store);
    const first = await start(["One."], change);
    await first.executor.execute("technical-analyst", content, { conversationId: "c" });
    await first.system.close();
    const second = await start(["Two."], change);
    await second.executor.execute("technical-analyst", "And now?", { conversationId: "c" });
    const [before, after] = [first, second].map(({ model }) => model.calls[0]?.prompt[1]);
    expect(after).toEqual(before);
    const data = (after!.content as { data?: unknown }[]).map((part) => part.data);
    const whole = { type: "data", data: base64 };
    const link = { type: "url", url };
    expect(data).toEqual([undefined, whole, whole, link, whole, link, { type: "text", text: "Notes" }, whole]);
  });

  it("says so when the store cannot be read, and keeps the answer when it cannot be written", async () => {
    const fail = async () => {
      throw new Error("disk full");
    };
    const load = async () => undefined;
    const unreadable = await start(["x"], (builder) =>
      builder.withStore({ loadConversation: fail, saveConversation: fail, deleteConversation: fail }),
    );
    await expect(
      unreadable.executor.execute("technical-analyst", "Hello", { conversationId: "c" }),
    ).rejects.toMatchObject({ code: "store-failed", conversationId: "c", hint: expect.stringContaining("withStore") });
    const unwritable = await start(["One.", "Two."], (builder) =>
      builder.withStore({ loadConversation: load, saveConversation: fail, deleteConversation: fail }),
    );
    expect((await unwritable.executor.execute("technical-analyst", "Hello", { conversationId: "c" })).text).toBe(
      "One.",
    );
    expect(unwritable.logger.of("warning")).toMatchObject([
      { conversationId: "c", text: expect.stringContaining("disk full") },
    ]);
    expect((await unwritable.executor.execute("technical-analyst", "Hello", { conversationId: "c" })).turn).toBe(2);
  });

  it("refuses turns after it was closed", async () => {
    const { executor, system } = await start(["x"]);
    await system.close();
    await expect(executor.execute("technical-analyst", "Hello")).rejects.toMatchObject({ code: "agents-misused" });
  });
});

describe("delegation", () => {
  const TEAM = {
    "agents/lead.md": "---\nname: lead\ndescription: Leads\ntools: [delegate, skill]\n---\nYou lead.\n",
    "agents/estimator.md":
      "---\nname: estimator\ndescription: Estimates effort\ntools: [skill, Task]\n---\nYou estimate.\n",
  };
  const isLead = (call: { prompt: readonly { content: unknown }[] }) =>
    String(call.prompt[0]?.content).includes("You lead");

  it("runs another agent in a conversation of its own and hands over its result, not its transcript", async () => {
    const { executor, model, logger } = await start(
      [
        (call) => {
          if (!isLead(call))
            return call.prompt.at(-1)?.role === "tool"
              ? "About 40 points."
              : [{ tool: "skill", input: { name: "architecture-analyzer" } }];
          return call.prompt.at(-1)?.role === "tool"
            ? "It is 40."
            : [{ tool: "delegate", input: { agent: "estimator", task: "An effort estimate for the portal" } }];
        },
      ],
      undefined,
      TEAM,
    );
    const result = await executor.execute("lead", "How big is it?", { conversationId: "c" });
    expect(result.text).toBe("It is 40.");
    expect(result.delegations).toMatchObject([{ agent: "estimator", status: "completed", text: "About 40 points." }]);
    const handoff = textsOf(model.calls.at(-1), "tool")[0];
    expect(handoff).toBe(
      "Handoff from estimator (completed; 2 steps; skills: complexity-calculator, architecture-analyzer):\n\nAbout 40 points.",
    );
    expect(JSON.stringify(result.messages)).not.toContain("what fails first");
    expect(result.totalTokens).toBe(480);
    expect(result.usage.totalTokens).toBe(240);
    expect(logger.of("delegated")).toMatchObject([{ to: "estimator", depth: 1 }]);
    expect(logger.of("handed-off")).toMatchObject([{ from: "estimator", status: "completed" }]);
    expect(logger.of("agent-start").map(({ agent, depth }) => [agent, depth])).toEqual([
      ["lead", 0],
      ["estimator", 1],
    ]);
    expect(model.calls[0]?.tools?.find(({ name }) => name === "delegate")).toMatchObject({
      description: expect.stringContaining("  - estimator: Estimates effort"),
    });
  });

  it("cuts a long result to the size of a handoff, and says so", async () => {
    const long = "Each of the parts has its own number of points. ".repeat(400);
    const { executor, model } = await start(
      [
        (call) =>
          !isLead(call)
            ? long
            : call.prompt.at(-1)?.role === "tool"
              ? "Done."
              : [{ tool: "delegate", input: { agent: "estimator", task: "Estimate" } }],
      ],
      (builder) => builder.withConfig({ limits: { handoffTokens: 200 } }),
      TEAM,
    );
    const result = await executor.execute("lead", "How big is it?");
    const handoff = textsOf(model.calls.at(-1), "tool")[0]!;
    expect(estimateTokens(handoff)).toBeLessThanOrEqual(200);
    expect(handoff).toMatch(/…\n\n\(\d+ of 19200 characters are left out here\.\)\n\n…/);
    expect(long.endsWith(handoff.split("\n\n…").at(-1)!)).toBe(true);
    expect(result.delegations[0]?.text).toBe(long);
  });

  it("refuses cycles, depth, unknown agents and a spent budget; the model is told and goes on", async () => {
    const delegate = (agent: string) => [{ tool: "delegate", input: { agent, task: "Do it" } }];
    const cycle = await start(
      [
        (call) =>
          call.prompt.at(-1)?.role === "tool" ? "Myself, then." : delegate(isLead(call) ? "estimator" : "lead"),
      ],
      undefined,
      TEAM,
    );
    expect((await cycle.executor.execute("lead", "Go")).text).toBe("Myself, then.");
    expect(cycle.logger.of("tool-failed")).toMatchObject([
      { agent: "estimator", text: expect.stringContaining("lead → estimator → lead is a cycle") },
    ]);

    const deep = await start(
      [
        (call) =>
          call.prompt.at(-1)?.role === "tool" ? "ok" : delegate(isLead(call) ? "estimator" : "technical-analyst"),
      ],
      (builder) => builder.withConfig({ limits: { maxDepth: 1 } }),
      TEAM,
    );
    await deep.executor.execute("lead", "Go");
    expect(deep.logger.of("tool-failed")[0]?.text).toContain("lead → estimator is as deep as delegation may go");

    const unknown = await start([delegate("nobody"), "ok"], undefined, TEAM);
    expect((await unknown.executor.execute("lead", "Go")).delegations).toMatchObject([
      { status: "refused", handoff: "There is no agent 'nobody'. The agents are estimator, technical-analyst." },
    ]);
  });

  it("hands over that an agent failed, and the other one goes on", async () => {
    const { executor } = await start(
      [
        (call) => {
          if (!isLead(call)) throw new Error("quota");
          return call.prompt.at(-1)?.role === "tool"
            ? "Without it, then."
            : [{ tool: "delegate", input: { agent: "estimator", task: "x" } }];
        },
      ],
      (builder) => builder.withConfig({ call: { maxRetries: 0 } }),
      TEAM,
    );
    const result = await executor.execute("lead", "Go");
    expect(result.text).toBe("Without it, then.");
    expect(result.delegations).toMatchObject([{ status: "failed", handoff: expect.stringContaining("quota") }]);
  });

  it("shares the token budget with those that it delegates to", async () => {
    const { executor, logger } = await start(
      [
        (call) =>
          isLead(call)
            ? [{ tool: "delegate", input: { agent: "estimator", task: "x" } }]
            : [{ tool: "skill", input: { query: "points" } }],
      ],
      (builder) => builder.withConfig({ limits: { maxTokens: 300 } }),
      TEAM,
    );
    const result = await executor.execute("lead", "Go");
    expect(result.stoppedBy).toBe("budget");
    expect(result.totalTokens).toBeLessThanOrEqual(300 + 120);
    expect(logger.of("budget-spent").length).toBeGreaterThan(0);
  });

  it("shares it also among those that work at once, and counts one that fails", async () => {
    const work = (at: number) => ({ tool: "delegate", input: { agent: "estimator", task: `part ${at}` } });
    const search = [{ tool: "skill", input: { query: "points" } }];
    const limits = { maxTokens: 600 };
    const { executor } = await start(
      [(call) => (isLead(call) ? [work(1), work(2), work(3)] : search)],
      (builder) => builder.withConfig({ limits }),
      TEAM,
    );
    const result = await executor.execute("lead", "Go");
    expect(result.stoppedBy).toBe("budget");
    // A step that has begun is finished.
    expect(result.totalTokens).toBeLessThanOrEqual(600 + 3 * 120);
    const failing = await start(
      [[work(1)], search, search, new Error("overloaded"), "Without it."],
      (builder) => builder.withConfig({ limits: { maxTokens: 10_000 }, call: { maxRetries: 0 } }),
      TEAM,
    );
    expect((await failing.executor.execute("lead", "Go")).totalTokens).toBe(4 * 120);
  });

  it("passes an abort on", async () => {
    const abort = new AbortController();
    const { executor } = await start(
      [
        async (call) => {
          if (isLead(call)) return [{ tool: "delegate", input: { agent: "estimator", task: "x" } }];
          abort.abort();
          throw new Error("aborted");
        },
      ],
      undefined,
      TEAM,
    );
    await expect(executor.execute("lead", "Go", { signal: abort.signal })).rejects.toMatchObject({ code: "aborted" });
  });
});

describe("limits and settings", () => {
  it("ends a turn after so many steps, and the conversation goes on", async () => {
    const { executor } = await start(
      [
        (call) =>
          JSON.stringify(call.prompt).includes("Stop") ? "Stopped." : [{ tool: "skill", input: { query: "x" } }],
      ],
      (builder) => builder.withConfig({ limits: { maxSteps: 3 } }),
    );
    const result = await executor.execute("technical-analyst", "Go", { conversationId: "c" });
    expect(result).toMatchObject({ steps: 3, stoppedBy: "steps", finishReason: "tool-calls" });
    expect(await executor.execute("technical-analyst", "Stop", { conversationId: "c" })).toMatchObject({
      text: "Stopped.",
      turn: 2,
    });
  });

  it("warns once if the provider reports no usage, because then no limit of tokens holds", async () => {
    const none = {
      inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: undefined, text: undefined, reasoning: undefined },
    };
    const silent = wrapLanguageModel({
      model: scriptedModel([{ tool: "skill", input: { query: "x" } }], "done"),
      middleware: {
        specificationVersion: "v4",
        wrapGenerate: async ({ doGenerate }) => ({ ...(await doGenerate()), usage: none }),
      },
    });
    const limited = await start([], (builder) => builder.withModel(silent).withConfig({ limits: { maxTokens: 50 } }));
    expect(await limited.executor.execute("technical-analyst", "Hello")).toMatchObject({
      text: "done",
      totalTokens: 0,
    });
    expect(limited.logger.of("warning")).toMatchObject([{ text: expect.stringContaining("reports no usage") }]);
    const free = await start([], (builder) => builder.withModel(silent));
    await free.executor.execute("technical-analyst", "Hello");
    expect(free.logger.of("warning")).toEqual([]);
  });

  it("gives the model the settings of the agent's file and of the system", async () => {
    const agent =
      "---\nname: exact\ntools: [skill]\nbehavior: precise\ntop_p: 0.3\nmax_tokens: 500\nresponse_format: json\nthinking: high\n---\nYou answer in JSON.\n";
    const { executor, model } = await start(
      ['{"a":1}'],
      (builder) =>
        builder.withConfig({
          call: { headers: { "x-team": "t" }, timeout: 60_000, providerOptions: { scripted: { tier: "flex" } } },
        }),
      { "agents/exact.md": agent },
    );
    await executor.execute("exact", "Hello");
    expect(model.calls[0]).toMatchObject({
      temperature: 0.2,
      topP: 0.3,
      maxOutputTokens: 500,
      reasoning: "high",
      responseFormat: { type: "json" },
      headers: { "x-team": "t" },
      providerOptions: { scripted: { tier: "flex" } },
    });
  });

  it("gives a typed answer for the schema that a call asks for, whole and as a stream", async () => {
    const { executor, model } = await start(['{"risk":3}']);
    const schema = jsonSchema<{ risk: number }>({ type: "object", properties: { risk: { type: "number" } } });
    const options = { output: Output.object({ schema }) };
    const { output, text } = await executor.execute("technical-analyst", "Rate it", options);
    expectTypeOf(output).toEqualTypeOf<{ risk: number } | undefined>();
    expect({ output, text }).toEqual({ output: { risk: 3 }, text: '{"risk":3}' });
    const stream = executor.stream("technical-analyst", "Rate it", options);
    expect((await stream.result).output?.risk).toBe(3);
    expect(model.calls[1]?.responseFormat).toMatchObject({ type: "json", schema: { type: "object" } });
    expect((await executor.execute("technical-analyst", "Rate it")).output).toBeUndefined();
  });

  it("keeps the answer that is no JSON as the cause, and gives no output if the turn was stopped before", async () => {
    const options = { output: Output.json() };
    const bad = await start(["Sorry."]);
    const failure = { code: "model-failed", cause: { text: "Sorry." } };
    await expect(bad.executor.execute("technical-analyst", "Rate it", options)).rejects.toMatchObject(failure);
    const stream = bad.executor.stream("technical-analyst", "Rate it", options);
    await expect(stream.result).rejects.toMatchObject(failure);
    const endless = await start([[{ tool: "skill", input: { query: "x" } }]], (builder) =>
      builder.withConfig({ limits: { maxSteps: 1 } }),
    );
    for (const result of [
      await endless.executor.execute("technical-analyst", "Rate it", options),
      await endless.executor.stream("technical-analyst", "Rate it", options).result,
    ]) {
      expect(result.stoppedBy).toBe("steps");
      expect(result).not.toHaveProperty("output");
    }
  });

  it("names the agent in the telemetry of the AI SDK", async () => {
    const seen: (string | undefined)[] = [];
    const integrations: Telemetry = { onStart: ({ functionId }) => void seen.push(functionId) };
    const { executor } = await start(["ok"], (builder) =>
      builder.withConfig({ call: { telemetry: { integrations } } }),
    );
    await executor.execute("technical-analyst", "Hello");
    await executor.stream("technical-analyst", "Hello").result;
    expect(seen).toEqual(["technical-analyst", "technical-analyst"]);
  });

  it("says why a stream ran out of time, and what caused a provider's error", async () => {
    const slow = await start([() => new Promise(() => undefined)], (builder) =>
      builder.withConfig({ call: { timeout: 20, maxRetries: 0 } }),
    );
    await expect(slow.executor.stream("technical-analyst", "x").result).rejects.toThrow("timeout");
    const cause = new Error("terminated", { cause: new Error("\u001b[31mother side closed\u001b[0m\n") });
    const broken = await start([new Error("Failed to process", { cause })]);
    await expect(broken.executor.execute("technical-analyst", "x")).rejects.toThrow(
      /^The model of technical-analyst failed: Failed to process \(terminated: other side closed\)$/,
    );
  });

  it("tells the model what is wrong with an output that cannot be sent, and sends the others as JSON has them", async () => {
    const circle: Record<string, unknown> = {};
    circle["self"] = circle;
    const outputs = { circle, sum: { total: 10n, at: new Date(0) }, nothing: undefined };
    const inputSchema = jsonSchema({ type: "object" as const, properties: {} });
    const names = Object.keys(outputs) as (keyof typeof outputs)[];
    const tools = Object.fromEntries(names.map((name) => [name, { inputSchema, execute: async () => outputs[name] }]));
    const calls = names.map((tool) => ({ tool, input: {} }));
    const { executor, model } = await start([calls, "Done."], (builder) =>
      builder.withAgent({ name: "worker", instructions: "You work." }).withTools(tools),
    );
    expect((await executor.execute("worker", "Go")).text).toBe("Done.");
    const results = model.calls[1]?.prompt.at(-1)?.content as { output: unknown }[];
    expect(results.map(({ output }) => output)).toEqual([
      { type: "error-text", value: expect.stringContaining("cannot be sent: Converting circular structure") },
      { type: "json", value: { total: "10", at: "1970-01-01T00:00:00.000Z" } },
      { type: "json", value: null },
    ]);
  });

  it("has an event for calls of unknown tools and for wrong arguments", async () => {
    const { executor, logger } = await start([
      [
        { tool: "nope", input: {} },
        { tool: "read", input: { path: 5 } },
        { tool: "read", input: { path: "none.md" } },
      ],
      "I see.",
    ]);
    await executor.execute("technical-analyst", "Go");
    expect(logger.of("tool-failed").map(({ tool, text }) => [tool, text])).toEqual([
      ["read", expect.stringContaining("there is no file")],
      ["nope", expect.stringContaining("unavailable tool 'nope'")],
      ["read", expect.stringContaining("`path` must be a string")],
    ]);
  });

  it("refuses a task that is none, and an empty ID, which would put strangers into one conversation", async () => {
    const { executor, model } = await start(["x"]);
    for (const [task, conversationId, text] of [
      [undefined, "c", "The task is undefined."],
      [5, "c", "The task is number."],
      ["Hello", "", "The conversationId is empty."],
      ["Hello", 7, "The conversationId is empty."],
    ] as const)
      await expect(
        executor.execute("technical-analyst", task as never, { conversationId: conversationId as never }),
      ).rejects.toMatchObject({ code: "agents-misused", message: text });
    expect(model.calls).toEqual([]);
  });

  it("refuses an empty task before it asks anybody", async () => {
    const { executor, model } = await start(["x"]);
    for (const task of ["", " \n", []])
      await expect(executor.execute("technical-analyst", task)).rejects.toMatchObject({ code: "agents-misused" });
    await expect(executor.stream("technical-analyst", "").result).rejects.toMatchObject({ code: "agents-misused" });
    expect(model.calls).toEqual([]);
  });

  it("asks for the nearest name when there is no such agent", async () => {
    const { executor } = await start(["x"]);
    await expect(executor.execute("technical-analist", "Hello")).rejects.toMatchObject({
      code: "agent-unknown",
      hint: "Did you mean 'technical-analyst'? The agents are technical-analyst.",
    });
  });

  it("streams, also through events, and waits for a slow reader", async () => {
    const { executor } = await start(["one two three"]);
    const events: AgentEvent[] = [];
    const stream = executor.stream("technical-analyst", "Count", { onEvent: (event) => events.push(event) });
    const result = await stream.result;
    const pieces: string[] = [];
    for await (const piece of stream.textStream) pieces.push(piece);
    expect(pieces).toEqual(["one ", "two ", "three"]);
    expect(result).toMatchObject({ text: "one two three", conversationId: stream.conversationId });
    expect(events.flatMap((event) => (event.type === "text" ? [event.text] : []))).toEqual(pieces);
  });

  it("is not ended by a logger or a listener that throws", async () => {
    const bad = () => {
      throw new Error("full");
    };
    const { executor } = await start(["x"], (builder) => builder.withLogger({ log: bad }));
    expect((await executor.execute("technical-analyst", "Hello", { onEvent: bad })).text).toBe("x");
  });
});

describe("middleware", () => {
  it("has a code of its own when it fails, before or after the model", async () => {
    const cause = new TypeError("my own fault");
    const failing = (isAfter: boolean): AgentMiddleware => {
      return async (_, next) => {
        if (isAfter) await next();
        throw cause;
      };
    };
    for (const isAfter of [false, true]) {
      const { executor, logger } = await start(["x"], (builder) => builder.use(failing(isAfter)));
      await expect(executor.execute("technical-analyst", "Hello")).rejects.toMatchObject({
        code: "middleware-failed",
        message: expect.stringContaining("my own fault"),
        cause,
      });
      expect(logger.of("agent-failed")).toMatchObject([{ code: "middleware-failed" }]);
    }
    const passing: AgentMiddleware = (_, next) => next();
    const { executor } = await start([new Error("no model")], (builder) =>
      builder.use(passing).withConfig({ call: { maxRetries: 0 } }),
    );
    await expect(executor.execute("technical-analyst", "Hello")).rejects.toMatchObject({ code: "model-failed" });
  });

  it("runs in order around the model, and sees what came before it", async () => {
    const seen: string[] = [];
    const named =
      (name: string): AgentMiddleware =>
      async (context, next) => {
        seen.push(`${name} in: ${context.agent.name}, ${context.loaded.length} skill, step ${context.iteration}`);
        await next();
        seen.push(`${name} out: ${context.result?.text}`);
      };
    const { executor } = await start(["x"], (builder) => builder.use(named("a")).use(named("b")));
    await executor.execute("technical-analyst", TASK);
    expect(seen).toEqual([
      "a in: technical-analyst, 1 skill, step 1",
      "b in: technical-analyst, 1 skill, step 1",
      "b out: x",
      "a out: x",
    ]);
  });

  it("can change instructions, tools and messages, wrap tools and watch steps", async () => {
    const steps: number[] = [];
    const { executor, model } = await start(
      [
        [
          { tool: "count", input: {} },
          { tool: "fail", input: {} },
        ],
        "ok",
      ],
      (builder) =>
        builder
          .withTools({
            count: {
              inputSchema: jsonSchema({ type: "object" }),
              execute: async function* () {
                yield 1;
                yield 2;
              },
            },
            fail: {
              inputSchema: jsonSchema({ type: "object" }),
              execute: () => {
                throw new Error("broken");
              },
            },
          })
          .use(async (context, next) => {
            context.instructions += "\nBe short.";
            context.inject("The date is today.");
            context.onStep(({ step }) => {
              steps.push(step);
              return undefined;
            });
            context.wrapTools(async ({ tool }, run) => {
              const output = await run();
              return tool === "count" ? new OutputText(`counted ${output}`) : output;
            });
            await next();
          }),
      { "agents/all.md": "---\nname: all\n---\nYou can do all.\n" },
    );
    const result = await executor.execute("all", "Hello");
    expect(textsOf(model.calls[0], "system")).toEqual([expect.stringMatching(/Be short\.$/), "The date is today."]);
    expect(textsOf(model.calls[1], "tool")).toEqual(["counted 2", "Error: broken"]);
    expect(result.toolCalls).toEqual([
      { tool: "count", input: {}, output: "counted 2" },
      { tool: "fail", input: {}, error: "broken" },
    ]);
    expect(steps).toEqual([1, 2]);
  });

  it("can answer instead of the model, but not leave the turn without a result", async () => {
    const silent = await start(["x"], (builder) => builder.use(async () => undefined));
    await expect(silent.executor.execute("technical-analyst", "Hello")).rejects.toMatchObject({
      code: "agents-misused",
      hint: "Call next(), or set context.result.",
    });
    const twice = await start(["x"], (builder) =>
      builder.use(async (_, next) => {
        await next();
        await next();
      }),
    );
    await expect(twice.executor.execute("technical-analyst", "Hello")).rejects.toMatchObject({
      message: expect.stringContaining("called next() twice"),
    });
  });

  it("can be the seed's own middleware with another registry and cache", async () => {
    const registry = new SkillRegistry();
    registry.add(
      "greeting",
      "---\nname: greeting\ndescription: Greets\ntriggers: { keywords: [good morning], confidence: 0.3 }\n---\nSay moin.",
    );
    const cache = new SkillCache();
    const { executor } = await start(["x"], (builder) =>
      builder.use(createSkillAutoTriggerMiddleware(registry, cache)),
    );
    const result = await executor.execute("technical-analyst", "Good morning", { conversationId: "c" });
    expect(result.skills).toMatchObject([{ name: "greeting" }]);
    expect(cache.size("c")).toBe(1);
  });
});
