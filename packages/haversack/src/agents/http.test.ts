/** End to end over HTTP, with the real provider packages, against a scripted server of either API. */
import { readFileSync, writeFileSync } from "node:fs";
import { jsonSchema } from "ai";
import { describe, expect, it, vi } from "vitest";
import { estimateTokens } from "../tokens/estimate.ts";
import { AgentSystemBuilder } from "./builder.ts";
import { tenderFolder } from "./fixtures.suite.ts";
import { type Answer, contentText, type ModelServer, startModelServer } from "./model-server.suite.ts";

const TASK = "Analyze Danish tender document";

for (const api of ["openai", "anthropic"] as const) {
  describe(`over the ${api} API`, () => {
    const start = async (...script: Answer[]) => {
      const server = await startModelServer(...script);
      const folder = tenderFolder();
      let running = 0;
      const three = Promise.withResolvers<void>();
      const system = await AgentSystemBuilder.default({ root: folder })
        .withAgentsFrom(`${folder}/agents`)
        .withAgent({ name: "worker", instructions: "You work." })
        .withSkillsFrom(`${folder}/skills`)
        .withModel(server[api])
        .withTools({
          // Ends when three of its calls run at once.
          together: {
            description: "Doubles",
            inputSchema: jsonSchema<{ n: number }>({
              type: "object",
              properties: { n: { type: "number" } },
              required: ["n"],
            }),
            execute: async ({ n }: { n: number }) => {
              if (++running === 3) three.resolve();
              await three.promise;
              return { doubled: n * 2 };
            },
          },
        })
        .withConfig({ call: { maxRetries: 0 } })
        .build();
      return { server, system, folder };
    };
    const systemText = ({ requests }: ModelServer, at = 0) => {
      const { system, messages } = requests[at]!.body;
      const first = messages.filter(({ role }) => role === "system").map(({ content }) => contentText(content));
      return [contentText(system), ...first].join("\n");
    };

    it("sends the system prompt, the skill and the task, and returns the answer", async () => {
      const { server, system } = await start("[FAKTA] Done.");
      const result = await system.executor.execute("technical-analyst", TASK);
      expect(result.text).toBe("[FAKTA] Done.");
      expect(result.usage).toMatchObject({ inputTokens: 100, outputTokens: 20 });
      expect(systemText(server)).toContain("You are a Technical Analyst");
      expect(systemText(server)).toContain("## AUTO-LOADED SKILL: danish-tender-guidelines");
      const { tools, messages } = server.requests[0]!.body;
      expect(contentText(messages.at(-1)?.content)).toBe(TASK);
      const skillTool = tools?.find((tool) => (tool.name ?? tool.function?.name) === "skill");
      expect(skillTool?.description ?? skillTool?.function?.description).toContain("  - complexity-calculator: ");
    });

    it("streams text, runs tool calls in parallel, and gives the model their results", async () => {
      const calls = [1, 2, 3].map((n) => ({ tool: "together", input: { n } }));
      const { server, system } = await start(
        [...calls, { tool: "skill", input: { name: "complexity-calculator" } }],
        "The sum is twelve.",
      );
      const stream = system.executor.stream("worker", "Double one, two and three");
      const pieces: string[] = [];
      for await (const piece of stream.textStream) pieces.push(piece);
      const result = await stream.result;
      expect(pieces.join("")).toBe("The sum is twelve.");
      expect(pieces.length).toBeGreaterThan(2);
      expect(result).toMatchObject({
        steps: 2,
        stoppedBy: "model",
        skills: [{ name: "complexity-calculator", by: "tool" }],
      });
      expect(result.toolCalls.map(({ tool, output }) => [tool, output])).toMatchObject([
        ["together", { doubled: 2 }],
        ["together", { doubled: 4 }],
        ["together", { doubled: 6 }],
        ["skill", { success: true }],
      ]);
      expect(server.requests).toHaveLength(2);
      // The model reads the skill as text, not as JSON.
      expect(server.requests[1]?.text).toContain("# complexity-calculator\\n\\n*Estimates the effort");
    });

    it("never changes an earlier byte of a conversation", async () => {
      const { server, system } = await start(
        "One.",
        [{ tool: "skill", input: { name: "architecture-analyzer" } }],
        "Two.",
        "Three.",
      );
      for (const task of [TASK, "Thanks. Now tell me more", "And an effort estimate in story points"])
        await system.executor.execute("technical-analyst", task, { conversationId: "c" });
      const texts = server.requests.map(({ body: { messages, system: prompt, tools } }) => ({
        head: JSON.stringify([prompt, tools]),
        messages: messages.map((message) => JSON.stringify(message)),
      }));
      for (const [at, { head, messages }] of texts.entries()) {
        const before = texts[at - 1];
        if (!before) continue;
        expect(head).toBe(before.head);
        expect(messages.slice(0, before.messages.length)).toEqual(before.messages);
      }
      const last = server.requests.at(-1)!.body.messages;
      expect(last.at(-1)?.role).toBe("system");
      expect(contentText(last.at(-1)?.content)).toContain("AUTO-LOADED SKILL: complexity-calculator");
      expect(contentText(last.at(-2)?.content)).toBe("And an effort estimate in story points");
    });

    it("reports a provider's error, and the conversation goes on", async () => {
      const { server, system } = await start({ status: 500 }, "Better now.");
      const failed = system.executor.execute("technical-analyst", TASK, { conversationId: "c" });
      await expect(failed).rejects.toMatchObject({
        name: "AgentError",
        code: "model-failed",
        conversationId: "c",
        hint: expect.stringContaining("execute again"),
      });
      const result = await system.executor.execute("technical-analyst", TASK, { conversationId: "c" });
      expect(result).toMatchObject({
        text: "Better now.",
        turn: 1,
        skills: [{ name: "danish-tender-guidelines", cached: false }],
      });
      expect(server.requests[1]?.text).toBe(server.requests[0]?.text);
    });

    it("reports a stream that ends half-way, after the pieces that came, and the conversation goes on", async () => {
      const { system } = await start("First turn.", { cut: "This is only the " }, "Whole again.");
      await system.executor.execute("technical-analyst", TASK, { conversationId: "c" });
      const stream = system.executor.stream("technical-analyst", "Go on", { conversationId: "c" });
      const pieces: string[] = [];
      const reading = (async () => {
        for await (const piece of stream.textStream) pieces.push(piece);
      })();
      await expect(reading).rejects.toMatchObject({ code: "model-failed" });
      await expect(stream.result).rejects.toMatchObject({ code: "model-failed" });
      expect(pieces.join("")).toContain("This is only");
      const result = await system.executor.execute("technical-analyst", "Go on", { conversationId: "c" });
      expect(result).toMatchObject({ text: "Whole again.", turn: 2 });
      expect(result.messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "user", "assistant"]);
    });

    it("ends when it is aborted, whole or as a stream, and the conversation goes on", async () => {
      const { server, system } = await start({ hang: "Wait " }, { hang: "Wait " }, "Here I am.");
      const first = new AbortController();
      const turn = system.executor.execute("worker", "Wait", { signal: first.signal, conversationId: "c" });
      turn.catch(() => undefined);
      await vi.waitFor(() => expect(server.requests).toHaveLength(1), { timeout: 30_000 });
      first.abort();
      await expect(turn).rejects.toMatchObject({ code: "aborted" });
      const second = new AbortController();
      const stream = system.executor.stream("worker", "Wait", { signal: second.signal, conversationId: "c" });
      const reading = (async () => {
        for await (const _ of stream.textStream) second.abort();
      })();
      await expect(reading).rejects.toMatchObject({ code: "aborted" });
      await expect(system.executor.execute("worker", "x", { signal: AbortSignal.abort() })).rejects.toMatchObject({
        code: "aborted",
      });
      expect(await system.executor.execute("worker", "Still there?", { conversationId: "c" })).toMatchObject({
        text: "Here I am.",
        turn: 1,
      });
    });

    it("tells the model about unknown tools, unknown skills and malformed arguments, and goes on", async () => {
      const { server, system } = await start(
        [
          { tool: "no-such-tool", input: {} },
          { tool: "skill", input: { name: "no-such-skill" } },
          { tool: "skill", input: {} },
          { tool: "read", input: { path: 3 } },
          { tool: "read", input: { path: "../../etc/passwd" } },
        ],
        "I manage.",
      );
      const result = await system.executor.execute("worker", "Try things");
      expect(result.text).toBe("I manage.");
      expect(
        result.toolCalls.map(({ tool, error, output }) => [
          tool,
          error !== undefined || (output as { success?: boolean })?.success === false,
        ]),
      ).toEqual([
        ["no-such-tool", true],
        ["skill", true],
        ["skill", true],
        ["read", true],
        ["read", true],
      ]);
      const told = server.requests[1]!.text;
      for (const text of [
        "no-such-tool",
        "Skill 'no-such-skill' not found",
        "Give the `name` of a skill",
        "`path` must be a string",
        "which this tool cannot leave",
      ])
        expect(told).toContain(text);
    });
  });
}

