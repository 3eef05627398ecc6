/**
 * Wires clients: plans every file first, so that a person sees all of it and a file that cannot be understood stops
 * everything before the first write; then writes, each file in one step, from its text at that moment.
 */
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { isMissing } from "../base/file-system.ts";
import { makeFolder, type Place, putFile, requireNoLink } from "../base/safe-write.ts";
import { jointFiles } from "./joint-files.ts";
import { type DiffLine, lineDiff } from "./line-diff.ts";
import { placeOfReceipt, placeOfWired } from "./wired-place.ts";
import type { Client, WiredFile, WiringPlace } from "./wiring.ts";
import { type FileReceipt, readReceipt, writeReceipt } from "./wiring-receipt.ts";
import { withLock } from "./with-lock.ts";

export interface PlannedFile {
  /** The names of those whose parts are in it. */
  clients: string[];
  path: string;
  about: string;
  kind: "make" | "change" | "remove";
  diff: DiffLine[];
  file: WiredFile;
  /** What the write must stay in. */
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

/** `folder`: where the receipt is kept. */
export function applyInit(planned: readonly PlannedFile[], folder: string): void {
  // What cannot be noted is not written.
  makeFolder(folder, placeOfReceipt(folder));
  const receipt = readReceipt(folder);
  for (const { path, file, place } of planned) {
    const made = wireFile(file, place);
    const known = receipt.files[path];
    receipt.files[path] = known ? { ...known, keep: [...new Set([...known.keep, ...made.keep])] } : made;
    // After every file: a kill in between leaves a receipt for what was written.
    writeReceipt(folder, receipt);
  }
}

function wireFile(file: WiredFile, place: Place): FileReceipt {
  const folders = makeFolder(dirname(file.path), place);
  const write = () => {
    const before = readText(file.path);
    const { text, keep } = file.wire(textOr(before, file));
    if (text !== (before ?? file.blank)) putFile(file.path, text, { ...place, mode: file.isPrivate ? 0o600 : 0o644 });
    return { isNew: before === undefined, folders, keep };
  };
  return withLock(file.lock, write, place);
}

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
