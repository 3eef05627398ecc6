/**
 * Loads files beside the hook with V8's compiled form of them from the user's cache folder, and leaves one there when there is
 * none. Compiling 40 kB costs a cold process 3 ms and its functions two more on their first call; the cache brings both
 * to half a millisecond. It holds the source too: one file to open instead of three, a third of a millisecond. The folder is the user's own,
 * never the project's: compiled code is code, and a repository could bring its own. The hook bundles this file.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { Script } from "node:vm";

export interface Loaded {
  script: Script;
  source: string;
  cache: string;
  /** The ways whose functions its compiled form holds; 0 for none. */
  ways: number;
}

/** What this process has loaded. */
export const loaded: Loaded[] = [];

/** Stands for the contents of all files of the hook; the build writes it. */
declare const __HOOK_BUILD__: string;

/** The exports of these files, which are compiled and kept as one. */
// biome-ignore lint/suspicious/noExplicitAny: who asks knows what each file exports.
export function loadCached(names: readonly string[], env: NodeJS.ProcessEnv): any[] {
  const base = env["XDG_CACHE_HOME"] || (env["HOME"] && `${env["HOME"]}/.cache`);
  // Bun has no such cache, and a process without a home has no place for one.
  if (process.versions["bun"] || !base) return names.map((name) => require(`${__dirname}/${name}.cjs`));
  const cache = `${base}/haversack/${names.join("+")}-${__HOOK_BUILD__}-${process.version}.bin`;
  const known = existsSync(cache) ? readFileSync(cache) : Buffer.alloc(0);
  // Compiled form, source, where the source begins, ways. V8 copies a compiled form that does not begin at an even address.
  const end = known.length - TAIL_BYTES;
  const from = end > 0 ? known.readUInt32LE(end) : 0;
  let source = known.toString("latin1", from, Math.max(from, end));
  const isKnown = source.endsWith(__HOOK_BUILD__);
  // The build writes ASCII only, and such a text is parsed faster when V8 knows it.
  if (!isKnown) source = `[${names.map(wrapped).join()}]//${__HOOK_BUILD__}`;
  const script = new Script(source, {
    filename: `${__dirname}/${names.at(-1)}.cjs`,
    ...(isKnown && { cachedData: known.subarray(0, from) }),
  });
  loaded.push({ script, source, cache, ways: isKnown && !script.cachedDataRejected ? (known.at(-1) ?? 0) : 0 });
  return script.runInThisContext().map((run: (...args: unknown[]) => void) => {
    const module = { exports: {} };
    run(module.exports, require, module, __dirname);
    return module.exports;
  });
}

const TAIL_BYTES = 5;

function wrapped(name: string): string {
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
    writeFileSync(aside, Buffer.concat([code, Buffer.from(one.source, "latin1"), tail]));
    renameSync(aside, one.cache);
  } catch {
    // No cache folder can be made: the next start compiles again.
  }
}
