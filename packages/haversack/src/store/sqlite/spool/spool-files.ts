/**
 * The spool holds writes that failed because another process held the store's lock: one small file per entry in
 * `.haversack/spool/`. Each file is written under a temporary name and then renamed, so readers never see half a file. The names
 * sort by time. A single shared file would need locking between writers and readers. The hook bundles this file: `node:fs` only.
 */
import { lstatSync, readdirSync, readFileSync, statSync } from "node:fs";
import { errorText } from "../../../base/errors.ts";
import { trackedInIndex } from "../../../base/project-root.ts";
import { errnoOf, makeFolder, putFile, removeEmptyFolder, removeFile } from "../../../base/safe-write.ts";
import { folderOf, placeOfStore, spoolOf } from "../access.ts";
import type { SpoolEntry } from "./save-entry.ts";

export interface SpooledEntry {
  entry: SpoolEntry;
  isBlind: boolean;
}

/** Add nothing beyond these limits: a store locked for this long is broken, and reading a large spool takes time. */
const MOST_ENTRIES = 1000;
const MOST_BYTES = 4_000_000;
/** A process killed between writing and renaming leaves a temporary file behind. */
const ABANDONED_MS = 60 * 60_000;

let written = 0;

/** Returns undefined on success, else the reason for the failure. */
export function addToSpool(storeFile: string, { entry, isBlind }: SpooledEntry): string | undefined {
  const folder = spoolOf(storeFile);
  const place = placeOfStore(storeFile);
  const text = JSON.stringify({ v: 1, kind: entry.kind, args: entry.args, ...(isBlind && { isBlind }) });
  const order = String(Date.now()).padStart(15, "0");
  const random = Math.random().toString(36).slice(2, 8).padEnd(6, "0");
  const name = `${order}-${String(written++).padStart(6, "0")}-${process.pid}-${random}`;
  // A reader removes the folder when it is empty, so it can disappear between any two steps.
  for (let tries = 0; tries < 5; tries++) {
    try {
      makeFolder(folder, { ...place, mode: 0o700 });
      if (!isOwnFolder(folder)) return "the spool is a link";
      if (!hasRoom(folder, text.length)) return "the spool is full";
      putFile(`${folder}/${name}.json`, text, { ...place, mode: 0o600, isSynced: false });
      return undefined;
    } catch (error) {
      const code = errnoOf(error);
      if (code !== "ENOENT") return code ? `the spool cannot be written (${code})` : errorText(error);
    }
  }
  return "the spool cannot be written";
}

/** Names, oldest first. */
export function spooledNames(storeFile: string): string[] {
  const folder = spoolOf(storeFile);
  if (!isOwnFolder(folder)) return [];
  return namesIn(folder)
    .filter((name) => ENTRY.test(name))
    .sort();
}

/** When an entry was made, parsed from its name. */
export function spooledAt(name: string | undefined): Date | undefined {
  return name === undefined ? undefined : new Date(Number(name.slice(0, 15)));
}

/** damaged: not a valid entry. foreign: not written here by Haversack. unreadable: this user cannot read it now. */
export type ReadSpooled = SpooledEntry | "damaged" | "foreign" | "unreadable";

export function readSpooled(storeFile: string, name: string): ReadSpooled {
  let text: string;
  try {
    if (isForeign(storeFile, name)) return "foreign";
    text = readFileSync(`${spoolOf(storeFile)}/${name}`, "utf8");
  } catch {
    return "unreadable";
  }
  try {
    const { kind, args, isBlind } = JSON.parse(text);
    if (typeof kind !== "string" || typeof args !== "object" || args === null) return "damaged";
    if (typeof args.at === "string") args.at = new Date(args.at);
    return { entry: { kind, args } as SpoolEntry, isBlind: isBlind === true };
  } catch {
    return "damaged";
  }
}

/**
 * A `git pull` can add files to the spool of a trusted project. Our files have the database's mode, 0600; git usually makes files
 * that others can read. With a umask of 077 the modes are equal, so git's index is checked too.
 */
function isForeign(storeFile: string, name: string): boolean {
  const folder = spoolOf(storeFile);
  const found = lstatSync(`${folder}/${name}`);
  const { mode = 0o600 } = statSync(storeFile, { throwIfNoEntry: false }) ?? {};
  if (!found.isFile() || (found.mode & ~mode & 0o777) !== 0) return true;
  const state = folderOf(storeFile);
  return trackedInIndex(state.slice(0, state.lastIndexOf("/")), [`spool/${name}`]).length > 0;
}

/** Call after the entries are saved. Entries whose files cannot be removed stay marked as saved. */
export function removeSpooled(storeFile: string, names: readonly string[]): void {
  const folder = spoolOf(storeFile);
  const place = placeOfStore(storeFile);
  // A repository could replace the folder with a link to a folder elsewhere.
  if (!isOwnFolder(folder)) return;
  for (const name of names) ignoring(NOT_REMOVED, () => removeFile(`${folder}/${name}`, place));
  for (const name of namesIn(folder)) {
    if (PART.test(name) && ageOf(`${folder}/${name}`) > ABANDONED_MS) {
      ignoring(NOT_REMOVED, () => removeFile(`${folder}/${name}`, place));
    }
  }
  // Another entry may have been added, or another reader may have removed the folder first.
  ignoring(NOT_REMOVED, () => removeEmptyFolder(folder, place));
}

const NOT_REMOVED = ["EACCES", "EPERM", "EBUSY", "EROFS"];

const ENTRY = /^\d{15}-\d{6,}-\d+-[a-z0-9]+\.json$/;
/** A file before its rename. Older versions used `.part`. */
const PART = /^\.?\d{15}-\d{6,}-\d+-[a-z0-9]+\.(?:part|json\.\d+-[a-z0-9]+\.haversack)$/;

/** False for a link: a repository could replace the folder with a link to a folder elsewhere. */
function isOwnFolder(folder: string): boolean {
  return lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Empty if the folder belongs to another user, who has to read it in. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (!NOT_REMOVED.includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
    return [];
  }
}

function hasRoom(folder: string, more: number): boolean {
  const names = readdirSync(folder);
  if (names.length >= MOST_ENTRIES) return false;
  const used = names.reduce((sum, name) => sum + sizeOf(`${folder}/${name}`), 0);
  return used + more <= MOST_BYTES;
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function ageOf(path: string): number {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat ? Date.now() - stat.mtimeMs : 0;
}

function ignoring(codes: readonly string[], action: () => void): void {
  try {
    action();
  } catch (error) {
    if (!codes.includes(errnoOf(error))) throw error;
  }
}
