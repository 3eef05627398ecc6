/**
 * Decides whether a project's local state (database, wiring, log, snapshots) belongs to this user on this machine. A cloned repository can
 * contain its own `.haversack/`, whose database could forge packets or keep every hook busy. So the user's state folder holds one record for
 * each store that Haversack created here or that the user accepted with `haversack trust`. A store without a matching record is not opened.
 *
 * A record identifies the database file by inode, birth time and owner, because git silently replaces ignored files: a pulled `haversack.db`
 * is a different file at the same path. After moving a repository, restoring a backup or entering a container as another user, run
 * `haversack trust` once. The hook bundles this file, so it may import only `fs`.
 */
import { lstatSync, readFileSync, realpathSync, type Stats } from "node:fs";
import { indexState, trackedInIndex } from "./project-root.ts";
import { makeFolder, makePrivate, putFile, putNewFile, USER } from "./safe-write.ts";

export type Trust =
  /** There is no database yet, or an empty file. The code that fills it must record it first. */
  { kind: "no-store" } | { kind: "trusted"; record: TrustRecord } | ({ kind: "untrusted" } & Untrusted);

export interface Untrusted {
  because: Distrust;
  /** Names of the files that are links or came from elsewhere; "" means the folder itself. */
  files?: string[];
}

/** What the user accepts besides the database. */
export interface Accepted {
  /** The far-reaching settings of the project's config: see `farReaching` in config.ts. */
  settings?: string | undefined;
  /** The project's templates, by role. A changed template needs a new acceptance. */
  templates?: Record<string, string> | undefined;
  /** The project's rules that load text unasked: see skills/rules/rule-reach.ts. */
  rules?: string[] | undefined;
  /** The address of the shared store, without a password; see engine/work-of.ts. Absent: work is in the local store. */
  shared?: string | undefined;
}

/**
 * link: `.haversack` or a database file is a symbolic link; `trust` does not accept these either. other-file: the database is not the file
 * that was accepted. other-log: SQLite did not create a file beside it here. no-record: this user never created or accepted it.
 * no-home: there is no place for records.
 */
export type Distrust = "link" | "other-file" | "other-log" | "no-record" | "no-home";

export interface TrustRecord extends Accepted {
  /** Real path of the state folder, `.haversack/`. */
  folder: string;
  /** Identity of the database file, see `fileIdentity`. Absent: there was no database, and only settings were accepted. */
  store?: string;
  /** State of git's index when it was last searched for database files; see `indexState`. */
  index?: string | undefined;
  /** When the store was last created or accepted. */
  at: string;
}

/** The user's own state folder; undefined if there is no home folder. */
type UserState = string | undefined;

const STORE_NAME = "haversack.db";
/** Suffixes of the files that SQLite opens beside the database. */
const BESIDE = ["-wal", "-shm", "-journal"];

/** Local state that commands act on. Without a record for the folder, someone else wrote it. */
const OTHER_PARTS = ["wiring.json", "spool"];

export function checkTrust(folder: string, userState: UserState): Trust {
  const store = `${folder}/${STORE_NAME}`;
  const own = lstatSync(folder, { throwIfNoEntry: false });
  // `.haversack` is a file. The code that creates the folder reports that.
  if (own?.isFile()) return { kind: "no-store" };
  const main = lstatSync(store, { throwIfNoEntry: false });
  const beside = BESIDE.map((part) => ({ part, stat: lstatSync(store + part, { throwIfNoEntry: false }) }));
  const links = [
    ...(own?.isSymbolicLink() ? [""] : []),
    ...(main?.isSymbolicLink() ? [STORE_NAME] : []),
    ...beside.filter(({ stat }) => stat?.isSymbolicLink()).map(({ part }) => STORE_NAME + part),
  ];
  if (links.length > 0) return { kind: "untrusted", because: "link", files: links };
  const found = fileIdentity(store);
  // An empty file is harmless: SQLite deletes a log beside one. Another process may also see it empty between creation and recording. If
  // it is a folder, opening it reports the problem.
  if (found === undefined || holdsNothing(main)) {
    const isAny = beside.some(({ stat }) => stat) || OTHER_PARTS.some((part) => exists(`${folder}/${part}`));
    const isForeign = isAny && !trustRecord(folder, userState);
    return isForeign ? { kind: "untrusted", because: "no-record" } : { kind: "no-store" };
  }
  if (userState === undefined) return { kind: "untrusted", because: "no-home" };
  const record = trustRecord(folder, userState);
  if (record?.store === undefined) return { kind: "untrusted", because: "no-record" };
  if (!isSameFile(record.store, found, folder)) return { kind: "untrusted", because: "other-file" };
  // These files hold pages of the database.
  const logs = beside.flatMap(({ part, stat }) => (stat ? [{ name: STORE_NAME + part, mode: stat.mode }] : []));
  const foreign = main ? foreignLogs(folder, { main: main.mode, beside: logs, record, userState }) : [];
  if (foreign.length > 0) return { kind: "untrusted", because: "other-log", files: foreign };
  return { kind: "trusted", record };
}

