/**
 * What `init` and `skills defer` did, so that `uninstall` and `undefer` take out exactly that: which files and folders were
 * made, which empty objects were there before, which skill entries are ours. A file of its own in our local state, not a key in
 * the client's settings: the client owns those, may check them, and may write them anew without what it does not know.
 */
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { readJson } from "../base/json.ts";
import { replaceFile } from "./replace-file.ts";

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

/** A lost or broken receipt is an empty one: entries are still recognised by their form. */
export function readReceipt(folder: string): Receipt {
  const file = join(folder, FILE);
  const { value } = existsSync(file) ? readJson(readFileSync(file, "utf8")) : {};
  const receipt = (typeof value === "object" && value !== null ? value : {}) as Partial<Receipt>;
  return {
    files: receipt.files ?? {},
    deferred: {
      entries: receipt.deferred?.entries ?? {},
      paused: receipt.deferred?.paused ?? {},
      files: receipt.deferred?.files ?? {},
    },
  };
}

export function writeReceipt(folder: string, receipt: Receipt): void {
  const { files, deferred } = receipt;
  const isEmpty = [files, deferred.entries, deferred.paused, deferred.files].every(
    (part) => Object.keys(part).length === 0,
  );
  const file = join(folder, FILE);
  if (isEmpty) {
    rmSync(file, { force: true });
    return;
  }
  mkdirSync(dirname(file), { recursive: true });
  replaceFile(file, `${JSON.stringify(receipt, null, 2)}\n`);
}
