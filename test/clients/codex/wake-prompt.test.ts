/** `haversack agent prompt` with the real Codex: a new session with the packet, then the same session again. */
import { expect, it } from "vitest";
import { onPath, runHaversack } from "../run-haversack.ts";
import { testServer } from "./codex-test.ts";
import { haversack, haversackRepo, ours } from "./haversack-repo.ts";
import { codexProgram } from "./install.ts";
import { argumentsOf, environment } from "./run-codex.ts";

it("starts a session with the packet as its prompt and resumes it; nothing comes twice", async () => {
  const repo = haversackRepo("user");
  const { id } = JSON.parse(haversack(repo, "task", "create", "Limit logins", "--skill", "pdf-forms", "--json"));
  haversack(repo, "agent", "add", "backend", "--role", "implementer", "--client", "codex");
  haversack(repo, "claim", id, "--agent", "backend");
  const server = await testServer();
  const env = environment({ repo, server });
  env["PATH"] = `${onPath(repo.base, "codex", [codexProgram()])}:${env["PATH"]}`;
  // Without the command and the prompt: what a person would give after --.
  const own = argumentsOf({ repo, server, prompt: "" }).slice(1, -1);
  const prompt = (text: string) =>
    runHaversack(["agent", "prompt", "backend", text, "--", ...own], { cwd: repo.root, env });

  const first = await prompt("FIRST-MESSAGE");
  expect(first, first.stderr).toMatchObject({ exitCode: 0 });
  expect(first.stderr).toContain("starting a session for @backend");
  const [begun] = server.of("main");
  const text = JSON.stringify(begun?.input);
  for (const part of ["FIRST-MESSAGE", "From Haversack, because a message came", "BODY-OF-pdf-forms"])
    expect(text.split(part).length - 1, part).toBe(1);
  expect(ours(begun)).toEqual([]);

  const second = await prompt("SECOND-MESSAGE");
  expect(second, second.stderr).toMatchObject({ exitCode: 0 });
  expect(second.stderr).toContain("resuming @backend's session");
  const whole = JSON.stringify(server.of("main").at(-1)?.input);
  for (const part of ["FIRST-MESSAGE", "SECOND-MESSAGE", "BODY-OF-pdf-forms"])
    expect(whole.split(part).length - 1, part).toBe(1);
});
