import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { hasToolResult } from "./transcripts.ts";

const prompt = (id: string) => ({ type: "user", promptId: id, message: { role: "user", content: "do it" } });
const result = (id: string) => ({
  type: "user",
  promptId: id,
  message: { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "done" }] },
});

function transcript(...entries: unknown[]): string {
  const folder = mkdtempSync(join(tmpdir(), "haversack-transcript-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "session.jsonl");
  writeFileSync(file, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
  return file;
}

it("knows a turn under way by the tool result of its prompt", () => {
  const file = transcript(prompt("p1"), result("p1"), prompt("p2"));
  expect(hasToolResult(file, "p1")).toBe(true);
  expect(hasToolResult(file, "p2")).toBe(false);
});

it("reads the end of a file of any size, and nothing where there is none", () => {
  const filler = { type: "assistant", text: "x".repeat(1_500_000) };
  expect(hasToolResult(transcript(filler, result("p1")), "p1")).toBe(true);
  expect(hasToolResult("/nowhere/session.jsonl", "p1")).toBe(false);
  expect(hasToolResult(undefined, "p1")).toBe(false);
});
