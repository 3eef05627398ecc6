import { PassThrough } from "node:stream";
import { describe, expect, it, vi } from "vitest";
import type { Io } from "./command.ts";
import { ask, wrapColumns, wrapLines, wrapText } from "./terminal.ts";

describe("wrapText", () => {
  it("breaks between words, keeps all of them, and a word that is too long stays whole", () => {
    const text = "one two three https://example.invalid/a/long/address four";
    const lines = wrapText(text, 20);
    expect(lines).toEqual(["one two three", "https://example.invalid/a/long/address", "four"]);
    expect(lines.join(" ")).toBe(text);
  });

  it("leaves the text alone without a terminal, and where a column would be too narrow to read", () => {
    expect(wrapText("one two three four", undefined)).toEqual(["one two three four"]);
    expect(wrapText("one two three four", 5)).toEqual(["one two three four"]);
  });
});

describe("wrapColumns", () => {
  it("continues below the second column or, if there is little room, below the first; plain text below its first word", () => {
    const help = "Usage: x\n\n  --long NAME  what it does, told at some length\nplain text that is too long as well\n";
    expect(wrapColumns(help, 40)).toBe(
      "Usage: x\n\n  --long NAME  what it does, told at\n               some length\nplain text that is too long as well\n",
    );
    expect(wrapColumns(help, undefined)).toBe(help);
    const long = "  haversack task list --json  those of an epic, for a script\n";
    expect(wrapColumns(long, 40)).toBe("  haversack task list --json\n      those of an epic, for a script\n");
  });
});

it("breaks the lines of an error with an indent, and leaves a line that moves the cursor alone", () => {
  const text = "haversack: one two three four five six\nUsage: haversack\n";
  expect(wrapLines(text, 26)).toBe("haversack: one two three\n  four five six\nUsage: haversack\n");
  expect(wrapLines(text, undefined)).toBe(text);
  const drawn = "\r\u001b[KIndexing: a long line about a file of a skill";
  expect(wrapLines(drawn, 20)).toBe(drawn);
});

it("stops reading keys after a question, so that the next one does not show each key twice", async () => {
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => undefined });
  const stdout = Object.assign(new PassThrough(), { isTTY: true, columns: 80 });
  vi.spyOn(process, "stdin", "get").mockReturnValue(stdin as never);
  vi.spyOn(process, "stdout", "get").mockReturnValue(stdout as never);
  const io = { isTerminal: true, err: () => undefined } as unknown as Io;
  try {
    for (const answer of ["d", "yes"]) {
      const answered = ask(io, "Write? ");
      await vi.waitFor(() => expect(stdin.listenerCount("keypress")).toBe(1));
      stdin.write(`${answer}\r`);
      expect(await answered).toBe(answer);
      expect(stdin.listenerCount("keypress")).toBe(0);
    }
  } finally {
    vi.restoreAllMocks();
  }
});
