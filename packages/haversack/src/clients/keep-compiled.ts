/** Keeps the compiled form of the hook's file, with the functions that have run: see compiled-code.ts. */
import { lstatSync } from "node:fs";
import { makeFolder, makePrivate, putFile, removeFile, USER } from "../base/safe-write.ts";
import { type Entry, LENGTH_BYTES } from "./compiled-code.ts";

export function keepCompiled({ base, cache, script }: Entry): void {
  try {
    const place = { within: base };
    const folder = cache.slice(0, cache.lastIndexOf("/"));
    makeFolder(base, { within: USER, mode: 0o700 });
    makeFolder(folder, { ...place, mode: 0o700 });
    makePrivate(folder, 0o700);
    // Somebody else's folder: what is in it would never be used.
    if (lstatSync(folder).uid !== process.getuid?.()) return;
    const code = script.createCachedData();
    const length = Buffer.alloc(LENGTH_BYTES);
    length.writeUInt32LE(code.length);
    const once = [code, length];
    // What is there may be a link, or have a mode or an owner that the new one would take over.
    removeFile(cache, place);
    putFile(cache, Buffer.concat([...once, ...once]), { ...place, mode: 0o600 });
  } catch {
    // No cache folder can be made: the next start compiles again.
  }
}
