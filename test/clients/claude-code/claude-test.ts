/** A scripted server and a run of Claude Code that are cleaned up with the test. */
import { MESSAGES_API } from "../messages-api.ts";
import type { Script } from "../script.ts";
import type { ScriptedServer } from "../scripted-server.ts";
import { startTestServer } from "../test-server.ts";
import { type ClaudeOptions, type ClaudeRun, runClaude } from "./run-claude.ts";
import { type ScratchRepo, scratchRepo } from "./scratch-repo.ts";

export function testServer(script?: Script): Promise<ScriptedServer> {
  return startTestServer(MESSAGES_API, script);
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
