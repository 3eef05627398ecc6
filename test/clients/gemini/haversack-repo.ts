/** A scratch repository that is wired for Gemini CLI, and what its tests ask of the built program. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gemini } from "../../../packages/haversack/src/clients/gemini/wiring.ts";
import { readText } from "../../../packages/haversack/src/engine/init.ts";
import type { Scope, WiringPlace } from "../../../packages/haversack/src/engine/wiring.ts";
import { haversack } from "../run-haversack.ts";
import { type ScratchGemini, scratchGemini } from "./scratch-gemini.ts";

export { haversack };

const DIST = join(import.meta.dirname, "../../../packages/haversack/dist");
const BIN = join(DIST, "haversack.cjs");

/** One skill, where Gemini CLI does not look itself; not wired yet. */
export function sqlRepo(): ScratchGemini {
  const repo = scratchGemini();
  repo.writeSkill(".claude/skills", "sql-tuning", { description: "Makes slow SQL queries fast." });
  haversack(repo, "skill", "index");
  return repo;
}

export function placeOf(repo: ScratchGemini, scope: Scope): WiringPlace {
  const installed = { node: process.execPath, hook: join(DIST, "hook.cjs"), bin: BIN };
  const env = { ...repo.env, PATH: process.env["PATH"] ?? "" };
  return { scope, cwd: repo.root, env, installed, hasGuards: false };
}

/** As `init` does. */
export function wire(repo: ScratchGemini, scope: Scope): void {
  for (const file of gemini.files(placeOf(repo, scope))) {
    mkdirSync(dirname(file.path), { recursive: true });
    writeFileSync(file.path, file.wire(readText(file.path) ?? file.blank).text);
  }
}
