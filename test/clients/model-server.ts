/**
 * A model server on 127.0.0.1 for any wire format: it answers from a script, records every request, and is the client's
 * HTTP proxy, which refuses every other host. What a format looks like is an `ApiFormat`
 * (messages-api.ts, responses-api.ts, gemini-api.ts, opencode-api.ts).
 */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { zstdDecompressSync } from "node:zlib";
import type { ModelRequest, RequestKind } from "./model-request.ts";
import { answerOf, type Reply, type Script } from "./script.ts";

export interface ModelServer<Recorded extends ModelRequest = ModelRequest> {
  url: string;
  requests: Recorded[];
  /** The recorded requests of one kind, in order. */
  of(kind: RequestKind): Recorded[];
  /** Calls other than requests to the model, as `METHOD /path`. */
  otherCalls: string[];
  /** Other hosts that the client wanted to reach. These requests never leave the machine, and a test can assert that there were none. */
  strayHosts: string[];
  /** Errors inside a script. `close` throws them, so that a broken script is not mistaken for a client's fault. */
  faults: unknown[];
  /** Replaces the script; requests and their counts go on. */
  setScript(script: Script): void;
  close(): Promise<void>;
}

export interface ApiCall {
  method: string;
  /** Without the query. */
  path: string;
  headers: IncomingHttpHeaders;
  /** The body, unpacked. */
  bytes: string;
}

export interface ApiFormat<Recorded extends ModelRequest = ModelRequest> {
  /** Undefined: no call of the model. */
  read(call: ApiCall, index: number): Recorded | undefined;
  /** Never called with a reply that is an error. */
  write(response: ServerResponse, request: Recorded, reply: Reply): void;
  writeError(response: ServerResponse, error: NonNullable<Reply["error"]>): void;
  /** The model's answer if the script has none. */
  defaultReply(request: Recorded): Reply;
  /** The body for any other call, such as a count of tokens. */
  other(call: ApiCall): unknown;
  /** The status of those answers. Default 200. */
  otherStatus?: number;
}

const MAX_REQUESTS = 300;
const MAX_BODY_BYTES = 32_000_000;

export async function startModelServer<Recorded extends ModelRequest>(
  api: ApiFormat<Recorded>,
  script: Script = [],
): Promise<ModelServer<Recorded>> {
  let answer = answerOf(script);
  const requests: Recorded[] = [];
  const otherCalls: string[] = [];
  const strayHosts: string[] = [];
  const faults: unknown[] = [];
  const counts = new Map<string, number>();

  const replyTo = (request: Recorded): Reply => {
    // A client that loops is ended by an error that it does not repeat.
    if (request.index >= MAX_REQUESTS) return invalid(`the scripted server answers at most ${MAX_REQUESTS} requests`);
    const conversation = `${request.kind} ${request.sessionId} ${request.agentId}`;
    const n = (counts.get(conversation) ?? 0) + 1;
    counts.set(conversation, n);
    try {
      return answer(request, n) ?? api.defaultReply(request);
    } catch (cause) {
      faults.push(cause);
      return invalid(`the script failed: ${cause}`);
    }
  };

  const respond = async (call: IncomingMessage, response: ServerResponse) => {
    const path = call.url?.split("?")[0] ?? "";
    const given: ApiCall = { method: call.method ?? "", path, headers: call.headers, bytes: await readBody(call) };
    // A proxy is asked for whole addresses.
    if (!path.startsWith("/")) {
      strayHosts.push(path);
      return api.writeError(response, { status: 403, type: "permission_error", message: `no way to ${path}` });
    }
    const request = api.read(given, requests.length);
    if (request) {
      requests.push(request);
      const reply = replyTo(request);
      await reply.after;
      if (reply.delayMs) await new Promise((resolve) => setTimeout(resolve, reply.delayMs));
      return reply.error ? api.writeError(response, reply.error) : api.write(response, request, reply);
    }
    otherCalls.push(`${given.method} ${path}`);
    response.statusCode = api.otherStatus ?? 200;
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(api.other(given)));
  };

  const server = createServer((call, response) => {
    respond(call, response).catch((cause: unknown) => {
      faults.push(cause);
      api.writeError(response, { status: 400, type: "invalid_request_error", message: String(cause) });
    });
  });
  server.on("connect", (call, socket) => {
    strayHosts.push(call.url ?? "");
    // Some clients reset a connection that is refused; what they wanted is noted already.
    socket.on("error", () => undefined);
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
  // Codex packs what it sends.
  const isPacked = call.headers["content-encoding"] === "zstd";
  return (isPacked ? zstdDecompressSync(bytes, { maxOutputLength: MAX_BODY_BYTES }) : bytes).toString("utf8");
}

function invalid(message: string): Reply {
  return { error: { status: 400, type: "invalid_request_error", message } };
}
