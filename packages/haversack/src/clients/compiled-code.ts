/**
 * Loads a file beside this one in the form that V8 compiled it to at an earlier start, kept in the user's cache folder. Compiling
 * takes a new process several milliseconds, and its functions more at their first call. The folder is the user's own, never the
 * project's: compiled code is code. One form for each `way`: it holds the functions that ran the first time.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { Script } from "node:vm";

/** Stands for the contents of the file; the build writes it. */
declare const __HOOK_BUILD__: string;

export interface LoadedFile<Exports> {
  exports: Exports;
  /** After it has run: keeps its compiled form if there is none yet. */
  keep(): void;
}

export function loadCompiled<Exports>(name: string, way: string): LoadedFile<Exports> {
  const base = process.env["XDG_CACHE_HOME"] || (process.env["HOME"] && `${process.env["HOME"]}/.cache`);
  const file = `${__dirname}/${name}.cjs`;
  // Without a home there is no place to keep it.
  if (!base) return { exports: require(file), keep: () => undefined };
  const cache = `${base}/haversack/${name}-${way}-${__HOOK_BUILD__}-${process.version}.bin`;
  const known = existsSync(cache) ? readFileSync(cache) : undefined;
  // The build writes ASCII only, and such a text is parsed faster when V8 knows it.
  const source = `(function(exports,require,module,__dirname){${readFileSync(file, "latin1")}\n})`;
  const script = new Script(source, { filename: file, ...(known && { cachedData: known }) });
  const module = { exports: {} };
  script.runInThisContext()(module.exports, requireOnce, module, __dirname);
  const isKept = known !== undefined && !script.cachedDataRejected;
  return {
    exports: module.exports as Exports,
    keep: () => {
      if (!isKept) save(cache, script.createCachedData());
    },
  };
}

const required: Record<string, unknown> = {};

/** The file asks for `node:fs` once for each module in it, and each time costs a tenth of what a whole event may. */
function requireOnce(id: string): unknown {
  return (required[id] ??= process.getBuiltinModule(id) ?? require(id));
}

function save(cache: string, code: Buffer): void {
  try {
    mkdirSync(cache.slice(0, cache.lastIndexOf("/")), { recursive: true, mode: 0o700 });
    const aside = `${cache}.${process.pid}`;
    // On the disk before it has its name: V8 does not look whether compiled code is whole, and ends the process if it is not.
    writeFileSync(aside, code, { flush: true });
    renameSync(aside, cache);
  } catch {
    // No cache folder can be made: the next start compiles again.
  }
}
