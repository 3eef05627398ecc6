import { readFileSync, writeFileSync } from "node:fs";
import {
  generateText,
  isStepCount,
  jsonSchema,
  type ModelMessage,
  streamText,
  ToolLoopAgent,
  wrapLanguageModel,
} from "ai";
import { describe, expect, it } from "vitest";
import type { AgentEventDetails } from "./events.ts";
import { type ModelCall, type Script, scriptedModel, tenderFolder, textsOf } from "./fixtures.suite.ts";
import { startModelServer } from "./model-server.suite.ts";
import { skillMessages, skillMiddleware, skillTools } from "./own-loop.ts";
import { SkillCache } from "./skill-cache.ts";
import { SkillRegistry } from "./skill-registry.ts";

const TASK = "Analyze Danish tender document";
const skillsOf = () => new SkillRegistry(`${tenderFolder()}/skills`);
const wrapped = (script: Script, options = {}) => {
  const inner = scriptedModel(...script);
  return { inner, model: wrapLanguageModel({ model: inner, middleware: skillMiddleware(skillsOf(), options) }) };
};
const SKILL_CALL = [{ tool: "skill", input: { name: "complexity-calculator" } }];
const clock = {
  description: "Tells the time",
  inputSchema: jsonSchema({ type: "object" as const, properties: {} }),
  execute: () => "noon",
};

