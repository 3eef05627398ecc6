import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { endedCommand, readFill, readForkedFrom } from "./rollout.ts";

function rolloutOf(...payloads: unknown[]): string {
  const folder = mkdtempSync(join(tmpdir(), "haversack-rollout-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "rollout.jsonl");
  writeFileSync(file, payloads.map((payload) => `${JSON.stringify({ type: "event_msg", payload })}\n`).join(""));
  return file;
}

const command = (id: string, more: object) => ({
  type: "item_completed",
  item: { type: "CommandExecution", id, ...more },
});
const read = (path: string) => ({ type: "read", cmd: `cat ${path}`, name: path, path });

it("names the session that a fork is of", () => {
  const meta = (more: object) => ({ id: "b", ...more, timestamp: "2031-01-01", base_instructions: "x".repeat(60_000) });
  expect(readForkedFrom(rolloutOf(meta({ forked_from_id: "01a1ebf3-68db-7122-be65-2bd039ea81bc" })))).toBe(
    "01a1ebf3-68db-7122-be65-2bd039ea81bc",
  );
  expect(readForkedFrom(rolloutOf(meta({})))).toBeUndefined();
  expect(readForkedFrom("/nowhere")).toBeUndefined();
});

it("takes a command for a reading only when it shows one file and does nothing else", () => {
  const file = rolloutOf(
    command("one", { exit_code: 0, parsed_cmd: [read("a")] }),
    command("two", { exit_code: 0, parsed_cmd: [read("a"), read("b")] }),
    command("mixed", { exit_code: 0, parsed_cmd: [read("a"), { type: "unknown", cmd: "rm a" }] }),
    command("other", { exit_code: 0, parsed_cmd: [{ type: "unknown", cmd: "make" }] }),
  );
  expect(endedCommand(file, "one")).toEqual({ exitCode: 0, readPath: "a" });
  for (const id of ["two", "mixed", "other"]) expect(endedCommand(file, id)).toEqual({ exitCode: 0 });
});

it("knows no end of a command that goes on, and finds one behind a long output", () => {
  const long = command("long", { aggregated_output: "x".repeat(300_000), exit_code: 4 });
  const file = rolloutOf(long, command("open", { exit_code: null }));
  expect(endedCommand(file, "long")).toEqual({ exitCode: 4 });
  expect(endedCommand(file, "open")).toBeUndefined();
});

it("is not misled by an output that looks like a line of the file", () => {
  const forged = JSON.stringify(command("real", { exit_code: 0 }));
  const file = rolloutOf(command("real", { aggregated_output: forged, exit_code: 9 }), {
    type: "agent_message",
    text: forged,
  });
  expect(endedCommand(file, "real")).toEqual({ exitCode: 9 });
});

it("takes the last count, and none for one without numbers", () => {
  const count = (total_tokens: number) => ({
    type: "token_count",
    info: { last_token_usage: { total_tokens }, model_context_window: 1000 },
  });
  expect(readFill(rolloutOf(count(500), count(20), { type: "token_count", info: null }))).toEqual({
    usedTokens: 20,
    windowTokens: 1000,
  });
});
