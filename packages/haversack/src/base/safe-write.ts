/**
 * The only file that changes the file system: `npm run check` fails when another one does (scripts/check-writes.mjs).
 *
 * A cloned repository can bring a symbolic link wherever we write, and git creates it with the user as its owner. So every change
 * names the folder that it must stay in (`within`), and nothing between that folder and the file may be a link. Files of the
 * user's own are different: people keep their settings in a repository and link to them. There a link that the user or root
 * owns is followed, and the file that it leads to is replaced.
 *
 * A file is written under another name and renamed, so that a reader sees the old text or the new one, also after a kill.
 * What remains: Node has no `openat`, so whoever can replace a folder by a link between our look and our write, a few microseconds
 * later, still wins. That needs another process with write access to the project while we write; a clone cannot do it.
 *
 * The hook bundles this file: nothing but `fs`.
 */
import {
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

/** A folder that the change must stay in, or "user": a file of the user's own, wherever it is. */
export type Within = string;
export const USER = "user";

export interface Place {
  within: Within;
}

export interface NewFile extends Place {
  /** Of a file that is not there yet; one that is keeps its own. The umask applies. Default: 0644. */
  mode?: number;
  /** Bring it to the disk before it gets its name, so that it survives a power cut. Default: true. */
  isSynced?: boolean;
}

/** Replaces the whole file in one step, or makes it. */
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

/** Makes the file with all of its text at once. False: the name is taken, and nothing was changed. */
export function putNewFile(
  path: string,
  data: string | Uint8Array,
  { within, mode = 0o644, isSynced = true }: NewFile,
): boolean {
  return guarded(path, () => {
    const target = targetOf(path, within);
    if (lstatSync(target, QUIET)) return false;
    if (data.length === 0) return makeEmpty(target, mode);
    const aside = writeAside(target, data, { before: undefined, mode, isSynced });
    try {
      return moveToFreeName(aside, target);
    } finally {
      rmSync(aside, { force: true });
    }
  });
}

/** A descriptor for whoever appends; the file is made if it is not there. Never a pipe or a device. */
export function openToAppend(path: string, { within, mode = 0o600 }: NewFile): number {
  return guarded(path, () => {
    const target = targetOf(path, within);
    const { O_APPEND, O_CREAT, O_WRONLY } = constants;
    const file = openSync(target, O_APPEND | O_CREAT | O_WRONLY | noFollow(), mode);
    if (fstatSync(file).isFile()) return file;
    closeSync(file);
    throw notAFile(path);
  });
}

/** Makes the missing folders of a path. Returns those that it made, outermost first. */
export function makeFolder(path: string, { within, mode = 0o777 }: Place & { mode?: number }): string[] {
  return guarded(path, () => {
    const made: string[] = [];
    const target = targetOf(path, within);
    // One by one: with `recursive`, Node never returns where the system makes no folder, as below /proc.
    for (let at = target; !statSync(at, QUIET) && folderOf(at) !== at; at = folderOf(at)) made.unshift(at);
    const own = made.filter((folder) => makeOne(folder, mode));
    if (!statSync(target).isDirectory()) throw fileInPlace(path);
    return own;
  });
}

/** Makes one folder. False: the name is taken. For locks. */
export function makeNewFolder(path: string, { within, mode = 0o777 }: Place & { mode?: number }): boolean {
  return guarded(path, () => makeOne(targetOf(path, within), mode));
}

/** A link is removed, never what it leads to. False: it was not there. */
export function removeFile(path: string, { within }: Place): boolean {
  return guarded(path, () => unlessMissing(() => unlinkSync(nameOf(path, within))));
}

/** False: it was not there, or something is in it. */
export function removeEmptyFolder(path: string, { within }: Place): boolean {
  return guarded(path, () => {
    try {
      return unlessMissing(() => rmdirSync(nameOf(path, within)));
    } catch (error) {
      if (["ENOTEMPTY", "EEXIST"].includes(errnoOf(error))) return false;
      throw error;
    }
  });
}

/** Gives a file another name in the same place. With `isNew` a taken name is left alone, and the answer is false. */
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

/** Takes the rights of others from what is the user's own; a link, or what belongs to somebody else, is left alone. */
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
    // A file system without modes, or one that is read-only: nothing that a command should fail for.
  }
}

