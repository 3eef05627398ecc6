/** Removes what `init` added and the entries of deferred skills, and nothing else. State in `.haversack/` stays. */
import { errorText } from "../base/errors.ts";
import { type Place, putFile, removeEmptyFolder, removeFile, requireNoLink } from "../base/safe-write.ts";
import { sharingOf } from "./checkouts.ts";
import { jointFiles, lineDiff, lockReceipt, type PlannedFile, readText, WAS_EMPTY, withLock } from "./init.ts";
import { placeOfWired } from "./wired-place.ts";
import type { Client, WiredFile, WiringPlace } from "./wiring.ts";
import { emptyReceipt, type FileReceipt, type Receipt, readReceipt, writeReceipt } from "./wiring-receipt.ts";

export interface PlannedRemoval extends PlannedFile {
  /** The parts of other clients that stay wired in this file. */
  others: WiredFile | undefined;
}

/** `folder`: where the receipt is kept; undefined: there is no trusted one. `staying`: clients that stay wired and keep their parts. */
export function planUninstall(
  clients: readonly Client[],
  place: WiringPlace,
  folder: string | undefined,
  staying: readonly Client[] = [],
): PlannedRemoval[] {
  const receipt = receiptIn(folder);
  const { isNeeded } = sharingOf(receipt, place);
  const others = new Map(jointFiles(staying, place).map((file) => [file.path, file]));
  const files = jointFiles(
    clients.map((client) => withDeferralFile(client, receipt)),
    place,
    (file, client) => withDeferred(file, client, place, receipt),
  );
  return files.flatMap((file): PlannedRemoval[] => {
    const { clients: names, path, about } = file;
    const allowed = placeOfWired(path, place);
    if (isNeeded(file) || linkProblem(path, allowed)) return [];
    const before = readText(path);
    // A file that was never wired may be broken: nothing of ours is in it, so it need not be read.
    if (before !== undefined && !receiptOf(path, receipt) && !before.includes("haversack")) return [];
    const after = before === undefined ? undefined : unwired(file, before, receiptOf(path, receipt));
    if (before === undefined || after === before) return [];
    const kind = after === undefined ? "remove" : "change";
    const diff = lineDiff(before, after ?? "");
    return [{ clients: names, path, about, kind, diff, file, place: allowed, others: others.get(path) }];
  });
}

export function applyUninstall(planned: readonly PlannedRemoval[], folder: string | undefined): void {
  if (folder === undefined) removePlanned(planned, folder);
  else lockReceipt(folder, () => removePlanned(planned, folder));
}

function removePlanned(planned: readonly PlannedRemoval[], folder: string | undefined): void {
  const receipt = receiptIn(folder);
  // A folder is recorded with the first file written into it, so that file goes last.
  for (const { path, file, others, place } of planned.toReversed()) {
    const own = receiptOf(path, receipt);
    const takeOut = () => {
      const before = readText(path);
      if (before === undefined) return undefined;
      const rest = unwired(file, before, own);
      putBack(path, { before, after: rest, folders: own?.folders ?? [] }, place);
      return rest;
    };
    const after = withLock(file.lock, takeOut, place);
    const known = receipt.files[path];
    if (known && others && after !== undefined && others.unwire(after, known.keep) !== after) {
      known.keep = notesFor(others, after, known.keep);
    } else delete receipt.files[path];
    delete receipt.deferred.files[path];
    delete receipt.deferred.entries[path];
    if (folder !== undefined) writeReceipt(folder, receipt);
  }
}

function receiptIn(folder: string | undefined): Receipt {
  return folder === undefined ? emptyReceipt() : readReceipt(folder);
}

/** After an uninstall, `on` must not hide skills again that `off` had restored. */
export function forgetPaused(clients: readonly Client[], place: WiringPlace, folder: string): void {
  if (Object.keys(readReceipt(folder).deferred.paused).length === 0) return;
  lockReceipt(folder, () => {
    const receipt = readReceipt(folder);
    for (const client of clients) delete receipt.deferred.paused[client.deferral?.(place).path ?? ""];
    writeReceipt(folder, receipt);
  });
}

/** The notes that are needed to unwire the other clients correctly. */
function notesFor(others: WiredFile, text: string, keep: readonly string[]): string[] {
  const right = others.unwire(text, keep);
  return keep.filter((note) => {
    const rest = keep.filter((one) => one !== note);
    return others.unwire(text, rest) !== right;
  });
}

/** Writes the text without our part. Without a text, removes the file and any empty folders that were made for it. */
export function putBack(
  path: string,
  { before, after, folders }: { before: string; after: string | undefined; folders: readonly string[] },
  place: Place,
): void {
  if (after !== undefined) {
    if (after !== before) putFile(path, after, place);
    return;
  }
  removeFile(path, place);
  // Folders made for this file are above it. Ignore any other folder that a receipt names.
  const above = folders.filter((folder) => path.startsWith(`${folder}/`) && !folder.split("/").includes(".."));
  for (const folder of above.toReversed()) if (!removeEmptyFolder(folder, place)) return;
}

/**
 * What the receipt names but `uninstall` leaves alone, one line each: files that no client writes, folders that are not above their file,
 * and files that are now links. `clients`: all known clients.
 */
export function ignoredInReceipt(clients: readonly Client[], place: WiringPlace, folder: string): string[] {
  const { files, deferred } = readReceipt(folder);
  const known = [
    ...clients.flatMap((client) => client.files(place).map(({ path }) => path)),
    ...clients.flatMap((client) => client.deferral?.(place).path ?? []),
  ];
  // All work trees share the receipt: the same files in another work tree are removed there.
  const tails = known.map((path) => path.split("/").slice(-2).join("/"));
  const isKnown = (path: string) => known.includes(path) || tails.some((tail) => path.endsWith(`/${tail}`));
  const named = { ...deferred.entries, ...deferred.paused, ...deferred.files, ...files };
  const strange = Object.keys(named)
    .filter((path) => !isKnown(path))
    .map((path) => `wiring.json names ${JSON.stringify(path)}, which Haversack does not write: it was left alone`);
  const folders = [...Object.entries(files), ...Object.entries(deferred.files)].flatMap(([path, receipt]) =>
    receipt.folders
      .filter((one) => isKnown(path) && !(path.startsWith(`${one}/`) && !one.split("/").includes("..")))
      .map((one) => `wiring.json names the folder ${JSON.stringify(one)} for ${path}: it was left alone`),
  );
  const links = known.flatMap((path) => linkProblem(path, placeOfWired(path, place)) ?? []);
  return [...new Set([...strange, ...folders, ...links])];
}

function linkProblem(path: string, place: Place): string | undefined {
  try {
    requireNoLink(path, place);
    return undefined;
  } catch (error) {
    return errorText(error);
  }
}

/** Adds the file with the client's deferred skills if `init` does not write that file. */
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

/** The same file, with an `unwire` that also restores our deferred skills. */
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

/** The combined notes of `init` and `defer` about a file. */
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
  if (after.trim() !== file.blank.trim()) return after;
  if (receipt?.isNew || file.isWhole) return undefined;
  return receipt?.keep.find((note) => note.startsWith(WAS_EMPTY))?.slice(WAS_EMPTY.length) ?? after;
}