it("tells the model about arguments that are no JSON, and goes on", async () => {
  const server = await startModelServer([{ tool: "skill", input: {}, raw: '{"name": "compl' }], "I see.");
  const folder = tenderFolder();
  const system = await AgentSystemBuilder.default({ root: folder })
    .withAgent({ name: "worker", instructions: "You work." })
    .withSkillsFrom(`${folder}/skills`)
    .withModel(server.openai)
    .build();
  for (const way of ["execute", "stream"] as const) {
    const turn = system.executor[way]("worker", "Try");
    expect(await ("result" in turn ? turn.result : turn)).toMatchObject({ text: "I see." });
  }
});

describe("tokens of a first request", () => {
  /** The tasks, and the skill that each needs. */
  const TASKS: [string, string?][] = [
    [TASK, "danish-tender-guidelines"],
    ["An effort estimate in story points for the new portal", "complexity-calculator"],
    ["Do an architecture review of our microservices", "architecture-analyzer"],
    ["Check the tender compliance of our answer to the dansk udbud", "danish-tender-guidelines"],
    ["Summarize this mail thread in three bullets"],
    ["Translate the greeting into German"],
    ["Rename the variable x to total in the script"],
    ["Fix the typo in the second paragraph"],
    ["What is the capital of Portugal?"],
    ["Write a birthday message for a colleague"],
  ];
  const long = (text: string) =>
    `${text}\n${Array.from({ length: 40 }, (_, at) => `${at + 1}. Check part ${at + 1} against its source and note the page.`).join("\n")}\n`;

  it("falls when skills are listed instead of preloaded, and rises only for tasks that need one", async () => {
    const folder = tenderFolder();
    const names = ["danish-tender-guidelines", "complexity-calculator", "architecture-analyzer"];
    for (const name of names) {
      const file = `${folder}/skills/${name}/SKILL.md`;
      writeFileSync(file, long(readFileSync(file, "utf8")));
    }
    const measure = async (agent: { tools: string[]; skills: string[] }, enabled: boolean) => {
      const server = await startModelServer("Done.");
      const system = await new AgentSystemBuilder()
        .withSkillsFrom(`${folder}/skills`)
        .withAgent({ name: "analyst", instructions: "You analyze.", ...agent })
        .withModel(server.openai)
        .withConfig({ skills: { autoTrigger: { enabled } } })
        .build();
      const loaded: string[] = [];
      for (const [task] of TASKS) {
        const { skills } = await system.executor.execute("analyst", task);
        loaded.push(skills.map(({ name }) => name).join());
      }
      return { tokens: server.requests.map(({ text }) => estimateTokens(text)), loaded };
    };
    const preloaded = await measure({ tools: [], skills: names }, false);
    const listed = await measure({ tools: ["skill"], skills: [] }, false);
    const triggered = await measure({ tools: ["skill"], skills: [] }, true);
    const sum = (tokens: number[]) => tokens.reduce((total, own) => total + own, 0);
    expect(triggered.loaded).toEqual(TASKS.map(([, skill]) => skill ?? ""));
    // One line of the system prompt says that skills are loaded.
    const more = triggered.tokens.slice(4).map((tokens, at) => tokens - listed.tokens[at + 4]!);
    expect(Math.min(...more)).toBeGreaterThan(0);
    expect(Math.max(...more)).toBeLessThan(30);
    for (const at of [0, 1, 2, 3]) expect(triggered.tokens[at]).toBeGreaterThan(listed.tokens[at]!);
    expect(sum(listed.tokens)).toBeLessThan(sum(preloaded.tokens) / 3);
    expect(sum(triggered.tokens)).toBeLessThan(sum(preloaded.tokens) / 2);
  });
});
