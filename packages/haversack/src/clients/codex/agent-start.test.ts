/** What is known about a sub-agent when it starts: its type and, with newer models, its name. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { profileOf } from "../../skills/showing/activation.ts";
import { taskIdsIn } from "../../work/task.ts";
import { readCodexEvent } from "./adapter.ts";

/** The first line of a sub-agent's file as the client writes it (0.166.0), without its long texts. */
function start(agentPath: string | null) {
  const folder = mkdtempSync(join(tmpdir(), "haversack-agent-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const source = { subagent: { thread_spawn: { parent_thread_id: "s1", depth: 1, agent_path: agentPath } } };
  const text = 'It says "agent_path":"/root/t000000000099".';
  const line = { type: "session_meta", payload: { id: "a1", source, base_instructions: { text } } };
  const file = join(folder, "rollout.jsonl");
  writeFileSync(file, `${JSON.stringify(line)}\n`);
  const payload = { hook_event_name: "SubagentStart", agent_type: "default", transcript_path: file };
  return readCodexEvent(payload, { sessionId: "s1", agentId: "a1", cwd: "/repo", client: profileOf("codex") });
}

it.each([
  ["/root/implement_t000000000012", ["T000000000012"]],
  ["/root/t000000000012", ["T000000000012"]],
  ["/root/t000000000099/fix_t000000000012_again", ["T000000000012"]],
  ["/root/implement_t4829", ["T4829"]],
  ["/root/fix_2_t4829", ["T4829"]],
  ["/root/t4829_t48291", ["T4829", "T48291"]],
  ["/root/t482", []],
  ["/root/t4829b", []],
  ["/root/at4829", []],
  ["/root/look_around", []],
  ["/root/at000000000012", []],
  ["/root/t0000000000123", []],
])("the name in %s names the tasks %j", (path, ids) => {
  const event = start(path);
  expect(event).toMatchObject({ kind: "agent-start", agentType: "default", taskName: expect.stringMatching(/./) });
  expect(taskIdsIn((event as { taskName: string }).taskName)).toEqual(ids);
});

it.each([
  ["/root/spec_reviewer_t000000000012", "haversack-spec-reviewer"],
  ["/root/fixer_3_t000000000012", "haversack-fixer"],
  ["/root/spec_reviewer_t4829", "haversack-spec-reviewer"],
  ["/root/fixer_3_t4829", "haversack-fixer"],
  ["/root/fixer_t48", "default"],
  ["/root/fixer", "default"],
])("%s is of the type %s", (path, agentType) => {
  expect(start(path)).toMatchObject({ kind: "agent-start", agentType });
});

it("one without a name, or without a file, has none", () => {
  expect(start(null)).not.toHaveProperty("taskName");
  const payload = { hook_event_name: "SubagentStart", agent_type: "x", transcript_path: "/nowhere/rollout.jsonl" };
  const base = { sessionId: "s1", agentId: "a1", cwd: "/repo", client: profileOf("codex") };
  expect(readCodexEvent(payload, base)).toEqual({ ...base, kind: "agent-start", agentType: "x" });
});
