/** A store that the answering process may only read. Root may write anything, so under root another user answers. */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { DIST } from "../bins.ts";
import type { Project } from "./project.ts";

const isRoot = process.getuid?.() === 0;
const NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"];
const asNobody = [...NOBODY.slice(1), process.execPath, "-e", "0"];
export const canBeRefused = !isRoot || spawnSync(NOBODY[0] as string, asNobody).status === 0;

export function asReader({ home }: Project): { before: string[]; env: Record<string, string> } {
  return isRoot ? { before: NOBODY, env: { HOME: join(home, "nobody"), XDG_CACHE_HOME: "" } } : { before: [], env: {} };
}

export function makeReadOnly(project: Project): void {
  const { base, root, home } = project;
  const [state, nobody] = [join(root, ".haversack"), join(home, "nobody")];
  for (const folder of [base, root]) chmodSync(folder, 0o755);
  mkdirSync(nobody, { recursive: true });
  for (const folder of [home, nobody]) chmodSync(folder, 0o777);
  for (const name of readdirSync(state)) chmodSync(join(state, name), 0o444);
  chmodSync(state, 0o555);
  project.onEnd(() => chmodSync(state, 0o755));
  if (!isRoot) return;
  // The other user has their own record of trusted stores.
  const { before, env } = asReader(project);
  const [program = "", ...args] = [...before, process.execPath, join(DIST, "haversack.cjs"), "trust", "--yes"];
  const { stderr } = spawnSync(program, args, { cwd: root, env: { ...project.env, ...env }, encoding: "utf8" });
  expect(stderr).toBe("");
}
