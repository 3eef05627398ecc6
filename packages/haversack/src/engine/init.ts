/**
 * Wires clients. Plans every file first: a person sees all changes, and a file that cannot be parsed stops everything before the first
 * write. Then writes each file in one step, based on its text at that moment.
 */

import { readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { HaversackError } from "../base/errors.ts";
import { isMissing } from "../base/file-system.ts";
import {
  isWritable,
  makeFolder,
  makeNewFolder,
  type Place,
  putFile,
  removeEmptyFolder,
  requireNoLink,
} from "../base/safe-write.ts";
import { placeOfReceipt, placeOfWired } from "./wired-place.ts";
import type { Client, WiredFile, WiringPlace } from "./wiring.ts";
import { type FileReceipt, readReceipt, writeReceipt } from "./wiring-receipt.ts";

export interface PlannedFile {
  /** The clients that have a part in this file. */
  clients: string[];
  path: string;
  about: string;
  kind: "make" | "change" | "remove";
  diff: DiffLine[];
  file: WiredFile;
  /** The write must stay inside this place. */
  place: Place;
}

/** The files that would change. Empty: nothing to do. */
export function planInit(clients: readonly Client[], place: WiringPlace): PlannedFile[] {
  return jointFiles(clients, place).flatMap((file): PlannedFile[] => {
    const allowed = placeOfWired(file.path, place);
    requireNoLink(file.path, allowed);
    const before = readText(file.path);
    const after = file.wire(textOr(before, file)).text;
    if (after === (before ?? file.blank)) return [];
    const { clients: names, path, about } = file;
    const kind = before === undefined ? "make" : "change";
    return [{ clients: names, path, about, kind, diff: lineDiff(before ?? "", after), file, place: allowed }];
  });
}

/** Why a client cannot be wired in this scope, and what works instead. `isElsewhere`: its user settings are wired, so nothing is missing. */
export interface BlockedClient {
  client: Client;
  why: string;
  instead: string;
  isElsewhere: boolean;
}

export function blockedClient(client: Client, place: WiringPlace): BlockedClient | undefined {
  const own = client.blocked?.(place);
  if (own) return { client, ...own, isElsewhere: false };
  const file = client.files(place).find(({ isTracked }) => isTracked?.());
  if (!file) return undefined;
  return {
    client,
    why: committedFile(file.path),
    instead: `Stop tracking it (\`git rm --cached\` keeps the file), or connect all your projects: \`haversack init --user --client ${client.name}\``,
    isElsewhere: planInit([client], { ...place, scope: "user" }).length === 0,
  };
}

export function committedFile(path: string): string {
  return `${path} is committed in this repository, and paths of this machine do not belong in it`;
}

/** `folder`: where the receipt is kept. */
export function applyInit(planned: readonly PlannedFile[], folder: string): void {
  // Make the folder first: write nothing that the receipt cannot record.
  makeFolder(folder, placeOfReceipt(folder));
  lockReceipt(folder, () => {
    const receipt = readReceipt(folder);
    for (const { path, file, place } of planned) {
      const made = wireFile(file, place);
      const known = receipt.files[path];
      receipt.files[path] = known ? { ...known, keep: [...new Set([...known.keep, ...made.keep])] } : made;
      // After every file: after a kill, the receipt covers everything that was written.
      writeReceipt(folder, receipt);
    }
  });
}

/**
 * Runs an action that reads and changes the receipt. Several terminals may run `init` at once, and each must see what the others recorded.
 * Not nested: the lock is a folder, which the same process cannot take twice.
 */
export function lockReceipt<T>(folder: string, action: () => T): T {
  // No folder, so no receipt: `uninstall` then knows our parts by their form. Nobody changes a receipt that cannot be written.
  if (!isWritable(folder)) return action();
  return withLock(join(folder, "wiring.lock"), action, { ...placeOfReceipt(folder), waitMs: 10_000 });
}

function wireFile(file: WiredFile, place: Place): FileReceipt {
  const folders = makeFolder(dirname(file.path), place);
  const write = () => {
    const before = readText(file.path);
    const { text, keep } = file.wire(textOr(before, file));
    if (text !== (before ?? file.blank)) putFile(file.path, text, { ...place, mode: file.isPrivate ? 0o600 : 0o644 });
    const wasEmpty = before?.trim() === "" ? [WAS_EMPTY + before] : [];
    return { isNew: before === undefined, folders, keep: [...keep, ...wasEmpty] };
  };
  return withLock(file.lock, write, place);
}

/** A note in the receipt: the file existed and contained only this text, which `uninstall` restores. */
export const WAS_EMPTY = "was-empty:";

export function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function textOr(text: string | undefined, { blank }: WiredFile): string {
  return text === undefined || text.trim() === "" ? blank : text;
}

// The files of several clients by path. More than one client writes git's own list of ignored files: it is planned,
// shown and written once, with the parts of all clients.

export interface JointFile extends WiredFile {
  /** The clients that these parts belong to. */
  clients: string[];
}

/** In the order of the clients; a shared file comes at its first client. */
export function jointFiles(
  clients: readonly Client[],
  place: WiringPlace,
  change: (file: WiredFile, client: Client) => WiredFile = (file) => file,
): JointFile[] {
  const parts = clients.flatMap((client) =>
    client.files(place).map((file) => ({ client: client.name, file: change(file, client) })),
  );
  return [...Map.groupBy(parts, ({ file }) => file.path).values()].flatMap((group) => {
    const [first, ...others] = group;
    if (!first) return [];
    const names = [...new Set(group.map(({ client }) => client))];
    return [{ ...others.reduce((joint, { file }) => joinFiles(joint, file), first.file), clients: names }];
  });
}

/** Wires the first part, then the second; unwires them in the opposite order. */
function joinFiles(first: WiredFile, second: WiredFile): WiredFile {
  return {
    ...first,
    about: first.about === second.about ? first.about : `${first.about}; ${second.about}`,
    isPrivate: Boolean(first.isPrivate || second.isPrivate),
    isRecordedOnly: Boolean(first.isRecordedOnly && second.isRecordedOnly),
    isWhole: Boolean(first.isWhole && second.isWhole),
    wire(text) {
      const one = first.wire(text);
      const both = second.wire(one.text);
      return { text: both.text, keep: [...one.keep, ...both.keep] };
    },
    unwire: (text, keep) => first.unwire(second.unwire(text, keep), keep),
  };
}

// Runs an action while holding a lock folder, as the client does when it writes its own settings.

/** The client touches its lock every few seconds while it holds it. An older lock was left by a kill. */
const STALE_LOCK_MS = 15_000;

/** Waits up to 3 s for the lock by default. */
export function withLock<T>(
  lock: string | undefined,
  action: () => T,
  { within, waitMs = 3_000 }: Place & { waitMs?: number },
): T {
  if (lock === undefined) return action();
  const deadline = Date.now() + waitMs;
  while (!makeNewFolder(lock, { within })) {
    const age = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? 0);
    if (age > STALE_LOCK_MS) removeEmptyFolder(lock, { within });
    else if (Date.now() > deadline) {
      throw new HaversackError("store-locked", `${lock} is held by another program`, {
        hint: "wait a moment, then run this again",
      });
    } else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
  }
  try {
    return action();
  } finally {
    removeEmptyFolder(lock, { within });
  }
}

