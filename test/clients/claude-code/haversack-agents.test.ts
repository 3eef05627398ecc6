/** Sub-agents of the real client without a task: the skills that fit their prompt, and whose window pays for them. */
import { expect, it } from "vitest";
import type { ModelRequest } from "../model-request.ts";
import { messagesText, textOf } from "../request-text.ts";
import { type Rule, steps, toolCall } from "../script.ts";
import { testServer } from "./claude-test.ts";
import { count, FITTING, haversack, haversackRepo, ORDINARY, ours, SKILL_TOOL } from "./haversack-repo.ts";
import { runClaude } from "./run-claude.ts";
import type { ScratchRepo } from "./scratch-repo.ts";

const agent = (prompt: string, { type = "general-purpose", isBackground = false } = {}) =>
  toolCall("Agent", { description: "help", prompt, subagent_type: type, run_in_background: isBackground });

/** What a sub-agent's first request names as the way to load the skill. */
const activation = (request: ModelRequest | undefined) => /Activate: (.*)/.exec(messagesText(request!))?.[1] ?? "";

interface Window {
  agent_id: string;
  prompt_number: number;
  prompt: string;
}
const why = (repo: ScratchRepo, sessionId: string): Window[] =>
  JSON.parse(haversack(repo, "why", "--session", sessionId, "--json", "--limit", "20")).prompts;

it("a deferred skill that fits the prompt is recommended, and its activation line loads it for the sub-agent alone", async () => {
  const repo = haversackRepo();
  haversack(repo, "skill", "defer", "--all");
  const inside: Rule = {
    kind: "sub-agent",
    n: 1,
    reply: (request) => {
      const [, tool = "", name] = /^(\w+)\(name: "([^"]+)"\)$/.exec(activation(request)) ?? [];
      return { tools: [toolCall(tool, { name })] };
    },
  };
  const load = { tools: [toolCall(SKILL_TOOL, { name: "release-notes" })] };
  const server = await testServer(steps([{ tools: [agent(FITTING)] }, load, { text: "done" }], inside));
  const run = await runClaude({ repo, server, prompt: ORDINARY, skipPermissions: false });
  expect(run).toMatchObject({ exitCode: 0, stderr: "", results: ["done"] });

  const [first, second] = server.of("sub-agent");
  expect(textOf(first!)).not.toMatch(/^- (release-notes|pdf-forms|sql-tuning)/m);
  expect(activation(first)).toBe(`${SKILL_TOOL}(name: "release-notes")`);
  expect(count(messagesText(first!), "# Skill Recommendations")).toBe(1);
  expect(second?.toolResults).toMatchObject([
    { isError: false, text: expect.stringContaining("BODY-OF-release-notes") },
  ]);

  // The coordinator's own window contains nothing of it. When the coordinator asks for the skill, it gets the body.
  for (const request of server.of("main").slice(0, 2)) {
    expect(ours(request)).toEqual([]);
    expect(messagesText(request)).not.toContain("Activate:");
  }
  expect(server.of("main")[2]?.toolResults).toMatchObject([{ text: expect.stringContaining("BODY-OF-release-notes") }]);
  expect(why(repo, run.sessionId).map(({ agent_id, prompt }) => [agent_id, prompt])).toEqual(
    expect.arrayContaining([
      [first?.agentId, FITTING],
      ["", ORDINARY],
    ]),
  );
  expect(haversack(repo, "session", "list")).not.toContain("call:");
});

it("one that may only read files is told the path, and reading it counts as use", async () => {
  const repo = haversackRepo();
  repo.write(
    ".claude/agents/narrow.md",
    "---\nname: narrow\ndescription: Reads.\ntools: Read, Grep\n---\n\nYou read.\n",
  );
  haversack(repo, "skill", "defer", "--all");
  const inside: Rule = {
    kind: "sub-agent",
    n: 1,
    reply: (request) => ({ tools: [toolCall("Read", { file_path: activation(request).replace(/^Read /, "") })] }),
  };
  const server = await testServer(steps([{ tools: [agent(FITTING, { type: "narrow" })] }, { text: "done" }], inside));
  await runClaude({ repo, server, prompt: ORDINARY });
  const [first, second] = server.of("sub-agent");
  expect(first?.tools.map(({ name }) => name)).toEqual(["Read", "Grep"]);
  expect(messagesText(first!)).not.toContain("mcp__");
  expect(second?.toolResults).toMatchObject([
    { isError: false, text: expect.stringContaining("BODY-OF-release-notes") },
  ]);
  expect(haversack(repo, "skill", "stats")).toMatch(/release-notes/);
});

it("three at once, in the background too, each get what fits their own prompt, and nothing where nothing fits", async () => {
  const repo = haversackRepo();
  haversack(repo, "skill", "defer", "--all");
  const prompts = [FITTING, "Fill in the PDF forms and merge the PDF files.", ORDINARY];
  const calls = prompts.map((prompt, at) => agent(prompt, { isBackground: at === 1 }));
  const server = await testServer(steps([{ tools: calls }, { text: "done" }]));
  await runClaude({ repo, server, prompt: ORDINARY });
  const named = prompts.map((prompt) => {
    const request = server.of("sub-agent").find((one) => messagesText(one).includes(prompt));
    return [...messagesText(request!).matchAll(/skill\(name: "([^"]+)"\)/g)].map(([, name]) => name);
  });
  expect(named).toEqual([["release-notes"], ["pdf-forms"], []]);
});