function holdsNothing(main: Stats | undefined): boolean {
  return main === undefined || main.size === 0 || main.isDirectory();
}

/**
 * SQLite's files beside the database that were not created here. SQLite gives them the mode of the database, 0600; files from git are
 * readable by others. With a umask of 077 both look the same, so we also search git's index, again whenever it has changed.
 */
function foreignLogs(
  folder: string,
  { main, beside, record, userState }: { main: number; beside: readonly Log[]; record: TrustRecord; userState: string },
): string[] {
  const open = beside.filter(({ mode }) => (mode & ~main & 0o777) !== 0);
  if (open.length > 0 || beside.length === 0) return open.map(({ name }) => name);
  const root = folder.slice(0, folder.lastIndexOf("/"));
  const index = indexState(root);
  if (index === undefined || index === record.index) return [];
  const tracked = trackedInIndex(root, LOG_NAMES);
  if (tracked.length === 0) noteIndex(folder, userState, index);
  return tracked.filter((name) => beside.some((log) => log.name === name));
}

interface Log {
  name: string;
  mode: number;
}

/** SQLite's own files beside the database. */
export const LOG_NAMES = BESIDE.map((part) => STORE_NAME + part);

function noteIndex(folder: string, userState: string, index: string): void {
  try {
    changeRecord(folder, userState, (before) => ({ at: new Date().toISOString(), ...before, index }));
  } catch {
    // The state folder is read-only, so the next event searches again.
  }
}

/** Shown only to the person, at the start of a session. */
export function untrustedNotice(found: Untrusted, folder: string): string {
  const { why, next } = explainDistrust(found, ".haversack");
  const hint = next.charAt(0).toUpperCase() + next.slice(1);
  return `Haversack does not use ${JSON.stringify(`${folder}/${STORE_NAME}`)}: ${why}. ${hint}.`;
}

/** Why a store is not used, and what to do. `folder`: how to name the state folder in the text. */
export function explainDistrust({ because, files = [] }: Untrusted, folder: string): { why: string; next: string } {
  const look = "`haversack trust` shows what is there and asks whether to use it";
  const paths = files.map((name) => (name ? `${folder}/${name}` : folder));
  const isOne = paths.length === 1;
  switch (because) {
    case "link":
      return {
        why: `${paths.join(" and ")} ${isOne ? "is a symbolic link" : "are symbolic links"}, which Haversack does not follow`,
        next: `replace ${isOne ? "the link" : "the links"} with a folder or file of the project`,
      };
    case "other-file":
      return {
        why: `${folder}/${STORE_NAME} is not the file that you used before: git, a copy or another program has replaced it`,
        next: `\`haversack store restore FILE\` takes your work back from a backup; ${look}`,
      };
    case "other-log":
      return {
        why: `${paths.join(" and ")} came from git or a copy, not from Haversack`,
        next: `move ${isOne ? "it" : "them"} away (and run \`git rm --cached\` if git tracks ${isOne ? "it" : "them"}), and your own store is used again`,
      };
    case "no-record":
      return {
        why: `${folder} is new to this account: it was cloned, moved, copied, or made under another home folder`,
        next: look,
      };
    case "no-home":
      return {
        why: "HOME is not set, so there is no place to record which stores are yours",
        next: "set HOME or XDG_STATE_HOME",
      };
  }
}

/** The project's record, even if its store is no longer the recorded one. */
export function trustRecord(folder: string, userState: UserState): TrustRecord | undefined {
  if (userState === undefined || !exists(folder)) return undefined;
  const real = realpathSync.native(folder);
  return readRecord(recordFile(real, userState), real);
}

/** Creates an empty database file, if there is none, and records it as this user's own. False: see `recordTrust`. */
export function makeRecordedStore(folder: string, userState: UserState, at: Date): boolean {
  if (checkTrust(folder, userState).kind !== "no-store") return true;
  if (userState === undefined) return false;
  // If another process created it a moment ago, it may not have recorded it yet.
  putNewFile(`${folder}/${STORE_NAME}`, "", { within: folder, mode: 0o600 });
  return recordTrust(folder, userState, { at });
}

/**
 * Records the current database as this user's own. Settings and templates that are not passed stay accepted as they were.
 * False if there is no home folder for the record.
 */
