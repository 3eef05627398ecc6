/** `haversack agent prompt` with the real client: a new session with the packet, then the same session again. */
import { expect, it } from "vitest";
import { messagesText } from "../request-text.ts";
import { onPath, runHaversack } from "../run-haversack.ts";
import { steps, toolCall } from "../script.ts";
import { testServer } from "./claude-test.ts";
import { count, haversack, haversackRepo, ours, SKILLS } from "./haversack-repo.ts";
import { claudeProgram } from "./install.ts";
import { environment, runClaude } from "./run-claude.ts";
import { firstPrompt, OURS } from "./work-scenario.ts";

it("starts a session with the packet as its prompt and resumes it; nothing comes twice", async () => {
  const repo = haversackRepo(SKILLS);
  const { id } = JSON.parse(haversack(repo, "task", "create", "Limit logins", "--skill", "pdf-forms", "--json"));
  haversack(repo, "agent", "add", "backend", "--role", "implementer", "--client", "claude-code");
  haversack(repo, "claim", id, "--agent", "backend");
  const server = await testServer();
  const env = environment({ repo, server });
  env["PATH"] = `${onPath(repo.base, "claude", [claudeProgram()])}:${env["PATH"]}`;
  const prompt = (text: string) => runHaversack(["agent", "prompt", "backend", text], { cwd: repo.root, env });

  const first = await prompt("FIRST-MESSAGE");
  expect(first, first.stderr).toMatchObject({ exitCode: 0 });
  expect(first.stderr).toContain("starting a session for @backend");
  const [begun] = server.of("main");
  const text = messagesText(begun!);
  expect(text).toContain('the user (person): "FIRST-MESSAGE"');
  for (const part of ["From Haversack", "BODY-OF-pdf-forms", `${id} "Limit logins" is in progress`])
    expect(count(text, part), part).toBe(1);
  expect(ours(begun)).toEqual([]);

  const second = await prompt("SECOND-MESSAGE");
  expect(second, second.stderr).toMatchObject({ exitCode: 0 });
  expect(second.stderr).toContain("resuming @backend's session");
  const whole = messagesText(server.of("main").at(-1)!);
  for (const part of ["FIRST-MESSAGE", "SECOND-MESSAGE", "BODY-OF-pdf-forms"]) expect(count(whole, part), part).toBe(1);
});

it("a sub-agent whose prompt brought the skill is not given it again, not even as its first call", async () => {
  const repo = haversackRepo(SKILLS);
  const { id } = JSON.parse(haversack(repo, "task", "create", "Limit logins", "--skill", "pdf-forms", "--json"));
  const agent = toolCall("Agent", {
    description: "do it",
    prompt: `Implement ${id}.`,
    subagent_type: "general-purpose",
  });
  const load = { tools: [toolCall(`${OURS}skill`, { name: "pdf-forms" })] };
  const server = await testServer(
    steps([{ tools: [agent] }, load, { text: "end" }], { kind: "sub-agent", n: 1, reply: load }),
  );
  await runClaude({ repo, server, prompt: "Delegate." });
  const [, after] = server.of("sub-agent");
  expect(count(firstPrompt(after!), "BODY-OF-pdf-forms")).toBe(1);
  expect(after?.toolResults[0]?.text).toContain("is already in this window");
  expect(after?.toolResults[0]?.text).not.toContain("BODY-OF-pdf-forms");
  // The coordinator's own window never had it.
  const own = server.of("main").flatMap(({ toolResults }) => toolResults.map(({ text }) => text));
  expect(own.join("\n")).toContain("BODY-OF-pdf-forms");
});
