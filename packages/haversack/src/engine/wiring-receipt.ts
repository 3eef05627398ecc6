/**
 * Records what `init` and `skill defer` did, so `uninstall` and `undefer` remove exactly that: files and folders we made, empty objects
 * that existed before, and our skill entries. Kept as a file in our local state. The client owns its settings: it may validate them, or
 * rewrite them without keys that it does not know.
 */
import { join } from "node:path";
import { readBounded, readProjectText } from "../base/clean-text.ts";
import { isRecord, readJson } from "../base/json.ts";
import { makeFolder, makePrivate, putFile, removeFile, USER } from "../base/safe-write.ts";
import { placeOfReceipt } from "./wired-place.ts";

export interface FileReceipt {
  isNew: boolean;
  /** Folders made for it, outermost first. */
  folders: string[];
  /** As `WiredFile.wire` returned it. */
  keep: string[];
}

export interface Receipt {
  files: Record<string, FileReceipt>;
  deferred: {
    /** Settings file to our entries: name to value. */
    entries: Record<string, Record<string, string>>;
    /** The same, for entries that `off` took out and `on` puts back. */
    paused: Record<string, Record<string, string>>;
    files: Record<string, FileReceipt>;
  };
  /** The checkouts in which `init` was run. Absent: recorded by an earlier version. */
  checkouts?: string[];
}

const FILE = "wiring.json";
const MAX_BYTES = 16_000_000;

/**
 * A lost or broken receipt counts as empty: our entries are still recognized by their form. The receipt is in the project, so only its
 * shape is trusted: callers look up paths that a client can have, and never iterate over the paths in it.
 */
export function readReceipt(folder: string): Receipt {
  const file = join(folder, FILE);
  const { within } = placeOfReceipt(folder);
  const read =
    within === USER ? readBounded(file, MAX_BYTES) : readProjectText(file, { root: within, maxBytes: MAX_BYTES });
  const { value } = readJson(read?.text ?? "{}");
  const { files, deferred, checkouts } = fieldsOf(value);
  const { entries, paused, files: deferredFiles } = fieldsOf(deferred);
  return {
    files: readFiles(files),
    deferred: { entries: readEntries(entries), paused: readEntries(paused), files: readFiles(deferredFiles) },
    ...(Array.isArray(checkouts) && { checkouts: textsOf(checkouts) }),
  };
}

export function emptyReceipt(): Receipt {
  return { files: {}, deferred: { entries: {}, paused: {}, files: {} } };
}

function readFiles(value: unknown): Record<string, FileReceipt> {
  return mapFields(value, (file) => {
    const { isNew, folders, keep } = fieldsOf(file);
    return { isNew: isNew === true, folders: textsOf(folders), keep: textsOf(keep) };
  });
}

function readEntries(value: unknown): Record<string, Record<string, string>> {
  return mapFields(value, (entries) =>
    Object.fromEntries(
      Object.entries(fieldsOf(entries)).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
    ),
  );
}

function mapFields<T>(value: unknown, read: (field: unknown) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(fieldsOf(value)).map(([name, field]) => [name, read(field)]));
}

export function fieldsOf(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}

export function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

export function writeReceipt(folder: string, receipt: Receipt): void {
  const { files, deferred, checkouts = [] } = receipt;
  const isEmpty = [files, deferred.entries, deferred.paused, deferred.files, checkouts].every(
    (part) => Object.keys(part).length === 0,
  );
  const file = join(folder, FILE);
  const place = placeOfReceipt(folder);
  if (isEmpty) {
    removeFile(file, place);
    return;
  }
  makeFolder(folder, place);
  putFile(file, `${JSON.stringify(receipt, null, 2)}\n`, { ...place, mode: 0o600 });
  // Earlier versions made it readable to all.
  makePrivate(file, 0o600);
}
