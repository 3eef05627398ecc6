/**
 * A model server on 127.0.0.1 in the form of the OpenAI Responses API, as far as Codex needs it; the sibling of
 * `scripted-server.ts`, with the same scripts. It is the client's HTTP proxy too: other hosts are refused and listed.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { zstdDecompressSync } from "node:zlib";
import { writeJson, writeResponse } from "./responses-api.ts";
import { parseResponsesRequest, type ResponsesRequest } from "./responses-request.ts";
import { answerOf, defaultReply, type Reply, type Script } from "./script.ts";
import type { ScriptedServer } from "./scripted-server.ts";

export interface ResponsesServer extends ScriptedServer {
  requests: ResponsesRequest[];
  of(kind: ResponsesRequest["kind"]): ResponsesRequest[];
}

const MAX_REQUESTS = 300;
const MAX_BODY_BYTES = 32_000_000;

export async function startResponsesServer(script: Script = []): Promise<ResponsesServer> {
  let answer = answerOf(script);
  const requests: ResponsesRequest[] = [];
  const otherCalls: string[] = [];
  const strayHosts: string[] = [];
  const faults: unknown[] = [];
  const counts = new Map<string, number>();

  const replyTo = (request: ResponsesRequest): Reply => {
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
    if (call.method === "POST" && path === "/v1/responses") {
      const request = parseResponsesRequest(requests.length, call.headers, bytes);
      requests.push(request);
      const reply = replyTo(request);
      if (reply.delayMs) await new Promise((resolve) => setTimeout(resolve, reply.delayMs));
      return writeResponse(response, request.index, reply);
    }
    // A proxy is asked for whole addresses.
    if (!path.startsWith("/")) strayHosts.push(path);
    else otherCalls.push(`${call.method} ${path}`);
    writeJson(response, 404, {});
  };

  const server = createServer((call, response) => {
    respond(call, response).catch((cause: unknown) => {
      faults.push(cause);
      writeJson(response, 400, { error: { message: String(cause) } });
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
  const bytes = Buffer.concat(chunks);
  return (call.headers["content-encoding"] === "zstd" ? zstdDecompressSync(bytes) : bytes).toString("utf8");
}

function invalid(message: string): Reply {
  return { error: { status: 400, type: "invalid_request_error", message } };
}
