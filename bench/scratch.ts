/** A scratch project in a temporary folder, and the built bins. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

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
