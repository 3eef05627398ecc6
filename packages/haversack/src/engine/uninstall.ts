/**
 * Takes out what `init` put in, and the entries of deferred skills, and nothing else. State in `.haversack/` stays.
 */
import { errorText } from "../base/errors.ts";
import { type Place, putFile, removeEmptyFolder, removeFile, requireNoLink } from "../base/safe-write.ts";
import { type PlannedFile, readText } from "./init.ts";
import { jointFiles } from "./joint-files.ts";
import { lineDiff } from "./line-diff.ts";
import { placeOfWired } from "./wired-place.ts";
import type { Client, WiredFile, WiringPlace } from "./wiring.ts";
import { emptyReceipt, type FileReceipt, type Receipt, readReceipt, writeReceipt } from "./wiring-receipt.ts";
import { withLock } from "./with-lock.ts";

export interface PlannedRemoval extends PlannedFile {
  /** The parts of those clients that stay wired, where they write this file too. */
  others: WiredFile | undefined;
}

/** `folder`: where the receipt is kept; undefined: there is none that can be believed. `staying`: the clients that are not asked about, and keep what they need. */
export function planUninstall(
  clients: readonly Client[],
  place: WiringPlace,
  folder: string | undefined,
  staying: readonly Client[] = [],
): PlannedRemoval[] {
  const receipt = receiptIn(folder);
  const others = new Map(jointFiles(staying, place).map((file) => [file.path, file]));
  const files = jointFiles(
    clients.map((client) => withDeferralFile(client, receipt)),
    place,
    (file, client) => withDeferred(file, client, place, receipt),
  );
  return files.flatMap((file): PlannedRemoval[] => {
    const { clients: names, path, about } = file;
    const allowed = placeOfWired(path, place);
    if (linkProblem(path, allowed)) return [];
    const before = readText(path);
    const after = before === undefined ? undefined : unwired(file, before, receiptOf(path, receipt));
    if (before === undefined || after === before) return [];
    const kind = after === undefined ? "remove" : "change";
    const diff = lineDiff(before, after ?? "");
    return [{ clients: names, path, about, kind, diff, file, place: allowed, others: others.get(path) }];
  });
}

export function applyUninstall(planned: readonly PlannedRemoval[], folder: string | undefined): void {
  const receipt = receiptIn(folder);
  // A folder is noted with the first file that was written into it: that one goes last.
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
  // Made for this file means above it: a receipt that names another folder is not ours.
  const above = folders.filter((folder) => path.startsWith(`${folder}/`) && !folder.split("/").includes(".."));
  for (const folder of above.toReversed()) if (!removeEmptyFolder(folder, place)) return;
}

/**
 * What the receipt names and `uninstall` leaves alone, one line each: files that no client writes, folders that are not above
 * their file, and files that are links by now. `clients`: all that there are.
 */
export function ignoredInReceipt(clients: readonly Client[], place: WiringPlace, folder: string): string[] {
  const { files, deferred } = readReceipt(folder);
  const known = [
    ...clients.flatMap((client) => client.files(place).map(({ path }) => path)),
    ...clients.flatMap((client) => client.deferral?.(place).path ?? []),
  ];
  // All work trees share the receipt: the same files in another one are taken out there.
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
