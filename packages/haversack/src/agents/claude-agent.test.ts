import { describe, expect, it } from "vitest";
import { claudeAgentOptions } from "./claude-agent.ts";
import type { AgentEventDetails } from "./events.ts";
import { tenderFolder } from "./fixtures.suite.ts";
import { SkillRegistry } from "./skill-registry.ts";

const TASK = "Analyze Danish tender document";
const signal = new AbortController().signal;
type Hook = (input: unknown, toolUseId: string, options: { signal: AbortSignal }) => Promise<unknown>;

function session(options = {}) {
  const skills = new SkillRegistry(`${tenderFolder()}/skills`);
  const setup = claudeAgentOptions(skills, options);
  const prompt = async (text: unknown, id = "s") => {
    const input = { hook_event_name: "UserPromptSubmit", session_id: id, prompt: text };
    const answer = await setup.hooks.UserPromptSubmit[0]!.hooks[0](input, undefined, { signal });
    return answer.hookSpecificOutput?.additionalContext as string | undefined;
  };
  const start = (source: string, agentId?: string) => {
    const input = { hook_event_name: "SessionStart", session_id: "s", source, ...(agentId && { agent_id: agentId }) };
    return setup.hooks.SessionStart[0]!.hooks[0](input, undefined, { signal });
  };
  return { setup, skills, prompt, start };
}

/** The other end of the server's transport. */
async function connect({ mcpServers }: ReturnType<typeof claudeAgentOptions>) {
  const answers = new Map<number, (answer: { result?: never; error?: { message: string } }) => void>();
  let isClosed = false;
  const transport = {
    start: async () => undefined,
    send: async (message: { id: number }) => answers.get(message.id)?.(message as never),
    close: async () => {
      isClosed = true;
    },
    onmessage: undefined as ((message: unknown) => void) | undefined,
  };
  const { instance } = mcpServers.haversack;
  await instance.connect(transport);
  let id = 0;
  const call = (method: string, params?: unknown) =>
    new Promise<{ result?: never; error?: { message: string } }>((done) => {
      answers.set(++id, done);
      transport.onmessage?.({ jsonrpc: "2.0", id, method, params });
    });
  return {
    call,
    notify: (method: string) => transport.onmessage?.({ jsonrpc: "2.0", method }),
    instance,
    isClosed: () => isClosed,
  };
}

