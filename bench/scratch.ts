/** A scratch project in a temporary folder, and the built bins. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { syntheticSkills } from "./synthetic-skills.ts";

export const BIN = join(import.meta.dirname, "../packages/haversack/dist/haversack.cjs");
export const HOOK = join(import.meta.dirname, "../packages/haversack/dist/hook.cjs");

export interface Scratch {
  root: string;
  /** An environment whose home and config folder are inside the scratch folder. */
  env: Record<string, string>;
  remove(): void;
}

export function makeScratch(): Scratch {
  const base = mkdtempSync(join(tmpdir(), "haversack-bench-"));
  const root = join(base, "project");
  mkdirSync(join(root, ".haversack"), { recursive: true });
  return {
    root,
    env: { HOME: join(base, "home"), XDG_CONFIG_HOME: join(base, "home/.config") },
    remove: () => rmSync(base, { recursive: true, force: true }),
  };
}

/** In `.claude/skills`, indexed by the built CLI. */
export function indexSyntheticSkills({ root, env }: Scratch, count: number): void {
  for (const { name, text } of syntheticSkills(count)) {
    const folder = join(root, ".claude/skills", name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "SKILL.md"), text);
  }
  const { status, stderr } = spawnSync(process.execPath, [BIN, "skills", "index"], {
    cwd: root,
    env: { ...process.env, ...env },
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`skills index: ${stderr}`);
}
