/** Looks at a store that is not this user's own. SQLite makes and changes files beside whatever it opens, so it gets a copy. */
import { lstatSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { errorText, HaversackError, isFault } from "../base/errors.ts";
import { copyToNew, errnoOf, makeScratch, removeScratch } from "../base/safe-write.ts";
import { checkStore, peekStore, type StoreCheck, type StorePeek } from "../store/sqlite/maintenance/check-store.ts";
import { distrust } from "./open-project.ts";
import type { ProjectPaths } from "./project.ts";

/** Whether it is sound. */
export function lookAtStore(store: string): StoreCheck {
  return withCopy(store, checkStore);
}

/**
 * What is in a store that is not accepted yet, for the person who decides. A text says why nobody looked. Undefined: there is nothing to
 * look at, or the store is the user's own, or a link, which could lead to somebody else's.
 */
export function lookIntoStore(paths: ProjectPaths): StorePeek | string | undefined {
  const { store } = paths;
  const because = distrust(paths)?.because;
  if (because === undefined || because === "link" || sizeOf(store) === 0) return undefined;
  if (sizeOf(store) + sizeOf(`${store}-wal`) > MAX_PEEK_BYTES) return "it is too large to look into here";
  try {
    return withCopy(store, (copy) => {
      const { ok, problems, facts } = checkStore(copy);
      if (!ok) return `it cannot be accepted: ${problems[0]}`;
      if (facts.version !== facts.knownVersion)
        return `it is of another version of Haversack (schema ${facts.version})`;
      return peekStore(copy);
    });
  } catch (error) {
    // Not a database, or not readable: `store check` says more.
    return `it cannot be read: ${errorText(error)}`;
  }
}

const MAX_PEEK_BYTES = 200_000_000;

/** 0 for what is no regular file. */
function sizeOf(path: string): number {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found?.isFile() ? found.size : 0;
}

function withCopy<T>(store: string, look: (copy: string) => T): T {
  const folder = makeScratch(join(tmpdir(), "haversack-look-"));
  const copy = join(folder, "haversack.db");
  try {
    for (const part of ["", "-wal", "-journal"]) copyPart(store + part, copy + part, folder);
    return look(copy);
  } catch (error) {
    if (!isFault(error) || !error.message.includes(copy)) throw error;
    throw new HaversackError(error.code, error.message.replaceAll(copy, store), {
      ...(error.hint !== undefined && { hint: error.hint }),
      cause: error,
    });
  } finally {
    removeScratch(folder);
  }
}

function copyPart(from: string, to: string, within: string): void {
  if (!lstatSync(from, { throwIfNoEntry: false })?.isFile()) return;
  try {
    copyToNew(from, to, { within });
  } catch (error) {
    throw new HaversackError("file-unreadable", `${from}: cannot be copied to look at it (${errnoOf(error)})`, {
      cause: error,
    });
  }
}
