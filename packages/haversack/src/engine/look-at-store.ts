/** Checks a store that is not this user's own. SQLite makes and changes files beside whatever it opens, so it gets a copy. */
import { lstatSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HaversackError, isFault } from "../base/errors.ts";
import { copyToNew, errnoOf, makeScratch, removeScratch } from "../base/safe-write.ts";
import { checkStore, type StoreCheck } from "../store/sqlite/maintenance.ts";

export function lookAtStore(store: string): StoreCheck {
  const folder = makeScratch(join(tmpdir(), "haversack-look-"));
  const copy = join(folder, "haversack.db");
  try {
    for (const part of ["", "-wal", "-journal"]) copyPart(store + part, copy + part, folder);
    return checkStore(copy);
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