export function recordTrust(
  folder: string,
  userState: UserState,
  { settings, templates, rules, at }: Omit<Accepted, "shared"> & { at: Date },
): boolean {
  const store = fileIdentity(`${folder}/${STORE_NAME}`);
  // Give accepted logs the mode that SQLite would have given them.
  if (userState !== undefined) for (const part of [...BESIDE, ""]) makePrivate(`${folder}/${STORE_NAME}${part}`, 0o600);
  return changeRecord(folder, userState, (before) => ({
    store,
    settings: settings ?? before?.settings,
    templates: templates ?? before?.templates,
    rules: rules ?? before?.rules,
    shared: before?.shared,
    at: at.toISOString(),
  }));
}

/** Records what the user set or accepted, without changing whether the database is trusted. False: see `recordTrust`. */
export function recordAccepted(
  folder: string,
  userState: UserState,
  { at, ...accepted }: Accepted & { at: Date },
): boolean {
  return changeRecord(folder, userState, (before) => ({ ...before, ...accepted, at: at.toISOString() }));
}

/**
 * Without a database to compare, any record would mark the rest of the local state as this user's own. Then the content of `.haversack/`
 * has to be accepted first.
 */
export function isRecordEnough(folder: string, userState: UserState): boolean {
  const main = lstatSync(`${folder}/${STORE_NAME}`, { throwIfNoEntry: false });
  return holdsNothing(main) && checkTrust(folder, userState).kind === "untrusted";
}

function changeRecord(
  folder: string,
  userState: UserState,
  change: (before: TrustRecord | undefined) => Accepted & { store?: string | undefined; at: string },
): boolean {
  if (userState === undefined) return false;
  const real = realpathSync.native(folder);
  const file = recordFile(real, userState);
  makeFolder(file.slice(0, file.lastIndexOf("/")), { within: USER, mode: 0o700 });
  const record = { ...change(readRecord(file, real)), folder: real };
  putFile(file, `${JSON.stringify(record)}\n`, { within: USER, mode: 0o600 });
  return true;
}

/** `$XDG_STATE_HOME/haversack`. */
export function userStateFolder(env: Readonly<Record<string, string | undefined>>): UserState {
  const base = env["XDG_STATE_HOME"] || (env["HOME"] && `${env["HOME"]}/.local/state`);
  // A relative path would point into the project, where a clone can put files.
  return base?.startsWith("/") ? `${base}/haversack` : undefined;
}

/** Identifies this very file: one that git or a copy put in its place has another identity. Undefined: there is no file. */
function fileIdentity(path: string): string | undefined {
  const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return stat && `${stat.ino}:${stat.birthtimeNs}:${stat.uid}`;
}

function isSameFile(recorded: string, found: string, folder: string): boolean {
  if (recorded === found) return true;
  const [inode, , owner] = found.split(":");
  return recorded.startsWith(`${inode}:`) && recorded.endsWith(`:${owner}`) && !knowsBirthTimes(folder);
}

/**
 * Some runtimes, containers and file systems report 0 or the time of the last change instead of the birth time; then the inode has to do.
 * Checks the folder, whose birth time is older than the last change to its content.
 */
function knowsBirthTimes(folder: string): boolean {
  const { birthtimeNs, ctimeNs } = lstatSync(folder, { bigint: true });
  return birthtimeNs !== 0n && birthtimeNs !== ctimeNs;
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** `real`: the real path. A project then has one record, whichever links lead to it. */
function recordFile(real: string, userState: string): string {
  const parts = real.split("/");
  // The project's name helps people who look into the folder; the hash separates projects of the same name.
  const name = (parts[parts.length - 2] ?? "").replace(/[^\w.-]/g, "_").slice(0, 60);
  return `${userState}/projects/${name}-${hash(real)}.json`;
}

/** FNV-1a, 64 bits in two halves. It need not resist attackers, because the record holds the full path and we compare that. */
function hash(text: string): string {
  let high = 0xcbf29ce4;
  let low = 0x84222325;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    low = Math.imul(low ^ code, 0x01000193) >>> 0;
    high = Math.imul(high ^ code ^ (low >>> 16), 0x01000193) >>> 0;
  }
  return high.toString(16).padStart(8, "0") + low.toString(16).padStart(8, "0");
}

function readRecord(file: string, real: string): TrustRecord | undefined {
  const stat = lstatSync(file, { throwIfNoEntry: false });
  // Another user's file says nothing about what this user accepts.
  if (!stat?.isFile() || (process.getuid && stat.uid !== process.getuid())) return undefined;
  try {
    const record = JSON.parse(readFileSync(file, "utf8")) as TrustRecord;
    return record.folder === real ? record : undefined;
  } catch {
    // Incomplete or not ours: treat it as missing. `trust` writes a new one.
    return undefined;
  }
}
