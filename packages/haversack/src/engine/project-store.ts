/**
 * Opens a project's store: the one way in for the CLI, the MCP server and the library. A store that this user neither made nor
 * accepted is not opened; one that is made here is recorded as this user's own. Hooks check the same record in open-for-hook.ts.
 */
import { accessSync, constants, existsSync } from "node:fs";
import { HaversackError } from "../base/errors.ts";
import { trackedInIndex } from "../base/git-place.ts";
import { checkTrust, type Distrust, explainDistrust, makeRecordedStore, recordTrust } from "../base/project-trust.ts";
import { guardStore, whyNotWritable } from "../store/sqlite/faults.ts";
import type { StoreHandle } from "../store/sqlite/handle.ts";
import { type OpenOptions, openDatabase, openToAnswer, openToRead } from "../store/sqlite/open.ts";
import { ensureStateFolder, type ProjectPaths } from "./project.ts";
import { LOGS } from "./tracked-state.ts";

/** For those that save. Makes the store where there is none. */
export function openProjectStore(paths: ProjectPaths, options: OpenOptions): StoreHandle {
  prepare(paths);
  return openDatabase(paths.store, options);
}

/** See `openToRead`. */
export function openProjectToRead(paths: ProjectPaths, options: OpenOptions): StoreHandle {
  prepare(paths);
  return openToRead(paths.store, options);
}

/** See `openToAnswer`. */
export function openProjectToAnswer(
  paths: ProjectPaths,
  options: OpenOptions & { warn(text: string): void },
): StoreHandle {
  prepare(paths);
  return openToAnswer(paths.store, options);
}

/** A fault when the project's local state is not this user's own. */
export function requireTrust(paths: ProjectPaths): void {
  const found = distrust(paths);
  if (found) throw new HaversackError("store-untrusted", found.why, { hint: found.hint });
}

/** Why the project's local state is not used, for messages. Undefined: it is this user's own, or there is none. */
export function distrust(
  paths: ProjectPaths,
): { because: Distrust; files: readonly string[]; why: string; hint: string } | undefined {
  const trust = guardStore(paths.store, () => checkTrust(paths.state, paths.userState));
  if (trust.kind === "no-store") return undefined;
  const found = trust.kind === "untrusted" ? trust : trackedBeside(paths);
  if (!found) return undefined;
  const { why, next } = explainDistrust(found, paths.state);
  return { because: found.because, files: found.files ?? [], why, hint: next };
}

/** Modes do not tell where the file system has none, or the umask was 077: git is asked about the files beside the store. */
function trackedBeside(paths: ProjectPaths): { because: Distrust; files: string[] } | undefined {
  const tracked = trackedInIndex(
    paths.root,
    LOGS.filter((name) => existsSync(`${paths.state}/${name}`)),
  );
  return tracked.length > 0 ? { because: "other-log", files: tracked } : undefined;
}

/** Makes an empty store where there is none, recorded as this user's own. */
export function prepare(paths: ProjectPaths): void {
  requireTrust(paths);
  if (checkTrust(paths.state, paths.userState).kind === "trusted") {
    // A folder that cannot be written has no room for its .gitignore either, and needs none.
    if (isWritable(paths.state)) ensureStateFolder(paths);
    return;
  }
  ensureStateFolder(paths);
  record(paths, () => makeRecordedStore(paths.state, paths.userState, new Date()));
}

/** Records the store that is there as this user's own: for whoever has just made it. */
export function recordStore(paths: ProjectPaths): void {
  record(paths, () => recordTrust(paths.state, paths.userState, { at: new Date() }));
}

function record(paths: ProjectPaths, write: () => boolean): void {
  let isRecorded: boolean;
  try {
    isRecorded = write();
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException;
    if (path?.startsWith(paths.state)) {
      throw whyNotWritable(paths.store) ?? new HaversackError("store-read-only", `${paths.store}: ${code}`);
    }
    throw new HaversackError("file-unwritable", `${paths.userState}: cannot be written (${code})`, {
      hint: "your record of trusted projects is kept there; XDG_STATE_HOME names another folder",
      cause: error,
    });
  }
  const { why, next } = explainDistrust({ because: "no-home" }, paths.state);
  if (!isRecorded) throw new HaversackError("store-untrusted", why, { hint: next });
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
