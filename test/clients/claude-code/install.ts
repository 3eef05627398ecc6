/**
 * The pinned Claude Code, installed once from this folder's own lock file. Runs before the client tests; if it cannot be
 * installed, the whole run fails with the reason: a missing client is never skipped.
 *
 * No install script runs (`--ignore-scripts`): the platform's package already holds the program.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { installClient, pinnedIn } from "../install-client.ts";

const FOLDER = import.meta.dirname;
const PACKAGE = "@anthropic-ai/claude-code";

/** Vitest's global setup. */
export default function setup(): void {
  installClient({ folder: FOLDER, packageName: PACKAGE, programPackage: platformPackage(), title: "Claude Code" });
}

/** The program itself. */
export function claudeProgram(): string {
  const name = platformPackage();
  const program = join(FOLDER, "node_modules", name, process.platform === "win32" ? "claude.exe" : "claude");
  if (existsSync(program)) return program;
  throw new Error(
    `${name} has no program at ${program}; run the tests with test/clients/vitest.config.ts, which installs it`,
  );
}

export function pinnedVersion(): string {
  return pinnedIn(FOLDER, PACKAGE);
}

function platformPackage(): string {
  return `${PACKAGE}-${process.platform}-${process.arch}${isMusl() ? "-musl" : ""}`;
}

function isMusl(): boolean {
  if (process.platform !== "linux") return false;
  const report = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
  return report.header.glibcVersionRuntime === undefined;
}
