import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { forkedFrom } from "./transcripts.ts";

const line = (usage: Record<string, number> | undefined, more: object = {}) =>
  `${JSON.stringify({ type: "assistant", isSidechain: false, ...more, message: { role: "assistant", usage } })}\n`;

function world(transcripts: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), "haversack-fork-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [id, text] of Object.entries(transcripts)) writeFileSync(join(folder, `${id}.jsonl`), text);
  return (contextTokens: unknown, ids = Object.keys(transcripts), env: Record<string, string> = {}) =>
    forkedFrom({ transcript_path: join(folder, "fork.jsonl"), context_tokens: contextTokens }, ids, env);
}

it("is the one whose last answer filled the window as the fork's is filled", () => {
  const full = { input_tokens: 10, cache_read_input_tokens: 900, cache_creation_input_tokens: 80, output_tokens: 20 };
  const from = world({
    one: line({ input_tokens: 1_010 }) + line(full) + line({ input_tokens: 5 }, { isSidechain: true }),
    two: line({ input_tokens: 77 }),
  });
  expect([from(1_010), from(77), from(5), from(undefined)]).toEqual(["one", "two", undefined, undefined]);
  expect(from(1_010, ["two", "gone", "../one"])).toBeUndefined();
});

it("is none where two are alike", () => {
  const from = world({ one: line({ input_tokens: 77 }), two: line({ input_tokens: 77 }) });
  expect(from(77)).toBeUndefined();
});

it.runIf(process.platform === "linux")("is the one that the client was started with", async () => {
  const from = world({ one: line({ input_tokens: 77 }), two: line({ input_tokens: 77 }) });
  const client = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)", "--", "--resume", "two"]);
  onTestFinished(() => void client.kill("SIGKILL"));
  await new Promise((resolve) => client.once("spawn", resolve));
  expect(from(77, ["one", "two"], { CLAUDE_PID: String(client.pid) })).toBe("two");
});
