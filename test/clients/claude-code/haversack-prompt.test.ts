/** From a prompt to the model's request: what Haversack adds, when it adds nothing, and that earlier messages do not change. */
import { expect, it } from "vitest";
import { firstChange, messagesText } from "../request-text.ts";
import { steps, toolCall } from "../script.ts";
import { testServer } from "./claude-test.ts";
import { count, FITTING, haversack, haversackRepo, NAMING, ORDINARY, ours } from "./haversack-repo.ts";
import { runClaude } from "./run-claude.ts";

it("brings the right skill once in 14 similar prompts, and its name when skills are asked for; no earlier byte changes", async () => {
  const repo = haversackRepo();
  const server = await testServer();
  const similar = Array.from({ length: 14 }, (_, at) => `${FITTING} Now part ${at + 1}.`);
  const asked = "Which skill should I use?";
  const run = await runClaude({ repo, server, prompt: [ORDINARY, ...similar, asked, ORDINARY] });
  expect(run).toMatchObject({ exitCode: 0, stderr: "" });
  const requests = server.of("main");
  expect(requests.map((request) => ours(request).length)).toEqual([0, ...similar.map(() => 1), 2, 2]);
  expect(count(messagesText(requests[14]!), "release-notes (")).toBe(0);
  expect(count(messagesText(requests[14]!), "## release-notes\n")).toBe(1);
  const [full, names] = ours(requests.at(-1));
  expect(full?.event).toBe("UserPromptSubmit");
  expect(full?.text).toContain("# Skill Recommendations");
  expect(full?.text).toContain("Brief: Writes release notes and changelog entries from merged pull\n");
  expect(full?.text).toContain('Activate: Skill(skill: "release-notes")');
  expect(full?.text).not.toMatch(/pdf-forms|sql-tuning/);
  expect(names?.text).toMatch(/^# Skills Available\n\nrelease-notes\n/);
  expect(names?.text.length).toBeLessThan(150);
  for (const [at, later] of requests.entries()) {
    if (at > 0) expect(firstChange(requests[at - 1]!, later)).toBeUndefined();
  }
});

it("loads the body of a skill that the prompt names, once, and says why; --resume doubles nothing", async () => {
  const repo = haversackRepo();
  const server = await testServer();
  const { sessionId } = await runClaude({ repo, server, prompt: [NAMING, NAMING] });
  await runClaude({ repo, server, prompt: NAMING, args: ["--resume", sessionId] });
  const requests = server.of("main");
  expect(requests.map((request) => ours(request).length)).toEqual([1, 1, 1]);
  expect(ours(requests[0])[0]?.text).toMatch(/^## AUTO-LOADED SKILL: pdf-forms \(the prompt names it\)/);
  expect(count(messagesText(requests[2]!), "BODY-OF-pdf-forms")).toBe(1);
  expect(firstChange(requests[0]!, requests[1]!)).toBeUndefined();
});

it.each(["listed", "deferred"])("leaves a %s skill that the person calls by /name to the client", async (kind) => {
  const repo = haversackRepo();
  if (kind === "deferred") haversack(repo, "skill", "defer", "--all");
  const server = await testServer();
  await runClaude({ repo, server, prompt: ["/pdf-forms fill it in", NAMING, "/compact", ORDINARY] });
  const bodies = server.of("main").map((request) => count(messagesText(request), "BODY-OF-pdf-forms"));
  expect(bodies).toEqual([1, 1, 1]);
  expect(server.of("main").flatMap(ours)).toEqual([]);
});

it("takes a background agent's report for no prompt", async () => {
  const repo = haversackRepo();
  const agent = toolCall("Agent", {
    description: "report",
    prompt: "Report.",
    subagent_type: "general-purpose",
    run_in_background: true,
  });
  const server = await testServer(
    steps([{ tools: [agent] }, { text: "started" }], { kind: "sub-agent", reply: { text: `${NAMING} ${FITTING}` } }),
  );
  await runClaude({ repo, server, prompt: "Delegate." });
  expect(messagesText(server.of("main").at(-1)!)).toContain("<task-notification>");
  expect(server.requests.flatMap(ours)).toEqual([]);
});

it("starts anew after /clear", async () => {
  const repo = haversackRepo();
  const server = await testServer();
  await runClaude({ repo, server, prompt: [FITTING, FITTING, "/clear", FITTING] });
  const last = ours(server.of("main").at(-1));
  expect(last).toHaveLength(1);
  expect(last[0]?.text).toContain("# Skill Recommendations");
});

it("cuts a huge skill that is named so that all of the text reaches the model", async () => {
  const line = "Read the plan of every query before any index is added to a table that is large.\n";
  const body = `# Huge\n\nBODY-OF-huge\n\n${line.repeat(200_000 / line.length)}\nEND-OF-huge`;
  const repo = haversackRepo({ "huge-guide": { description: "A guide to very large tables.", body } });
  const server = await testServer();
  await runClaude({ repo, server, prompt: ["Follow the huge-guide skill.", ORDINARY] });
  const [request] = server.of("main");
  const text = ours(request)[0]?.text.split("(haversack)")[0] ?? "";
  expect(text).toMatch(/^## AUTO-LOADED SKILL: huge-guide/);
  expect(text.length).toBeGreaterThan(8_000);
  expect(text.length).toBeLessThan(10_000);
  expect(text).toContain('[cut to fit; the rest: Skill(skill: "huge-guide")]');
  // The client moves a text that is too long to a file and shows a preview.
  expect(messagesText(request!)).not.toMatch(/saved to|preview/i);
});

it("session list says how full the context of the running session is", async () => {
  const repo = haversackRepo();
  let listed: { client: string; context?: { used_tokens: number } }[] = [];
  const server = await testServer((request, n) => {
    if (request.kind !== "main") return undefined;
    if (n === 1)
      return { tools: [toolCall("Bash", { command: "true" })], usage: { inputTokens: 5_000, outputTokens: 20 } };
    if (n === 2) listed = JSON.parse(haversack(repo, "session", "list", "--json")).sessions;
    return { text: "end" };
  });
  await runClaude({ repo, server, prompt: ORDINARY });
  expect(listed).toMatchObject([{ client: "claude-code", context: { used_tokens: 5_020 } }]);
});
