/**
 * The only file that changes the file system; `npm run check` enforces that (scripts/check-writes.mjs).
 *
 * A cloned repository can contain a symbolic link wherever we write, and git creates it with the user as its owner. So every change names
 * the folder that it must stay in (`within`), and nothing between that folder and the file may be a link. The user's own files are
 * different: people keep their settings in a repository and link to them. There we follow links that the user or root owns, and replace
 * the file that they lead to.
 *
 * A file is written under a temporary name and then renamed, so readers see the old or the new text, even after a kill.
 * One race remains, because Node has no `openat`: between our check and our write, a few microseconds, another process with write access to
 * the project can replace a folder by a link. A clone cannot do that.
 *
 * The hook bundles this file, so it may import only `fs`.
 */
import {
  accessSync,
  closeSync,
  constants,
  copyFileSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  type Stats,
  statSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { HaversackError, isFault } from "./errors.ts";

/** A folder that the change must stay in, or "user" for one of the user's own files, wherever it is. */
export type Within = string;
export const USER = "user";

export interface Place {
  within: Within;
}

export interface NewFile extends Place {
  /** Mode of a new file; an existing file keeps its own. The umask applies. Default: 0644. */
  mode?: number;
  /** Sync the data to disk before renaming, so the file survives a power cut. Default: true. */
  isSynced?: boolean;
}

/** Creates the file or replaces it in one step. */
export function putFile(
  path: string,
  data: string | Uint8Array,
  { within, mode = 0o644, isSynced = true }: NewFile,
): void {
  guarded(path, () => {
    const target = targetOf(path, within);
    const before = plainFile(path, target);
    const aside = writeAside(target, data, { before, mode, isSynced });
    try {
      renameSync(aside, target);
    } catch (error) {
      rmSync(aside, { force: true });
      throw error;
    }
  });
}

/** Creates the file with all of its text at once. False: the name is taken, and nothing was changed. */
export function putNewFile(
  path: string,
  data: string | Uint8Array,
  { within, mode = 0o644, isSynced = true }: NewFile,
): boolean {
  return guarded(path, () => {
    const target = targetOf(path, within);
    if (lstatSync(target, QUIET)) return false;
    if (data.length === 0) return unless(["EEXIST"], () => closeSync(openNew(target, mode)));
    const aside = writeAside(target, data, { before: undefined, mode, isSynced });
    try {
      return moveToFreeName(aside, target);
    } finally {
      rmSync(aside, { force: true });
    }
  });
}

/** Returns a descriptor for appending. Creates the file if needed. Never opens a pipe or a device. */
export function openToAppend(path: string, { within, mode = 0o600 }: NewFile): number {
  return guarded(path, () => {
    const target = targetOf(path, within);
    const { O_APPEND, O_CREAT, O_WRONLY } = constants;
    const file = openSync(target, O_APPEND | O_CREAT | O_WRONLY | noFollow(), mode);
    if (fstatSync(file).isFile()) return file;
    closeSync(file);
    throw fault(path, "it is not a regular file", "name another file");
  });
}

/** Creates the missing folders of a path. Returns the ones it created, outermost first. */
export function makeFolder(path: string, { within, mode = 0o777 }: Place & { mode?: number }): string[] {
  return guarded(path, () => {
    const made: string[] = [];
    const target = targetOf(path, within);
    // One by one: with `recursive`, Node never returns where folders cannot be created, such as below /proc.
    for (let at = target; !statSync(at, QUIET) && folderOf(at) !== at; at = folderOf(at)) made.unshift(at);
    const own = made.filter((folder) => makeOne(folder, mode));
    if (!statSync(target).isDirectory()) {
      const cause = Object.assign(new Error("a file is in its place"), { code: "EEXIST" });
      const hint = "give yourself write access, or move it away";
      throw new HaversackError("file-unwritable", `${path}: cannot be made (EEXIST)`, { hint, cause });
    }
    return own;
  });
}

/** Creates one folder, as a lock. False: the name is taken. */
export function makeNewFolder(path: string, { within, mode = 0o777 }: Place & { mode?: number }): boolean {
  return guarded(path, () => makeOne(targetOf(path, within), mode));
}

/** Removes a link itself, never its target. False: it was not there. */
export function removeFile(path: string, { within }: Place): boolean {
  return guarded(path, () => unless(MISSING, () => unlinkSync(nameOf(path, within))));
}

/** False: it was not there, or it is not empty. */
export function removeEmptyFolder(path: string, { within }: Place): boolean {
  return guarded(path, () => unless([...MISSING, "ENOTEMPTY", "EEXIST"], () => rmdirSync(nameOf(path, within))));
}

/** Renames a file in the same place. With `isNew`, returns false if the name is taken. */
export function moveFile(from: string, to: string, { within, isNew = false }: Place & { isNew?: boolean }): boolean {
  return guarded(to, () => {
    const [source, target] = [nameOf(from, within), nameOf(to, within)];
    if (isNew) return moveToFreeName(source, target);
    renameSync(source, target);
    return true;
  });
}

/** Copies a file to a name that must be free. */
export function copyToNew(from: string, to: string, { within }: Place): void {
  guarded(to, () => copyFileSync(from, nameOf(to, within), constants.COPYFILE_EXCL));
}

/** Removes the access of others from the user's own file. Leaves links and other users' files alone. */
export function makePrivate(path: string, mode: number): void {
  const user = process.getuid?.();
  const found = user === undefined ? undefined : lstatSync(path, QUIET);
  if (!found || found.uid !== user || found.isSymbolicLink() || (found.mode & 0o077) === 0) return;
  try {
    const file = openSync(path, constants.O_RDONLY | noFollow());
    try {
      if (fstatSync(file).uid === user) fchmodSync(file, mode);
    } finally {
      closeSync(file);
    }
  } catch {
    // A read-only file system, or one without modes. No command should fail because of that.
  }
}

/**
 * Syncs a file or a folder's entries to disk. A new name survives a power cut only if its folder is synced too; SQLite does that for its
 * own files.
 */
export function syncPath(path: string, flags: "r" | "r+" = "r"): void {
  let file: number;
  try {
    file = openSync(path, flags);
  } catch {
    return; // Windows cannot open folders; there we rely on the file system.
  }
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

const scratchFolders = new Set<string>();

/** Creates a private folder for this process, mode 0700. `prefix`: a path, such as one in the system's temporary folder. */
export function makeScratch(prefix: string): string {
  const folder = realpathSync(mkdtempSync(prefix));
  scratchFolders.add(folder);
  return folder;
}

/** Removes the folder and its content. Only for folders from `makeScratch`. */
export function removeScratch(folder: string): void {
  if (!scratchFolders.delete(folder)) throw new Error(`${folder} is not a scratch folder of this process`);
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}

/** The outermost of `folders` that contains the path, or "user". For writes whose path someone else chose. */
export function placeAmong(path: string, folders: readonly string[]): Within {
  const [outermost] = folders.filter((folder) => isBelow(path, folder)).sort((a, b) => a.length - b.length);
  return outermost ?? USER;
}

/** The path with links in its folder resolved: a project may be reached through a link above it. */
export function realPlaceOf(path: string): string {
  const at = absolute(path);
  const folder = folderOf(at);
  return statSync(folder, QUIET) ? `${realpathSync(folder)}/${at.slice(at.lastIndexOf("/") + 1)}` : at;
}

/** Throws if a link would make a write to this path fail. Call it before asking a person. */
export function requireNoLink(path: string, { within }: Place): void {
  targetOf(path, within);
}

/** The system's error code, if the error comes from this file or from `fs`; otherwise "". */
export function errnoOf(error: unknown): string {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: unknown };
  if (isFault(error)) return cause === undefined ? "" : errnoOf(cause);
  return typeof code === "string" ? code : "";
}

/** Where to write: the path itself, or the target of the user's own link. */
function targetOf(path: string, within: Within): string {
  if (within === USER) return followLinks(absolute(path));
  refuseLinks(path, within);
  return path;
}

/** The path for renaming and removing, which never follow a link in the last part. */
function nameOf(path: string, within: Within): string {
  const at = absolute(path);
  const folder = folderOf(at);
  if (within === USER)
    return `${folder === "/" ? "" : followLinks(folder)}${at.slice(folder === "/" ? 0 : folder.length)}`;
  if (isBelow(folder, within)) refuseLinks(folder, within, path);
  else if (!isBelow(path, within)) throw fault(path, `it is not inside ${within}`, "name a path inside");
  return path;
}

/** `name`: the requested path, for the message. */
function refuseLinks(path: string, within: string, name = path): void {
  if (!isBelow(path, within)) throw fault(name, `it is not inside ${within}`, "name a path inside");
  const root = absolute(within);
  let at = root === "/" ? "" : root;
  for (const part of absolute(path)
    .slice(at.length + 1)
    .split("/")) {
    at += `/${part}`;
    const found = lstatSync(at, QUIET);
    if (!found) return;
    if (found.isSymbolicLink()) throw refusedLink(name, at);
  }
}

/** The real path. Throws unless the user or root owns every link on the way. */
function followLinks(path: string): string {
  const todo = path.split("/").filter(Boolean);
  let at = "";
  let lastLink = "";
  let links = 0;
  /** How many of the parts come from the last link followed. */
  let fromLink = 0;
  for (let part = todo.shift(); part !== undefined; part = todo.shift()) {
    const isFromLink = fromLink-- > 0;
    if (part === ".") continue;
    if (part === "..") {
      at = at.slice(0, Math.max(at.lastIndexOf("/"), 0));
      continue;
    }
    const found = lstatSync(`${at}/${part}`, QUIET);
    if (!found && isFromLink) throw fault(path, `${lastLink} is a symbolic link to something that does not exist`);
    if (!found) return [`${at}/${part}`, ...todo].join("/");
    if (!found.isSymbolicLink()) {
      at += `/${part}`;
      continue;
    }
    lastLink = `${at}/${part}`;
    if (!isTrustedOwner(found) || ++links > 40) {
      throw fault(path, `${lastLink} is a symbolic link of another user, or leads in a circle`);
    }
    const goal = readlinkSync(lastLink);
    const parts = goal.split("/").filter(Boolean);
    if (goal.startsWith("/")) at = "";
    fromLink = parts.length + Math.max(fromLink, 0);
    todo.unshift(...parts);
  }
  return at || "/";
}

function isTrustedOwner({ uid }: Stats): boolean {
  return process.getuid === undefined || uid === 0 || uid === process.getuid();
}

/** `before`: the file that will be replaced. */
function writeAside(
  target: string,
  data: string | Uint8Array,
  { before, mode, isSynced }: { before: Stats | undefined; mode: number; isSynced: boolean },
): string {
  const cut = target.lastIndexOf("/") + 1;
  const random = Math.random().toString(36).slice(2, 10);
  const aside = `${target.slice(0, cut)}.${target.slice(cut)}.${process.pid}-${random}.haversack`;
  const file = openNew(aside, before ? 0o600 : mode);
  try {
    writeAll(file, typeof data === "string" ? Buffer.from(data) : data);
    if (before) takeOver(file, before);
    if (isSynced) fsyncSync(file);
  } catch (error) {
    rmSync(aside, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
  return aside;
}

function openNew(path: string, mode: number): number {
  const { O_CREAT, O_EXCL, O_WRONLY } = constants;
  return openSync(path, O_CREAT | O_EXCL | O_WRONLY | noFollow(), mode);
}

/** Also never waits for the other end of a pipe. Windows has neither flag, but creating links needs special rights there. */
function noFollow(): number {
  const { O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  return O_NOFOLLOW | O_NONBLOCK;
}

function writeAll(file: number, data: Uint8Array): void {
  for (let from = 0; from < data.length; ) from += writeSync(file, data, from);
}

/** Copies mode and owner from the replaced file. */
function takeOver(file: number, { mode, uid, gid }: Stats): void {
  const own = fstatSync(file);
  if (own.uid !== uid || own.gid !== gid) {
    try {
      fchownSync(file, uid, gid);
    } catch {
      // Only root may give a file away; otherwise we own the new one.
    }
  }
  fchmodSync(file, mode & 0o7777);
}

/** Uses a hard link, because unlike a rename it fails if the name was taken meanwhile. */
function moveToFreeName(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    unlinkSync(from);
    return true;
  } catch (error) {
    if (errnoOf(error) === "EEXIST" || lstatSync(to, QUIET)) return false;
    renameSync(from, to); // The file system has no links; the name was free a moment ago.
    return true;
  }
}

/** False: another process made it a moment ago. */
function makeOne(folder: string, mode: number): boolean {
  return unless(["EEXIST"], () => mkdirSync(folder, { mode }));
}

const MISSING = ["ENOENT", "ENOTDIR"];

/** False: the action failed with one of these codes. */
function unless(codes: readonly string[], action: () => unknown): boolean {
  try {
    action();
    return true;
  } catch (error) {
    if (codes.includes(errnoOf(error))) return false;
    throw error;
  }
}

const QUIET = { throwIfNoEntry: false } as const;

function plainFile(path: string, target: string): Stats | undefined {
  const found = lstatSync(target, QUIET);
  if (found && !found.isFile()) throw fault(path, "it is not a regular file", "name another file");
  return found;
}

function isBelow(path: string, folder: string): boolean {
  const [file, root] = [absolute(path), absolute(folder)];
  return file !== root && file.startsWith(root === "/" ? root : `${root}/`) && !file.split("/").includes("..");
}

function absolute(path: string): string {
  const slashed = process.platform === "win32" ? path.replaceAll("\\", "/") : path;
  const whole = slashed.startsWith("/") || /^[a-z]:\//i.test(slashed) ? slashed : `${process.cwd()}/${slashed}`;
  return whole.replace(/\/(?:\.?\/)+/g, "/").replace(/(?<=.)\/\.?$/, "");
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}

/** Turns system errors into a fault that names the file. */
function guarded<T>(path: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (isFault(error)) throw error;
    const code = errnoOf(error);
    // Someone put a link there between our check and the write.
    if (code === "ELOOP") throw refusedLink(path, path);
    throw new HaversackError("file-unwritable", `${path}: cannot be written (${code})`, {
      hint:
        code === "ENOENT" ? `there is no folder ${folderOf(path)}` : "give yourself write access to it and its folder",
      cause: error,
    });
  }
}

function refusedLink(path: string, link: string): HaversackError {
  return fault(path, `${link === path ? "it is" : `${link} is`} a symbolic link inside the project`);
}

function fault(path: string, why: string, hint = "replace the link"): HaversackError {
  return new HaversackError("file-unwritable", `${path}: nothing was written, because ${why}`, { hint });
}

/** False also for a missing folder. */
export function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
