/** The plugin with payloads of the real client (recorded by test/clients/opencode/record-fixtures.ts) and an engine that records its events. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { callKey } from "../../engine/call-key.ts";
import type { ClientEvent, EventAnswer, EventBase } from "../../engine/events/client-event.ts";
import type { SkillCard } from "../../skills/types.ts";
import type { PluginInput, TextPart } from "./client-api.ts";
import { type HookEngine, haversackPlugin } from "./plugin.ts";

const FOLDER = join(import.meta.dirname, "../../../../../test/fixtures/opencode");

interface Recorded {
  // biome-ignore lint/suspicious/noExplicitAny: recorded payloads have the client's own types.
  input: any;
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  output: any;
}

const recorded = (name: string): Recorded => JSON.parse(readFileSync(join(FOLDER, `${name}.json`), "utf8"));

type Of<Kind extends ClientEvent["kind"]> = Extract<ClientEvent, { kind: Kind }>;

interface Answers {
  prompt?: EventAnswer;
  session?: (event: ClientEvent) => EventAnswer;
  isAwaited?: (event: EventBase, key: string) => boolean;
  /** Times of messages, by session. */
  messages?: Record<string, number[]>;
  notice?: string;
}

function scene(answers: Answers = {}) {
  const heard = {
    prompts: [] as Of<"prompt">[],
    tools: [] as Of<"after-tool">[],
    sessions: [] as ClientEvent[],
  };
  const lines: string[] = [];
  const engine: HookEngine = {
    answer: (event) => {
      if (event.kind === "prompt") {
        heard.prompts.push(event);
        return answers.prompt ?? {};
      }
      if (event.kind === "after-tool") {
        heard.tools.push(event);
        return {};
      }
      heard.sessions.push(event);
      return answers.session?.(event) ?? {};
    },
    isCallAwaited: (event, { key }) => answers.isAwaited?.(event, key) ?? false,
    holders: () => Object.keys(answers.messages ?? {}).filter((id) => id !== "ses_0002"),
    notice: () => answers.notice,
    log: (_, line) => void lines.push(line),
  };
  const get = vi.fn(async () => ({ data: {} }));
  const prompt = vi.fn(async () => ({}));
  const messages = async ({ path: { id } }: { path: { id: string } }) => ({
    data: (answers.messages?.[id] ?? []).map((created) => ({ info: { time: { created } } })),
  });
  const showToast = vi.fn(async (_request: unknown) => ({}));
  const client = { session: { get, prompt, messages }, tui: { showToast } };
  const input: PluginInput = { directory: "/repo", worktree: "/repo", client };
  const plugin = haversackPlugin(input, { engine, addTo: () => undefined });
  /** Plays a recorded hook and returns its changed output. */
  const play = async (name: string) => {
    const { input: given, output } = recorded(name);
    const hook = (recorded(name) as unknown as { hook: string }).hook;
    const key =
      {
        "session.compacting": "experimental.session.compacting",
        "compaction.autocontinue": "experimental.compaction.autocontinue",
      }[hook] ?? hook;
    await (plugin as Record<string, ((a: unknown, b: unknown) => Promise<void>) | undefined>)[key]?.(given, output);
    return output;
  };
  return { plugin, play, heard, lines, get, prompt, showToast };
}

const texts = (parts: TextPart[]) => [...parts].sort((a, b) => (a.id < b.id ? -1 : 1)).map(({ text }) => text);

it("names our own tool for a skill that the client's settings deny, and the client's for others", async () => {
  const { plugin, play, heard } = scene();
  await plugin.config?.({ permission: { skill: { "kn*": "deny" } } });
  await play("event.session-created");
  await play("chat-message");
  const ownTool = heard.prompts[0]?.client.ownTool;
  const card = (name: string) =>
    ({ name, id: name, sourceKind: "project", sourceLabel: ".agents/skills", folder: `/r/${name}` }) as SkillCard;
  expect(["knots", "sails"].map((name) => ownTool?.sees(card(name)))).toEqual([false, true]);
});

