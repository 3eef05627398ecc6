/**
 * What `init` and `skills defer` did, so that `uninstall` and `undefer` take out exactly that: which files and folders were
 * made, which empty objects were there before, which skill entries are ours. A file of its own in our local state, not a key in
 * the client's settings: the client owns those, may check them, and may write them anew without what it does not know.
 */
import { join } from "node:path";
import { readJson } from "../base/json.ts";
import { readBounded, readProjectText } from "../base/read-text.ts";
import { makeFolder, putFile, removeFile, USER } from "../base/safe-write.ts";
import { placeOfReceipt } from "./wired-place.ts";

export interface FileReceipt {
  isNew: boolean;
  /** Folders made for it, outermost first. */
  folders: string[];
  /** As `WiredFile.wire` returned it. */
  keep: string[];
}

export interface DeferReceipt {
  /** Settings file to our entries: name to value. */
  entries: Record<string, Record<string, string>>;
  /** The same, for entries that `off` took out and `on` puts back. */
  paused: Record<string, Record<string, string>>;
  files: Record<string, FileReceipt>;
}

export interface Receipt {
  files: Record<string, FileReceipt>;
  deferred: DeferReceipt;
}

const FILE = "wiring.json";
const MAX_BYTES = 16_000_000;

/**
 * A lost or broken receipt is an empty one: entries are still recognised by their form. It lies in the project, so nothing in it
 * is believed beyond its shape: whoever uses it looks up paths that a client can have, and never goes through those in it.
 */
export function readReceipt(folder: string): Receipt {
  const file = join(folder, FILE);
  const { within } = placeOfReceipt(folder);
  const read =
    within === USER ? readBounded(file, MAX_BYTES) : readProjectText(file, { root: within, maxBytes: MAX_BYTES });
  const text = read?.text;
  const { value } = text === undefined ? {} : readJson(text);
  const { files, deferred } = fieldsOf(value);
  const { entries, paused, files: deferredFiles } = fieldsOf(deferred);
  return {
    files: readFiles(files),
    deferred: { entries: readEntries(entries), paused: readEntries(paused), files: readFiles(deferredFiles) },
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

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

export function writeReceipt(folder: string, receipt: Receipt): void {
  const { files, deferred } = receipt;
  const isEmpty = [files, deferred.entries, deferred.paused, deferred.files].every(
    (part) => Object.keys(part).length === 0,
  );
  const file = join(folder, FILE);
  const place = placeOfReceipt(folder);
  if (isEmpty) {
    removeFile(file, place);
    return;
  }
  makeFolder(folder, place);
  putFile(file, `${JSON.stringify(receipt, null, 2)}\n`, place);
}
