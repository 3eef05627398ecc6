/**
 * Standard input in whole lines. The SDK appends every piece to one buffer and searches all of it again, which takes minutes for
 * 100 MB, and at its limit closes the connection, which ends the server for the rest of the session. Here the pieces of a line are
 * put together once, and a line that is too long is answered and skipped.
 */
import { Transform, type TransformCallback } from "node:stream";

/** Half of the longest text that V8 can hold. */
export const MOST_LINE_BYTES = 256 * 1024 * 1024;
/** Where the id of a request stands: clients write it first or last. */
const EDGE_BYTES = 4096;
const LINE_BREAK = 10;

export interface WholeLinesOptions {
  maxBytes?: number;
  /** A line was skipped. Undefined: its id was not found, so nobody can be told. */
  onTooLong(id: string | number | undefined): void;
}

export class WholeLines extends Transform {
  readonly #options: WholeLinesOptions;
  readonly #maxBytes: number;
  #pieces: Buffer[] = [];
  #bytes = 0;
  /** Of a line that is being skipped. */
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
      this.push(this.#pieces.length === 1 ? this.#pieces[0] : Buffer.concat(this.#pieces));
    }
    this.#forget();
  }

  #forget(): void {
    this.#pieces = [];
    this.#bytes = 0;
  }
}

/** Only at the edges of the request itself: inside `params` an `id` is something else. */
function idIn(head: string, tail: string): string | number | undefined {
  const first = head.split('"params"', 1)[0] ?? "";
  const found = ID.exec(first)?.[1] ?? AT_END.exec(tail)?.[1];
  return found === undefined ? undefined : (JSON.parse(found) as string | number);
}

const ID = /"id"\s*:\s*("[^"\\]{1,200}"|-?\d{1,15})/;
const AT_END = /"id"\s*:\s*("[^"\\]{1,200}"|-?\d{1,15})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/;