it("tells the person once, and not the model, that the store is not used", async () => {
  const { play, showToast } = scene({ notice: "Haversack does not use it." });
  await play("event.session-created");
  const { parts } = await play("chat-message");
  await play("chat-message");
  expect(texts(parts)).toEqual(['"Use the tools."']);
  expect(showToast.mock.calls).toEqual([
    [{ body: { title: "Haversack", message: "Haversack does not use it.", variant: "warning" } }],
  ]);
  const own = scene();
  await own.play("chat-message");
  expect(own.showToast).not.toHaveBeenCalled();
});

describe("a prompt", () => {
  it("gets the engine's text as a part behind it", async () => {
    const { play, heard } = scene({ prompt: { context: "TEXT" } });
    await play("event.session-created");
    const { parts } = await play("chat-message");
    expect(texts(parts)).toEqual(['"Use the tools."', "TEXT"]);
    expect(parts.at(-1)).toMatchObject({
      synthetic: true,
      sessionID: parts[0].sessionID,
      messageID: parts[0].messageID,
    });
    expect(heard.prompts).toMatchObject([
      { sessionId: "ses_0002", agentId: "", cwd: "/repo", promptId: expect.stringMatching(/^msg_/) },
    ]);
  });

  it("brings a new session's packet first, and a resumed one's", async () => {
    const session = (event: ClientEvent): EventAnswer =>
      event.kind === "session-start" ? { context: event.source } : {};
    const fresh = scene({ session, prompt: { context: "TEXT" } });
    await fresh.play("event.session-created");
    expect(texts((await fresh.play("chat-message")).parts)).toEqual(['"Use the tools."', "startup\n\nTEXT"]);
    expect(texts((await fresh.play("chat-message")).parts)).toEqual(['"Use the tools."', "TEXT"]);
    const again = scene({ session });
    expect(texts((await again.play("chat-message")).parts)).toEqual(['"Use the tools."', "resume"]);
    expect(again.get).toHaveBeenCalledTimes(1);
  });

  it("of a sub-agent belongs to the topmost session, and has its task's packet; the coordinator's call has not", async () => {
    const session = (event: ClientEvent): EventAnswer =>
      event.kind === "before-spawn" ? { prompt: `${event.prompt}\n\nPACKET` } : {};
    const { play, heard } = scene({ session });
    await play("event.session-created");
    await play("chat-message");
    const call = await play("tool-execute-before.task");
    expect(call.args.prompt).toBe("Look around.");
    await play("event.session-created.sub-agent");
    expect(texts((await play("chat-message.sub-agent")).parts)).toEqual(["Look around.", "PACKET"]);
    const [, inside] = heard.prompts;
    expect(inside).toMatchObject({ sessionId: "ses_0002", agentId: expect.stringMatching(/^ses_/) });
    expect(inside?.agentId).not.toBe("ses_0002");
    expect(heard.sessions.map(({ kind }) => kind)).toEqual(["session-start", "before-spawn", "agent-start"]);
    // The sub-agent's window is assigned when it starts, not with its first tool call.
    const [, spawn, start] = heard.sessions;
    expect(start).toMatchObject({ kind: "agent-start", startedBy: expect.any(Function) });
    const callId = spawn?.kind === "before-spawn" ? spawn.toolUseId : "none";
    expect(start?.kind === "agent-start" && start.startedBy?.()).toBe(callId);
  });

  it("that nobody typed is none", async () => {
    const { plugin, heard } = scene({ prompt: { context: "TEXT" } });
    const parts: TextPart[] = [{ id: "p", sessionID: "s", messageID: "m", type: "text", text: "x", synthetic: true }];
    await plugin["chat.message"]?.({ sessionID: "s" }, { message: { id: "m" }, parts });
    expect(heard.prompts).toEqual([]);
    expect(parts).toHaveLength(1);
  });
});

