import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { generateText, isStepCount, jsonSchema, streamText, tool } from "ai";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { estimateTokens } from "../tokens/estimate.ts";
import { AgentSystemBuilder } from "./builder.ts";
import { contextSavers, OutputSaver, projectOutputs, type SavedOutput, saveOutputs } from "./context-savers.ts";
import { memoryLogger } from "./events.ts";
import { type ModelCall, scratchFolder, scriptedModel, textsOf } from "./fixtures.suite.ts";

const LINES = Array.from({ length: 1_500 }, (_, at) => (at === 700 ? "Error: the disk is full" : `row ${at + 1}`));
const LONG = LINES.join("\n");
const empty = jsonSchema<Record<string, never>>({ type: "object", properties: {} });
const gives = (output: unknown) => tool({ description: "x", inputSchema: empty, execute: async () => output });
const ask = (name: string, input: unknown = {}) => [{ tool: name, input }];
const results = (call: ModelCall | undefined) => textsOf(call, "tool");
const handleIn = (text: string | undefined) => /kept (?:this output )?as (K\d+)/.exec(text ?? "")?.[1] ?? "";
const stopWhen = isStepCount(5);

describe("a loop of your own", () => {
  it("sends a preview, gets parts back with recall, and your code still has the whole output", async () => {
    const kept: SavedOutput[] = [];
    const tools = saveOutputs({ query: gives(LONG) }, { over: 4_000, onKept: (output) => kept.push(output) });
    const model = scriptedModel(
      ask("query"),
      (call) => ask("recall", { handle: handleIn(results(call)[0]), lines: "700-702" }),
      (call) => ask("recall", { handle: handleIn(results(call)[0]), find: "disk" }),
      "done",
    );
    const { text, steps } = await generateText({ model, tools, prompt: "Go.", stopWhen });
    expect(text).toBe("done");
    const [preview = "", lines, found] = results(model.calls[3]);
    expect(preview).toContain("Error: the disk is full");
    expect(preview.length).toBeLessThan(3_200);
    expect(lines).toMatch(/^\[K\d+: lines 700-702 of 1500\]\nrow 700\nError: the disk is full\nrow 702$/);
    expect(found).toContain("701:Error: the disk is full");
    expect(steps[0]?.toolResults[0]?.output).toBe(LONG);
    expect(kept).toEqual([
      {
        handle: handleIn(preview),
        tool: "query",
        conversationId: "",
        chars: LONG.length,
        previewChars: preview.length,
        savedTokens: expect.any(Number),
      },
    ]);
    expect(kept[0]!.savedTokens).toBeGreaterThan(2_000);
  });

  it("streams the same", async () => {
    const model = scriptedModel(ask("query"), "done");
    const stream = streamText({
      model,
      tools: saveOutputs({ query: gives(LONG) }, { over: 4_000 }),
      prompt: "Go.",
      stopWhen,
    });
    expect(await stream.text).toBe("done");
    expect(results(model.calls[1])[0]).toContain("[Haversack kept this output as K");
  });

  it("leaves short outputs, errors, images, exceptions and recall itself alone", async () => {
    const image = {
      type: "content",
      value: [
        { type: "file", data: { type: "data", data: "aGk=" }, mediaType: "image/png" },
        { type: "text", text: LONG },
      ],
    };
    const tools = new OutputSaver({ over: 4_000, recallChars: 50_000, except: ["manual"] }).tools({
      short: gives("fine"),
      manual: gives(LONG),
      picture: { ...gives(LONG), toModelOutput: () => image as never },
      broken: tool({
        description: "x",
        inputSchema: empty,
        execute: async (): Promise<string> => {
          throw new Error(LONG);
        },
      }),
      long: gives({ rows: LINES }),
    });
    const model = scriptedModel(
      ["short", "manual", "picture", "broken", "long"].flatMap((name) => ask(name)),
      (call) => ask("recall", { handle: handleIn(results(call)[4]) }),
      "done",
    );
    await generateText({ model, tools, prompt: "Go.", stopWhen });
    const [short, manual, picture, broken, long, recalled] = results(model.calls[2]);
    expect(short).toBe("fine");
    expect(manual).toBe(LONG);
    expect(picture).not.toContain("Haversack");
    expect(JSON.stringify(model.calls[2]?.prompt)).toContain("image/png");
    expect(broken).toContain("row 1500");
    expect(long!.length).toBeLessThan(3_200);
    // JSON has one value per line, so lines can be asked for.
    expect(recalled).toContain('\n  "row 1400",\n');
  });

  it("has the same bytes for the same output, also in another process", async () => {
    const preview = async () => {
      const tools = saveOutputs({ query: gives(LONG) }, { over: 4_000, conversationId: "c1" });
      return tools.query.toModelOutput!({ toolCallId: "1", input: {}, output: LONG });
    };
    expect(await preview()).toEqual(await preview());
  });

  it("keeps what goes beyond the budget of a turn, however short", async () => {
    const part = LONG.slice(0, 5_000);
    const tools = saveOutputs({ a: gives(part), b: gives(`${part}!`), c: gives("small") }, { turnChars: 6_000 });
    const model = scriptedModel([...ask("a"), ...ask("b"), ...ask("c")], "done");
    await generateText({ model, tools, prompt: "Go.", stopWhen });
    const [a, b, c] = results(model.calls[1]);
    expect(a).toBe(part);
    expect(b).toContain("[Haversack kept this output");
    expect(c).toBe("small");
    // Converted again with the next request: the same bytes.
    const convert = () => tools.b.toModelOutput!({ toolCallId: "call-2", input: {}, output: `${part}!` });
    expect(await convert()).toEqual({ type: "text", value: b });
    expect(await convert()).toEqual(await convert());
  });

  it("answers wrong calls of recall with what to do", () => {
    const saver = new OutputSaver();
    expect(saver.recall({ handle: "K1" })).toBe("there is no kept output K1; none is kept at present.");
    const { handle } = saver.keep(LONG, { tool: "x", isTight: true })!;
    expect(saver.recall({ handle, lines: "9000-" })).toContain("1-1500");
    expect(saver.recall({ handle, lines: "1-2", find: "x" })).toContain("only one");
    expect(saver.recall({ handle: 7 as never })).toContain("there is no kept output 7");
  });

  it("checks its options", () => {
    for (const [options, field] of [
      [{ over: 10 }, "over"],
      [{ over: Number.NaN }, "over"],
      [{ previewChars: 5 }, "previewChars"],
      [{ maxByte: 5 }, "maxByte"],
    ] as const)
      expect(() => contextSavers(options as never)).toThrow(expect.objectContaining({ code: "config-invalid", field }));
    saveOutputs({}, { over: 2_000, conversationId: "c" });
  });

  it("does not take the place of a tool of yours", () => {
    expect(() => saveOutputs({ recall: gives("mine") })).toThrow(expect.objectContaining({ code: "agents-misused" }));
  });

  it("hands over a sub-agent's answer: whole if it is short, else a preview and a handle", () => {
    const saver = new OutputSaver();
    expect(saver.handoff("All is well.", { from: "analyst" })).toBe("Handoff from analyst:\n\nAll is well.");
    const handoff = saver.handoff(LONG, { from: "analyst", maxTokens: 500 });
    expect(handoff).toMatch(/^Handoff from analyst:\n\n\[Haversack kept this output as K\d+/);
    expect(handoff.length).toBeLessThan(2_600);
    expect(saver.recall({ handle: handleIn(handoff), lines: "701" })).toContain("the disk is full");
    expect(saver.handoff("word ".repeat(300), { from: "analyst", maxTokens: 50 })).toMatch(
      /^Handoff from analyst:\n\nword /,
    );
  });
});

describe("an agent system", () => {
  const agent = { name: "clerk", instructions: "You file things." };

  it("keeps long outputs of its agents' tools in memory, and writes nothing to disk", async () => {
    const root = scratchFolder();
    const model = scriptedModel(
      ask("query"),
      (call) => ask("recall", { handle: handleIn(results(call)[0]), lines: "701" }),
      "done",
    );
    const { executor, close } = await new AgentSystemBuilder()
      .withAgent(agent)
      .withModel(model)
      .withTools({ query: gives(LONG) })
      .use(contextSavers({ over: 4_000 }))
      .build();
    const { text, toolCalls } = await executor.execute("clerk", "Go.");
    await close();
    expect(text).toBe("done");
    expect(results(model.calls[2])[1]).toContain("Error: the disk is full");
    expect(toolCalls.map(({ tool: name }) => name)).toEqual(["query", "recall"]);
    expect(existsSync(join(root, ".haversack"))).toBe(false);
  });

  it("keeps the whole answer of an agent that was delegated to", async () => {
    const answer = `${LONG}\nThe verdict: yes.`;
    const logger = memoryLogger();
    const model = scriptedModel(
      ask("delegate", { agent: "scribe", task: "Write it all down." }),
      answer,
      (call) => ask("recall", { handle: handleIn(results(call)[0]), lines: "-1" }),
      "done",
    );
    const { executor, close } = await new AgentSystemBuilder()
      .withAgent(agent)
      .withAgent({ name: "scribe", instructions: "You write." })
      .withModel(model)
      .withLogger(logger)
      .use(contextSavers())
      .build();
    const { delegations } = await executor.execute("clerk", "Go.");
    await close();
    expect(delegations[0]?.text).toBe(answer);
    const [handoff, recalled] = results(model.calls[3]);
    expect(handoff).toContain("The verdict: yes.\n[The whole answer");
    expect(delegations[0]?.handoff).toBe(handoff);
    expect(logger.of("handed-off")).toMatchObject([{ handoffTokens: estimateTokens(handoff!) }]);
    expect(handoff).toMatch(
      /^Handoff from scribe[\s\S]*\[The whole answer was kept as K\d+: recall\(\{ handle: "K\d+" \}\)\.\]$/,
    );
    expect(recalled).toContain("The verdict: yes.");
  });

  it("isolates 100 conversations that run at once", async () => {
    const saver = new OutputSaver({ over: 4_000 });
    const previews = await Promise.all(
      Array.from({ length: 100 }, async (_, n) => {
        const tools = saver.tools({ query: gives(`${LONG}\nconversation ${n}`) }, { conversationId: `c${n}` });
        const model = scriptedModel(ask("query"), "done");
        await generateText({ model, tools, prompt: "Go.", stopWhen });
        return results(model.calls[1])[0]!;
      }),
    );
    expect(new Set(previews.map(handleIn)).size).toBe(100);
    for (const [n, preview] of previews.entries()) {
      expect(saver.recall({ handle: handleIn(preview), lines: "-1" })).toContain(`conversation ${n}`);
    }
  });

  it("recall reads and names only the outputs of its own conversation and of those it delegates to, and forget removes them", async () => {
    const answers = new Map<string, string[]>();
    const model = scriptedModel(
      ask("delegate", { agent: "scribe", task: "Look." }),
      ask("query"),
      "I looked.",
      "alice is done",
      ask("recall", { handle: "K1" }),
      (call) => {
        answers.set("bob", results(call));
        return ask("recall", { handle: kept[0]!.handle, lines: "701" });
      },
      (call) => {
        answers.set("bob", results(call));
        return "bob is done";
      },
      () => ask("recall", { handle: kept[0]!.handle, lines: "701" }),
      (call) => {
        answers.set("alice", results(call));
        return "alice is done";
      },
    );
    const kept: SavedOutput[] = [];
    const { executor, close } = await new AgentSystemBuilder()
      .withAgent(agent)
      .withAgent({ name: "scribe", instructions: "You write." })
      .withModel(model)
      .withTools({ query: gives(LONG) })
      .use(
        contextSavers({
          over: 4_000,
          onKept: (output) => {
            if (kept.length === 0) kept.push(output);
          },
        }),
      )
      .build();
    await executor.execute("clerk", "Go.", { conversationId: "alice" });
    await executor.execute("clerk", "Go.", { conversationId: "bob" });
    expect(answers.get("bob")?.join("\n")).not.toMatch(/disk is full|query/);
    expect(answers.get("bob")?.[1]).toContain("none is kept at present");
    await executor.execute("clerk", "Again.", { conversationId: "alice" });
    expect(answers.get("alice")?.at(-1)).toContain("the disk is full");
    await close();
  });

  it("forget of a conversation removes its outputs and leaves those of others", async () => {
    const saver = new OutputSaver({ over: 4_000 });
    const model = scriptedModel(ask("query"), "done", ask("query"), "done");
    const { executor, close } = await new AgentSystemBuilder()
      .withAgent(agent)
      .withModel(model)
      .withTools({ query: gives(LONG) })
      .use(contextSavers(saver))
      .build();
    const handles: string[] = [];
    for (const conversationId of ["alice", "bob"]) {
      await executor.execute("clerk", "Go.", { conversationId });
      handles.push(handleIn(results(model.calls.at(-1))[0]));
    }
    await executor.forget("alice");
    expect(saver.recall({ handle: handles[0]! })).toMatch(/^there is no kept output/);
    expect(saver.recall({ handle: handles[1]!, lines: "701" })).toContain("the disk is full");
    await close();
  });

  it("recall of a loop of your own is limited to its conversation", async () => {
    const saver = new OutputSaver({ over: 4_000 });
    const { handle } = saver.keep(LONG, { tool: "secret-query", conversationId: "alice" })!;
    const recall = (conversationId?: string) =>
      saver.tools({}, { ...(conversationId !== undefined && { conversationId }) }).recall.execute!(
        { handle, lines: "701" },
        { toolCallId: "1", messages: [], context: {} } as never,
      );
    expect(await recall("bob")).toBe(`there is no kept output ${handle}; none is kept at present.`);
    expect(await recall()).toContain("none is kept");
    expect(await recall("alice")).toContain("the disk is full");
    saver.forget("alice");
    expect(await recall("alice")).toContain("none is kept");
  });

  it("forgets the oldest in memory, so a process that serves for ever does not grow", () => {
    const saver = new OutputSaver({ over: 4_000, maxBytes: 100_000 });
    const handles = Array.from(
      { length: 50 },
      (_, n) => saver.keep(`${LONG}${n}`, { tool: "x", conversationId: `c${n}` })!.handle,
    );
    const known = handles.filter((handle) => !saver.recall({ handle }).startsWith("there is no"));
    expect(known).toEqual(handles.slice(-known.length));
    expect(known.length).toBeLessThan(9);
  });
});

it("with a store, outputs outlive the process", async () => {
  const folder = scratchFolder();
  spawnSync("git", ["init", "-q"], { cwd: folder });
  vi.stubEnv("HOME", scratchFolder());
  vi.stubEnv("XDG_STATE_HOME", "");
  onTestFinished(() => void vi.unstubAllEnvs());
  const store = await projectOutputs(folder);
  const { handle } = new OutputSaver({ over: 4_000, store }).keep(LONG, { tool: "query" })!;
  store.close();
  const later = await projectOutputs(folder);
  const saver = new OutputSaver({ store: later });
  expect(saver.recall({ handle, lines: "701" }, { conversationId: "" })).toContain("the disk is full");
  expect(saver.recall({ handle }, { conversationId: "other" })).toContain("none is kept");
  saver.forget("");
  expect(saver.recall({ handle })).toContain("none is kept");
  later.close();
});
