/** Keeps the compiled form of the hook's files, for load-cached.ts: loaded when there is none yet, or one that lacks functions. */
import { lstatSync, readFileSync } from "node:fs";
import { makeFolder, makePrivate, putFile, removeFile, USER } from "../base/safe-write.ts";
import type { Loaded } from "./load-cached.ts";

export function wrapped(name: string): string {
  return `function(exports,require,module,__dirname){${readFileSync(`${__dirname}/${name}.cjs`, "latin1")}\n}`;
}

/**
 * After the answer: what was compiled now, with the functions that ran. `ways`: bits, one for each way through the code that
 * runs functions of its own. What ran on an earlier way is in the compiled form already and stays in it, so that each
 * way is compiled once, whatever comes first. A byte at the end says which they are.
 */
export function saveCompiled({ script, source, base, cache, ways: known }: Loaded, ways: number): void {
  try {
    const place = { within: base };
    const folder = cache.slice(0, cache.lastIndexOf("/"));
    makeFolder(base, { within: USER, mode: 0o700 });
    makeFolder(folder, { ...place, mode: 0o700 });
    makePrivate(folder, 0o700);
    // Somebody else's folder: what is in it would never be used.
    if (lstatSync(folder).uid !== process.getuid?.()) return;
    const code = script.createCachedData();
    const text = Buffer.from(source, "latin1");
    const tail = Buffer.alloc(9, known | ways);
    tail.writeUInt32LE(code.length);
    tail.writeUInt32LE(code.length + text.length + tail.length, 4);
    const once = [code, text, tail];
    // What is there may be a link, or have a mode or an owner that the new one would take over.
    removeFile(cache, place);
    putFile(cache, Buffer.concat([...once, ...once]), { ...place, mode: 0o600 });
  } catch {
    // No cache folder can be made: the next start compiles again.
  }
}
