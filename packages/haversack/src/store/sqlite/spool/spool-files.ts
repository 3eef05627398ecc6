/**
 * The spool: what processes could not write because another one held the store's lock. `.haversack/spool/` has one small file per
 * entry. Each is written under another name and then renamed, so that none is ever seen half; the names sort by time. One
 * file for all would need a protocol for those that still append while it is read in. The hook bundles this file: `node:fs` only.
 */
import { existsSync, lstatSync, readdirSync, readFileSync, statSync } from "node:fs";
import { errorText } from "../../../base/errors.ts";
import { trackedInIndex } from "../../../base/git-place.ts";
import { errnoOf, makeFolder, putFile, removeEmptyFolder, removeFile } from "../../../base/safe-write.ts";
import { folderOf, placeOfStore } from "../store-files.ts";
import type { SpoolEntry } from "./spool-entry.ts";

export interface SpooledEntry {
  entry: SpoolEntry;
  isBlind: boolean;
}

/** Beyond these nothing is added: a store that stays locked for this long is broken, and reading it all in takes time. */
const MOST_ENTRIES = 1000;
const MOST_BYTES = 4_000_000;
/** A process that was killed between its two steps leaves one behind. */
const ABANDONED_MS = 60 * 60_000;

let written = 0;

/** Undefined when it is there; else why not. */
export function addToSpool(storeFile: string, { entry, isBlind }: SpooledEntry): string | undefined {
  const folder = spoolOf(storeFile);
  const place = placeOfStore(storeFile);
  const text = JSON.stringify({ v: 1, kind: entry.kind, args: entry.args, ...(isBlind && { isBlind }) });
  const order = String(Date.now()).padStart(15, "0");
  const random = Math.random().toString(36).slice(2, 8).padEnd(6, "0");
  const name = `${order}-${String(written++).padStart(6, "0")}-${process.pid}-${random}`;
  // A reader that finds the folder empty removes it: it may go between any two steps.
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

/** Names, the oldest first. */
export function spooledNames(storeFile: string): string[] {
  const folder = spoolOf(storeFile);
  if (!isOwnFolder(folder)) return [];
  return namesIn(folder)
    .filter((name) => ENTRY.test(name))
    .sort();
}

/** When an entry was made, by its name. */
export function spooledAt(name: string | undefined): Date | undefined {
  return name === undefined ? undefined : new Date(Number(name.slice(0, 15)));
}

/** damaged: it will never be an entry. foreign: Haversack did not write it here. unreadable: not by this user, or not now. */
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
 * A pull can bring files into the spool of a project that its user has accepted. Ours have the mode of the database, 0600, and git makes
 * files that others may read. With a umask of 077 git's files look the same, so its index tells.
 */
function isForeign(storeFile: string, name: string): boolean {
  const folder = spoolOf(storeFile);
  const found = lstatSync(`${folder}/${name}`);
  const { mode = 0o600 } = statSync(storeFile, { throwIfNoEntry: false }) ?? {};
  if (!found.isFile() || (found.mode & ~mode & 0o777) !== 0) return true;
  const state = folderOf(storeFile);
  return trackedInIndex(state.slice(0, state.lastIndexOf("/")), [`spool/${name}`]).length > 0;
}

/** After they are saved. Those that are gone or not ours to remove stay noted as saved. */
export function removeSpooled(storeFile: string, names: readonly string[]): void {
  const folder = spoolOf(storeFile);
  const place = placeOfStore(storeFile);
  // A repository could bring a link in its place, to a folder that is none of ours.
  if (!isOwnFolder(folder)) return;
  for (const name of names) ignoring(NOT_REMOVED, () => removeFile(`${folder}/${name}`, place));
  for (const name of namesIn(folder)) {
    if (PART.test(name) && ageOf(`${folder}/${name}`) > ABANDONED_MS) {
      ignoring(NOT_REMOVED, () => removeFile(`${folder}/${name}`, place));
    }
  }
  // Another entry may have come, or another reader may have been faster.
  ignoring(NOT_REMOVED, () => removeEmptyFolder(folder, place));
}

const NOT_REMOVED = ["EACCES", "EPERM", "EBUSY", "EROFS"];

const ENTRY = /^\d{15}-\d{6,}-\d+-[a-z0-9]+\.json$/;
/** Before it has its name; `.part` is what older versions called it. */
const PART = /^\.?\d{15}-\d{6,}-\d+-[a-z0-9]+\.(?:part|json\.\d+-[a-z0-9]+\.haversack)$/;

/** A repository could bring a link in its place, to a folder that is none of ours. */
function isOwnFolder(folder: string): boolean {
  return lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** None where the folder is another user's, who has to read it in. */
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

// Whether something waits in the spool: one look, for whoever asks at every event.

export function spoolOf(storeFile: string): string {
  return `${folderOf(storeFile)}/spool`;
}

export function hasSpool(storeFile: string): boolean {
  return existsSync(spoolOf(storeFile));
}
