/** A scripted server and a run of Codex that are cleaned up with the test. */
import { onTestFinished } from "vitest";
import { type ResponsesServer, startResponsesServer } from "../responses-server.ts";
import type { Script } from "../script.ts";
import { type CodexRepo, codexRepo } from "./codex-repo.ts";
import { type CodexOptions, type CodexRun, runCodex } from "./run-codex.ts";

/** A scripted server that is closed when the test is over; a fault of the script then fails the test. */
export async function testServer(script?: Script): Promise<ResponsesServer> {
  const server = await startResponsesServer(script);
  onTestFinished(() => server.close());
  return server;
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
