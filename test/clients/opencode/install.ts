/**
 * The pinned opencode, installed once from this folder's own lock file, and ripgrep, without which it finds no skills. Runs before
 * the client tests; if it cannot be
 * installed, the whole run fails with the reason: a missing client is never skipped.
 *
 * The platform's package itself is pinned, not the one that chooses it: no install script has to run.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { installClient } from "../install-client.ts";

const FOLDER = import.meta.dirname;
const PLATFORM = `${process.platform}-${process.arch}`;

/** Vitest's global setup. */
export default function setup(): void {
  if (!pinnedVersion()) throw new Error(`opencode is not pinned for ${PLATFORM} in ${join(FOLDER, "package.json")}`);
  installClient({ folder: FOLDER, packageName: `opencode-${PLATFORM}`, title: "opencode" });
}

/** The program itself. */
export function opencodeProgram(): string {
  const program = join(FOLDER, `node_modules/opencode-${PLATFORM}/bin/opencode`);
  if (existsSync(program)) return program;
  throw new Error(`no program at ${program}; run the tests with test/clients/vitest.config.ts, which installs it`);
}

/** The folder of `rg`. */
export function ripgrepFolder(): string {
  return join(FOLDER, `node_modules/@vscode/ripgrep-${PLATFORM}/bin`);
}

export function pinnedVersion(): string | undefined {
  const { optionalDependencies } = JSON.parse(readFileSync(join(FOLDER, "package.json"), "utf8"));
  return optionalDependencies[`opencode-${PLATFORM}`];
}
