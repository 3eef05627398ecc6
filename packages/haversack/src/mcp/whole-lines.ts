/**
 * Splits standard input into whole lines, each one JSON-RPC message. The SDK appends every chunk to one buffer and searches all of it again.
 * That takes minutes for 100 MB, and at its limit it closes the connection, which ends the server for the rest of the session. Here the
 * chunks of a line are joined once, and a line that is too long is answered and skipped. A line that is not a message is also answered: the
 * SDK drops it silently, and the client waits until its own time limit.
 */
import { Transform, type TransformCallback } from "node:stream";

/** Half of the longest string that V8 can hold. */
export const MOST_LINE_BYTES = 256 * 1024 * 1024;
/** How far from either end of a line to look for the request's id: clients write it first or last. */
const EDGE_BYTES = 4096;
const LINE_BREAK = 10;

export interface WholeLinesOptions {
  maxBytes?: number;
  /** A line was skipped. Undefined: its id was not found, so no answer can be sent. */
  onTooLong(id: string | number | undefined): void;
  /** A line that is not a message was skipped. Default: every line is passed on. */
  onInvalid?(invalid: InvalidLine): void;
}

/** The JSON-RPC error to answer with. */
export interface InvalidLine {
  id: string | number | null;
  code: -32700 | -32600;
  message: string;
}

export class WholeLines extends Transform {
  readonly #options: WholeLinesOptions;
  readonly #maxBytes: number;
  #pieces: Buffer[] = [];
  #bytes = 0;
  /** Both ends of the line that is being skipped. */
  #head: Buffer | undefined;
  #tail = Buffer.alloc(0);

  constructor(options: WholeLinesOptions) {
    super();
    this.#options = options;
    this.#maxBytes = options.maxBytes ?? MOST_LINE_BYTES;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    let rest = chunk;
    for (let end = rest.indexOf(LINE_BREAK); end >= 0; end = rest.indexOf(LINE_BREAK)) {
      this.#take(rest.subarray(0, end + 1));
      this.#endLine();
      rest = rest.subarray(end + 1);
    }
    if (rest.length > 0) this.#take(rest);
    done();
  }

  override _flush(done: TransformCallback): void {
    this.#endLine();
    done();
  }

  #take(piece: Buffer): void {
    if (this.#head) {
      this.#tail = Buffer.concat([this.#tail, piece.subarray(-EDGE_BYTES)]).subarray(-EDGE_BYTES);
      return;
    }
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    if (this.#bytes <= this.#maxBytes) return;
    const whole = Buffer.concat(this.#pieces);
    this.#head = Buffer.from(whole.subarray(0, EDGE_BYTES));
    this.#tail = Buffer.from(whole.subarray(-EDGE_BYTES));
    this.#forget();
  }

  #endLine(): void {
    if (this.#head) {
      this.#options.onTooLong(idIn(this.#head.toString("utf8"), this.#tail.toString("utf8")));
      this.#head = undefined;
    } else if (this.#bytes > 0) {
      const [first, ...more] = this.#pieces;
      const line = more.length === 0 ? first! : Buffer.concat(this.#pieces);
      const { onInvalid } = this.#options;
      const checked = onInvalid ? checkLine(line) : line;
      if (Buffer.isBuffer(checked)) this.push(checked);
      else onInvalid?.(checked);
    }
    this.#forget();
  }

  #forget(): void {
    this.#pieces = [];
    this.#bytes = 0;
  }
}

/**
 * The line to pass on: a message, an empty line, or an incomplete last line, whose answer nobody waits for. A call's null arguments are
 * removed: clients send them for "none", and the SDK answers them with the findings of its validator.
 */
function checkLine(line: Buffer): Buffer | InvalidLine {
  if (line.at(-1) !== LINE_BREAK) return line;
  const text = line.toString("utf8").trim();
  if (text === "") return line;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { id: null, code: -32700, message: "Parse error: the line is not valid JSON" };
  }
  const { jsonrpc, id, method, params, result, error } = (value ?? {}) as Record<string, unknown>;
  // Never answer an error with an error: if both sides did, it would never end.
  if (error !== undefined && method === undefined) return line;
  const isMessage = typeof method === "string" || result !== undefined;
  const hasId = typeof id === "string" || Number.isSafeInteger(id);
  const isWhole =
    jsonrpc === "2.0" &&
    isMessage &&
    (id === undefined || hasId) &&
    (params === undefined || (typeof params === "object" && params !== null && !Array.isArray(params)));
  if (isWhole) {
    const { arguments: given, ...rest } = (params ?? {}) as { arguments?: unknown };
    if (method !== "tools/call" || given !== null) return line;
    return Buffer.from(`${JSON.stringify({ ...(value as object), params: rest })}\n`);
  }
  const message = Array.isArray(value)
    ? "Invalid Request: batches are not supported"
    : "Invalid Request: the line is not a JSON-RPC 2.0 message";
  return { id: hasId ? (id as string | number) : null, code: -32600, message };
}

/** Searches only the ends of the request: an `id` inside `params` means something else. */
function idIn(head: string, tail: string): string | number | undefined {
  const first = head.split('"params"', 1)[0] ?? "";
  const found = ID.exec(first)?.[1] ?? AT_END.exec(tail)?.[1];
  return found === undefined ? undefined : (JSON.parse(found) as string | number);
}

const ID = /"id"\s*:\s*("[^"\\]{1,200}"|-?\d{1,15})/;
const AT_END = /"id"\s*:\s*("[^"\\]{1,200}"|-?\d{1,15})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/;
