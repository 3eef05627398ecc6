import { expect, it } from "vitest";
import { profileOf } from "../skills/showing/activation.ts";
import { readCodexEvent } from "./codex/adapter.ts";
import { codexWorkFiles } from "./work-files.ts";

const ROLES = ["implementer", "spec-reviewer", "quality-reviewer", "fixer"];

it("is a skill that no session lists, with a file for each role, in this client's words", () => {
  const files = codexWorkFiles("$work");
  expect(files.map(({ path }) => path)).toEqual([
    "skills/work/SKILL.md",
    "skills/work/agents/openai.yaml",
    ...ROLES.map((role) => `skills/work/roles/${role}.md`),
  ]);
  for (const { text } of files) expect(text).not.toMatch(/ToolSearch|ARGUMENTS|run_in_background|mcp__|haversack-/);
  const [skill, policy] = files;
  expect(skill?.text).toMatch(/^---\nname: work\ndescription: .+\n---\n\n/);
  for (const word of ["spawn_agent", "wait_agent", "task_name", "fork_turns", "beside $work."]) {
    expect(skill?.text).toContain(word);
  }
  for (const role of ROLES) expect(skill?.text).toContain(role);
  expect(policy?.text).toContain("allow_implicit_invocation: false");
  expect(codexWorkFiles("$haversack:work")[0]?.text).toContain("beside $haversack:work.");
});

it.each(ROLES)("a sub-agent that is told to read roles/%s.md is one of that role", (role) => {
  const message = `Task T4829. First read /x/skills/work/roles/${role}.md: it says what you do.`;
  const payload = {
    hook_event_name: "PreToolUse",
    tool_name: "spawn_agent",
    tool_use_id: "c1",
    tool_input: { agent_type: "default", message },
  };
  const base = { sessionId: "s1", agentId: "", cwd: "/repo", client: profileOf("codex") };
  expect(readCodexEvent(payload, base)).toMatchObject({ kind: "before-spawn", agentType: `haversack-${role}` });
});
