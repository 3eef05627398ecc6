/** The model server in the form of the Responses API, asked by hand. */
import { expect, it, onTestFinished } from "vitest";
import { namespaceCall, textCall } from "./responses-api.ts";
import { type ResponsesServer, startResponsesServer } from "./responses-server.ts";
import { type Script, steps, toolCall } from "./script.ts";

async function serve(script: Script): Promise<ResponsesServer> {
  const server = await startResponsesServer(script);
  onTestFinished(() => server.close().catch(() => undefined));
  return server;
}

const message = (role: string, text: string) => ({ type: "message", role, content: [{ type: "input_text", text }] });

async function ask({ url }: ResponsesServer, input: unknown[], metadata: Record<string, unknown> = {}) {
  const { turn, ...own } = { session_id: "s", thread_id: "s", ...metadata } as Record<string, unknown>;
  const client_metadata = { ...own, "x-codex-turn-metadata": JSON.stringify(turn ?? { request_kind: "turn" }) };
  const body = JSON.stringify({ model: "m", stream: true, input, tools: [{ name: "t" }], client_metadata });
  const response = await fetch(`${url}/v1/responses`, { method: "POST", body });
  const text = await response.text();
  return { status: response.status, items: [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!)) };
}

it("streams texts and calls of every form, with the tokens that the script names", async () => {
  const tools = [toolCall("a", { x: 1 }), namespaceCall("mcp__s", "b", {}), textCall("c", "code")];
  const server = await serve(steps([{ text: "Hello.", tools, usage: { inputTokens: 7, outputTokens: 2 } }]));
  const { items } = await ask(server, [message("user", "Hi.")]);
  const done = items.filter(({ type }) => type === "response.output_item.done").map(({ item }) => item);
  expect(done).toMatchObject([
    { type: "message", role: "assistant" },
    { type: "function_call", name: "a", arguments: '{"x":1}', call_id: "call_0_0" },
    { type: "function_call", name: "b", namespace: "mcp__s" },
    { type: "custom_tool_call", name: "c", input: "code" },
  ]);
  expect(items.at(-1)).toMatchObject({ type: "response.completed", response: { usage: { total_tokens: 9 } } });
});

it("tells turns, sub-agents and compactions apart, and finds prompt and results", async () => {
  const server = await serve([]);
  const input = [
    message("developer", "CTX"),
    message("user", "Do it."),
    message("user", "<environment_context>\n</environment_context>"),
    { type: "function_call", call_id: "c1", name: "a", arguments: "{}" },
    message("developer", "CTX-TOOL"),
    { type: "function_call_output", call_id: "c1", output: "RESULT" },
  ];
  await ask(server, input);
  await ask(server, input, { thread_id: "a" });
  await ask(server, input, { turn: { request_kind: "compaction" } });
  expect(server.requests.map(({ kind }) => kind)).toEqual(["main", "sub-agent", "compaction"]);
  expect(server.requests[0]).toMatchObject({
    lastUserText: "Do it.",
    toolResults: [{ toolUseId: "c1", text: "RESULT" }],
  });
});

it("answers with errors of the script, and tells of a broken script when it closes", async () => {
  const server = await startResponsesServer(() => {
    throw new Error("broken script");
  });
  expect((await ask(server, [message("user", "Hi.")])).status).toBe(400);
  await expect(server.close()).rejects.toThrow(/1 faults/);
});

it("lists what else it is asked", async () => {
  const server = await serve([]);
  expect((await fetch(`${server.url}/v1/models`)).status).toBe(404);
  expect(server.otherCalls).toEqual(["GET /v1/models"]);
});
