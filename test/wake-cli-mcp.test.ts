/** Agents, messages and packets through the MCP server as a client runs it. */
import { describe, expect, it } from "vitest";
import { scratchProject } from "./bins.ts";
import { type ServerOptions, startServer } from "./mcp-client.ts";

const NAMES = ["send_message", "get_inbox", "wake", "list_agents"];

describe("the tools of agents", () => {
  it("are there with --tools all only", async () => {
    const { server } = await agentServer();
    const { tools } = await server.request("tools/list");
    const names = tools.map(({ name }: { name: string }) => name);
    expect(names).toEqual(expect.arrayContaining(NAMES));
    const plain = await startServer(scratchProject());
    const listed = (await plain.request("tools/list")).tools.map(({ name }: { name: string }) => name);
    for (const name of NAMES) expect(listed).not.toContain(name);
  });

  it("send to several and to those that the text names, and each reads its own once", async () => {
    const { project, server, ask } = await agentServer({ env: { HAVERSACK_AGENT: "june" } });
    expect(await ask("list_agents")).toMatchObject({
      agents: [{ name: "ann", role: "implementer" }, { name: "bob" }, { name: "june" }],
    });
    expect(await ask("list_agents", { limit: 2 })).toMatchObject({
      agents: [{ name: "ann" }, { name: "bob" }],
      left_out: 1,
      more: "offset: 2",
    });
    expect(await ask("list_agents", { offset: 2 })).toMatchObject({ agents: [{ name: "june" }] });
    const sent = await ask("send_message", { to: ["@ann"], text: "for you and @bob" });
    expect(sent).toEqual({ id: expect.stringMatching(/^M\d{4,12}$/), to: ["ann", "bob"] });
    expect(await ask("get_inbox", { agent: "ann" })).toMatchObject({
      messages: [{ id: sent.id, from: "june", text: "for you and @bob" }],
    });
    expect(await ask("get_inbox", { agent: "ann" })).toEqual({ messages: [] });
    expect((await ask("get_inbox", { agent: "ann", include_read: true })).messages).toHaveLength(1);

    expect(await ask("get_inbox")).toEqual({ messages: [] });
    project.haversack(["message", "send", "@june", "from outside"]);
    expect(await ask("get_inbox")).toMatchObject({ messages: [{ text: "from outside" }] });
    expect(await server.call("send_message", { to: ["anm"], text: "x" })).toEqual({
      text: 'there is no agent "anm"; did you mean @ann?',
      isError: true,
    });
    expect((await server.call("send_message", { to: [], text: "x @eve" })).text).toContain("to must name");
  });

  it("give a long inbox in parts", async () => {
    const { ask } = await agentServer();
    for (let count = 0; count < 3; count++) await ask("send_message", { to: ["ann"], text: "word ".repeat(3000) });
    const first = await ask("get_inbox", { agent: "ann" });
    expect(first).toMatchObject({ left_out: 1, more: "call it again" });
    expect((await ask("get_inbox", { agent: "ann" })).messages).toHaveLength(1);
  });

  it("wake an agent with its packet, within max_tokens, and say when there is nothing", async () => {
    const { project, server } = await agentServer({ env: { HAVERSACK_AGENT: "ann" } });
    expect(await server.call("wake", {})).toEqual({
      text: "nothing to resume: @ann holds no task and has no unread message",
      isError: true,
    });
    const { id } = project
      .haversack(["task", "create", "Log in", "--description", "word ".repeat(2000), "--json"])
      .json();
    project.haversack(["claim", id, "--agent", "ann"]);
    const { text, isError } = await server.call("wake", {});
    expect(isError).toBe(false);
    expect(text).toContain(`${id} "Log in" is in progress`);
    const small = await server.call("wake", { agent: "@ann", task_id: id, max_tokens: 100 });
    expect(small.text.length).toBeLessThan(600);
    expect(small.text).toContain("You are @ann");
    expect((await server.call("wake", { agent: "eve" })).isError).toBe(true);
    expect((await server.call("wake", { task_id: "T000000000001" })).text).toContain("there is no task");
  });

  it("make no folder where there is none", async () => {
    const project = scratchProject();
    const server = await startServer(project, { args: ["--tools", "all"] });
    expect(JSON.parse((await server.call("list_agents", {})).text)).toEqual({ agents: [] });
    expect((await server.call("get_inbox", { agent: "ann" })).isError).toBe(true);
    expect((await server.call("wake", { agent: "ann" })).isError).toBe(true);
    expect(project.haversack(["agent", "list"]).out).toContain("No agents yet");
  });
});

async function agentServer(options: ServerOptions = {}) {
  const project = scratchProject();
  for (const name of ["ann", "bob", "june"]) project.haversack(["agent", "add", name, "--role", "implementer"]);
  const server = await startServer(project, { args: ["--tools", "all"], ...options });
  const ask = async (name: string, input: object = {}) => {
    const { text, isError } = await server.call(name, input);
    if (isError) throw new Error(`${name}: ${text}`);
    return JSON.parse(text);
  };
  return { project, server, ask };
}
