/**
 * Loads files beside the hook with V8's compiled form of them from the user's cache folder, and leaves one there when there is
 * none. Compiling 40 kB costs a cold process 3 ms and its functions two more on their first call; the cache brings both
 * to half a millisecond. The folder is the user's own, never the project's: compiled code is code, and a repository could
 * bring its own. The hook bundles this file.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { Script } from "node:vm";

export interface Loaded {
  script: Script;
  cache: string;
  /** The ways whose functions its compiled form holds; 0 for none. */
  ways: number;
}

/** What this process has loaded. */
export const loaded: Loaded[] = [];

/** The exports of these files, which are compiled and kept as one. */
// biome-ignore lint/suspicious/noExplicitAny: who asks knows what each file exports.
export function loadCached(names: readonly string[], env: NodeJS.ProcessEnv): any[] {
  const files = names.map((name) => `${__dirname}/${name}.cjs`);
  const base = env["XDG_CACHE_HOME"] || (env["HOME"] && `${env["HOME"]}/.cache`);
  // Bun has no such cache, and a process without a home has no place for one.
  if (process.versions["bun"] || !base) return files.map((file) => require(file));
  let source = "";
  let key = `${base}/haversack/${names.at(-1)}`;
  for (const file of files) {
    const { size, mtimeMs } = statSync(file);
    // V8 itself only looks at the length of the source and at its own version.
    key += `-${size}-${Math.round(mtimeMs)}`;
    // The build writes ASCII only, and such a text is parsed faster when V8 knows it.
    source += `,function(exports,require,module,__dirname){${readFileSync(file, "latin1")}\n}`;
  }
  const cache = `${key}-${process.version}.bin`;
  const known = existsSync(cache) ? readFileSync(cache) : undefined;
  const script = new Script(`[${source.slice(1)}]`, {
    filename: files.at(-1),
    ...(known && { cachedData: known.subarray(0, -1) }),
  });
  loaded.push({ script, cache, ways: known && !script.cachedDataRejected ? (known.at(-1) ?? 0) : 0 });
  return script.runInThisContext().map((run: (...args: unknown[]) => void) => {
    const module = { exports: {} };
    run(module.exports, require, module, __dirname);
    return module.exports;
  });
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
    writeFileSync(aside, Buffer.concat([one.script.createCachedData(), Buffer.of(one.ways | ways)]));
    renameSync(aside, one.cache);
  } catch {
    // No cache folder can be made: the next start compiles again.
  }
}