describe("claudeAgentOptions", () => {
  it("adds the skill that a prompt needs, once", async () => {
    const events: AgentEventDetails[] = [];
    const { prompt } = session({ onEvent: (event: AgentEventDetails) => events.push(event) });
    expect(await prompt(TASK)).toMatch(/^## AUTO-LOADED SKILL: danish-tender-guidelines\n/);
    expect(await prompt(TASK)).toBeUndefined();
    expect(await prompt("Hello")).toBeUndefined();
    expect(await prompt(undefined)).toBeUndefined();
    expect(await prompt("<task-notification>\nEstimate complexity in story points.")).toBeUndefined();
    expect(events).toMatchObject([{ type: "skill-loaded", skill: "danish-tender-guidelines", by: "auto" }]);
  });

  it("adds it again after a compaction, because the model has forgotten it", async () => {
    const { prompt, start } = session();
    await prompt(TASK);
    await start("resume");
    expect(await prompt(TASK)).toBeUndefined();
    await start("compact");
    expect(await prompt(TASK)).toContain("AUTO-LOADED");
    await start("clear");
    expect(await prompt(TASK)).toContain("AUTO-LOADED");
  });

  it("respects its settings, and names what does not fit", async () => {
    expect(await session({ autoTrigger: false }).prompt(TASK)).toBeUndefined();
    expect(await session({ maxSkills: 0 }).prompt(TASK)).toBeUndefined();
    expect(await session({ maxChars: 100 }).prompt(TASK)).toMatch(
      /^The skill 'danish-tender-guidelines' fits this prompt/,
    );
  });

  it("checks its options", () => {
    for (const options of [{ maxSkills: Number.NaN }, { maxChar: 3 }])
      expect(() => session(options)).toThrow(
        expect.objectContaining({ code: "config-invalid", field: Object.keys(options)[0] }),
      );
  });

  it("gives the task of a sub-agent the skills that it needs, whatever the main conversation has", async () => {
    const { setup, prompt } = session();
    await prompt(TASK);
    const { matcher, hooks } = setup.hooks.PreToolUse[1]!;
    expect(matcher).toBe("Agent|Task");
    const delegate = (toolInput: unknown) =>
      hooks[0]({ session_id: "s", tool_name: "Agent", tool_input: toolInput }, "t", { signal });
    const { hookSpecificOutput } = await delegate({ prompt: TASK, subagent_type: "general-purpose" });
    expect(hookSpecificOutput).toMatchObject({
      hookEventName: "PreToolUse",
      updatedInput: {
        subagent_type: "general-purpose",
        prompt: expect.stringMatching(/^Analyze Danish tender document\n\n## AUTO-LOADED SKILL: danish-tender-g/),
      },
    });
    expect(await delegate({ prompt: "Say hello" })).toEqual({});
    expect(await delegate({})).toEqual({});
    expect(await delegate(undefined)).toEqual({});
  });

  it("loads skills although its listener fails", async () => {
    const onEvent = () => {
      throw new Error("no disk");
    };
    expect(await session({ onEvent }).prompt(TASK)).toContain("AUTO-LOADED");
  });

  it("never fails a prompt", async () => {
    const events: AgentEventDetails[] = [];
    const { prompt, skills } = session({ onEvent: (event: AgentEventDetails) => events.push(event) });
    skills.match = () => {
      throw new Error("no index");
    };
    expect(await prompt(TASK)).toBeUndefined();
    expect(events).toMatchObject([{ type: "warning", text: expect.stringContaining("no index") }]);
  });

  it("serves the skill tool over MCP in this process, with a catalogue that follows the registry", async () => {
    const { setup, skills, prompt, start } = session();
    expect(setup.allowedTools).toEqual(["mcp__haversack__skill"]);
    const { call, notify, instance, isClosed } = await connect(setup);
    expect(instance.isConnected()).toBe(true);
    expect((await call("initialize", { protocolVersion: "2025-11-25" })).result).toMatchObject({
      protocolVersion: "2025-11-25",
      serverInfo: { name: "haversack" },
    });
    notify("notifications/initialized");
    expect((await call("ping")).result).toEqual({});
    skills.add("late", "---\nname: late\ndescription: Came later\n---\nx");
    expect((await call("tools/list")).result).toMatchObject({
      tools: [
        {
          name: "skill",
          description: expect.stringContaining("late: Came later"),
          inputSchema: { type: "object" },
          _meta: { "anthropic/alwaysLoad": true },
        },
      ],
    });
    const [{ matcher, hooks }] = setup.hooks.PreToolUse as [{ matcher: string; hooks: Hook[] }];
    expect(matcher).toBe("mcp__haversack__skill");
    let calls = 0;
    const load = async (name: unknown, caller: object = {}) => {
      const id = `toolu_${++calls}`;
      await hooks[0]!({ session_id: "s", tool_use_id: id, ...caller }, id, { signal });
      return call("tools/call", { name: "skill", arguments: { name }, _meta: { "claudecode/toolUseId": id } });
    };
    expect((await load("complexity-calculator")).result).toMatchObject({
      isError: false,
      content: [{ text: expect.stringContaining("Points = ") }],
    });
    expect((await load("none")).result).toMatchObject({ isError: true });
    await prompt(TASK);
    expect((await load("danish-tender-guidelines")).result).toMatchObject({
      content: [{ text: expect.stringContaining("already in this conversation") }],
    });
    // A sub-agent has a window of its own.
    const callAs = async (caller: object = {}) => {
      const { result } = await load("danish-tender-guidelines", caller);
      return (result as unknown as { content: { text: string }[] }).content[0]?.text.split("\n")[0];
    };
    const already = expect.stringContaining("already in this conversation");
    expect(await callAs()).toEqual(already);
    expect(await callAs({ agent_id: "agent-1" })).toBe("# danish-tender-guidelines");
    expect(await callAs({ agent_id: "agent-1" })).toEqual(already);
    // It is compacted alone.
    await start("compact", "agent-1");
    expect(await callAs()).toEqual(already);
    expect(await callAs({ agent_id: "agent-1" })).toBe("# danish-tender-guidelines");
    // One setup serves several sessions.
    expect(await callAs({ session_id: "other" })).toBe("# danish-tender-guidelines");
    expect(await prompt(TASK, "third")).toContain("AUTO-LOADED");
    for (let at = 0; at < 1_100; at++) await callAs({ session_id: `many-${at}` });
    expect(await callAs({ agent_id: "agent-1" })).toBe("# danish-tender-guidelines");
    expect((await call("tools/call", { name: "other" })).error?.message).toContain("there is no tool 'other'");
    expect((await call("resources/list")).error?.message).toContain("not supported");
    await instance.close();
    expect([isClosed(), instance.isConnected()]).toEqual([true, false]);
  });
});