describe("skillMiddleware", () => {
  it("adds the skill tool and the skill that the task needs to an existing generateText", async () => {
    const { inner, model } = wrapped(["Done."]);
    const { text } = await generateText({ model, instructions: "You analyze.", prompt: TASK });
    expect(text).toBe("Done.");
    expect(inner.calls[0]?.prompt.map(({ role }) => role)).toEqual(["system", "system", "user"]);
    expect(textsOf(inner.calls[0], "system")[1]).toContain("AUTO-LOADED SKILL: danish-tender-guidelines");
    expect(inner.calls[0]?.tools).toMatchObject([
      { name: "skill", description: expect.stringContaining("complexity-calculator") },
    ]);
  });

  it("answers the model's calls itself, in one step of the caller, with the usage of all", async () => {
    const { inner, model } = wrapped([SKILL_CALL, "40 points."]);
    const result = await generateText({ model, prompt: "Hello" });
    expect(result.text).toBe("40 points.");
    expect(result.steps).toHaveLength(1);
    expect(result.usage).toMatchObject({ inputTokens: 200, outputTokens: 40 });
    expect(result.toolResults).toMatchObject([{ toolName: "skill", output: { success: true } }]);
    expect(inner.calls[1]?.prompt.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
    expect(textsOf(inner.calls[1], "tool")[0]).toContain("Points = ");
  });

  it("does the same in a stream", async () => {
    const { inner, model } = wrapped([SKILL_CALL, "It is 40 points."]);
    const stream = streamText({ model, prompt: "Hello" });
    const pieces: string[] = [];
    for await (const piece of stream.textStream) pieces.push(piece);
    expect(pieces).toEqual(["It ", "is ", "40 ", "points."]);
    expect(await stream.usage).toMatchObject({ inputTokens: 200, outputTokens: 40 });
    expect(await stream.toolResults).toMatchObject([{ toolName: "skill", output: { success: true } }]);
    expect(inner.calls).toHaveLength(2);
  });

  for (const way of ["generate", "stream"] as const) {
    it(`works beside the caller's tools, and the provider sees ordinary calls (${way})`, async () => {
      const { inner, model } = wrapped([[...SKILL_CALL, { tool: "clock", input: {} }], "It is noon."]);
      const options = { model, tools: { clock }, stopWhen: isStepCount(5), prompt: "Hello" };
      const text = way === "generate" ? (await generateText(options)).text : await streamText(options).text;
      expect(text).toBe("It is noon.");
      const messages = inner.calls[1]!.prompt;
      expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
      expect(JSON.stringify(messages)).not.toContain("providerExecuted");
      expect(textsOf(inner.calls[1], "tool")).toEqual([expect.stringContaining("Points = "), "noon"]);
    });
  }

  it("gives the same bytes for the same messages, and new skills after a later message", async () => {
    const { inner, model } = wrapped(["One.", SKILL_CALL, "Two.", "Three."]);
    const agent = new ToolLoopAgent({ model, instructions: "You analyze." });
    const messages: Parameters<typeof agent.generate>[0]["messages"] = [];
    for (const task of [TASK, "Load the calculator", "And an architecture review of the microservices"]) {
      messages.push({ role: "user", content: task });
      const { responseMessages } = await agent.generate({ messages });
      messages.push(...responseMessages);
    }
    const texts = inner.calls.map(({ prompt }) => prompt.map((message) => JSON.stringify(message)));
    for (const [at, text] of texts.entries())
      expect(text.slice(0, texts[at - 1]?.length ?? 0)).toEqual(texts[at - 1] ?? []);
    expect(inner.calls.at(-1)?.prompt.map(({ role }) => role)).toEqual([
      "system",
      "system",
      "user",
      "assistant",
      "user",
      "assistant",
      "tool",
      "assistant",
      "user",
      "system",
    ]);
    expect(textsOf(inner.calls.at(-1), "system").at(-1)).toContain("AUTO-LOADED SKILL: architecture-analyzer");
  });

  for (const way of ["generate", "stream"] as const) {
    it(`keeps earlier bytes when the model loads several skills, at once and one after the other (${way})`, async () => {
      const both = ["complexity-calculator", "architecture-analyzer"].map((name) => ({
        tool: "skill",
        input: { name },
      }));
      const { inner, model } = wrapped([both, [{ tool: "skill", input: { query: "tender" } }], "One.", "Two."]);
      const messages: ModelMessage[] = [];
      for (const task of ["Hello", "Go on"]) {
        messages.push({ role: "user", content: task });
        const { responseMessages } =
          way === "generate" ? await generateText({ model, messages }) : streamText({ model, messages });
        messages.push(...(await responseMessages));
      }
      const texts = inner.calls.map(({ prompt }) => prompt.map((message) => JSON.stringify(message)));
      expect(texts).toHaveLength(4);
      for (const [at, text] of texts.entries())
        expect(text.slice(0, texts[at - 1]?.length ?? 0)).toEqual(texts[at - 1] ?? []);
      expect(inner.calls[3]?.prompt.map(({ role }) => role)).toEqual([
        "user",
        "assistant",
        "tool",
        "assistant",
        "tool",
        "assistant",
        "user",
      ]);
    });
  }

  for (const way of ["generate", "stream"] as const) {
    it(`gives the model back what it thought, with its signature, before and after it loads a skill (${way})`, async () => {
      const { inner, model } = wrapped([
        [{ thought: "I need a formula." }, { text: "Let me look. " }, ...SKILL_CALL],
        [{ thought: "Now I know." }, { text: "40 points." }],
        "Bye.",
      ]);
      const messages: ModelMessage[] = [];
      for (const task of ["Hello", "Go on"]) {
        messages.push({ role: "user", content: task });
        const { responseMessages } =
          way === "generate" ? await generateText({ model, messages }) : streamText({ model, messages });
        messages.push(...(await responseMessages));
      }
      const [, second, third] = inner.calls.map(({ prompt }) => prompt);
      expect(second?.[1]).toMatchObject({
        role: "assistant",
        content: [
          { type: "reasoning", text: "I need a formula.", providerOptions: { scripted: { signature: "sig-1" } } },
          { type: "text", text: "Let me look. " },
          { type: "tool-call", toolName: "skill" },
        ],
      });
      expect(third?.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant", "user"]);
      expect(JSON.stringify(third?.slice(0, 3))).toBe(JSON.stringify(second));
      expect(third?.[3]).toMatchObject({
        content: [{ type: "reasoning", providerOptions: { scripted: { signature: "sig-3" } } }, { text: "40 points." }],
      });
    });
  }

  it("keeps the bytes of a skill whose file changes during a conversation, and remembers a bounded number of messages", async () => {
    const folder = tenderFolder();
    const skills = new SkillRegistry(`${folder}/skills`);
    const inner = scriptedModel("x");
    const model = wrapLanguageModel({ model: inner, middleware: skillMiddleware(skills) });
    const messages: ModelMessage[] = [{ role: "user", content: TASK }];
    const ask = async () => {
      messages.push(...(await generateText({ model, messages })).responseMessages, { role: "user", content: "Thanks" });
      return inner.calls.at(-1)?.prompt ?? [];
    };
    const first = await ask();
    const file = `${folder}/skills/danish-tender-guidelines/SKILL.md`;
    writeFileSync(file, readFileSync(file, "utf8").replace("Mark every statement", "Mark each statement"));
    skills.refresh();
    const others = async (from: number, to: number) => {
      for (let at = from; at < to; at++) await generateText({ model, prompt: `Hello ${at}` });
    };
    // Each request of a conversation uses all its messages again.
    for (const from of [0, 300, 600]) {
      expect((await ask()).slice(0, first.length)).toEqual(first);
      await others(from, from + 300);
    }
    expect((await ask()).slice(0, first.length)).toEqual(first);
    await others(900, 1_500);
    expect(textsOf({ prompt: await ask() } as ModelCall, "system")[0]).toContain("Mark each statement");
  });

  it("gives a new conversation the skill as it is now, although an earlier one began with the same message", async () => {
    const folder = tenderFolder();
    const skills = new SkillRegistry(`${folder}/skills`);
    const inner = scriptedModel("x");
    const model = wrapLanguageModel({ model: inner, middleware: skillMiddleware(skills) });
    await generateText({ model, prompt: TASK });
    const file = `${folder}/skills/danish-tender-guidelines/SKILL.md`;
    writeFileSync(file, readFileSync(file, "utf8").replace("Mark every statement", "Mark each statement"));
    skills.refresh();
    await generateText({ model, prompt: TASK });
    expect(textsOf(inner.calls[1], "system")[0]).toContain("Mark each statement");
  });

  it("says what is loaded and why, once for each message, and that it failed; a listener that throws does no harm", async () => {
    const events: AgentEventDetails[] = [];
    const onEvent = (event: AgentEventDetails) => {
      events.push(event);
      throw new Error("no disk");
    };
    const skills = skillsOf();
    const inner = scriptedModel(SKILL_CALL, [{ tool: "skill", input: { name: "danish-tender-guidelines" } }], "Done.");
    const model = wrapLanguageModel({ model: inner, middleware: skillMiddleware(skills, { onEvent }) });
    const messages: ModelMessage[] = [{ role: "user", content: TASK }];
    messages.push(...(await generateText({ model, messages })).responseMessages, { role: "user", content: "Thanks" });
    await generateText({ model, messages });
    expect(events).toMatchObject([
      {
        type: "skill-loaded",
        skill: "danish-tender-guidelines",
        by: "auto",
        reason: expect.stringContaining("danish tender"),
      },
      { type: "skill-loaded", skill: "complexity-calculator", by: "tool", reason: "the model asked for it" },
      { type: "skill-cached", skill: "danish-tender-guidelines", by: "tool", sent: false },
    ]);
    skills.match = () => {
      throw new Error("no index");
    };
    expect((await generateText({ model, prompt: `${TASK} now` })).text).toBe("Done.");
    expect(events.at(-1)).toMatchObject({ type: "warning", text: expect.stringContaining("no index") });
  });

  it("does not send a text twice", async () => {
    const { inner, model } = wrapped([[{ tool: "skill", input: { name: "danish-tender-guidelines" } }], "Done."]);
    await generateText({ model, prompt: TASK });
    expect(textsOf(inner.calls[1], "tool")[0]).toContain("already in this conversation");
    // Neither when the model has loaded it in an earlier turn.
    const other = wrapped([SKILL_CALL, "One.", "Two."]);
    const messages: ModelMessage[] = [{ role: "user", content: "Hello" }];
    messages.push(...(await generateText({ model: other.model, messages })).responseMessages);
    messages.push({ role: "user", content: "Now a complexity estimation in story points, please" });
    await generateText({ model: other.model, messages });
    expect(textsOf(other.inner.calls[2], "tool")[0]).toContain("Points = ");
    expect(textsOf(other.inner.calls[2], "system")).toEqual([]);
  });

  it("does not take a heading in a skill's text for another skill", async () => {
    const skills = skillsOf();
    skills.add(
      "notes",
      "---\nname: notes\ndescription: x\ntriggers:\n  keywords: [field notes]\n---\nA\n## AUTO-LOADED SKILL: complexity-calculator\nB",
    );
    const inner = scriptedModel(SKILL_CALL, "Done.");
    const model = wrapLanguageModel({ model: inner, middleware: skillMiddleware(skills) });
    await generateText({ model, prompt: "Write field notes" });
    expect(textsOf(inner.calls[1], "system").join()).toContain("## AUTO-LOADED SKILL: complexity-calculator");
    expect(textsOf(inner.calls[1], "tool")[0]).toContain("Points = ");
  });

  it("tells the model about unknown names and malformed arguments, and stops a model that only loads", async () => {
    const bad = wrapped([
      [{ tool: "skill", input: {}, raw: "{nope" }],
      [{ tool: "skill", input: { name: "none" } }],
      [{ tool: "skill", input: { name: "none" } }],
      "I see.",
    ]);
    expect((await generateText({ model: bad.model, prompt: "Hello" })).text).toBe("I see.");
    expect(textsOf(bad.inner.calls[1], "tool")[0]).toContain("Call it with an object");
    expect(textsOf(bad.inner.calls[2], "tool")[1]).toContain("Skill 'none' not found");
    expect(textsOf(bad.inner.calls[3], "tool")[2]).toContain("Skill 'none' not found");
    const endless = wrapped([SKILL_CALL], { maxRounds: 2 });
    await generateText({ model: endless.model, prompt: "Hello" });
    expect(endless.inner.calls).toHaveLength(3);
    const stream = wrapped([SKILL_CALL], { maxRounds: 2 });
    await streamText({ model: stream.model, prompt: "Hello" }).consumeStream();
    expect(stream.inner.calls).toHaveLength(3);
  });

  it("leaves a tool of that name to the caller, and a call without tools without one", async () => {
    const own = wrapped([SKILL_CALL, "ok"]);
    const tools = { skill: { ...clock, execute: () => "mine" } };
    await generateText({ model: own.model, tools, stopWhen: isStepCount(3), prompt: TASK });
    expect(textsOf(own.inner.calls[1], "tool")).toEqual(["mine"]);
    expect(textsOf(own.inner.calls[1], "system")[0]).toContain("AUTO-LOADED SKILL: danish-tender-guidelines");
    expect(textsOf(own.inner.calls[1], "system")[0]).not.toContain("skill({");
    const named = [{ tool: "skill", input: { name: "danish-tender-guidelines" } }];
    const theirs = wrapped([named, "ok", "ok"]);
    const messages: ModelMessage[] = [{ role: "user", content: "Hello" }];
    const first = await generateText({ model: theirs.model, tools, stopWhen: isStepCount(3), messages });
    messages.push(...first.responseMessages, { role: "user", content: TASK });
    await generateText({ model: theirs.model, tools, messages });
    expect(textsOf(theirs.inner.calls[2], "user").at(-1)).toContain("AUTO-LOADED SKILL: danish-tender-guidelines");
    const stream = wrapped(["ok"]);
    expect(await streamText({ model: stream.model, tools, prompt: "x" }).text).toBe("ok");
    const off = wrapped(["ok"], { autoTrigger: false, catalogueTokens: 60 });
    await generateText({ model: off.model, toolChoice: "none", prompt: TASK });
    expect(off.inner.calls[0]?.prompt).toHaveLength(1);
    expect(off.inner.calls[0]?.tools).toBeUndefined();
  });

  it("adds nothing without skills, and keeps the tool while a conversation has calls of it", async () => {
    const skills = new SkillRegistry();
    const inner = scriptedModel("One.", SKILL_CALL, "Two.", "Three.");
    const model = wrapLanguageModel({ model: inner, middleware: skillMiddleware(skills) });
    await generateText({ model, prompt: TASK });
    expect(inner.calls[0]?.prompt).toHaveLength(1);
    expect(inner.calls[0]?.tools).toBeUndefined();
    skills.add("complexity-calculator", "---\nname: complexity-calculator\ndescription: Estimates\n---\nPoints.\n");
    const messages: ModelMessage[] = [{ role: "user", content: "Hello" }];
    messages.push(...(await generateText({ model, messages })).responseMessages, { role: "user", content: "More" });
    expect(inner.calls[1]?.tools).toMatchObject([{ name: "skill" }]);
    skills.remove("complexity-calculator");
    await generateText({ model, messages });
    expect(inner.calls[3]?.tools).toMatchObject([
      { name: "skill", description: expect.stringContaining("No skill is installed") },
    ]);
  });

  it("serves two models at once, each with its own conversation", async () => {
    const middleware = skillMiddleware(skillsOf());
    const inner = ["a", "b"].map((answer) => scriptedModel(SKILL_CALL, answer));
    const answers = await Promise.all(
      inner.map((model) =>
        generateText({ model: wrapLanguageModel({ model, middleware }), prompt: TASK }).then(({ text }) => text),
      ),
    );
    expect(answers).toEqual(["a", "b"]);
    for (const { calls } of inner) {
      expect(textsOf(calls[1], "system")[0]).toContain("AUTO-LOADED SKILL: danish-tender-guidelines");
      expect(textsOf(calls[1], "tool")[0]).toContain("Points = ");
    }
  });

  it("passes a provider's failure on, whole and half-way through a stream", async () => {
    const { model } = wrapped([SKILL_CALL, new Error("overloaded")]);
    await expect(generateText({ model, prompt: "Hello", maxRetries: 0 })).rejects.toThrow("overloaded");
    const second = wrapped([SKILL_CALL, new Error("overloaded")]);
    const errors: unknown[] = [];
    await streamText({
      model: second.model,
      prompt: "Hello",
      maxRetries: 0,
      onError: ({ error }) => void errors.push(error),
    }).consumeStream();
    expect(String(errors[0])).toContain("overloaded");
  });

  for (const api of ["openai", "anthropic"] as const) {
    it(`works over the ${api} API`, async () => {
      const server = await startModelServer([...SKILL_CALL, { tool: "clock", input: {} }], SKILL_CALL, "All done.");
      const model = wrapLanguageModel({ model: server[api] as never, middleware: skillMiddleware(skillsOf()) });
      const stream = streamText({ model, tools: { clock }, stopWhen: isStepCount(5), prompt: TASK });
      expect(await stream.text).toBe("All done.");
      expect(server.requests).toHaveLength(3);
      expect(server.requests[1]?.text).toContain("Points = ");
      expect(server.requests[2]?.text).toContain("already in this conversation");
    });

    it(`keeps every earlier byte of a conversation over the ${api} API`, async () => {
      // Also if the first message needs no skill: there is then no system message before that of the last one.
      for (const first of [TASK, "Hello"]) {
        const server = await startModelServer("One.", SKILL_CALL, "Two.", "Three.");
        const model = wrapLanguageModel({ model: server[api] as never, middleware: skillMiddleware(skillsOf()) });
        const messages: ModelMessage[] = [];
        for (const content of [first, "Thanks", "Now an architecture review of our microservices"]) {
          messages.push({ role: "user", content });
          messages.push(...(await generateText({ model, tools: { clock }, messages })).responseMessages);
        }
        const sent = server.requests.map(({ body }) => ({
          head: JSON.stringify([body.system, body.tools]),
          messages: body.messages.map((message) => JSON.stringify(message)),
        }));
        expect(sent).toHaveLength(4);
        for (const [at, { head, messages: now }] of sent.entries()) {
          const before = sent[at - 1] ?? { head, messages: [] };
          expect(head).toBe(before.head);
          expect(now.slice(0, before.messages.length)).toEqual(before.messages);
        }
        expect(sent.at(-1)?.messages.at(-1)).toContain("AUTO-LOADED SKILL: architecture-analyzer");
      }
    });

    it(`passes on a stream that ends half-way after a skill was loaded, and an abort, over the ${api} API`, async () => {
      const server = await startModelServer(SKILL_CALL, { cut: "This is only the " }, SKILL_CALL, { hang: "Wait " });
      const model = wrapLanguageModel({ model: server[api] as never, middleware: skillMiddleware(skillsOf()) });
      const read = async (abortSignal?: AbortSignal, onText?: () => void) => {
        const parts: string[] = [];
        const options = { model, prompt: "Hello", maxRetries: 0, onError: () => undefined };
        for await (const part of streamText({ ...options, ...(abortSignal && { abortSignal }) }).fullStream) {
          parts.push(part.type);
          if (part.type === "text-delta") onText?.();
        }
        return parts;
      };
      const cut = await read();
      expect(cut).toContain("tool-result");
      expect(cut).toContain("text-delta");
      expect(cut).toContain("error");
      const controller = new AbortController();
      const aborted = await read(controller.signal, () => controller.abort());
      expect(aborted).toContain("abort");
      expect(server.requests).toHaveLength(4);
    });
  }

  it("can put skills into user messages, for models that take system messages only at the start", async () => {
    const tender = [{ tool: "skill", input: { name: "danish-tender-guidelines" } }];
    const { inner, model } = wrapped([tender, "One.", "Two.", "Three."], { injectAs: "user" });
    const messages: ModelMessage[] = [];
    for (const content of [TASK, "An architecture review, please", TASK]) {
      messages.push({ role: "user", content });
      messages.push(...(await generateText({ model, instructions: "You analyze.", messages })).responseMessages);
    }
    expect(textsOf(inner.calls[1], "tool")[0]).toContain("already in this conversation");
    for (const call of inner.calls) expect(textsOf(call, "system")).toEqual(["You analyze."]);
    const added = textsOf(inner.calls.at(-1), "user").filter((text) => text.startsWith("## AUTO-LOADED SKILL: "));
    expect(added.map((text) => text.split("\n")[0])).toEqual([
      "## AUTO-LOADED SKILL: danish-tender-guidelines",
      "## AUTO-LOADED SKILL: architecture-analyzer",
    ]);
  });

  it("does so by itself for later skills if the provider refuses later system messages", async () => {
    const { inner, model } = wrapped(["One.", "Two."]);
    Object.assign(inner, { provider: "google.generative-ai" });
    const messages: ModelMessage[] = [];
    for (const content of [TASK, "An architecture review, please"]) {
      messages.push({ role: "user", content });
      messages.push(...(await generateText({ model, instructions: "You analyze.", messages })).responseMessages);
    }
    const roles = ["system", "system", "user", "assistant", "user", "user"];
    expect(inner.calls[1]?.prompt.map(({ role }) => role)).toEqual(roles);
  });

  it("checks its options", () => {
    for (const options of [{ maxRounds: Number.NaN }, { maxSkill: 3 }, { injectAs: "assistant" }])
      expect(() => skillMiddleware(skillsOf(), options as never)).toThrow(
        expect.objectContaining({ code: "config-invalid", field: Object.keys(options)[0] }),
      );
  });

  it("runs 50 conversations at once through one middleware, each with its own skills", async () => {
    const inner = scriptedModel(
      (call) =>
        textsOf(call, "system")
          .join("\n")
          .match(/SKILL: (.+)/)?.[1] ?? "none",
    );
    const model = wrapLanguageModel({ model: inner, middleware: skillMiddleware(skillsOf()) });
    const tasks = [
      [TASK, "danish-tender-guidelines"],
      ["A complexity estimation in story points", "complexity-calculator"],
      ["What is the capital of Portugal?", "none"],
    ] as const;
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) => generateText({ model, prompt: tasks[at % 3]![0] })),
    );
    expect(answers.map(({ text }) => text)).toEqual(answers.map((_, at) => tasks[at % 3]![1]));
  });

  it("lets go of the provider's stream when nobody reads on", async () => {
    const isCancelled = Promise.withResolvers<void>();
    const inner = scriptedModel(SKILL_CALL);
    const first = inner.doStream.bind(inner);
    const reader = Promise.withResolvers<ReadableStreamDefaultReader>();
    let round = 0;
    inner.doStream = async (call) => {
      if (round++ === 0) return first(call);
      // The reader leaves while the next answer begins.
      await (await reader.promise).cancel();
      return { stream: new ReadableStream({ cancel: () => isCancelled.resolve() }) };
    };
    const model = wrapLanguageModel({ model: inner, middleware: skillMiddleware(skillsOf()) });
    const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "Hello" }] }];
    reader.resolve((await model.doStream({ prompt })).stream.getReader());
    await isCancelled.promise;
  });
});

