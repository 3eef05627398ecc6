/**
 * Which skills the real Gemini CLI lists by itself: every skill that profile.ts counts as listed must be listed, and the client's own tool must load
 * it.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { geminiProfile } from "../../../packages/haversack/src/clients/gemini/adapter.ts";
import { openDatabase } from "../../../packages/haversack/src/store/sqlite/open.ts";
import { SqliteSkillIndex } from "../../../packages/haversack/src/store/sqlite/skills/skill-index.ts";
import { textOf } from "../request-text.ts";
import { steps, toolCall } from "../script.ts";
import { testServer } from "./gemini-test.ts";
import { runGemini } from "./run-gemini.ts";
import { type ScratchGemini, scratchGemini } from "./scratch-gemini.ts";

const BIN = join(import.meta.dirname, "../../../packages/haversack/dist/haversack.cjs");

it("lists the skills of its own folders and the shared ones, and those are the ones that we send to its tool", async () => {
  const repo = scratchGemini();
  const { root, home } = repo;
  const folders: [parent: string, folder: string][] = [
    [root, ".gemini/skills"],
    [home, ".gemini/skills"],
    [root, ".agents/skills"],
    [home, ".agents/skills"],
    [root, ".claude/skills"],
    [root, ".opencode/skills"],
    [home, ".opencode/skill"],
    [root, ".haversack/skills"],
    [root, ".gemini/skills/deeper"],
    [root, ".agents/skills/deeper"],
  ];
  for (const [at, [parent, folder]] of folders.entries()) putSkill(join(parent, folder), `knot-${at}`);
  const server = await testServer(
    steps([{ tools: [toolCall("activate_skill", { name: "knot-0" })] }, { text: "end" }]),
  );
  await runGemini({ repo, server, prompt: "Go." });
  const [first, second] = server.of("main");
  const said = textOf(first!) + JSON.stringify(first!.tools);
  const listed = folders.map((_, at) => `knot-${at}`).filter((name) => said.includes(`LISTED-${name}.`));
  expect(second?.toolResults[0]?.text).toContain("BODY-OF-knot-0");
  expect(listed).toHaveLength(4);
  expect(listedByUs(repo)).toEqual({ indexed: folders.length, listed: listed.sort() });
});

function putSkill(folder: string, name: string): void {
  mkdirSync(join(folder, name), { recursive: true });
  const text = `---\nname: ${name}\ndescription: LISTED-${name}.\n---\n\nBODY-OF-${name}\n`;
  writeFileSync(join(folder, name, "SKILL.md"), text);
}

function listedByUs({ root, env }: ScratchGemini): { indexed: number; listed: string[] } {
  mkdirSync(join(root, ".haversack"), { recursive: true });
  const options = { cwd: root, env: { ...env, PATH: process.env["PATH"] }, encoding: "utf8" as const };
  const { status, stderr } = spawnSync(process.execPath, [BIN, "skill", "index"], options);
  if (status !== 0) throw new Error(`skill index: ${stderr}`);
  const handle = openDatabase(join(root, ".haversack/haversack.db"), { durability: "normal" });
  const cards = new SqliteSkillIndex(handle.db).listCards();
  handle.db.close();
  const { ownTool } = geminiProfile(root, env);
  return {
    indexed: cards.length,
    listed: cards
      .filter((card) => ownTool?.sees(card))
      .map(({ id }) => id)
      .sort(),
  };
}
