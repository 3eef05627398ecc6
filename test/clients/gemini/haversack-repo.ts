/** A scratch repository that is wired for Gemini CLI, and what its tests ask of the built program. */
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gemini } from "../../../packages/haversack/src/clients/gemini/wiring.ts";
import { readText } from "../../../packages/haversack/src/engine/init.ts";
import type { Scope, WiringPlace } from "../../../packages/haversack/src/engine/wiring.ts";
import { type ScratchGemini, scratchGemini } from "./scratch-gemini.ts";

const DIST = join(import.meta.dirname, "../../../packages/haversack/dist");
const BIN = join(DIST, "haversack.cjs");

/** One skill, where Gemini CLI does not look itself; not wired yet. */
export function sqlRepo(): ScratchGemini {
  const repo = scratchGemini();
  repo.writeSkill(".claude/skills", "sql-tuning", { description: "Makes slow SQL queries fast." });
  haversack(repo, "skills", "index");
  return repo;
}

/** Runs the built CLI in the repository; anything but exit 0 is a fault of the test. */
export function haversack(repo: ScratchGemini, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [BIN, ...args], {
    cwd: repo.root,
    env: { ...repo.env, PATH: process.env["PATH"] },
    encoding: "utf8",
    timeout: 30_000,
  });
  if (status !== 0) throw new Error(`haversack ${args.join(" ")}: exit ${status}\n${stdout}\n${stderr}`);
  return stdout;
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