describe("plain functions", () => {
  it("give the tool and the messages to a loop of one's own", async () => {
    const skills = skillsOf();
    const model = scriptedModel([{ tool: "skill", input: { name: "complexity-calculator" } }], "ok");
    const cache = new SkillCache();
    const about = { cache, conversationId: "c", confidenceThreshold: 0.5 };
    const messages = skillMessages(skills, TASK, about);
    expect(messages).toMatchObject([
      { role: "system", content: expect.stringContaining("AUTO-LOADED SKILL: danish-tender-guidelines") },
    ]);
    expect(skillMessages(skills, TASK, about)).toEqual([]);
    expect(skillMessages(skills, TASK)).toHaveLength(1);
    const { text } = await generateText({
      model,
      tools: skillTools(skills),
      stopWhen: isStepCount(3),
      allowSystemInMessages: true,
      messages: [...messages, { role: "user", content: TASK }],
    });
    expect(text).toBe("ok");
    expect(textsOf(model.calls[1], "tool")[0]).toContain("# complexity-calculator");
  });

  it("follow the registry in the tool's description", async () => {
    const skills = skillsOf();
    const tools = skillTools(skills);
    const model = scriptedModel("ok");
    skills.add("late", "---\nname: late\ndescription: Came later\n---\nx");
    await generateText({ model, tools, prompt: "x" });
    expect(model.calls[0]?.tools).toMatchObject([{ description: expect.stringContaining("late: Came later") }]);
  });
});
