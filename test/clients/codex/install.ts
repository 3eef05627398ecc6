/**
 * The pinned Codex, installed once from this folder's own lock file. Runs before the client tests; if it cannot be
 * installed, the whole run fails with the reason: a missing client is never skipped.
 *
 * No install script runs (`--ignore-scripts`): the platform's package already holds the program.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { installClient, pinnedIn } from "../install-client.ts";

const FOLDER = import.meta.dirname;
const PACKAGE = "@openai/codex";
const PLATFORM_PACKAGE = `${PACKAGE}-${process.platform}-${process.arch}`;

/** Vitest's global setup. */
export default function setup(): void {
  installClient({ folder: FOLDER, packageName: PACKAGE, programPackage: PLATFORM_PACKAGE, title: "Codex" });
}

/** The program itself. */
export function codexProgram(): string {
  const vendor = join(FOLDER, "node_modules", PLATFORM_PACKAGE, "vendor");
  // One folder, named after the compiler's target.
  const [target = ""] = existsSync(vendor) ? readdirSync(vendor) : [];
  const program = join(vendor, target, "bin", process.platform === "win32" ? "codex.exe" : "codex");
  if (existsSync(program)) return program;
  throw new Error(
    `${PLATFORM_PACKAGE} has no program at ${program}; run the tests with test/clients/vitest.config.ts, which installs it`,
  );
}

export function pinnedVersion(): string {
  return pinnedIn(FOLDER, PACKAGE);
}
