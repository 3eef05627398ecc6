/**
 * Takes out what `init` put in, and the entries of deferred skills, and nothing else. State in `.haversack/` stays.
 */
import { rmdirSync, rmSync } from "node:fs";
import { type PlannedFile, readText } from "./init.ts";
import { jointFiles } from "./joint-files.ts";
import { lineDiff } from "./line-diff.ts";
import { replaceFile, withLock } from "./replace-file.ts";
import type { Client, WiredFile, WiringPlace } from "./wiring.ts";
import { type FileReceipt, type Receipt, readReceipt, writeReceipt } from "./wiring-receipt.ts";

export interface PlannedRemoval extends PlannedFile {
  /** The parts of those clients that stay wired, where they write this file too. */
  others: WiredFile | undefined;
}

/** `folder`: where the receipt is kept. `staying`: the clients that are not asked about, and keep what they need. */
export function planUninstall(
  clients: readonly Client[],
  place: WiringPlace,
  folder: string,
  staying: readonly Client[] = [],
): PlannedRemoval[] {
  const receipt = readReceipt(folder);
  const others = new Map(jointFiles(staying, place).map((file) => [file.path, file]));
  const files = jointFiles(
    clients.map((client) => withDeferralFile(client, receipt)),
    place,
    (file, client) => withDeferred(file, client, place, receipt),
  );
  return files.flatMap((file): PlannedRemoval[] => {
    const { clients: names, path, about } = file;
    const before = readText(path);
    const after = before === undefined ? undefined : unwired(file, before, receiptOf(path, receipt));
    if (before === undefined || after === before) return [];
    const kind = after === undefined ? "remove" : "change";
    return [{ clients: names, path, about, kind, diff: lineDiff(before, after ?? ""), file, others: others.get(path) }];
  });
}

export function applyUninstall(planned: readonly PlannedRemoval[], folder: string): void {
  const receipt = readReceipt(folder);
  // A folder is noted with the first file that was written into it: that one goes last.
  for (const { path, file, others } of planned.toReversed()) {
    const own = receiptOf(path, receipt);
    const after = withLock(file.lock, () => {
      const before = readText(path);
      if (before === undefined) return undefined;
      const rest = unwired(file, before, own);
      putBack(path, before, rest, own?.folders ?? []);
      return rest;
    });
    const known = receipt.files[path];
    if (known && others && after !== undefined && others.unwire(after, known.keep) !== after) {
      known.keep = notesFor(others, after, known.keep);
    } else delete receipt.files[path];
    delete receipt.deferred.files[path];
    delete receipt.deferred.entries[path];
    writeReceipt(folder, receipt);
  }
}

/** After an uninstall `on` must not hide what `off` had let back in. */
export function forgetPaused(clients: readonly Client[], place: WiringPlace, folder: string): void {
  const receipt = readReceipt(folder);
  if (Object.keys(receipt.deferred.paused).length === 0) return;
  for (const client of clients) delete receipt.deferred.paused[client.deferral?.(place).path ?? ""];
  writeReceipt(folder, receipt);
}

/** Those without which the parts of the others would come out differently. */
function notesFor(others: WiredFile, text: string, keep: readonly string[]): string[] {
  const right = others.unwire(text, keep);
  return keep.filter((note) => {
    const rest = keep.filter((one) => one !== note);
    return others.unwire(text, rest) !== right;
  });
}

/** Writes the text without ours; without a text the file goes, and the folders that were made for it if nothing else is in them. */
export function putBack(path: string, before: string, after: string | undefined, folders: readonly string[]): void {
  if (after !== undefined) {
    if (after !== before) replaceFile(path, after);
    return;
  }
  rmSync(path);
  for (const folder of folders.toReversed()) {
    try {
      rmdirSync(folder);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOTEMPTY") return;
      throw error;
    }
  }
}

/** The client with the file that its deferred skills stand in, where `init` writes none there. */
function withDeferralFile(client: Client, { deferred }: Receipt): Client {
  return {
    ...client,
    files(place) {
      const files = client.files(place);
      const deferral = client.deferral?.(place);
      if (!deferral || !deferred.entries[deferral.path]) return files;
      if (files.some(({ path }) => path === deferral.path)) return files;
      const { path, blank } = deferral;
      const unchanged = (text: string) => text;
      const wire = (text: string) => ({ text, keep: [] });
      return [...files, { path, about: "the client's listing", blank, isRecordedOnly: true, wire, unwire: unchanged }];
    },
  };
}

/** The same file, whose `unwire` lets our deferred skills back in as well. */
function withDeferred(file: WiredFile, client: Client, place: WiringPlace, { deferred }: Receipt): WiredFile {
  const entries = deferred.entries[file.path];
  const deferral = client.deferral?.(place);
  if (!entries || deferral?.path !== file.path) return file;
  return {
    ...file,
    about: `${file.about}; deferred skills: ${Object.keys(entries).length}`,
    unwire: (text, keep) => file.unwire(deferral.drop(text, entries, keep), keep),
  };
}

/** What `init` and `defer` noted of a file, taken together. */
function receiptOf(path: string, { files, deferred }: Receipt): FileReceipt | undefined {
  const notes = [files[path], deferred.files[path]].filter((note) => note !== undefined);
  if (notes.length === 0) return undefined;
  return {
    isNew: notes.some(({ isNew }) => isNew),
    folders: notes.flatMap(({ folders }) => folders),
    keep: notes.flatMap(({ keep }) => keep),
  };
}

/** Undefined: nothing is left in a file that `init` made. */
function unwired(file: WiredFile, text: string, receipt: FileReceipt | undefined): string | undefined {
  if (text.trim() === "" || (file.isRecordedOnly && !receipt)) return text;
  const after = file.unwire(text, receipt?.keep ?? []);
  return (receipt?.isNew || file.isWhole) && after.trim() === file.blank.trim() ? undefined : after;
}
