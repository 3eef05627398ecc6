import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { localEngine } from "../packages/haversack/src/clients/opencode/local-engine.ts";
import { opencodeProfile } from "../packages/haversack/src/clients/opencode/profile.ts";
import { openDatabase } from "../packages/haversack/src/store/sqlite/open.ts";
import { scratchProject } from "./bins.ts";

it("says per session what was added, and what the client's listing would have cost, cached and uncached apart", () => {
  const project = scratchProject();
  const body = "Return problem details.\n";
  project.write(
    ".claude/skills/api-errors/SKILL.md",
    `---\nname: api-errors\ndescription: Use when an HTTP endpoint reports error status codes.\n---\n\n${body}`,
  );
  project.haversack(["skill", "index"]);
  const prompt = (text: string) =>
    project.hook({ session_id: "s", cwd: project.root, hook_event_name: "UserPromptSubmit", prompt: text });
  expect(prompt("report error status codes from the endpoint").out).toContain("api-errors");
  expect(prompt("continue").out).toBe("");
  expect(prompt("thanks").out).toBe("");

  const { sessions } = project.haversack(["usage", "--session", "s", "--json"]).json();
  const [{ prompts, windows, added, native, injections }] = sessions;
  expect({ prompts, windows }).toEqual({ prompts: 3, windows: 1 });
  expect(injections.map(({ format }: { format: string }) => format)).toEqual(["full", "none", "none"]);
  expect(added).toEqual({ uncached: injections[0].tokens, cached: 2 * injections[0].tokens });
  expect(native).toMatchObject({ skills: 1, cached: 2 * native.uncached });
  expect(native.uncached).toBeGreaterThan(5);
  expect(project.haversack(["usage"]).out).toContain("3 prompts in 1 window");
});

it("counts sessions of every client, each against its own form of a listing", () => {
  const project = scratchProject();
  const { root, home } = project;
  for (const name of ["api-errors", "sail-plans", "rope-work"]) {
    const text = `---\nname: ${name}\ndescription: Use when somebody needs ${name} in an endpoint.\n---\n\nBody.\n`;
    project.write(`.agents/skills/${name}/SKILL.md`, text);
  }
  project.haversack(["skill", "index"]);
  const asked = "we need rope-work in an endpoint";
  const events = {
    "claude-code": "claude-code/user-prompt-submit.json",
    codex: "codex/user-prompt-submit.json",
    gemini: "gemini/before-agent.json",
  };
  for (const [client, file] of Object.entries(events)) {
    const { payload } = JSON.parse(readFileSync(join(import.meta.dirname, "fixtures", file), "utf8"));
    for (const prompt of [asked, "thanks"]) {
      project.hook({ ...payload, session_id: client, cwd: root, prompt }, { client });
    }
  }
  const engine = localEngine({ root, env: { HOME: home }, cli: [] });
  const place = { client: opencodeProfile(), sessionId: "opencode", agentId: "", cwd: root };
  for (const prompt of [asked, "thanks"]) engine.answer({ ...place, kind: "prompt", prompt, promptId: prompt });

  const { sessions } = project.haversack(["usage", "--json"]).json();
  const of = (client: string) => sessions.find(({ session_id }: { session_id: string }) => session_id === client);
  for (const client of ["claude-code", "codex", "gemini", "opencode"]) {
    const { prompts, windows, added, native } = of(client);
    expect(of(client).client).toBe(client);
    expect({ prompts, windows, skills: native.skills }).toEqual({ prompts: 2, windows: 1, skills: 3 });
    expect(added.uncached).toBeGreaterThan(10);
    expect(added.cached).toBe(added.uncached);
    expect(native.cached).toBe(native.uncached);
  }
  const costs = ["claude-code", "codex", "opencode", "gemini"].map((client) => of(client).native.uncached);
  expect(costs).toEqual([...costs].sort((a, b) => a - b));
  expect(new Set(costs).size).toBe(4);
  expect(project.haversack(["usage"]).out).toContain("opencode (opencode): 2 prompts in 1 window");
});

it("counts what sub-agents were given, and says - where it is not known which call started one", () => {
  const project = scratchProject();
  const { root } = project;
  const description = "Use when an HTTP endpoint reports error status codes.";
  project.write(
    ".claude/skills/api-errors/SKILL.md",
    `---\nname: api-errors\ndescription: ${description}\n---\n\nBody.\n`,
  );
  project.haversack(["skill", "index"]);
  const base = { session_id: "s", cwd: root, transcript_path: join(root, "../s.jsonl") };
  const agent = (id: string) => ({ ...base, agent_id: id, agent_type: "general-purpose" });
  const run = (call: string, id: string) => {
    project.hook({
      ...base,
      hook_event_name: "PreToolUse",
      tool_name: "Agent",
      tool_use_id: call,
      tool_input: {
        subagent_type: "general-purpose",
        prompt: "report error status codes from the endpoint",
        description: "x",
      },
    });
    project.hook({ ...agent(id), hook_event_name: "SubagentStart" });
    project.hook({
      ...agent(id),
      hook_event_name: "PostToolUse",
      tool_name: "Write",
      tool_use_id: `w-${id}`,
      tool_input: { file_path: join(root, "a.ts"), content: "x" },
      tool_response: { type: "create" },
    });
    project.hook({ ...agent(id), hook_event_name: "SubagentStop" });
  };
  project.hook({ ...base, hook_event_name: "UserPromptSubmit", prompt: "go" });
  // As the client records it; for the second one it records nothing.
  project.write("../s/subagents/agent-a1.meta.json", '{"toolUseId":"call-1"}');
  run("call-1", "a1");
  run("call-2", "a2");

  const { sessions } = project.haversack(["usage", "--json"]).json();
  const of = (id: string) => sessions.find(({ agent_id }: { agent_id: string }) => agent_id === id);
  expect(of("a1").added.uncached).toBeGreaterThan(10);
  expect(of("a2").added).toBeNull();
  expect(of("")).toMatchObject({
    added: { uncached: 0, cached: 0 },
    calls: { count: 1, tokens: of("a1").added.uncached },
  });
  const { out } = project.haversack(["usage"]);
  expect(out).toContain("s/a2 (claude-code): 0 prompts in 1 window\n  added by Haversack      -\n");
  expect(out).toContain(`added to sub-agents     ${of("a1").added.uncached} tokens in 1 call;`);
});

it("shows names of sessions and clients as text, whatever another program wrote into the store", () => {
  const project = scratchProject();
  project.haversack(["skill", "index"]);
  project.hook({ session_id: "s", cwd: project.root, hook_event_name: "UserPromptSubmit", prompt: "Look at the tax." });
  const { db } = openDatabase(join(project.root, ".haversack/haversack.db"), { durability: "full" });
  const name = "\u001b[31mred\u001b]0;owned\u0007\nsecond line";
  for (const table of ["sessions", "injections"]) db.prepare(`UPDATE ${table} SET session_id = ?`).run(name);
  db.prepare("UPDATE sessions SET client = ?").run("cli\u001b[5ment");
  db.close();
  for (const words of [["usage"], ["top", "--once"]]) {
    const { out, err } = project.haversack(words);
    expect({ err, out }).toMatchObject({ err: "", out: expect.stringMatching(/red.*client|client.*red/) });
    expect(["\u001b", "\u0007"].filter((control) => out.includes(control))).toEqual([]);
  }
});
