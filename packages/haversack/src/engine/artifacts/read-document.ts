/**
 * Looks at one document: whether it can be read, its length, its hash, and its text if that is small enough to keep. Never throws: a
 * problem with one file is a state, and the other documents are still read.
 */
import { createHash } from "node:crypto";
import { closeSync, openSync, readSync, realpathSync, statSync } from "node:fs";
import { sep } from "node:path";
import type { DocumentFacts } from "../../artifacts/reference-block.ts";
import { isMissing } from "../../base/file-system.ts";

/** A larger document is counted and hashed, but its text is not kept: 5 MB are more than a million tokens. */
export const TEXT_MAX_BYTES = 5_000_000;
const CHUNK_BYTES = 1_000_000;

export type DocumentLook = Pick<DocumentFacts, "state" | "lineCount" | "sha" | "text">;

/** `root`: files whose real path is outside it are not opened. */
export function readDocument(path: string, { root }: { root: string }): DocumentLook {
  try {
    const real = realpathSync(path);
    if (!isInside(real, realpathSync(root))) return { state: "outside" };
    // Check first: opening a pipe would wait for its writer.
    if (!statSync(real).isFile()) return { state: "unreadable" };
    const file = openSync(real, "r");
    try {
      return readContent(file);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    return { state: isMissing(error) ? "missing" : "unreadable" };
  }
}

export function isInside(path: string, root: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}

function readContent(file: number): DocumentLook {
  const hash = createHash("sha256");
  const kept: Buffer[] = [];
  const chunk = Buffer.alloc(CHUNK_BYTES);
  let size = 0;
  let lines = 0;
  let isBlank = true;
  let last = -1;
  for (let count = readSync(file, chunk); count > 0; count = readSync(file, chunk)) {
    const bytes = chunk.subarray(0, count);
    if (bytes.includes(0)) return { state: "binary" };
    hash.update(bytes);
    size += count;
    if (size <= TEXT_MAX_BYTES) kept.push(Buffer.from(bytes));
    for (const byte of bytes) {
      // CR LF is one line end.
      if (byte === 13 || (byte === 10 && last !== 13)) lines++;
      isBlank &&= byte <= 32;
      last = byte;
    }
  }
  if (isBlank) return { state: "empty" };
  if (last !== 10 && last !== 13) lines++;
  const facts = { state: "present", lineCount: lines, sha: hash.digest("hex") } as const;
  return size <= TEXT_MAX_BYTES ? { ...facts, text: Buffer.concat(kept).toString("utf8") } : facts;
}