/**
 * Brings a file or the names in a folder to the disk. A new name survives a power cut only when its folder is synced
 * too; SQLite does that for the folder of its own files.
 */
export function syncPath(path: string, flags: "r" | "r+" = "r"): void {
  let file: number;
  try {
    file = openSync(path, flags);
  } catch {
    return; // Windows opens no folders; there a name is as safe as the file system makes it.
  }
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

const scratchFolders = new Set<string>();

/** A folder of this process's own, mode 0700. `prefix`: a path, such as one in the system's temporary folder. */
export function makeScratch(prefix: string): string {
  const folder = realpathSync(mkdtempSync(prefix));
  scratchFolders.add(folder);
  return folder;
}

/** With all that is in it; only what `makeScratch` made. */
export function removeScratch(folder: string): void {
  if (!scratchFolders.delete(folder)) throw new Error(`${folder} is not a scratch folder of this process`);
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}

/** The outermost of these folders that a path is in, or "user". Asked before a write whose path somebody else chose. */
export function placeAmong(path: string, folders: readonly string[]): Within {
  const [outermost] = folders.filter((folder) => isBelow(path, folder)).sort((a, b) => a.length - b.length);
  return outermost ?? USER;
}

/** The same path without links in its folder: a project can be reached through a link above it. */
export function realPlaceOf(path: string): string {
  const at = absolute(path);
  const folder = folderOf(at);
  return statSync(folder, QUIET) ? `${realpathSync(folder)}/${at.slice(at.lastIndexOf("/") + 1)}` : at;
}

/** Throws when a write to this path would be refused because of a link. Before a person is asked. */
export function requireNoLink(path: string, { within }: Place): void {
  targetOf(path, within);
}

/** The system's code of an error of this file's, or of `fs`; "" for any other. */
export function errnoOf(error: unknown): string {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: unknown };
  if (isFault(error)) return cause === undefined ? "" : errnoOf(cause);
  return typeof code === "string" ? code : "";
}

/** Where to write: the path itself, or what the user's own link leads to. */
function targetOf(path: string, within: Within): string {
  if (within === USER) return followLinks(absolute(path));
  refuseLinks(path, within);
  return path;
}

/** The name itself, for what never follows a link in the last place: renaming and removing. */
function nameOf(path: string, within: Within): string {
  const at = absolute(path);
  const folder = folderOf(at);
  if (within === USER)
    return `${folder === "/" ? "" : followLinks(folder)}${at.slice(folder === "/" ? 0 : folder.length)}`;
  if (isBelow(folder, within)) refuseLinks(folder, within, path);
  else if (!isBelow(path, within)) throw outside(path, within);
  return path;
}

