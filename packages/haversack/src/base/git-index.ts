/**
 * Whether git tracks the database or one of SQLite's files beside it, by what its index holds: no process is started. Names are stored in the index as
 * they are; its version 4 leaves out what a name has in common with the one before it.
 */
import { readFileSync, statSync } from "node:fs";

/** Of a large repository: hundreds of thousands of files. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Names of the tracked files among `names`, all in `.haversack/` below the root. Empty also where git's index cannot be read. */
export function trackedInIndex(root: string, names: readonly string[]): string[] {
  try {
    const file = `${gitFolder(root)}/index`;
    const { size } = statSync(file, { throwIfNoEntry: false }) ?? {};
    if (!size || size > MAX_BYTES) return [];
    const index = readFileSync(file);
    const isCompressed = index.readUInt32BE(4) === 4;
    return names.filter((name) => {
      const ending = isCompressed ? name.slice(Math.max(0, name.indexOf("-"))) : `.haversack/${name}`;
      return index.includes(`${ending}\0`, 12, "latin1");
    });
  } catch {
    // No repository, or an index that is being replaced: the next event looks again.
    return [];
  }
}

/** Another one when the index has changed. Undefined: there is none. */
export function indexState(root: string): string | undefined {
  try {
    const found = statSync(`${gitFolder(root)}/index`, { bigint: true, throwIfNoEntry: false });
    return found && `${found.ino}:${found.mtimeNs}:${found.size}`;
  } catch {
    // No repository.
    return undefined;
  }
}

/** `.git` is a file in work trees and submodules. */
function gitFolder(root: string): string {
  const at = `${root}/.git`;
  if (statSync(at).isDirectory()) return at;
  const folder = /^gitdir: (.+)$/m.exec(readFileSync(at, "utf8"))?.[1] ?? "";
  return folder.startsWith("/") ? folder : `${root}/${folder}`;
}
