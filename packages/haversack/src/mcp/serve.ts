/**
 * Serves MCP on standard input and output until the input ends or nobody reads the output any more.
 *
 * Clients wait for the answer to `initialize`, so this file answers it at once and loads everything else afterwards. A server with only
 * tools needs four methods of the protocol. The SDK is loaded only for the newer revision without a handshake and for the skills
 * extension: it takes longer to load than everything else, and 15 MB of memory.
 */
import { MOST_LINE_BYTES, WholeLines } from "./whole-lines.ts";

/** Answers requests after the handshake. */
export interface Answers {
  listTools(): object;
  callTool(params: CallParams, client: string | undefined): Promise<object>;
  /** Called when the client is ready. */
  begin(): void;
  log(level: "warn", text: string): void;
  /** Serves the rest of the input with the SDK. */
  serveWithSdk(input: WholeLines): Promise<void>;
  close(): void;
}

export interface CallParams {
  name: string;
  arguments?: unknown;
  _meta?: Readonly<Record<string, unknown>> | undefined;
}

export interface ServeOptions {
  version: string;
  /** Also serve the skills through the protocol's skills extension. */
  serveSkills: boolean;
  /** Loads the code that answers calls. */
  load(): Promise<Answers>;
}

/** The revisions with a handshake, newest first. A client that asks for an unknown one is offered the newest. */
const VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"];
const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;
const INTERNAL = -32603;

export async function serveMcp({ version, serveSkills, load }: ServeOptions): Promise<void> {
  let loading: Promise<Answers> | undefined;
  const answers = (): Promise<Answers> => (loading ??= load());
  const log = (text: string) => void answers().then(({ log }) => log("warn", text));
  const input = new WholeLines({
    onTooLong: (id) => refuseTooLong(id, log),
    onInvalid: ({ id, code, message }) => {
      log(`${message} (code ${code})`);
      writeLine({ id, error: { code, message } });
    },
  });
  const ended = new Promise<void>((resolve) => {
    input.once("end", resolve);
    input.once("close", resolve);
    process.stdin.once("close", resolve);
    // EPIPE: the client has exited, even if another process still holds our input open.
    process.stdout.on("error", () => resolve());
    process.stdout.once("close", resolve);
  });
  // A broken pipe must end the input, but `pipe` does not forward errors.
  process.stdin.once("error", (error) => input.destroy(error));
  process.stdin.pipe(input);

  /** Calls without an answer yet; they finish even if the input ends. */
  const running = new Set<Promise<void>>();
  let client: string | undefined;
  const take = (line: Buffer) => {
    const message = messageIn(line);
    if (!message) return;
    if (message.method === "initialize") {
      const { clientInfo, protocolVersion } = (message.params ?? {}) as Hello;
      client = clientInfo?.name;
      const given = VERSIONS.find((known) => known === protocolVersion) ?? VERSIONS[0];
      // No instructions: clients send them in full in every session, and the tool names say enough.
      const serverInfo = { name: "haversack", version };
      writeLine({ id: message.id, result: { protocolVersion: given, capabilities: { tools: {} }, serverInfo } });
      setImmediate(() => void answers());
      return;
    }
    const answered = answerMessage(message, { answers, client: () => client });
    running.add(answered);
    void answered.finally(() => running.delete(answered));
  };
  input.once("data", (line: Buffer) => {
    if (!serveSkills && messageIn(line)?.method === "initialize") {
      take(line);
      input.on("data", take);
      return;
    }
    input.pause();
    input.unshift(line);
    const served = answers().then(({ serveWithSdk }) => serveWithSdk(input));
    running.add(served);
  });

  await ended;
  await Promise.allSettled(running);
  if (loading) (await loading).close();
  // Open input would keep the process alive.
  process.stdin.unpipe(input);
  process.stdin.destroy();
}

interface Message {
  id?: string | number;
  method: string;
  params?: object;
}

interface Hello {
  protocolVersion?: string;
  clientInfo?: { name?: string };
}

/** Undefined for an empty line and for a response (the server sends no requests, so none is expected). */
function messageIn(line: Buffer): Message | undefined {
  const text = line.toString("utf8").trim();
  // The end of the input may cut the last line short; nobody waits for its answer.
  if (text === "" || line.at(-1) !== 10) return undefined;
  const message = JSON.parse(text) as Message;
  return typeof message.method === "string" ? message : undefined;
}

async function answerMessage(
  { id, method, params }: Message,
  { answers, client }: { answers(): Promise<Answers>; client(): string | undefined },
): Promise<void> {
  if (id === undefined) {
    if (method === "notifications/initialized") (await answers()).begin();
    return;
  }
  try {
    if (method === "ping") return writeLine({ id, result: {} });
    if (method === "tools/list") return writeLine({ id, result: (await answers()).listTools() });
    if (method === "tools/call") {
      const call = params as CallParams | undefined;
      if (typeof call?.name === "string") {
        return writeLine({ id, result: await (await answers()).callTool(call, client()) });
      }
      return writeLine({ id, error: { code: INVALID_PARAMS, message: "Invalid params: name must be a string" } });
    }
    writeLine({ id, error: { code: METHOD_NOT_FOUND, message: "Method not found" } });
  } catch (error) {
    writeLine({ id, error: { code: INTERNAL, message: `Internal error: ${String(error)}` } });
  }
}

/** Returns a tool result, because some clients do not show protocol errors to the model. */
function refuseTooLong(id: string | number | undefined, log: (text: string) => void): void {
  const text = `The call has more than ${MOST_LINE_BYTES / 1024 / 1024} MiB and was not read; nothing was changed. Give less at once: of full_details the part that others need.`;
  log(text);
  if (id === undefined) return;
  writeLine({ id, result: { content: [{ type: "text", text }], isError: true } });
}

function writeLine(message: object): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}
