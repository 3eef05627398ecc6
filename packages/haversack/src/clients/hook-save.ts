/** Keeps the compiled form of the hook's files, for load-cached.ts: loaded when there is none yet, or one that lacks functions. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import type { Loaded } from "./load-cached.ts";

export function wrapped(name: string): string {
  return `function(exports,require,module,__dirname){${readFileSync(`${__dirname}/${name}.cjs`, "latin1")}\n}`;
}

/**
 * After the answer: what was compiled now, with the functions that ran. `ways`: bits, one for each way through the code that
 * runs functions of its own. What ran on an earlier way is in the compiled form already and stays in it, so that each
 * way is compiled once, whatever comes first. A byte at the end says which they are.
 */
export function saveCompiled(one: Loaded, ways: number): void {
  try {
    mkdirSync(one.cache.slice(0, one.cache.lastIndexOf("/")), { recursive: true, mode: 0o700 });
    const aside = `${one.cache}.${process.pid}`;
    const code = one.script.createCachedData();
    const tail = Buffer.of(0, 0, 0, 0, one.ways | ways);
    tail.writeUInt32LE(code.length);
    // On the disk before it has its name: V8 does not look whether compiled code is whole, and ends the process if it is not.
    writeFileSync(aside, Buffer.concat([code, Buffer.from(one.source, "latin1"), tail]), { flush: true });
    renameSync(aside, one.cache);
  } catch {
    // No cache folder can be made: the next start compiles again.
  }
}
