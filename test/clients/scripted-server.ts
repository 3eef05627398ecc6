/**
 * A model server on 127.0.0.1 that answers from a script and records every request: the part of the Anthropic Messages
 * API that Claude Code needs (messages, streamed and whole, and token counts). Anything else it is asked gets an empty
 * JSON object and is listed in `otherCalls`.
 *
 * It is also the client's HTTP proxy: a client that wants to reach another host is refused and the host is listed in
 * `strayHosts`, so nothing leaves the machine and a test can assert that nothing tried to.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { writeError, writeReply } from "./messages-api.ts";
import { type ModelRequest, parseModelRequest, type RequestKind } from "./model-request.ts";
import { answerOf, defaultReply, type Reply, type Script } from "./script.ts";

export interface ScriptedServer {
  url: string;
  requests: ModelRequest[];
  /** The recorded requests of one kind, in order. */
  of(kind: RequestKind): ModelRequest[];
  otherCalls: string[];
  strayHosts: string[];
  /** What went wrong inside a script; `close` throws it, so that a broken script never passes for a client's fault. */
  faults: unknown[];
  /** Replaces the script; requests and their counts go on. */
  setScript(script: Script): void;
  close(): Promise<void>;
}

const MAX_REQUESTS = 300;
const MAX_BODY_BYTES = 32_000_000;

export async function startScriptedServer(script: Script = []): Promise<ScriptedServer> {
  let answer = answerOf(script);
  const requests: ModelRequest[] = [];
  const otherCalls: string[] = [];
  const strayHosts: string[] = [];
  const faults: unknown[] = [];
  const counts = new Map<string, number>();

  const replyTo = (request: ModelRequest): Reply => {
    // A client that loops is ended by an error that it does not repeat.
    if (request.index >= MAX_REQUESTS) return invalid(`the scripted server answers at most ${MAX_REQUESTS} requests`);
    const conversation = `${request.kind} ${request.sessionId} ${request.agentId}`;
    const n = (counts.get(conversation) ?? 0) + 1;
    counts.set(conversation, n);
    try {
      return answer(request, n) ?? defaultReply(request);
    } catch (cause) {
      faults.push(cause);
      return invalid(`the script failed: ${cause}`);
    }
  };

  const respond = async (call: IncomingMessage, response: ServerResponse) => {
    const path = call.url?.split("?")[0] ?? "";
    const bytes = await readBody(call);
    if (call.method === "POST" && path === "/v1/messages") {
      const request = parseModelRequest(requests.length, call.headers, bytes);
      requests.push(request);
      const reply = replyTo(request);
      if (reply.delayMs) await new Promise((resolve) => setTimeout(resolve, reply.delayMs));
      return writeReply(response, request, reply);
    }
    // A proxy is asked for whole addresses.
    if (!path.startsWith("/")) {
      strayHosts.push(path);
      return writeError(response, { status: 403, type: "permission_error", message: `no way to ${path}` });
    }
    otherCalls.push(`${call.method} ${path}`);
    const isCount = path === "/v1/messages/count_tokens";
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(isCount ? { input_tokens: Math.ceil(bytes.length / 4) } : {}));
  };

  const server = createServer((call, response) => {
    respond(call, response).catch((cause: unknown) => {
      faults.push(cause);
      writeError(response, { status: 400, type: "invalid_request_error", message: String(cause) });
    });
  });
  server.on("connect", (call, socket) => {
    strayHosts.push(call.url ?? "");
    socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    of: (kind) => requests.filter((request) => request.kind === kind),
    otherCalls,
    strayHosts,
    faults,
    setScript(next) {
      answer = answerOf(next);
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      if (faults.length > 0) throw new AggregateError(faults, `the scripted server met ${faults.length} faults`);
    },
  };
}

async function readBody(call: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of call as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw new Error(`a request body has more than ${MAX_BODY_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function invalid(message: string): Reply {
  return { error: { status: 400, type: "invalid_request_error", message } };
}
