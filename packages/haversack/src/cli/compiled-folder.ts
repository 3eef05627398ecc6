/** The user's folder for compiled code, which docs/trust.md describes: nobody else may have written what is in it. */
import { existsSync, lstatSync } from "node:fs";
import { makeFolder, makePrivate, USER } from "../base/safe-write.ts";

/** Undefined: there is no place for it. A relative one would be in the project. */
export function compiledFolder(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const base = env["XDG_CACHE_HOME"] || (env["HOME"] && `${env["HOME"]}/.cache`);
  return base?.startsWith("/") ? `${base}/haversack` : undefined;
}

/** It is there, no link, this user's, and closed to others. */
export function isPrivate(folder: string): boolean {
  const { mode = 0, uid } = lstatSync(folder, { throwIfNoEntry: false }) ?? {};
  return uid === process.getuid?.() && (mode & 0o170077) === 0o040000;
}

/** The next start finds what this one compiled. */
export function makeCompiledFolder(env: Readonly<Record<string, string | undefined>>): void {
  const folder = compiledFolder(env);
  if (!folder || existsSync(folder)) return;
  try {
    makeFolder(folder, { within: USER, mode: 0o700 });
    makePrivate(folder, 0o700);
  } catch {
    // No such folder can be made: the next start compiles again.
  }
}