describe("a tool", () => {
  it.each([
    ["tool-execute-after.write", { tool: "write", path: "/repo/new.txt" }],
    ["tool-execute-after.edit", { tool: "edit", path: "/repo/new.txt" }],
    ["tool-execute-after.read", { tool: "read", path: "/repo/a.txt" }],
    ["tool-execute-after.bash", { tool: "shell", exitCode: 0, isError: false, output: "one\ntwo\n" }],
    ["tool-execute-after.bash.exit-1", { tool: "shell", exitCode: 1, isError: true }],
    ["tool-execute-after.bash.git-commit", { output: expect.stringContaining("[main abc1234]") }],
    ["tool-execute-after.todowrite", { tool: "todo", todos: [{ status: "in_progress" }, { status: "pending" }] }],
  ])("%s", async (name, wanted) => {
    const { play, heard } = scene();
    await play(name);
    expect(heard.tools).toMatchObject([{ tool: wanted }]);
  });

  it("that loads a skill is noted, and an MCP tool of others is not", async () => {
    const { play, heard } = scene();
    await play("tool-execute-after.skill");
    await play("tool-execute-after.echo-recall");
    expect(heard.tools).toMatchObject([{ skill: "knots" }]);
  });

  it("is refused with the engine's words, and warned behind its result", async () => {
    const denying = scene({ session: () => ({ deny: "NOT-THAT-FILE" }) });
    await expect(denying.play("tool-execute-before.write")).rejects.toThrow("NOT-THAT-FILE");
    const warning = scene({ session: () => ({ context: "CAREFUL" }) });
    await warning.play("tool-execute-before.write");
    expect((await warning.play("tool-execute-after.write")).output).toMatch(/\n\nCAREFUL$/);
  });

  it("of a sub-agent tells what it showed of a file and which call started it; at the end its answer is judged", async () => {
    const { plugin, play, heard } = scene();
    await play("event.session-created");
    await play("tool-execute-before.task");
    await play("event.session-created.sub-agent");
    const { input } = recorded("chat-message.sub-agent");
    await play("chat-message.sub-agent");
    const read = recorded("tool-execute-after.read");
    await plugin["tool.execute.after"]?.({ ...read.input, sessionID: input.sessionID }, read.output);
    const { callID } = recorded("tool-execute-before.task").input;
    const [call] = heard.tools;
    expect(call?.agentType).toBe("general");
    expect(call?.startedBy?.()).toBe(callID);
    expect(call?.observation?.()).toMatchObject({
      ...{ tool: "read", path: "/repo/a.txt" },
      ...{ offset: 1, shownLines: 2, totalLines: 2 },
    });
    await play("tool-execute-after.task");
    const end = heard.sessions.at(-1) as Of<"agent-stop">;
    expect(end).toMatchObject({ kind: "agent-stop", agentId: input.sessionID, answer: "The agent's report." });
    expect(end.startedBy?.()).toBe(callID);
    // The main session's own calls are not observed.
    await play("tool-execute-after.read");
    expect(heard.tools[1]).not.toHaveProperty("observation");
  });

  it("that ran a sub-agent ends it, and its answer may be replaced", async () => {
    const { play, heard } = scene({ session: (event) => (event.kind === "after-spawn" ? { result: "SHORT" } : {}) });
    expect((await play("tool-execute-after.task")).output).toBe("SHORT");
    expect(heard.sessions).toMatchObject([
      { kind: "after-spawn", isDone: true, childId: expect.stringMatching(/^ses_/) },
      { kind: "agent-stop", agentId: expect.stringMatching(/^ses_/) },
    ]);
  });
});

describe("a call of our own server", () => {
  const call = (sessionID: string, callID: string) =>
    [{ tool: "haversack_claim_task", sessionID, callID }, { args: {} }] as const;
  const key = callKey("claim_task", {});

  it("is noted by tool and arguments, with its session", async () => {
    const { plugin, heard } = scene();
    await plugin["tool.execute.before"]?.(...call("ses_a", "c1"));
    expect(heard.sessions).toMatchObject([
      { kind: "before-tool", isOwnTool: true, sessionId: "ses_a", toolUseId: `${key.key}@c1` },
    ]);
  });

  it("waits while another session makes the same call, and not for ever", async () => {
    let asked = 0;
    const { plugin, heard } = scene({ isAwaited: (event) => event.sessionId === "ses_b" && ++asked < 4 });
    const second = plugin["tool.execute.before"]?.(...call("ses_b", "c2"));
    await plugin["tool.execute.before"]?.(...call("ses_a", "c1"));
    expect(heard.sessions.map(({ sessionId }) => sessionId)).toEqual(["ses_a"]);
    await second;
    expect(heard.sessions.map(({ sessionId }) => sessionId)).toEqual(["ses_a", "ses_b"]);
    const stuck = scene({ isAwaited: () => true });
    await stuck.plugin["tool.execute.before"]?.(...call("ses_a", "c1"));
    expect(stuck.heard.sessions).toHaveLength(1);
  });
});

