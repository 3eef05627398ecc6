/**
 * The pinned Claude Code, installed once from this folder's own lock file. Runs before the client tests; when it cannot
 * install, the whole run fails with the reason: a client that is not there is never skipped.
 *
 * No install script runs (`--ignore-scripts`): the platform's package already holds the program.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const FOLDER = import.meta.dirname;
const INSTALL_LIMIT_MS = 300_000;

/** Vitest's global setup. */
export default function setup(): void {
  if (installedVersion() !== pinnedVersion()) install();
  const version = installedVersion();
  if (version !== pinnedVersion()) throw new Error(`Claude Code ${pinnedVersion()} is pinned, ${version} is installed`);
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
  const { dependencies } = JSON.parse(readFileSync(join(FOLDER, "package.json"), "utf8"));
  return dependencies["@anthropic-ai/claude-code"];
}

/** What the program says of itself; undefined when it is not installed. */
function installedVersion(): string | undefined {
  if (!existsSync(join(FOLDER, "node_modules", platformPackage()))) return undefined;
  return execFileSync(claudeProgram(), ["--version"], { encoding: "utf8", timeout: 30_000 }).split(" ")[0];
}

function install(): void {
  const [program, ...first] = npmCommand();
  const args = [...first, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-workspaces"];
  try {
    execFileSync(program, args, { cwd: FOLDER, encoding: "utf8", timeout: INSTALL_LIMIT_MS, stdio: "pipe" });
  } catch (cause) {
    const { stderr = "" } = cause as { stderr?: string };
    throw new Error(`Claude Code ${pinnedVersion()} could not be installed (npm ci in ${FOLDER}).\n${stderr}`, {
      cause,
    });
  }
}

/** The npm that runs us, else the one on the PATH. */
function npmCommand(): [string, ...string[]] {
  const script = process.env["npm_execpath"];
  return script?.endsWith(".js") ? [process.execPath, script] : ["npm"];
}

function platformPackage(): string {
  return `@anthropic-ai/claude-code-${process.platform}-${process.arch}${isMusl() ? "-musl" : ""}`;
}

function isMusl(): boolean {
  if (process.platform !== "linux") return false;
  const report = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
  return report.header.glibcVersionRuntime === undefined;
}
