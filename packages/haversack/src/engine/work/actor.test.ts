import { describe, expect, it } from "vitest";
import { actorForCall, actorForCli, givenName } from "./actor.ts";

const at = new Date("2031-05-06T07:00:00.000Z");
const SESSION = "1f2e3d4c-aaaa-bbbb-cccc-121212121212";

describe("actorForCli", () => {
  it("is the person at the terminal, unless an agent is named or its shell shows it", () => {
    expect(actorForCli({ USER: "zoe" }, { at })).toEqual({ name: "zoe", isPerson: true, at });
    expect(actorForCli({}, { at })).toEqual({ name: "person", isPerson: true, at });
    expect(actorForCli({ USER: "zoe" }, { agent: "worker 1", at })).toEqual({
      name: "worker-1",
      isNamed: true,
      at,
    });
    expect(actorForCli({ HAVERSACK_AGENT: "w2" }, { at })).toEqual({ name: "w2", isNamed: true, at });
    expect(actorForCli({ HAVERSACK_AGENT: "w2" }, { agent: "w3", at })).toMatchObject({ name: "w3" });
    expect(actorForCli({ USER: "zoe", CLAUDECODE: "1" }, { at })).toEqual({ name: "claude-code", at });
    expect(actorForCli({ USER: "zoe", CODEX_SANDBOX: "seatbelt" }, { at })).toEqual({ name: "codex", at });
    expect(actorForCli({ USER: "zoe", GEMINI_CLI: "1" }, { at })).toEqual({ name: "gemini", at });
    const session = { client: "claude-code", sessionId: SESSION };
    expect(actorForCli({ USER: "zoe" }, { session, at })).toEqual({
      name: "claude-code-1f2e3d4c",
      sessionId: SESSION,
      at,
    });
    expect(actorForCli({}, { session, agent: "w1", at })).toEqual({
      name: "w1",
      isNamed: true,
      sessionId: SESSION,
      at,
    });
  });

  it.each(["person", "User", "@human", "me", "the user", "PER-SON", "ｐｅｒｓｏｎ"])(
    "lets no agent be called %s",
    (agent) => {
      expect(() => actorForCli({ USER: "zoe" }, { agent, at })).toThrow("means the person");
      expect(() => actorForCli({ USER: "zoe", HAVERSACK_AGENT: agent }, { at })).toThrow(
        expect.objectContaining({
          message: expect.stringMatching(/^HAVERSACK_AGENT: .*means the person$/),
          hint: "unset HAVERSACK_AGENT to act as yourself",
        }),
      );
      const call = { env: { HAVERSACK_AGENT: agent }, processId: "1", at };
      expect(actorForCall({}, call)).toEqual({ name: "agent-1", at });
      expect(givenName({ HAVERSACK_AGENT: agent })).toBe("");
    },
  );

  it("is never the person below a client, even when the environment was emptied", () => {
    expect(actorForCli({ USER: "zoe" }, { clientAbove: () => "codex", at })).toEqual({ name: "codex", at });
    expect(actorForCli({ USER: "zoe" }, { clientAbove: () => undefined, at })).toMatchObject({ isPerson: true });
  });

  it("keeps sub-agents apart where the environment names the agent", () => {
    const session = { client: "opencode", sessionId: "ses_1", agentId: "ses_child" };
    const where = { sessionId: "ses_1", agentId: "ses_child", at };
    expect(actorForCli({ HAVERSACK_AGENT: "builder" }, { session, at })).toEqual({
      name: "builder.seschild",
      ...where,
    });
    expect(actorForCli({}, { session, at })).toEqual({ name: "opencode-ses1.seschild", ...where });
  });
});

describe("actorForCall", () => {
  const origin = { env: {}, processId: "4711", at };

  it("has the session and agent that a hook saw", () => {
    const caller = { sessionId: SESSION, agentId: "a1b2c3d4e5f6a7b8c" };
    expect(actorForCall({ sessionId: "another" }, { ...origin, client: "claude-code", caller })).toEqual({
      name: "claude-code-1f2e3d4c.a1b2c3d4",
      sessionId: SESSION,
      agentId: "a1b2c3d4e5f6a7b8c",
      at,
    });
    expect(actorForCall({}, { ...origin, caller: { sessionId: SESSION, agentId: "" } })).toEqual({
      name: "agent-1f2e3d4c",
      sessionId: SESSION,
      at,
    });
  });

  it("falls back to the session of the server, then to the server itself", () => {
    expect(actorForCall({ sessionId: SESSION }, origin)).toMatchObject({
      name: "claude-code-1f2e3d4c",
      sessionId: SESSION,
    });
    expect(actorForCall({ threadId: "thread_1" }, origin)).toMatchObject({
      name: "codex-thread1",
      sessionId: "thread_1",
    });
    expect(actorForCall({}, { ...origin, client: "gemini-cli-mcp-client" })).toEqual({ name: "gemini-4711", at });
    expect(actorForCall({ threadId: "thread_1" }, { ...origin, client: "codex-mcp-client" }).name).toBe(
      "codex-thread1",
    );
  });

  it("keeps sub-agents apart where the environment names the agent", () => {
    const env = { HAVERSACK_AGENT: "builder" };
    const call = (agentId: string) => actorForCall({}, { ...origin, env, caller: { sessionId: "s", agentId } }).name;
    expect([call(""), call("a1"), call("a2")]).toEqual(["builder", "builder.a1", "builder.a2"]);
  });
});