/** `name`: what was asked for, for the message. */
function refuseLinks(path: string, within: string, name = path): void {
  if (!isBelow(path, within)) throw outside(name, within);
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

/** The real path, with every link on the way owned by the user or by root. */
function followLinks(path: string): string {
  const todo = path.split("/").filter(Boolean);
  let at = "";
  let lastLink = "";
  let links = 0;
  /** How many of the parts come from the link that was followed last. */
  let fromLink = 0;
  for (let part = todo.shift(); part !== undefined; part = todo.shift()) {
    const isFromLink = fromLink-- > 0;
    if (part === ".") continue;
    if (part === "..") {
      at = at.slice(0, Math.max(at.lastIndexOf("/"), 0));
      continue;
    }
    const found = lstatSync(`${at}/${part}`, QUIET);
    if (!found && isFromLink) throw deadLink(path, lastLink);
    if (!found) return [`${at}/${part}`, ...todo].join("/");
    if (!found.isSymbolicLink()) {
      at += `/${part}`;
      continue;
    }
    lastLink = `${at}/${part}`;
    if (!isTrustedOwner(found) || ++links > 40) throw foreignLink(path, lastLink);
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

/** `before`: the file whose place it takes. */
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

/** Nor waits for the other end of a pipe. Windows has neither flag; there it takes special rights to make a link. */
function noFollow(): number {
  const { O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  return O_NOFOLLOW | O_NONBLOCK;
}

function writeAll(file: number, data: Uint8Array): void {
  for (let from = 0; from < data.length; ) from += writeSync(file, data, from);
}

/** Mode and owner of the file that this one replaces. */
function takeOver(file: number, { mode, uid, gid }: Stats): void {
  const own = fstatSync(file);
  if (own.uid !== uid || own.gid !== gid) {
    try {
      fchownSync(file, uid, gid);
    } catch {
      // Only root may give a file away; without that the new one is ours.
    }
  }
  fchmodSync(file, mode & 0o7777);
}

function makeEmpty(target: string, mode: number): boolean {
  try {
    closeSync(openNew(target, mode));
    return true;
  } catch (error) {
    if (errnoOf(error) === "EEXIST") return false;
    throw error;
  }
}

/** Unlike a rename, a link fails when the name was taken meanwhile. */
function moveToFreeName(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    unlinkSync(from);
    return true;
  } catch (error) {
    if (errnoOf(error) === "EEXIST" || lstatSync(to, QUIET)) return false;
    renameSync(from, to); // A file system without links; the name was free a moment ago.
    return true;
  }
}

function makeOne(folder: string, mode: number): boolean {
  try {
    mkdirSync(folder, { mode });
    return true;
  } catch (error) {
    // Another process made it a moment ago.
    if (errnoOf(error) === "EEXIST") return false;
    throw error;
  }
}

function unlessMissing(action: () => void): boolean {
  try {
    action();
    return true;
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(errnoOf(error))) return false;
    throw error;
  }
}

const QUIET = { throwIfNoEntry: false } as const;

function plainFile(path: string, target: string): Stats | undefined {
  const found = lstatSync(target, QUIET);
  if (found && !found.isFile()) throw notAFile(path);
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

/** Turns what the system says into a fault that names the file. */
function guarded<T>(path: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (isFault(error)) throw error;
    const code = errnoOf(error);
    // Between our look and the write somebody put a link there.
    if (code === "ELOOP") throw refusedLink(path, path);
    throw new HaversackError("file-unwritable", `${path}: cannot be written (${code})`, {
      hint:
        code === "ENOENT" ? `there is no folder ${folderOf(path)}` : "give yourself write access to it and its folder",
      cause: error,
    });
  }
}

function refusedLink(path: string, link: string): HaversackError {
  const what = link === path ? "it is" : `${link} is`;
  return fault(path, `${what} a symbolic link inside the project`, "replace the link");
}

function foreignLink(path: string, link: string): HaversackError {
  return fault(path, `${link} is a symbolic link of another user, or leads in a circle`, "replace the link");
}

function deadLink(path: string, link: string): HaversackError {
  return fault(path, `${link} is a symbolic link to something that does not exist`, "replace the link");
}

function outside(path: string, within: string): HaversackError {
  return fault(path, `it is not inside ${within}`, "name a path inside");
}

function fileInPlace(path: string): HaversackError {
  const cause = Object.assign(new Error("a file is in its place"), { code: "EEXIST" });
  const hint = "give yourself write access, or move it away";
  return new HaversackError("file-unwritable", `${path}: cannot be made (EEXIST)`, { hint, cause });
}

function notAFile(path: string): HaversackError {
  return fault(path, "it is not a regular file", "name another file");
}

function fault(path: string, why: string, hint: string): HaversackError {
  return new HaversackError("file-unwritable", `${path}: nothing was written, because ${why}`, { hint });
}
