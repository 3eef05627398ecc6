import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { WholeLines } from "./whole-lines.ts";

async function run(pieces: readonly Buffer[], maxBytes = 1000) {
  const skipped: (string | number | undefined)[] = [];
  const chunks: string[] = [];
  const lines = new WholeLines({ maxBytes, onTooLong: (id) => skipped.push(id) });
  lines.on("data", (chunk: Buffer) => chunks.push(chunk.toString("utf8")));
  Readable.from(pieces, { objectMode: false }).pipe(lines);
  await new Promise((resolve) => lines.once("end", resolve));
  return { skipped, chunks };
}

const cutUp = (whole: Buffer, size: number) =>
  Array.from({ length: Math.ceil(whole.length / size) }, (_, at) => whole.subarray(at * size, (at + 1) * size));

describe("WholeLines", () => {
  it("gives every line in one piece, however it came, and the last without its end", async () => {
    const lines = fc.array(fc.string({ unit: "binary" }).map((line) => `${line.replaceAll("\n", "")}\n`));
    await fc.assert(
      fc.asyncProperty(lines, fc.integer({ min: 1, max: 50 }), async (given, size) => {
        const whole = Buffer.from(given.join(""));
        const { chunks, skipped } = await run(cutUp(whole, size), 100_000);
        expect(chunks.join("")).toBe(whole.toString("utf8"));
        expect(chunks.every((chunk) => chunk.indexOf("\n") === chunk.length - 1)).toBe(true);
        expect(skipped).toEqual([]);
      }),
      { numRuns: 30 },
    );
    expect((await run([Buffer.from("a\nb")])).chunks).toEqual(["a\n", "b"]);
  });

  const params = JSON.stringify({ arguments: { id: 99, full_details: `"id": 98 ${"x".repeat(20_000)}` } });
  it.each([
    [`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":${params}}`, 7],
    [`{"method":"tools/call","params":${params},"jsonrpc":"2.0","id":"a-7"}`, "a-7"],
    [`{"method":"tools/call","params":${params},"id":7,"jsonrpc":"2.0"}`, 7],
    [`{"method":"tools/call","params":${params},"jsonrpc":"2.0"}`, undefined],
  ])("skips a line that is too long and finds its id: %#", async (line, id) => {
    for (const size of [7, 1000, 100_000]) {
      const { chunks, skipped } = await run(cutUp(Buffer.from(`before\n${line}\nafter\n`), size));
      expect(chunks).toEqual(["before\n", "after\n"]);
      expect(skipped).toEqual([id]);
    }
  });

  it("says that a too long one was cut off by the end of the input", async () => {
    expect((await run([Buffer.from("x".repeat(2000))])).skipped).toEqual([undefined]);
  });

  it.each([
    ["{no json", { id: null, code: -32700 }],
    ['{"jsonrpc":"2.0","id":5,"method":', { id: null, code: -32700 }],
    ["[".repeat(100_000), { id: null, code: -32700 }],
    ["null", { id: null, code: -32600 }],
    ["7", { id: null, code: -32600 }],
    ['[{"jsonrpc":"2.0","id":1,"method":"ping"}]', { id: null, code: -32600 }],
    ['{"jsonrpc":"1.0","id":1,"method":"ping"}', { id: 1, code: -32600 }],
    ['{"jsonrpc":"2.0","id":"a"}', { id: "a", code: -32600 }],
    ['{"jsonrpc":"2.0","id":{},"method":"ping"}', { id: null, code: -32600 }],
    ['{"jsonrpc":"2.0","id":2,"method":"ping","params":"x"}', { id: 2, code: -32600 }],
    ["", undefined],
    ['{"jsonrpc":"2.0","id":2,"method":"ping"}\r', undefined],
    ['{"jsonrpc":"2.0","method":"notifications/initialized"}', undefined],
    ['{"jsonrpc":"2.0","id":2,"result":{}}', undefined],
  ])("skips a line that is no message, and says which error it is: %#", async (line, error) => {
    const invalid: object[] = [];
    const lines = new WholeLines({ onTooLong: () => undefined, onInvalid: (found) => void invalid.push(found) });
    Readable.from([Buffer.from(`${line}\n`)], { objectMode: false }).pipe(lines);
    expect(await text(lines)).toBe(error ? "" : `${line}\n`);
    expect(invalid).toEqual(error ? [expect.objectContaining(error)] : []);
  });

  it("passes text through unchanged", async () => {
    const lines = new WholeLines({ onTooLong: () => undefined });
    Readable.from([Buffer.from("ä\n🎉\n")], { objectMode: false }).pipe(lines);
    expect(await text(lines)).toBe("ä\n🎉\n");
  });
});
