/** Installs a pinned client from its folder's own lock file, once; a client that cannot be installed fails the run. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const INSTALL_LIMIT_MS = 300_000;

export interface PinnedClient {
  folder: string;
  packageName: string;
  /** As people call it. */
  title: string;
}

export function installClient({ folder, packageName, title }: PinnedClient): void {
  const pinned = pinnedIn(folder, packageName);
  if (installedIn(folder, packageName) !== pinned) install(folder, `${title} ${pinned}`);
  const version = installedIn(folder, packageName);
  if (version !== pinned) throw new Error(`${title} ${pinned} is pinned, ${version} is installed`);
}

export function pinnedIn(folder: string, packageName: string): string {
  const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return { ...dependencies, ...optionalDependencies }[packageName];
}

/** Undefined when it is not installed. npm writes its own lock file last, so one that was interrupted does not count. */
function installedIn(folder: string, packageName: string): string | undefined {
  const file = join(folder, "node_modules/.package-lock.json");
  if (!existsSync(file)) return undefined;
  return JSON.parse(readFileSync(file, "utf8")).packages[`node_modules/${packageName}`]?.version;
}

function install(folder: string, what: string): void {
  const [program, ...first] = npmCommand();
  const args = [...first, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-workspaces"];
  try {
    execFileSync(program, args, { cwd: folder, encoding: "utf8", timeout: INSTALL_LIMIT_MS, stdio: "pipe" });
  } catch (cause) {
    const { stderr = "" } = cause as { stderr?: string };
    throw new Error(`${what} could not be installed (npm ci in ${folder}).\n${stderr}`, { cause });
  }
}

/** The npm that runs us, else the one on the PATH. */
function npmCommand(): [string, ...string[]] {
  const script = process.env["npm_execpath"];
  return script?.endsWith(".js") ? [process.execPath, script] : ["npm"];
}
