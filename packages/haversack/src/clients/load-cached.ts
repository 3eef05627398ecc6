/**
 * Loads a file beside the hook with V8's compiled form of it from the user's cache folder, and leaves one there when there is
 * none. Compiling 40 kB costs a cold process 3 ms and its functions two more on their first call; the cache brings both
 * to half a millisecond. The folder is the user's own, never the project's: compiled code is code, and a repository could
 * bring its own. The hook bundles this file.
 */
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { Script } from "node:vm";

interface Loaded {
  script: Script;
  cache: string;
  /** plain: its compiled form lacks what only a full answer runs. */
  has: "nothing" | "plain" | "rich";
}

const loaded: Loaded[] = [];

export function loadCached<T>(name: string, env: NodeJS.ProcessEnv): T {
  const file = `${__dirname}/${name}.cjs`;
  const folder = cacheFolder(env);
  // Bun has no such cache, and a process without a home has no place for one.
  if (process.versions["bun"] || !folder) return require(file);
  const { size, mtimeMs } = statSync(file);
  // V8 itself only looks at the length of the source and at its own version.
  const cache = `${folder}/${name}-${size}-${Math.round(mtimeMs)}-${process.version}`;
  const rich = readIfThere(`${cache}.rich.bin`);
  const known = rich ?? readIfThere(`${cache}.bin`);
  // The build writes ASCII only, and such a text is parsed faster when V8 knows it.
  const source = `(function(exports,require,module,__dirname){${readFileSync(file, "latin1")}\n})`;
  const script = new Script(source, { filename: file, ...(known && { cachedData: known }) });
  loaded.push({ script, cache, has: !known || script.cachedDataRejected ? "nothing" : rich ? "rich" : "plain" });
  const module = { exports: {} as T };
  script.runInThisContext()(module.exports, require, module, __dirname);
  return module.exports;
}

/** After the answer: what was compiled now, with the functions that ran. isRich: most of them did. */
export function saveCompiled({ isRich }: { isRich: boolean }): void {
  for (const { script, cache, has } of loaded) {
    if (has === "rich" || (has === "plain" && !isRich)) continue;
    try {
      mkdirSync(cache.slice(0, cache.lastIndexOf("/")), { recursive: true, mode: 0o700 });
      const aside = `${cache}.${process.pid}`;
      writeFileSync(aside, script.createCachedData());
      renameSync(aside, isRich ? `${cache}.rich.bin` : `${cache}.bin`);
    } catch {
      // No cache folder can be made: the next start compiles again.
    }
  }
}

function readIfThere(file: string): Buffer | undefined {
  return statSync(file, { throwIfNoEntry: false }) && readFileSync(file);
}

function cacheFolder(env: NodeJS.ProcessEnv): string | undefined {
  const base = env["XDG_CACHE_HOME"] || (env["HOME"] && `${env["HOME"]}/.cache`);
  return base ? `${base}/haversack` : undefined;
}
