/** The hooks that the real client knows, with what it makes of the person's review: asked from its own server. */
import { expect } from "vitest";
import { type ListedHook, listHooksOf } from "./app-server.ts";
import type { CodexRepo } from "./codex-repo.ts";
import { testServer } from "./codex-test.ts";
import { codexProgram } from "./install.ts";

/** With plugins it asks other hosts for catalogues, too; the scripted server refuses. */
export async function listHooks({ root, env }: CodexRepo, { plugins = true } = {}): Promise<ListedHook[]> {
  const server = await testServer();
  const config = { "features.plugins": plugins };
  const hooks = await listHooksOf({ root, env, server, program: codexProgram(), config });
  if (!plugins) expect(server.strayHosts).toEqual([]);
  return hooks;
}
