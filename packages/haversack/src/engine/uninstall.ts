/**
 * Takes out what `init` put in, and the entries of deferred skills, and nothing else. State in `.haversack/` stays.
 */
import { rmdirSync, rmSync } from "node:fs";
import { type PlannedFile, readText } from "./init.ts";
import { lineDiff } from "./line-diff.ts";
import { replaceFile, withLock } from "./replace-file.ts";
import type { Client, WiredFile, WiringPlace } from "./wiring.ts";
import { type FileReceipt, type Receipt, readReceipt, writeReceipt } from "./wiring-receipt.ts";

/** `folder`: where the receipt is kept. */
export function planUninstall(clients: readonly Client[], place: WiringPlace, folder: string): PlannedFile[] {
  const receipt = readReceipt(folder);
  return clients.flatMap((client) =>
    client.files(place).flatMap((wired): PlannedFile[] => {
      const file = withDeferred(wired, client, place, receipt);
      const before = readText(file.path);
      const after = before === undefined ? undefined : unwired(file, before, receiptOf(file.path, receipt));
      if (before === undefined || after === before) return [];
      return [
        {
          client: client.name,
          path: file.path,
          about: file.about,
          kind: after === undefined ? "remove" : "change",
          diff: lineDiff(before, after ?? ""),
          file,
        },
      ];
    }),
  );
}

export function applyUninstall(planned: readonly PlannedFile[], folder: string): void {
  const receipt = readReceipt(folder);
  // A folder is noted with the first file that was written into it: that one goes last.
  for (const { path, file } of planned.toReversed()) {
    const own = receiptOf(path, receipt);
    withLock(file.lock, () => {
      const before = readText(path);
      if (before !== undefined) putBack(path, before, unwired(file, before, own), own?.folders ?? []);
    });
    delete receipt.files[path];
    delete receipt.deferred.files[path];
    delete receipt.deferred.entries[path];
    writeReceipt(folder, receipt);
  }
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
