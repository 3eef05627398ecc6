/** Where the real client keeps the person's review of hooks: `doctor` reads it there. Nothing is trusted here: the hash is none. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, it } from "vitest";
import { ownHooks } from "../../../packages/haversack/src/clients/codex/hooks-file.ts";
import { hookKey, readTrust } from "../../../packages/haversack/src/clients/codex/trust.ts";
import type { CodexRepo } from "./codex-repo.ts";
import { testServer } from "./codex-test.ts";
import { haversackRepo } from "./haversack-repo.ts";
import { codexProgram } from "./install.ts";
import { environment } from "./run-codex.ts";

interface ListedHook {
  key: string;
  trustStatus: string;
  enabled: boolean;
}

it("keeps it in config.toml under file, event and place", async () => {
  const repo = haversackRepo("user");
  const file = join(repo.codexHome, "hooks.json");
  const hooks = ownHooks(JSON.parse(readFileSync(file, "utf8")));
  const keys = hooks.map((hook) => hookKey(file, hook));
  const before = await listHooks(repo);
  expect(before.map(({ key }) => key).sort()).toEqual(keys.toSorted());
  expect(new Set(before.map(({ trustStatus }) => trustStatus))).toEqual(new Set(["untrusted"]));

  const [reviewed, off] = keys;
  repo.addConfig(`\n[hooks.state.${JSON.stringify(reviewed)}]\ntrusted_hash = "sha256:none"\n`);
  repo.addConfig(`[hooks.state.${JSON.stringify(off)}]\nenabled = false\n`);
  const after = new Map((await listHooks(repo)).map((hook) => [hook.key, hook]));
  // A review of something else: the client has found it, and does not count it.
  expect(after.get(reviewed!)).toMatchObject({ trustStatus: "modified", enabled: true });
  expect(after.get(off!)).toMatchObject({ trustStatus: "untrusted", enabled: false });

  const config = readFileSync(join(repo.codexHome, "config.toml"), "utf8");
  const trust = readTrust(config, { root: repo.root, file, hooks });
  expect(trust.unreviewed).toEqual(hooks.slice(1).map(({ event }) => event));
  expect(trust.switchedOff).toEqual([hooks[1]?.event]);
});

/** Asks the client's own server for its list. */
async function listHooks(repo: CodexRepo): Promise<ListedHook[]> {
  const server = await testServer();
  const args = ["app-server", "-c", "features.plugins=false", "-c", "features.apps=false"];
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
  expect(server.strayHosts).toEqual([]);
  return hooks;
}
