/**
 * Loads files beside the hook with V8's compiled form of them from the user's cache folder, and leaves one there when there is
 * none. Compiling 40 kB costs a cold process 3 ms and its functions two more on their first call; the cache brings both
 * to half a millisecond. It holds the source too: one file to open instead of three, a third of a millisecond. The hook bundles this file.
 *
 * Compiled code is code, and V8 crashes on a damaged one without a check of its own. So an entry is used only when
 * - nobody but this user can have written it: the folder has mode 0700 and is no link, the file has mode 0600, both are this user's;
 * - it was made from these sources, by this runtime with these flags: all three are in its name, and the hash of the sources, which
 *   the build writes, is in it again;
 * - it is whole: everything is there twice, and both halves are equal. That finds any damage and costs 15 µs and a longer
 *   read (0.15 ms). A checksum in JavaScript takes 1 to 3 ms for 270 kB, `node:zlib` 2.2 ms with its import, `node:crypto` 4.6 ms.
 * Anything else is passed over, compiled anew and replaced (hook-save.ts).
 */
// Not imported: `require` takes 10 to 50 µs for a module of Node's own, each time, and this one.
export const { readFileSync } = process.getBuiltinModule("node:fs");
const { closeSync, constants, fstatSync, lstatSync, openSync } = process.getBuiltinModule("node:fs");
const { Script } = process.getBuiltinModule("node:vm");

export interface Loaded {
  script: InstanceType<typeof Script>;
  source: string;
  /** The user's cache folder, and the entry below it. */
  base: string;
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
  // Bun has no such cache, and a process without a home has no place for one. A relative one would be in the project.
  if (process.versions["bun"] || !base?.startsWith("/"))
    return Object.fromEntries(names.map((name) => [name, require(`${__dirname}/${name}.cjs`)]));
  const flags = Buffer.from(process.execArgv.join() + (env["NODE_OPTIONS"] ?? "")).toString("base64url");
  const cache = `${base}/haversack/${names.join("+")}-${__HOOK_BUILD__}-${process.version}-${process.arch}${flags.slice(-80)}.bin`;
  const known = readKept(cache);
  // Compiled form, source, where the source begins, the length of all this, ways. V8 copies a compiled form that does not begin at an even address.
  const end = known.length - TAIL_BYTES;
  const from = end > 0 ? known.readUInt32LE(end) : 0;
  let source = known.toString("latin1", from, Math.max(from, end));
  const isKnown = source.endsWith(__HOOK_BUILD__) && known.readUInt32LE(end + 4) === known.length;
  // The build writes ASCII only, and such a text is parsed faster when V8 knows it.
  if (!isKnown) source = `[${names.map(saving().wrapped).join()}]//${__HOOK_BUILD__}`;
  const script = new Script(source, {
    filename: `${__dirname}/${names.at(-1)}.cjs`,
    ...(isKnown && { cachedData: known.subarray(0, from) }),
  });
  loaded.push({ script, source, base, cache, ways: isKnown && !script.cachedDataRejected ? (known.at(-1) ?? 0) : 0 });
  const files: Files = {};
  script.runInThisContext().forEach((run: (...args: unknown[]) => void, at: number) => {
    const module = { exports: {} };
    run(module.exports, load, module, __dirname);
    files[names[at] as string] = module.exports;
  });
  return files;
}

/** An entry without its second half; empty where there is none that may be used. */
function readKept(cache: string): Buffer {
  try {
    if (isOwn(lstatSync(cache.slice(0, cache.lastIndexOf("/"))), 0o040000)) {
      const file = openSync(cache, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      const isUsable = isOwn(fstatSync(file), 0o100000);
      const twice = isUsable ? readFileSync(file) : Buffer.alloc(0);
      closeSync(file);
      const half = twice.length / 2;
      const once = twice.subarray(0, half);
      if (once.equals(twice.subarray(half))) return once;
    }
  } catch {
    // There is none yet.
  }
  return Buffer.alloc(0);
}

/** Of this type, and only this user may read or write it. */
function isOwn({ mode, uid }: { mode: number; uid: number }, type: number): boolean {
  return uid === process.getuid?.() && (mode & 0o170077) === type;
}

/** `require` for those files. */
function load(id: string): unknown {
  return process.getBuiltinModule(id) ?? require(id);
}

const TAIL_BYTES = 9;
