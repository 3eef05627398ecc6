/** Finds transcripts: where the clients keep them, or in the files and folders that the user names. */
import { closeSync, constants, openSync, readdirSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import type { TranscriptReader } from "../clients/transcript.ts";
import type { Environment } from "../engine/project.ts";

export interface FoundTranscript {
  path: string;
  bytes: number;
  reader: TranscriptReader;
}

export interface FoundTranscripts {
  files: FoundTranscript[];
  /** Named by the user, but not readable. */
  problems: { path: string; problem: string }[];
  /** Last changed before `since`. */
  tooOld: number;
}

export interface FindOptions {
  env: Environment;
  readers: readonly TranscriptReader[];
  /** Absolute. Empty: the clients' own places. */
  paths: readonly string[];
  /** Skip files that did not change since then. */
  since?: Date;
}

export function findTranscripts({ env, readers, paths, since }: FindOptions): FoundTranscripts {
  const found: FoundTranscripts = { files: [], problems: [], tooOld: 0 };
  const seen = new Set<string>();
  const take = (path: string, isNamed: boolean, only?: TranscriptReader) => {
    const stat = statOf(path);
    if (!stat) {
      if (isNamed) found.problems.push({ path, problem: "does not exist or cannot be read" });
      return;
    }
    const files = stat.isDirectory() ? filesBelow(path) : [path];
    let count = 0;
    for (const file of files) {
      const about = file === path ? stat : statOf(file);
      if (!about?.isFile() || seen.has(file)) continue;
      if (!/\.(?:jsonl|db)$/.test(file) && !(isNamed && file === path)) continue;
      const lines = firstLines(file);
      const reader = (only ? [only] : readers).find((one) => lines.some((line) => one.matches(file, line)));
      if (!reader) continue;
      count++;
      seen.add(file);
      // A database's newest changes are in the log beside it.
      const changedAt = Math.max(about.mtimeMs, statOf(`${file}-wal`)?.mtimeMs ?? 0);
      if (since && changedAt < since.getTime()) found.tooOld++;
      else found.files.push({ path: file, bytes: about.size, reader });
    }
    if (count === 0 && isNamed) {
      const problem = stat.isDirectory() ? "holds no transcript that we know" : "is not a transcript that we know";
      found.problems.push({ path, problem });
    }
  };
  if (paths.length > 0) for (const path of paths) take(path, true);
  else for (const reader of readers) for (const place of reader.places(env)) take(place, false, reader);
  return found;
}

const MAX_DEPTH = 8;

/** In the order of their names. Links to folders are not followed, so there are no cycles. */
function filesBelow(folder: string, depth = 0): string[] {
  if (depth > MAX_DEPTH) return [];
  const entries = listed(folder);
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(path, depth + 1) : [path];
  });
}

function listed(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    // No permission to read it, or deleted meanwhile.
    return [];
  }
}

function statOf(path: string) {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    // A part of the path is no folder, or may not be read.
    return undefined;
  }
}

const HEAD_BYTES = 32_000;
const HEAD_LINES = 20;

/** More than one: a crash may have cut or overwritten the first. */
function firstLines(path: string): string[] {
  const { O_RDONLY, O_NONBLOCK = 0 } = constants;
  try {
    const file = openSync(path, O_RDONLY | O_NONBLOCK);
    try {
      const bytes = Buffer.alloc(HEAD_BYTES);
      return bytes.toString("utf8", 0, readSync(file, bytes, 0, HEAD_BYTES, 0)).split("\n", HEAD_LINES);
    } finally {
      closeSync(file);
    }
  } catch {
    // Not ours to read, or gone meanwhile.
    return [];
  }
}
