/** A scripted server and a run of Codex that are cleaned up with the test. */
import { RESPONSES_API } from "../responses-api.ts";
import type { ResponsesServer } from "../responses-server.ts";
import type { Script } from "../script.ts";
import { startTestServer } from "../test-server.ts";
import { type CodexRepo, codexRepo } from "./codex-repo.ts";
import { type CodexOptions, type CodexRun, runCodex } from "./run-codex.ts";

export function testServer(script?: Script): Promise<ResponsesServer> {
  return startTestServer(RESPONSES_API, script);
}

/** One prompt in a repository, by default an empty one with the hook recorder. */
export async function codexOnce(
  prompt: string,
  script?: Script,
  options: Partial<CodexOptions> = {},
): Promise<{ run: CodexRun; server: ResponsesServer; repo: CodexRepo }> {
  const repo = options.repo ?? codexRepo();
  if (!options.repo) repo.recordHooks();
  const server = await testServer(script);
  return { run: await runCodex({ repo, server, prompt, ...options }), server, repo };
}