it("tells the shells of a session whose they are, and those of a person nothing", async () => {
  const { plugin, play } = scene();
  await play("event.session-created");
  await play("event.session-created.sub-agent");
  const { sessionID: child } = recorded("chat-message.sub-agent").input;
  const envOf = async (sessionID?: string) => {
    const output = { env: {} as Record<string, string> };
    await plugin["shell.env"]?.({ cwd: "/repo", ...(sessionID && { sessionID }) }, output);
    return output.env["HAVERSACK_SESSION"];
  };
  expect(await envOf("ses_0002")).toBe("opencode/ses_0002");
  expect(await envOf(child)).toBe(`opencode/ses_0002/${child}`);
  expect(await envOf()).toBeUndefined();
});

describe("a fork", () => {
  const created = (title: string) => ({
    event: { type: "session.created", properties: { sessionID: "ses_0002", info: { title } } },
  });
  const startOf = async (title: string, messages: Record<string, number[]>) => {
    const { plugin, play, heard } = scene({ messages });
    await plugin.event?.(created(title));
    await play("chat-message");
    const [start] = heard.sessions;
    return start?.kind === "session-start" ? [start.source, start.forkedFrom?.([])] : undefined;
  };

  it("is known by its title, and its origin by the times of the messages that both have", async () => {
    const messages = { ses_0002: [1, 2, 3, 9], other: [5, 6], near: [1, 4], origin: [1, 2, 3, 7] };
    expect(await startOf("Limits (fork #1)", messages)).toEqual(["fork", "origin"]);
    expect(await startOf("Limits (fork #2)", { ses_0002: [1], other: [5] })).toEqual(["fork", undefined]);
    expect(await startOf("Limits", messages)).toEqual(["startup", undefined]);
  });
});

describe("a compaction", () => {
  const session = (event: ClientEvent): EventAnswer =>
    event.kind === "session-start" && event.source === "compact" ? { context: "PACKET" } : {};

  it("that the client goes on from by itself gets the packet as a message before that", async () => {
    const { play, prompt } = scene({ session });
    await play("chat-message");
    await play("compaction-autocontinue");
    await play("event.session-compacted");
    expect(prompt).toHaveBeenCalledExactlyOnceWith({
      path: { id: "ses_0002" },
      body: {
        noReply: true,
        agent: "build",
        model: { providerID: "scripted", modelID: "model" },
        parts: [{ type: "text", text: "PACKET", synthetic: true }],
      },
    });
    expect(texts((await play("chat-message")).parts)).toEqual(['"Use the tools."']);
  });

  it("by hand gets it with the next prompt", async () => {
    const { play, prompt } = scene({ session });
    await play("chat-message");
    await play("event.session-compacted");
    expect(texts((await play("chat-message")).parts)).toEqual(['"Use the tools."', "PACKET"]);
    expect(prompt).not.toHaveBeenCalled();
  });
});

it("never fails the client: faults of the engine are logged, and too many pause it", async () => {
  const { play, lines, heard } = scene({
    session: () => {
      throw new Error("store is broken");
    },
  });
  for (let n = 0; n < 20; n++) await play("tool-execute-before.write");
  expect(lines[0]).toContain("store is broken");
  expect(lines.at(-1)).toContain("pauses for 1 min");
  expect(heard.sessions.length).toBe(10);
  expect((await play("chat-message")).parts).toHaveLength(1);
});

it("goes on when the client does not answer", async () => {
  vi.useFakeTimers();
  try {
    const { play, get, heard } = scene();
    get.mockImplementation(() => new Promise(() => undefined));
    const playing = play("chat-message");
    await vi.advanceTimersByTimeAsync(1_000);
    await playing;
    expect(heard.prompts).toMatchObject([{ sessionId: "ses_0002", agentId: "" }]);
  } finally {
    vi.useRealTimers();
  }
});
