/**
 * Loads files beside the program as V8 bytecode from an earlier start, kept in the user's cache folder. Compiling takes a new process
 * several milliseconds, plus more at the first call of each function. There is one entry for each file and `way`: a kind of event or
 * a command. It holds the functions that have run. When a start on the same way has an outcome that the entry does not know yet, the
 * entry is saved again with the functions that ran this time added.
 *
 * Bytecode is code, and V8 crashes on damaged bytecode because it does not check it. So an entry is used only if
 * - only this user can have written it: the folder has mode 0700 and is no link, the file has mode 0600, both belong to this user;
 * - it was made from these sources, by this runtime with these flags: all three are in its name;
 * - it is intact: the data is stored twice, and both copies are equal. This finds any damage and costs 15 µs and a longer read (0.15 ms).
 *   A checksum in JavaScript takes 1 to 3 ms for 270 kB, `node:zlib` 2.2 ms with its import, `node:crypto` 4.6 ms.
 * Any other entry is ignored, compiled again and replaced.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { Script } from "node:vm";
import { compiledFolder, isPrivate, LENGTH_BYTES } from "./compiled-folder.ts";

/** A loaded file, and where its bytecode is kept. */
export interface CompiledFile {
  /** The user's folder for compiled code, and the entry in it. */
  folder: string;
  entry: string;
  script: Script;
  /** The outcomes that the entry knows. Empty: there is no usable entry. */
  outcomes: readonly string[];
}

export interface CompiledFiles {
  /** `require` for files beside the program. */
  load(id: string): unknown;
  loaded: readonly CompiledFile[];
}

/** `build`: a hash of the files' contents. */
export function compiledFiles(way: string, build: string, env: NodeJS.ProcessEnv): CompiledFiles {
  const folder = compiledFolder(env);
  if (!folder) return { load: require, loaded: [] };
  const flags = Buffer.from(process.execArgv.join() + (env["NODE_OPTIONS"] ?? "")).toString("base64url");
  const suffix = `${way}-${build}-${process.version}-${process.arch}${flags.slice(-80)}.bin`;
  const modules: Record<string, { exports: unknown }> = {};
  const loaded: CompiledFile[] = [];
  const load = (id: string): unknown => {
    if (!id.startsWith("./")) return process.getBuiltinModule(id) ?? require(id);
    return (modules[id] ?? compiled(id)).exports;
  };
  const compiled = (id: string): { exports: unknown } => {
    const name = id.slice(2, -4);
    const entry = `${folder}/${name}-${suffix}`;
    const file = `${__dirname}/${name}.cjs`;
    const source = readSource(file);
    const known = readEntry(entry);
    const script = new Script(source, { filename: file, ...(known && { cachedData: known.code }) });
    const outcomes = known && !script.cachedDataRejected ? known.outcomes : [];
    const module = (modules[id] = { exports: {} });
    script.runInThisContext()(module.exports, load, module, __dirname, file);
    loaded.push({ folder, entry, script, outcomes });
    return module;
  };
  return { load, loaded };
}

/** All files are read into the same buffer: fresh memory costs a new process 0.5 ms per megabyte. */
let memory: Buffer | undefined;

/** Room for this many bytes. What is in it is valid until the next call. */
function roomFor(size: number): Buffer {
  if (!memory || size > memory.length) memory = Buffer.allocUnsafeSlow(Math.max(size, 1 << 20));
  return memory;
}

const HEAD = "(function(exports,require,module,__dirname,__filename){";
const TAIL = "\n})";

/**
 * The file as a function. The build writes only ASCII: V8 parses such a text faster when it knows that. The text is put together here,
 * because V8 copies a string that was joined from others before it reads it.
 */
function readSource(path: string): string {
  const file = openSync(path, constants.O_RDONLY);
  const { size } = fstatSync(file);
  const room = roomFor(HEAD.length + size + TAIL.length);
  room.write(HEAD, 0, "latin1");
  const end = HEAD.length + readSync(file, room, HEAD.length, size, 0);
  closeSync(file);
  return room.toString("latin1", 0, end + room.write(TAIL, end, "latin1"));
}

const MOST_OUTCOME_BYTES = 1000;

/** The first copy in an entry, valid until the next read. Undefined if there is no usable one. */
function readEntry(entry: string): { code: Buffer; outcomes: string[] } | undefined {
  try {
    if (!isPrivate(entry.slice(0, entry.lastIndexOf("/")))) return undefined;
    const file = openSync(entry, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stats = fstatSync(file);
    const isOwn = stats.uid === process.getuid?.() && (stats.mode & 0o170077) === 0o100000;
    const size = isOwn ? stats.size : 0;
    const twice = roomFor(size).subarray(0, readSync(file, roomFor(size), 0, size, 0));
    closeSync(file);
    const half = twice.length / 2;
    if (half <= LENGTH_BYTES || !twice.subarray(0, half).equals(twice.subarray(half))) return undefined;
    const end = half - LENGTH_BYTES;
    const length = twice.readUInt32LE(end);
    // Longer ones are not outcomes: the file holds more than two copies.
    if (length > end || end - length > MOST_OUTCOME_BYTES) return undefined;
    return { code: twice.subarray(0, length), outcomes: twice.toString("latin1", length, end).split(" ") };
  } catch {
    // There is no entry yet.
    return undefined;
  }
}
