/** The hooks that the real client knows, with what it makes of the person's review: asked from its own server. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { expect } from "vitest";
import type { CodexRepo } from "./codex-repo.ts";
import { testServer } from "./codex-test.ts";
import { codexProgram } from "./install.ts";
import { environment } from "./run-codex.ts";

export interface ListedHook {
  key: string;
  trustStatus: string;
  enabled: boolean;
}

/** With plugins it asks other hosts for catalogues, too; the scripted server refuses. */
export async function listHooks(repo: CodexRepo, { plugins = true } = {}): Promise<ListedHook[]> {
  const server = await testServer();
  const args = ["app-server", "-c", `features.plugins=${plugins}`, "-c", "features.apps=false"];
  const child = spawn(codexProgram(), args, { cwd: repo.root, env: environment({ repo, server }) });
  const limit = setTimeout(() => child.kill("SIGKILL"), 20_000);
  const ended = new Promise((resolve) => child.on("close", resolve));
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  send({ id: 1, method: "initialize", params: { clientInfo: { name: "test", version: "1" } } });
  send({ method: "initialized" });
  send({ id: 2, method: "hooks/list", params: { cwds: [repo.root] } });
  let hooks: ListedHook[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    const { id, result } = JSON.parse(line) as { id?: number; result?: { data: { hooks: ListedHook[] }[] } };
    if (id !== 2) continue;
    hooks = result?.data[0]?.hooks ?? [];
    break;
  }
  child.kill("SIGKILL");
  await ended;
  clearTimeout(limit);
  if (!plugins) expect(server.strayHosts).toEqual([]);
  return hooks;
}
