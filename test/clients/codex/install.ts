/**
 * The pinned Codex, installed once from this folder's own lock file. Runs before the client tests; when it cannot
 * install, the whole run fails with the reason: a client that is not there is never skipped.
 *
 * No install script runs (`--ignore-scripts`): the platform's package already holds the program.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const FOLDER = import.meta.dirname;
const INSTALL_LIMIT_MS = 300_000;

/** Vitest's global setup. */
export default function setup(): void {
  if (installedVersion() !== pinnedVersion()) install();
  const version = installedVersion();
  if (version !== pinnedVersion()) throw new Error(`Codex ${pinnedVersion()} is pinned, ${version} is installed`);
}

/** The program itself. */
export function codexProgram(): string {
  const name = platformPackage();
  const vendor = join(FOLDER, "node_modules", name, "vendor");
  // One folder, named after the compiler's target.
  const [target = ""] = existsSync(vendor) ? readdirSync(vendor) : [];
  const program = join(vendor, target, "bin", process.platform === "win32" ? "codex.exe" : "codex");
  if (existsSync(program)) return program;
  throw new Error(
    `${name} has no program at ${program}; run the tests with test/clients/vitest.config.ts, which installs it`,
  );
}

export function pinnedVersion(): string {
  const { dependencies } = JSON.parse(readFileSync(join(FOLDER, "package.json"), "utf8"));
  return dependencies["@openai/codex"];
}

/** Undefined when it is not installed. Read, not asked: the program writes into the person's home even for `--version`. */
function installedVersion(): string | undefined {
  const file = join(FOLDER, "node_modules", platformPackage(), "package.json");
  if (!existsSync(file) || !existsSync(codexProgram())) return undefined;
  return JSON.parse(readFileSync(file, "utf8")).version.replace(`-${process.platform}-${process.arch}`, "");
}

function install(): void {
  const [program, ...first] = npmCommand();
  const args = [...first, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-workspaces"];
  try {
    execFileSync(program, args, { cwd: FOLDER, encoding: "utf8", timeout: INSTALL_LIMIT_MS, stdio: "pipe" });
  } catch (cause) {
    const { stderr = "" } = cause as { stderr?: string };
    throw new Error(`Codex ${pinnedVersion()} could not be installed (npm ci in ${FOLDER}).\n${stderr}`, {
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
  return `@openai/codex-${process.platform}-${process.arch}`;
}
