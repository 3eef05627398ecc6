/** Reads a plan or a template: a file of the project, and no longer than anybody writes one. Loaded by the hook. */
import { readFileSync, realpathSync, statSync } from "node:fs";

const MOST_BYTES = 4_000_000;

/** Undefined: there is none, it is no file of the project, or not ours to read. */
export function readInside(root: string, path: string): string | undefined {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (!found?.isFile() || found.size > MOST_BYTES) return undefined;
    // A link may lead out of the project.
    const real = realpathSync.native(path);
    const folder = realpathSync.native(root);
    const isInside = real.startsWith(folder) && ["/", "\\"].includes(real.charAt(folder.length));
    return isInside ? readFileSync(path, "utf8") : undefined;
  } catch {
    // Not ours to read: the packet says that it cannot be read.
    return undefined;
  }
}
