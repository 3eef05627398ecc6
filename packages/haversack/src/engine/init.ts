/**
 * Wires clients: plans every file first, so that a person sees all of it and a file that cannot be understood stops
 * everything before the first write; then writes, each file in one step, from its text at that moment.
 */
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { isMissing } from "../base/file-system.ts";
import { jointFiles } from "./joint-files.ts";
import { type DiffLine, lineDiff } from "./line-diff.ts";
import { makeFolders, replaceFile, withLock } from "./replace-file.ts";
import type { Client, WiredFile, WiringPlace } from "./wiring.ts";
import { type FileReceipt, readReceipt, writeReceipt } from "./wiring-receipt.ts";

export interface PlannedFile {
  /** The names of those whose parts are in it. */
  clients: string[];
  path: string;
  about: string;
  kind: "make" | "change" | "remove";
  diff: DiffLine[];
  file: WiredFile;
}

/** The files that would change. Empty: nothing to do. */
export function planInit(clients: readonly Client[], place: WiringPlace): PlannedFile[] {
  return jointFiles(clients, place).flatMap((file): PlannedFile[] => {
    const before = readText(file.path);
    const after = file.wire(textOr(before, file)).text;
    if (after === (before ?? file.blank)) return [];
    const { clients: names, path, about } = file;
    const kind = before === undefined ? "make" : "change";
    return [{ clients: names, path, about, kind, diff: lineDiff(before ?? "", after), file }];
  });
}

/** `folder`: where the receipt is kept. */
export function applyInit(planned: readonly PlannedFile[], folder: string): void {
  // What cannot be noted is not written.
  makeFolders(folder);
  const receipt = readReceipt(folder);
  for (const { path, file } of planned) {
    const made = wireFile(file);
    const known = receipt.files[path];
    receipt.files[path] = known ? { ...known, keep: [...new Set([...known.keep, ...made.keep])] } : made;
    // After every file: a kill in between leaves a receipt for what was written.
    writeReceipt(folder, receipt);
  }
}

function wireFile(file: WiredFile): FileReceipt {
  const folders = makeFolders(dirname(file.path));
  return withLock(file.lock, () => {
    const before = readText(file.path);
    const { text, keep } = file.wire(textOr(before, file));
    if (text !== (before ?? file.blank)) replaceFile(file.path, text, { modeIfNew: file.isPrivate ? 0o600 : 0o644 });
    return { isNew: before === undefined, folders, keep };
  });
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