/** Removed and added lines, for a person who decides whether a file may be changed. */
export interface DiffLine {
  sign: "+" | "-" | " ";
  text: string;
}

/** Leaves out equal lines at both ends, except one line of context on each side. */
export function lineDiff(before: string, after: string): DiffLine[] {
  const [old, fresh] = [before.split("\n"), after.split("\n")];
  let start = 0;
  while (start < old.length && start < fresh.length && old[start] === fresh[start]) start++;
  let end = 0;
  while (end < old.length - start && end < fresh.length - start && old.at(-1 - end) === fresh.at(-1 - end)) end++;
  if (start === old.length && start === fresh.length) return [];

  const context = (text: string | undefined): DiffLine[] => (text ? [{ sign: " ", text }] : []);
  return [
    ...context(old[start - 1]),
    ...middle(old.slice(start, old.length - end), fresh.slice(start, fresh.length - end)),
    ...context(end > 0 ? old.at(-end) : undefined),
  ];
}

/** Longer texts are shown as completely replaced: nobody reads them line by line. */
const MAX_LINES = 1_500;

function middle(old: readonly string[], fresh: readonly string[]): DiffLine[] {
  if (old.length > MAX_LINES || fresh.length > MAX_LINES) return [...signed("-", old), ...signed("+", fresh)];
  // common[i][j]: the length of the longest common sequence of old from i and fresh from j.
  const common = Array.from({ length: old.length + 1 }, () => new Uint16Array(fresh.length + 1));
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = fresh.length - 1; j >= 0; j--) {
      common[i]![j] =
        old[i] === fresh[j] ? common[i + 1]![j + 1]! + 1 : Math.max(common[i + 1]![j]!, common[i]![j + 1]!);
    }
  }
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < old.length && j < fresh.length) {
    if (old[i] === fresh[j]) {
      lines.push({ sign: " ", text: old[i]! });
      i++;
      j++;
    } else if (common[i + 1]![j]! >= common[i]![j + 1]!) lines.push({ sign: "-", text: old[i++]! });
    else lines.push({ sign: "+", text: fresh[j++]! });
  }
  return [...lines, ...signed("-", old.slice(i)), ...signed("+", fresh.slice(j))];
}

function signed(sign: DiffLine["sign"], lines: readonly string[]): DiffLine[] {
  return lines.map((text) => ({ sign, text }));
}
