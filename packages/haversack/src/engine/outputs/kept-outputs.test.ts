import { describe, expect, it } from "vitest";
import { openMemoryStore } from "../../store/sqlite/open.ts";
import { SqliteOutputs } from "../../store/sqlite/outputs/sqlite-outputs.ts";
import { formatRecalled, keepOutput, MemoryOutputs, type OutputShelf, recallOutput } from "./kept-outputs.ts";

const at = new Date("2031-05-06T07:08:09Z");
const limits = { keepDays: 14, maxBytes: 1_000_000 };
const ways = () => ({
  lines: (range: string) => `lines ${range}`,
  chars: (range: string) => `chars ${range}`,
  find: "find",
});
const long = (word: string, lines = 500) => Array.from({ length: lines }, (_, n) => `${word} ${n + 1}`).join("\n");
const keep = (shelf: OutputShelf, text: string, more: { sessionId?: string; at?: Date; maxBytes?: number } = {}) =>
  keepOutput(
    shelf,
    { text, source: "npm test", sessionId: more.sessionId ?? "s", agentId: "", at: more.at ?? at, isCommand: true },
    { limits: { ...limits, maxBytes: more.maxBytes ?? limits.maxBytes }, ways, maxChars: 1_500 },
  );
const whole = (shelf: OutputShelf, handle: string) => {
  const found = recallOutput(shelf, handle, { maxChars: 1e9 });
  return found.kind === "part" ? found.text : found.kind;
};

describe.each([
  ["in memory", () => new MemoryOutputs()],
  ["in the store", () => new SqliteOutputs(openMemoryStore())],
] as const)("kept outputs %s", (_, makeShelf) => {
  it("come back exactly, whole and in parts", () => {
    const shelf = makeShelf();
    const text = `${long("step")}\n`;
    const { handle, preview, chars } = keep(shelf, text)!;
    expect(handle).toMatch(/^K\d{6,9}$/);
    expect(chars).toBe(text.length);
    expect(preview.length).toBeLessThan(text.length);
    expect(whole(shelf, handle)).toBe(text);
    expect(recallOutput(shelf, handle.toLowerCase(), { lines: "7-8" })).toMatchObject({
      text: "step 7\nstep 8",
      source: "npm test",
    });
  });

  it("stay as they are if they are short, or too long to keep", () => {
    const shelf = makeShelf();
    expect(keep(shelf, "short")).toBeUndefined();
    expect(keep(shelf, "x".repeat(8_000_001))).toBeUndefined();
    expect(shelf.list(5)).toEqual([]);
  });

  it("have one handle for the same text of a session", () => {
    const shelf = makeShelf();
    const first = keep(shelf, long("a"))!.handle;
    expect(keep(shelf, long("a"))!.handle).toBe(first);
    expect(keep(shelf, long("a"), { sessionId: "other" })!.handle).not.toBe(first);
    expect(shelf.list(9)).toHaveLength(2);
  });

  it("give way to newer ones beyond the limit", () => {
    const shelf = makeShelf();
    const handles = ["a", "b", "c"].map((word, n) => {
      return keep(shelf, long(word, 400), { at: new Date(at.getTime() + n), maxBytes: 3_000 })!.handle;
    });
    expect(handles.map((handle) => whole(shelf, handle).slice(0, 7))).toEqual(["unknown", "unknown", "c 1\nc 2"]);
    expect(recallOutput(shelf, handles[0]!, {})).toMatchObject({
      kind: "unknown",
      text: expect.stringContaining(handles[2]!),
    });
  });

  it("answer an unknown handle and a wrong range with what to do", () => {
    const shelf = makeShelf();
    expect(recallOutput(shelf, "K1\u001b[31m", {})).toMatchObject({
      text: "there is no kept output K1; none is kept at present.",
    });
    const { handle } = keep(shelf, long("a"))!;
    expect(recallOutput(shelf, handle, { lines: "900-" })).toMatchObject({
      kind: "wrong-range",
      text: expect.stringContaining("1-500"),
    });
    const part = recallOutput(shelf, handle, { lines: "1-400", maxChars: 100 });
    expect(part.kind === "part" && formatRecalled(part, handle)).toMatch(
      /^\[K\d+: lines 1-\d+ of 500; next: lines "\d+-400"\]\na 1\n/,
    );
  });
});

it("in the store, outputs go after their days", () => {
  const shelf = new SqliteOutputs(openMemoryStore());
  const old = keep(shelf, long("old"))!.handle;
  const later = new Date(at.getTime() + 15 * 86_400_000);
  const fresh = keep(shelf, long("fresh"), { at: later })!.handle;
  expect(shelf.list(9).map(({ handle }) => handle)).toEqual([fresh]);
  expect(whole(shelf, old)).toBe("unknown");
  expect(shelf.retire(limits, new Date(later.getTime() + 15 * 86_400_000))).toBe(1);
  expect(shelf.totals()).toEqual({ count: 0, bytes: 0 });
});

const key = `ghp_${"a1B2".repeat(9)}`;
const SECRET = `${long("a")}\n\u001b[31mTOKEN=${key}\u001b[0m\n${long("b")}`;

it("the store holds no secret and no control characters, and the preview says so", () => {
  const shelf = new SqliteOutputs(openMemoryStore());
  const { handle, preview } = keep(shelf, SECRET)!;
  expect(preview).toContain("Secrets in it are masked.");
  expect(whole(shelf, handle)).toContain("[masked:");
  expect(whole(shelf, handle)).not.toMatch(/ghp_|\u001b/);
});

it("memory holds the text as it is, because the model would have seen it so", () => {
  const shelf = new MemoryOutputs();
  const { handle, preview } = keep(shelf, SECRET)!;
  expect(preview).not.toContain("masked");
  expect(whole(shelf, handle)).toBe(SECRET);
});
