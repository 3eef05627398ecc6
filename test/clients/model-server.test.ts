/** What the model server does for every wire format. */
import { once } from "node:events";
import { connect } from "node:net";
import { zstdCompressSync } from "node:zlib";
import { describe, expect, it, onTestFinished } from "vitest";
import { GEMINI_API } from "./gemini-api.ts";
import { MESSAGES_API } from "./messages-api.ts";
import type { ModelRequest } from "./model-request.ts";
import { type ApiFormat, type ModelServer, startModelServer } from "./model-server.ts";
import { OPENCODE_API } from "./opencode-api.ts";
import { RESPONSES_API } from "./responses-api.ts";
import { DONE, type Script } from "./script.ts";

const message = { messages: [{ role: "user", content: "Hi." }], tools: [{ name: "t" }] };
const FORMATS: { name: string; start: (script?: Script) => Promise<ModelServer>; path: string; body: object }[] = [
  { name: "Messages", start: starter(MESSAGES_API), path: "/v1/messages", body: message },
  { name: "opencode", start: starter(OPENCODE_API), path: "/v1/messages", body: message },
  {
    name: "Responses",
    start: starter(RESPONSES_API),
    path: "/v1/responses",
    body: { input: [{ type: "message", role: "user", content: [{ text: "Hi." }] }], tools: [{ name: "t" }] },
  },
  {
    name: "Gemini",
    start: starter(GEMINI_API),
    path: "/v1beta/models/m:generateContent",
    body: {
      contents: [{ role: "user", parts: [{ text: "Hi." }] }],
      tools: [{ functionDeclarations: [{ name: "t" }] }],
    },
  },
];

describe.each(FORMATS)("$name", ({ start, path, body }) => {
  it("reads a request, packed or not, and answers it", async () => {
    const server = await start();
    const plain = JSON.stringify(body);
    const headers = { "content-encoding": "zstd" };
    const answers = [
      await fetch(`${server.url}${path}`, { method: "POST", body: plain }),
      await fetch(`${server.url}${path}`, { method: "POST", body: zstdCompressSync(plain), headers }),
    ];
    for (const answer of answers)
      expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining(DONE)]);
    const read = { kind: "main", lastUserText: "Hi.", tools: [{ name: "t" }], body };
    expect(server.requests).toMatchObject([read, read]);
    expect(server.of("main")).toHaveLength(2);
    expect([server.otherCalls, server.faults]).toEqual([[], []]);
  });

  it("answers with the script's error", async () => {
    const server = await start([{ reply: { error: { status: 429, type: "rate_limit_error", message: "SLOWER" } } }]);
    const answer = await fetch(`${server.url}${path}`, { method: "POST", body: JSON.stringify(body) });
    expect([answer.status, await answer.text()]).toEqual([429, expect.stringContaining("SLOWER")]);
  });

  it("outlives a client that resets the connection to a host that it was refused", async () => {
    const server = await start();
    const { hostname, port } = new URL(server.url);
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    socket.write("CONNECT elsewhere.invalid:443 HTTP/1.1\r\nHost: elsewhere.invalid:443\r\n\r\n");
    const [refusal] = (await once(socket, "data")) as [Buffer];
    expect(refusal.toString()).toMatch(/^HTTP\/1\.1 403 /);
    socket.resetAndDestroy();
    const answer = await fetch(`${server.url}${path}`, { method: "POST", body: JSON.stringify(body) });
    expect(answer.status).toBe(200);
    expect(server.strayHosts).toEqual(["elsewhere.invalid:443"]);
  });
});

function starter<Recorded extends ModelRequest>(api: ApiFormat<Recorded>) {
  return async (script?: Script): Promise<ModelServer> => {
    const server = await startModelServer(api, script);
    onTestFinished(() => server.close());
    return server;
  };
}
