/**
 * A copy of a store in one file, taken while others go on writing: it holds everything committed before it began.
 * The target is complete and on disk, or it is not there.
 */
import { existsSync, statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { HaversackError, isFault } from "../../base/errors.ts";
import { moveFile, type Place, removeFile, syncPath } from "../../base/safe-write.ts";
import { integrityProblems } from "./check-store.ts";
import { connect } from "./connect.ts";
import { fault, guardStore } from "./faults.ts";
import { folderOf } from "./folder.ts";
import { readPragma, schemaState } from "./migrate.ts";
import { migrations } from "./migrations.ts";
import { notFound } from "./open.ts";
import { makePrivateFile } from "./private-files.ts";

export interface BackupReport {
  target: string;
  sizeBytes: number;
  version: number;
}

/** `place`: see safe-write.ts; by default the target itself must not be a link. */
export function backupStore(file: string, target: string, place: Place = { within: folderOf(target) }): BackupReport {
  return guardStore(file, () => {
    if (!existsSync(file)) throw notFound(file);
    const db = connect(file, { readOnly: true });
    try {
      schemaState(db, file, migrations);
      return copyDatabase(db, target, place);
    } finally {
      db.close();
    }
  });
}

/** Writes what `db` sees now to `target`, under another name until it is whole. */
export function copyDatabase(db: DatabaseSync, target: string, place: Place): BackupReport {
  refuseTarget(target);
  const part = `${target}.part-${process.pid}`;
  try {
    removeFile(part, place);
    makePrivateFile(part, place);
    // VACUUM INTO and not the backup API, which starts over whenever another process writes.
    guardTarget(target, () => db.prepare("VACUUM INTO ?").run(part));
    const version = verifyCopy(part);
    return guardStore(target, () => {
      syncPath(part, "r+");
      if (!moveFile(part, target, { ...place, isNew: true })) throw exists(target);
      syncPath(folderOf(target));
      return { target, sizeBytes: statSync(target).size, version };
    });
  } finally {
    removeFile(part, place);
  }
}

function refuseTarget(target: string): void {
  if (existsSync(target)) throw exists(target);
  if (!statSync(folderOf(target), { throwIfNoEntry: false })?.isDirectory()) {
    throw new HaversackError("input-invalid", `${target} cannot be written: its folder does not exist.`, {
      hint: "Make the folder first, or name another place.",
    });
  }
}

function exists(target: string): HaversackError {
  return new HaversackError("input-invalid", `${target} exists already, and a backup never replaces a file.`, {
    hint: "Name another file.",
  });
}

const TARGET_FAULTS = new Set<string>(["store-full", "store-read-only", "store-unreadable"]);

/** A full disk or a read-only folder is the target's; damage and locks are the store's and are told with its name. */
function guardTarget(target: string, action: () => void): void {
  try {
    guardStore(target, action);
  } catch (error) {
    if (!isFault(error)) throw error;
    throw TARGET_FAULTS.has(error.code) ? error : error.cause;
  }
}

function verifyCopy(part: string): number {
  const copy = connect(part, { readOnly: true });
  try {
    const [problem] = integrityProblems(copy);
    if (problem) throw fault("store-corrupt", `The backup did not pass its check (${problem}) and was not kept.`);
    return readPragma(copy, "user_version");
  } finally {
    copy.close();
  }
}
