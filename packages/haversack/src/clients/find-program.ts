/** Programs on the PATH, and folders: how `init` and `doctor` find the clients, and `prompt` the one to start. */
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, resolve } from "node:path";

/** The program's file; undefined: it is not on the PATH. */
export function findOnPath(program: string, env: Readonly<Record<string, string | undefined>>): string | undefined {
  const names = process.platform === "win32" ? [`${program}.exe`, `${program}.cmd`] : [program];
  for (const folder of (env["PATH"] ?? "").split(delimiter)) {
    const found = names.map((name) => resolve(folder, name)).find((file) => folder !== "" && isProgram(file));
    if (found) return found;
  }
  return undefined;
}

export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    // Not there, or not to be run by us.
    return false;
  }
}
