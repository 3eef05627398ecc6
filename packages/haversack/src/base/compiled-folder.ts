/** The user's folder for compiled code (see docs/explanation/trust.md). Only this user may be able to write to it. */
import { existsSync, lstatSync, readdirSync } from "node:fs";
import type { CompiledFile } from "./compiled-code.ts";
import { makeFolder, makePrivate, putFile, removeFile, USER } from "./safe-write.ts";

/** Undefined: no usable base folder. A relative path is refused, because it would point into the project. */
export function compiledFolder(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const base = env["XDG_CACHE_HOME"] || (env["HOME"] && `${env["HOME"]}/.cache`);
  return base?.startsWith("/") ? `${base}/haversack` : undefined;
}

/** Whether it exists, is not a link, belongs to this user, and is closed to others. */
export function isPrivate(folder: string): boolean {
  const { mode = 0, uid } = lstatSync(folder, { throwIfNoEntry: false }) ?? {};
  return uid === process.getuid?.() && (mode & 0o170077) === 0o040000;
}

/** Creates the folder where the next start finds the code that this one compiled. */
export function makeCompiledFolder(env: Readonly<Record<string, string | undefined>>): void {
  const folder = compiledFolder(env);
  if (!folder || existsSync(folder)) return;
  try {
    makeFolder(folder, { within: USER, mode: 0o700 });
    makePrivate(folder, 0o700);
  } catch {
    // The folder cannot be created, so the next start compiles again.
  }
}

/** An entry is the bytecode, the outcomes, and the length of the bytecode; then all of it again. */
export const LENGTH_BYTES = 4;

/**
 * Saves the bytecode of these files, with the functions that have run, unless their entries know this outcome: see compiled-code.ts.
 * `outcome`: a word, one of few.
 */
export function keepCompiled(files: readonly CompiledFile[], outcome: string): void {
  for (const { folder, entry, script, outcomes } of files) {
    if (outcomes.includes(outcome)) continue;
    try {
      const place = { within: folder };
      makeFolder(folder, { within: USER, mode: 0o700 });
      makePrivate(folder, 0o700);
      // The folder belongs to somebody else, so an entry in it would never be used.
      if (!isPrivate(folder)) return;
      const code = script.createCachedData();
      const length = Buffer.alloc(LENGTH_BYTES);
      length.writeUInt32LE(code.length);
      const once = [code, Buffer.from([...outcomes, outcome].join(" "), "latin1"), length];
      // Remove the old file first: it may be a link, or have the wrong mode or owner.
      removeFile(entry, place);
      putFile(entry, Buffer.concat([...once, ...once]), { ...place, mode: 0o600 });
      if (outcomes.length === 0) removeOld(folder);
    } catch {
      // The cache folder cannot be created; the next start compiles again.
      return;
    }
  }
}

const OLD_MS = 30 * 24 * 3_600_000;

/** Removes entries that were made long ago, most of them by earlier versions. One that is still in use is made again. */
function removeOld(folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = `${folder}/${name}`;
    if (name.endsWith(".bin") && Date.now() - lstatSync(path).mtimeMs > OLD_MS) removeFile(path, { within: folder });
  }
}
