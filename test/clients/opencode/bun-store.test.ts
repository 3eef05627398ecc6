/** The engine inside the real client: stores on Bun's SQLite, skills at prompts, work in progress from tools. */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { expect, it } from "vitest";
import { diskFileSystem } from "../../../packages/haversack/src/base/file-system.ts";
import { recordTrust, userStateFolder } from "../../../packages/haversack/src/base/project-trust.ts";
import { refreshIndex } from "../../../packages/haversack/src/engine/refresh-index.ts";
import { findSkillSources } from "../../../packages/haversack/src/engine/skill-sources.ts";
import { openDatabase } from "../../../packages/haversack/src/store/sqlite/open.ts";
import { SessionState } from "../../../packages/haversack/src/store/sqlite/sessions/session-state.ts";
import { firstChange } from "../request-text.ts";
import { steps, toolCall } from "../script.ts";
import { testServer } from "./opencode-test.ts";
import { runOpencode } from "./run-opencode.ts";
import { type ScratchOpencode, scratchOpencode } from "./scratch-opencode.ts";

const SOURCE = join(import.meta.dirname, "../../../packages/haversack/src");

it("brings the right skill once, keeps silent on an ordinary prompt, and records what tools did", async () => {
  const repo = scratchOpencode();
  const description = "Writes release notes and changelog entries from merged pull requests and the git log.";
  repo.writeSkill(".claude/skills", "release-notes", { description });
  const file = makeStore(repo);
  await bundleProbe(repo);
  const server = await testServer(
    steps([
      { tools: [toolCall("write", { filePath: join(repo.root, "new.txt"), content: "x\n" })] },
      { tools: [toolCall("bash", { command: "echo bad; exit 3", description: "x" })] },
      { text: "end" },
    ]),
  );
  const prompt = "Write the release notes for version 2.4 from the merged pull requests.";
  const run = await runOpencode({ repo, server, prompt });
  await runOpencode({ repo, server, prompt: "Thanks, please go on.", args: ["--session", run.sessionId] });
  expect(run.exitCode).toBe(0);
  const [first] = server.of("main");
  expect(first?.lastUserText).toContain("release-notes");
  expect(first?.lastUserText).toContain('skill(name: "release-notes")');
  const last = server.of("main").at(-1)!;
  expect(last.lastUserText).toContain("Thanks");
  expect(last.lastUserText).not.toContain("release-notes");

  const notes = notesOf(repo);
  expect(notes[0]).toMatchObject({ isOpen: true, bun: expect.any(String) });
  expect(notes.filter(({ level }) => level)).toEqual([]);
  expect(notes.filter(({ promptMs }) => promptMs !== undefined)).toHaveLength(2);
  const handle = openDatabase(file, { durability: "normal" });
  const wip = new SessionState(handle).wip({ sessionId: run.sessionId });
  handle.db.close();
  expect(wip?.data).toMatchObject({ files_modified: ["new.txt"] });
});

it("gives a sub-agent its task's packet and a compacted session its own, and the coordinator's call stays as it was", async () => {
  const repo = scratchOpencode();
  const read = toolCall("read", { filePath: repo.write("a.txt", "alpha\n") });
  makeStore(repo);
  await bundleProbe(repo);
  const spawn = toolCall("task", { description: "look", prompt: "Look around.", subagent_type: "general" });
  const server = await testServer(
    steps([{ tools: [spawn] }, { tools: [read], usage: { inputTokens: 195_000 } }, { tools: [read] }, { text: "end" }]),
  );
  const run = await runOpencode({ repo, server, prompt: "Go." });
  expect(run.exitCode).toBe(0);
  expect(server.of("sub-agent")[0]?.lastUserText).toBe("Look around.\nPACKET-OF-THE-TASK");
  const [, second, third, fourth] = server.of("main");
  expect(JSON.stringify(second?.messages)).not.toContain("PACKET-OF-THE-TASK");
  expect(server.of("compaction")).toHaveLength(1);
  expect(third?.lastUserText).toMatch(/^PACKET-AFTER-COMPACTION\n/);
  // The text stays in its place: the next request begins with the same bytes.
  expect(firstChange(third!, fourth!)).toBeUndefined();
  const kinds = notesOf(repo).flatMap(({ kind }) => (kind ? [kind] : []));
  expect(kinds.slice(0, 6)).toEqual([
    ...["session-start", "before-spawn", "agent-start", "after-spawn", "agent-stop", "session-start"],
  ]);
});

function notesOf(repo: ScratchOpencode): Record<string, unknown>[] {
  const lines = readFileSync(join(repo.base, "probe.jsonl"), "utf8").trim().split("\n");
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

function makeStore(repo: ScratchOpencode): string {
  mkdirSync(join(repo.root, ".haversack"));
  const file = join(repo.root, ".haversack/haversack.db");
  const handle = openDatabase(file, { durability: "normal" });
  refreshIndex(handle, {
    ...findSkillSources(repo.root, { env: repo.env, folders: [], fs: diskFileSystem }),
    fs: diskFileSystem,
  });
  handle.db.close();
  recordTrust(join(repo.root, ".haversack"), userStateFolder(repo.env), { at: new Date() });
  return file;
}

/** As scripts/build-opencode.mjs does. */
async function bundleProbe(repo: ScratchOpencode): Promise<void> {
  await build({
    entryPoints: [join(import.meta.dirname, "probe-entry.ts")],
    outfile: join(repo.root, ".opencode/plugin/probe.js"),
    bundle: true,
    format: "esm",
    platform: "node",
    target: "es2023",
    logLevel: "warning",
    plugins: [
      {
        name: "bun-store",
        setup: ({ onResolve }) => {
          onResolve({ filter: /\/quiet\.ts$/ }, () => ({ path: join(SOURCE, "clients/opencode/bun-sqlite-entry.ts") }));
        },
      },
    ],
  });
}
