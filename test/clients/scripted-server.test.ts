/** The scripted server without a client: what it answers, counts, records and refuses. */
import { request } from "node:http";
import { expect, it } from "vitest";
import { steps } from "./script.ts";
import { startScriptedServer } from "./scripted-server.ts";

const ask = (url: string, body: object) => fetch(`${url}/v1/messages`, { method: "POST", body: JSON.stringify(body) });
const main = { model: "m", tools: [{ name: "Read" }], messages: [{ role: "user", content: "hi" }] };

it("answers whole or streamed, in the order of its steps, then with a default", async () => {
  const usage = { inputTokens: 7, cacheReadTokens: 5 };
  const server = await startScriptedServer(
    steps([{ text: "one", usage }, { tools: [{ name: "Read", input: { a: 1 } }] }]),
  );
  const whole = await (await ask(server.url, main)).json();
  expect(whole).toMatchObject({ content: [{ type: "text", text: "one" }], stop_reason: "end_turn" });
  expect(whole).toMatchObject({ usage: { input_tokens: 7, cache_read_input_tokens: 5 } });
  const streamed = await (await ask(server.url, { ...main, stream: true })).text();
  expect(streamed.match(/^event: .*$/gm)?.map((line) => line.slice(7))).toEqual(
    "message_start content_block_start content_block_delta content_block_stop message_delta message_stop".split(" "),
  );
  expect(streamed).toContain('"partial_json":"{\\"a\\":1}"');
  expect(streamed).toContain('"stop_reason":"tool_use"');
  expect(await (await ask(server.url, main)).json()).toMatchObject({ content: [{ text: "DONE" }] });
  expect(server.requests.map(({ index, isStream }) => [index, isStream])).toEqual([
    [0, false],
    [1, true],
    [2, false],
  ]);
  await server.close();
});

it("turns a fault of the script into an error for the client and for whoever closes it", async () => {
  const server = await startScriptedServer(() => {
    throw new Error("BROKEN");
  });
  expect((await ask(server.url, main)).status).toBe(400);
  await expect(server.close()).rejects.toThrow("1 faults");
});

it("counts tokens, answers anything else harmlessly, and says what it was asked", async () => {
  const server = await startScriptedServer();
  const counted = await fetch(`${server.url}/v1/messages/count_tokens`, { method: "POST", body: "x".repeat(40) });
  expect(await counted.json()).toEqual({ input_tokens: 10 });
  expect((await fetch(`${server.url}/api/hello`)).status).toBe(200);
  expect(server.otherCalls).toEqual(["POST /v1/messages/count_tokens", "GET /api/hello"]);
  await server.close();
});

it("refuses, as a proxy, every other host and names it", async () => {
  const server = await startScriptedServer();
  const { port } = new URL(server.url);
  const status = await new Promise((resolve, reject) => {
    const call = request({ port, host: "127.0.0.1", method: "CONNECT", path: "elsewhere.invalid:443" });
    call.on("connect", (answer) => resolve(answer.statusCode)).on("error", reject);
    call.end();
  });
  expect(status).toBe(403);
  expect(server.strayHosts).toEqual(["elsewhere.invalid:443"]);
  const plain = await new Promise((resolve, reject) => {
    const call = request({ port, host: "127.0.0.1", path: "http://elsewhere.invalid/x" });
    call.on("response", (answer) => resolve(answer.resume().statusCode)).on("error", reject);
    call.end();
  });
  expect(plain).toBe(403);
  expect(server.strayHosts).toHaveLength(2);
  await server.close();
});
