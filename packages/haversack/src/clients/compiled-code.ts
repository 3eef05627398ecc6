/**
 * Loads files beside this one in the form that V8 compiled them to at an earlier start, kept in the user's cache folder. Compiling takes a new
 * process several milliseconds, and its functions more at their first call. One form for each `way`: it holds the functions that
 * ran the first time.
 *
 * Compiled code is code, and V8 crashes on a damaged one without a check of its own. So an entry is used only when
 * - nobody but this user can have written it: the folder has mode 0700 and is no link, the file has mode 0600, both are this user's;
 * - it was made from these sources, by this runtime with these flags: all three are in its name;
 * - it is whole: everything is there twice, and both halves are equal. That finds any damage and costs 15 µs and a longer read (0.15 ms).
 *   A checksum in JavaScript takes 1 to 3 ms for 270 kB, `node:zlib` 2.2 ms with its import, `node:crypto` 4.6 ms.
 * Anything else is passed over, compiled anew and replaced.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from "node:fs";
import { Script } from "node:vm";

/** Stands for the contents of the file; the build writes it. */
declare const __HOOK_BUILD__: string;

/** Where an entry is kept, and what to put there. */
export interface Entry {
  /** The user's cache folder, and the file below it. */
  base: string;
  cache: string;
  script: Script;
}

/** `require` for files beside this one, and what has to be kept of them now that they have run. */
export interface CompiledFiles {
  load(id: string): unknown;
  toKeep: readonly Entry[];
}

export function compiledFiles(way: string, env: NodeJS.ProcessEnv): CompiledFiles {
  const base = env["XDG_CACHE_HOME"] || (env["HOME"] && `${env["HOME"]}/.cache`);
  // A process without a home has no place for it. A relative one would be in the project.
  if (!base?.startsWith("/")) return { load: require, toKeep: [] };
  const flags = Buffer.from(process.execArgv.join() + (env["NODE_OPTIONS"] ?? "")).toString("base64url");
  const build = `${way}-${__HOOK_BUILD__}-${process.version}-${process.arch}${flags.slice(-80)}`;
  const loaded: Record<string, unknown> = {};
  const toKeep: Entry[] = [];
  const load = (id: string): unknown =>
    (loaded[id] ??= id.startsWith("./") ? compiled(id.slice(2, -4)) : (process.getBuiltinModule(id) ?? require(id)));
  const compiled = (name: string): unknown => {
    const cache = `${base}/haversack/${name}-${build}.bin`;
    const file = `${__dirname}/${name}.cjs`;
    // The build writes ASCII only, and such a text is parsed faster when V8 knows it.
    const source = `(function(exports,require,module,__dirname){${readText(file)}\n})`;
    const known = readKept(cache);
    const script = new Script(source, { filename: file, ...(known && { cachedData: known }) });
    const module = { exports: {} };
    script.runInThisContext()(module.exports, load, module, __dirname);
    if (!known || script.cachedDataRejected) toKeep.push({ base, cache, script });
    return module.exports;
  };
  return { load, toKeep };
}

/** Everything is read into the same memory: fresh memory takes a new process 0.5 ms for each megabyte. */
let memory = Buffer.allocUnsafeSlow(1 << 20);

/** The contents of an open file, up to the next call. */
function readInto(file: number, size: number): Buffer {
  if (size > memory.length) memory = Buffer.allocUnsafeSlow(size);
  return memory.subarray(0, readSync(file, memory, 0, size, 0));
}

function readText(path: string): string {
  const file = openSync(path, constants.O_RDONLY);
  const text = readInto(file, fstatSync(file).size).toString("latin1");
  closeSync(file);
  return text;
}

/** An entry without its second half, up to the next reading; undefined where there is none that may be used. */
function readKept(cache: string): Buffer | undefined {
  try {
    if (!isOwn(lstatSync(cache.slice(0, cache.lastIndexOf("/"))), 0o040000)) return undefined;
    const file = openSync(cache, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stats = fstatSync(file);
    const twice = readInto(file, isOwn(stats, 0o100000) ? stats.size : 0);
    closeSync(file);
    const half = twice.length / 2;
    const isWhole = half > LENGTH_BYTES && twice.subarray(0, half).equals(twice.subarray(half));
    const end = half - LENGTH_BYTES;
    return isWhole && twice.readUInt32LE(end) === end ? twice.subarray(0, end) : undefined;
  } catch {
    // There is none yet.
    return undefined;
  }
}

/** Behind the compiled form: how long it is. */
export const LENGTH_BYTES = 4;

/** Of this type, and only this user may read or write it. */
function isOwn({ mode, uid }: { mode: number; uid: number }, type: number): boolean {
  return uid === process.getuid?.() && (mode & 0o170077) === type;
}
