/** `haversack agent prompt` with the real opencode: a new session with the packet, then the same session again. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { opencode } from "../../../packages/haversack/src/clients/opencode/wiring.ts";
import { readText } from "../../../packages/haversack/src/engine/init.ts";
import { messagesText } from "../request-text.ts";
import { onPath, runHaversack } from "../run-haversack.ts";
import { opencodeProgram } from "./install.ts";
import { testServer } from "./opencode-test.ts";
import { environment, providerConfig } from "./run-opencode.ts";
import { scratchOpencode } from "./scratch-opencode.ts";

const DIST = join(import.meta.dirname, "../../../packages/haversack/dist");

it("starts a session with the packet as its prompt and resumes it; nothing comes twice", async () => {
  const repo = scratchOpencode();
  repo.writeSkill(".claude/skills", "pdf-forms", { description: "Fills in PDF forms." });
  const installed = { node: process.execPath, hook: join(DIST, "hook.cjs"), bin: join(DIST, "haversack.cjs") };
  const place = { scope: "project", cwd: repo.root, env: repo.env, installed, hasGuards: false } as const;
  for (const file of opencode.files(place)) {
    mkdirSync(dirname(file.path), { recursive: true });
    writeFileSync(file.path, file.wire(readText(file.path) ?? file.blank).text);
  }
  const server = await testServer();
  repo.writeConfig(providerConfig(server, 200_000));
  const env = environment({ repo, server });
  env["PATH"] = `${onPath(repo.base, "opencode", [opencodeProgram()])}:${env["PATH"]}`;
  const haversack = async (...words: string[]) => {
    const run = await runHaversack(words, { cwd: repo.root, env });
    expect(run, run.stderr).toMatchObject({ exitCode: 0 });
    return run;
  };
  await haversack("skill", "index");
  const created = await haversack("task", "create", "Limit logins", "--skill", "pdf-forms", "--json");
  await haversack("agent", "add", "backend", "--role", "implementer", "--client", "opencode");
  await haversack("claim", JSON.parse(created.stdout).id, "--agent", "backend");

  const first = await haversack("prompt", "backend", "FIRST-MESSAGE");
  expect(first.stderr).toContain("starting a session for @backend");
  const text = messagesText(server.of("main")[0]!);
  for (const part of ["FIRST-MESSAGE", "From Haversack", "BODY-OF-pdf-forms"])
    expect(text.split(part).length - 1, part).toBe(1);

  const second = await haversack("prompt", "backend", "SECOND-MESSAGE");
  expect(second.stderr).toContain("resuming @backend's session");
  const whole = messagesText(server.of("main").at(-1)!);
  for (const part of ["FIRST-MESSAGE", "SECOND-MESSAGE", "BODY-OF-pdf-forms"])
    expect(whole.split(part).length - 1, part).toBe(1);
});
