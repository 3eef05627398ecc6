/** A scratch project in a temporary folder, and the built bins. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeRecordedStore, userStateFolder } from "../packages/haversack/src/base/project-trust.ts";
import { syntheticSkills } from "./synthetic-skills.ts";

const DIST = join(import.meta.dirname, "../packages/haversack/dist");
export const BIN = join(DIST, "haversack.cjs");
export const HOOK = join(DIST, "hook.cjs");

export interface Scratch {
  root: string;
  /** The built CLI to use. */
  bin: string;
  hook: string;
  /** An environment whose home and config folder are inside the scratch folder. */
  env: Record<string, string>;
  remove(): void;
}

/** `dist` contains the built programs. Default: this checkout's. */
export function makeScratch(dist = DIST): Scratch {
  const base = mkdtempSync(join(tmpdir(), "haversack-bench-"));
  const root = join(base, "project");
  mkdirSync(join(root, ".haversack"), { recursive: true });
  const env = {
    HOME: join(base, "home"),
    XDG_CONFIG_HOME: join(base, "home/.config"),
    XDG_STATE_HOME: join(base, "state"),
  };
  // Benchmarks fill the store in their own process, but the built programs only use a store that is recorded as trusted.
  makeRecordedStore(join(root, ".haversack"), userStateFolder(env), new Date());
  return {
    root,
    bin: join(dist, "haversack.cjs"),
    hook: join(dist, "hook.cjs"),
    env,
    remove: () => rmSync(base, { recursive: true, force: true }),
  };
}

/** Writes skills to `.claude/skills` and indexes them with the built CLI. */
export function indexSyntheticSkills({ root, env, bin }: Scratch, count: number): void {
  for (const { name, text } of syntheticSkills(count)) {
    const folder = join(root, ".claude/skills", name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "SKILL.md"), text);
  }
  const { status, stderr } = spawnSync(process.execPath, [bin, "skills", "index"], {
    cwd: root,
    env: { ...process.env, ...env },
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`skills index: ${stderr}`);
}
