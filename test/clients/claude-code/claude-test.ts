/** A scripted server and a run of Claude Code that are cleaned up with the test. */
import { onTestFinished } from "vitest";
import type { Script } from "../script.ts";
import { type ScriptedServer, startScriptedServer } from "../scripted-server.ts";
import { type ClaudeOptions, type ClaudeRun, runClaude } from "./run-claude.ts";
import { type ScratchRepo, scratchRepo } from "./scratch-repo.ts";

/** A scripted server that is closed when the test is over; a fault of the script then fails the test. */
export async function testServer(script?: Script): Promise<ScriptedServer> {
  const server = await startScriptedServer(script);
  onTestFinished(() => server.close());
  return server;
}

/** One prompt in an empty repository. */
export async function claudeOnce(
  prompt: string,
  script?: Script,
  options?: Partial<ClaudeOptions>,
): Promise<{ run: ClaudeRun; server: ScriptedServer; repo: ScratchRepo }> {
  const repo = scratchRepo();
  const server = await testServer(script);
  return { run: await runClaude({ repo, server, prompt, ...options }), server, repo };
}
