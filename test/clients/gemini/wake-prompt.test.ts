/** `haversack agent prompt` with the real Gemini CLI: a new session with the packet, then the same session again. */
import { expect, it } from "vitest";
import { messagesText } from "../request-text.ts";
import { onPath, runHaversack } from "../run-haversack.ts";
import { testServer } from "./gemini-test.ts";
import { haversack, wire } from "./haversack-repo.ts";
import { geminiProgram } from "./install.ts";
import { environment } from "./run-gemini.ts";
import { scratchGemini } from "./scratch-gemini.ts";

it("starts a session with the packet as its prompt and resumes it; nothing comes twice", async () => {
  const repo = scratchGemini();
  repo.writeSkill(".claude/skills", "pdf-forms", { description: "Fills in PDF forms." });
  haversack(repo, "skill", "index");
  wire(repo, "project");
  const { id } = JSON.parse(haversack(repo, "task", "create", "Limit logins", "--skill", "pdf-forms", "--json"));
  haversack(repo, "agent", "add", "backend", "--role", "implementer", "--client", "gemini");
  haversack(repo, "claim", id, "--agent", "backend");
  const server = await testServer();
  const env = environment({ repo, server });
  env["PATH"] = `${onPath(repo.base, "gemini", [process.execPath, geminiProgram()])}:${env["PATH"]}`;
  const prompt = (text: string) =>
    runHaversack(["agent", "prompt", "backend", text, "--", "--yolo"], { cwd: repo.root, env });

  const first = await prompt("FIRST-MESSAGE");
  expect(first, first.stderr).toMatchObject({ exitCode: 0 });
  expect(first.stderr).toContain("starting a session for @backend");
  const text = messagesText(server.of("main")[0]!);
  for (const part of ["FIRST-MESSAGE", "From Haversack", "BODY-OF-pdf-forms"])
    expect(text.split(part).length - 1, part).toBe(1);

  const second = await prompt("SECOND-MESSAGE");
  expect(second, second.stderr).toMatchObject({ exitCode: 0 });
  expect(second.stderr).toContain("resuming @backend's session");
  const whole = messagesText(server.of("main").at(-1)!);
  for (const part of ["FIRST-MESSAGE", "SECOND-MESSAGE", "BODY-OF-pdf-forms"])
    expect(whole.split(part).length - 1, part).toBe(1);
});
