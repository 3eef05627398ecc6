/**
 * Loads files beside the hook with V8's compiled form of them from the user's cache folder, and leaves one there when there is
 * none. Compiling 40 kB costs a cold process 3 ms and its functions two more on their first call; the cache brings both
 * to half a millisecond. It holds the source too: one file to open instead of three, a third of a millisecond. The folder is the user's own,
 * never the project's: compiled code is code, and a repository could bring its own. The hook bundles this file.
 */
// Not imported: `require` takes 10 to 50 µs for a module of Node's own, each time, and this one.
export const { existsSync, readFileSync } = process.getBuiltinModule("node:fs");
const { Script } = process.getBuiltinModule("node:vm");

export interface Loaded {
  script: InstanceType<typeof Script>;
  source: string;
  cache: string;
  /** The ways whose functions its compiled form holds; 0 for none. */
  ways: number;
}

/** What this process has loaded. */
export const loaded: Loaded[] = [];

/** Stands for the contents of all files of the hook; the build writes it. */
declare const __HOOK_BUILD__: string;

/** What only a first start needs: this file is compiled anew at each. */
export function saving(): typeof import("./hook-save.ts") {
  return require("./hook-save.cjs");
}

/** By name, what the files of the hook export. */
// biome-ignore lint/suspicious/noExplicitAny: who asks knows what each file exports.
type Files = Record<string, any>;

/** These are compiled and kept as one: that takes less time than one by one. */
export function loadCached(names: readonly string[], env: NodeJS.ProcessEnv): Files {
  const base = env["XDG_CACHE_HOME"] || (env["HOME"] && `${env["HOME"]}/.cache`);
  // Bun has no such cache, and a process without a home has no place for one.
  if (process.versions["bun"] || !base)
    return Object.fromEntries(names.map((name) => [name, require(`${__dirname}/${name}.cjs`)]));
  const cache = `${base}/haversack/${names.join("+")}-${__HOOK_BUILD__}-${process.version}.bin`;
  const known = existsSync(cache) ? readFileSync(cache) : Buffer.alloc(0);
  // Compiled form, source, where the source begins, ways. V8 copies a compiled form that does not begin at an even address.
  const end = known.length - TAIL_BYTES;
  const from = end > 0 ? known.readUInt32LE(end) : 0;
  let source = known.toString("latin1", from, Math.max(from, end));
  const isKnown = source.endsWith(__HOOK_BUILD__);
  // The build writes ASCII only, and such a text is parsed faster when V8 knows it.
  if (!isKnown) source = `[${names.map(saving().wrapped).join()}]//${__HOOK_BUILD__}`;
  const script = new Script(source, {
    filename: `${__dirname}/${names.at(-1)}.cjs`,
    ...(isKnown && { cachedData: known.subarray(0, from) }),
  });
  loaded.push({ script, source, cache, ways: isKnown && !script.cachedDataRejected ? (known.at(-1) ?? 0) : 0 });
  const files: Files = {};
  script.runInThisContext().forEach((run: (...args: unknown[]) => void, at: number) => {
    const module = { exports: {} };
    run(module.exports, load, module, __dirname);
    files[names[at] as string] = module.exports;
  });
  return files;
}

/** `require` for those files. */
function load(id: string): unknown {
  return process.getBuiltinModule(id) ?? require(id);
}

const TAIL_BYTES = 5;
