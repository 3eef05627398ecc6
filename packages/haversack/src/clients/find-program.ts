/** Programs on the PATH, and folders: how `init` and `doctor` find the clients, and `prompt` the one to start. */
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, resolve } from "node:path";

type Environment = Readonly<Record<string, string | undefined>>;

/** The program's file; undefined: it is not on the PATH. */
export function findOnPath(program: string, env: Environment): string | undefined {
  return allOnPath(program, env)[0];
}

/** One for each folder that has it, the one that runs first. */
export function allOnPath(program: string, env: Environment): string[] {
  const names = process.platform === "win32" ? [`${program}.exe`, `${program}.cmd`] : [program];
  return (env["PATH"] ?? "").split(delimiter).flatMap((folder) => {
    return names.map((name) => resolve(folder, name)).find((file) => folder !== "" && isProgram(file)) ?? [];
  });
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
