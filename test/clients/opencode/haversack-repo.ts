/** A scratch repository that is wired for opencode as `init` does it. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { opencode } from "../../../packages/haversack/src/clients/opencode/wiring.ts";
import { readText } from "../../../packages/haversack/src/engine/init.ts";
import { haversack } from "../run-haversack.ts";
import { type ScratchOpencode, scratchOpencode } from "./scratch-opencode.ts";

export { haversack };

const DIST = join(import.meta.dirname, "../../../packages/haversack/dist");
export const BIN = join(DIST, "haversack.cjs");

/** With one skill, in a folder that opencode reads itself. */
export function haversackRepo(): ScratchOpencode {
  const repo = scratchOpencode();
  const description = "Writes release notes and changelog entries from merged pull requests and the git log.";
  repo.writeSkill(".claude/skills", "release-notes", { description });
  haversack(repo, "skill", "index");
  const installed = { node: process.execPath, hook: join(DIST, "hook.cjs"), bin: BIN };
  const env = { ...repo.env, PATH: process.env["PATH"] ?? "" };
  for (const file of opencode.files({ scope: "project", cwd: repo.root, env, installed, hasGuards: false })) {
    mkdirSync(dirname(file.path), { recursive: true });
    writeFileSync(file.path, file.wire(readText(file.path) ?? file.blank).text);
  }
  return repo;
}
