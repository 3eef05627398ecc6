/**
 * Installs a pinned client from its folder's own lock file, once; if it cannot be installed, the run fails with the reason: a missing client is never
 * skipped. No install script runs (`--ignore-scripts`).
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const INSTALL_LIMIT_MS = 300_000;
const PLATFORM = `${process.platform}-${process.arch}`;

export interface PinnedClient {
  folder: string;
  /** The one that the folder's package.json pins. */
  packageName: string;
  /** The one that holds the program for this platform. Default: `packageName`. */
  programPackage?: string;
  /** As people call it. */
  title: string;
}

export function installClient({ folder, packageName, programPackage = packageName, title }: PinnedClient): void {
  const pinned = pinnedIn(folder, packageName);
  if (installedIn(folder, programPackage) === pinned) return;
  const { status, error, stderr } = npmInstall(folder);
  const version = installedIn(folder, programPackage);
  // npm exits with 0 although it could not fetch an optional package, such as those for a platform.
  if (status !== 0 || version === undefined) {
    const reason = [error?.message, stderr].filter(Boolean).join("\n");
    throw new Error(`${title} ${pinned} could not be installed (npm ci in ${folder}).\n${reason}`);
  }
  if (version !== pinned) throw new Error(`${title} ${pinned} is pinned, ${version} is installed`);
}

export function pinnedIn(folder: string, packageName: string): string {
  const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return { ...dependencies, ...optionalDependencies }[packageName];
}

/**
 * Undefined when it is not installed. npm writes its own lock file last, so one that was interrupted does not count. Read, not
 * asked: Codex writes into the person's home even for `--version`.
 */
function installedIn(folder: string, packageName: string): string | undefined {
  const file = join(folder, "node_modules/.package-lock.json");
  if (!existsSync(file) || !existsSync(join(folder, "node_modules", packageName))) return undefined;
  const version = JSON.parse(readFileSync(file, "utf8")).packages[`node_modules/${packageName}`]?.version;
  return version?.replace(`-${PLATFORM}`, "");
}

function npmInstall(folder: string) {
  const [program, ...first] = npmCommand();
  // At this level it says why an optional package is missing.
  const args = [...first, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-workspaces", "--loglevel=http"];
  return spawnSync(program, args, { cwd: folder, encoding: "utf8", timeout: INSTALL_LIMIT_MS });
}

/** The npm that runs us, else the one on the PATH. */
function npmCommand(): [string, ...string[]] {
  const script = process.env["npm_execpath"];
  return script?.endsWith(".js") ? [process.execPath, script] : ["npm"];
}
