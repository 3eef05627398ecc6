/**
 * Whether a project's local state (database, wiring, log, snapshots) belongs to this user on this machine. A cloned repository can
 * bring a `.haversack/` of its own, and its database could forge packets or keep every hook busy. So the user's own state folder
 * holds one record for each store that Haversack made here, or that the user accepted with `haversack trust`; a store without a
 * matching record is not opened.
 *
 * A record names the database file by inode, birth time and owner, because git replaces ignored files without a word: a pulled
 * `haversack.db` is another file at the same path. A moved repository, a restored backup and a container with another user
 * need one `haversack trust`. The hook bundles this file: nothing but `fs`.
 */
import { lstatSync, readFileSync, realpathSync, type Stats } from "node:fs";
import { indexState, trackedInIndex } from "./git-place.ts";
import { makeFolder, makePrivate, putFile, putNewFile, removeFile, USER } from "./safe-write.ts";

export type Trust =
  /** There is no database yet, or an empty file: whoever fills it records it first. */
  { kind: "no-store" } | { kind: "trusted"; record: TrustRecord } | ({ kind: "untrusted" } & Untrusted);

export interface Untrusted {
  because: Distrust;
  /** Names of the files that are links, or that came from elsewhere; "" is the folder itself. */
  files?: string[];
}

/** What the user accepts besides the database. */
export interface Accepted {
  /** See `farReaching` in config-trust.ts. */
  settings?: string | undefined;
  templates?: Record<string, string> | undefined;
  /** See skills/rules/rule-reach.ts. */
  rules?: string[] | undefined;
}

/**
 * link: `.haversack` or a file of its database is a symbolic link, which `trust` does not accept either. other-file: the database is
 * not the file that was accepted. other-log: a file beside it was not made by SQLite here. no-record: this user never made or accepted it. no-home: there is no place for records.
 */
export type Distrust = "link" | "other-file" | "other-log" | "no-record" | "no-home";

export interface TrustRecord {
  /** The state folder, `.haversack/`, as a real path. */
  folder: string;
  /** The database file: see `fileIdentity`. Absent: none was there, and only the settings were accepted. */
  store?: string;
  /** The settings of the project's own config that reach further than a project may by itself, as accepted; see config-trust.ts. */
  settings?: string;
  /** The project's templates as accepted: role to text. A changed one needs a new acceptance. */
  templates?: Record<string, string>;
  /** The rules of the project that load text unasked, as accepted; see skills/rules/rule-reach.ts. */
  rules?: string[];
  /** Git's index when it was last searched for files of the database: see `indexState`. */
  index?: string | undefined;
  /** When it was made or accepted last. */
  at: string;
}

/** The user's own state folder; undefined where there is no home folder. */
type UserState = string | undefined;

const STORE_NAME = "haversack.db";
/** SQLite opens these beside the database. */
const BESIDE = ["-wal", "-shm", "-journal"];

/** Local state that commands act on; without a record of the folder somebody else wrote it. */
const OTHER_PARTS = ["wiring.json", "spool"];

export function checkTrust(folder: string, userState: UserState): Trust {
  const store = `${folder}/${STORE_NAME}`;
  // A file in the folder's place: whoever makes the folder says so.
  if (lstatSync(folder, { throwIfNoEntry: false })?.isFile()) return { kind: "no-store" };
  const main = lstatSync(store, { throwIfNoEntry: false });
  const beside = BESIDE.map((part) => ({ part, stat: lstatSync(store + part, { throwIfNoEntry: false }) }));
  const links = [
    ...(isLink(folder) ? [""] : []),
    ...(main?.isSymbolicLink() ? [STORE_NAME] : []),
    ...beside.filter(({ stat }) => stat?.isSymbolicLink()).map(({ part }) => STORE_NAME + part),
  ];
  if (links.length > 0) return { kind: "untrusted", because: "link", files: links };
  const found = fileIdentity(store);
  // Nothing can hide in an empty file (SQLite deletes a log that lies beside one); between making it and recording it, another
  // process may find it so. Opening a folder says what is wrong.
  if (found === undefined || holdsNothing(main)) {
    const isAny = beside.some(({ stat }) => stat) || OTHER_PARTS.some((part) => exists(`${folder}/${part}`));
    const isForeign = isAny && !trustRecord(folder, userState);
    return isForeign ? { kind: "untrusted", because: "no-record" } : { kind: "no-store" };
  }
  if (userState === undefined) return { kind: "untrusted", because: "no-home" };
  const record = trustRecord(folder, userState);
  if (record?.store === undefined) return { kind: "untrusted", because: "no-record" };
  if (!isSameFile(record.store, found, folder)) return { kind: "untrusted", because: "other-file" };
  // They hold pages of the database.
  const logs = beside.flatMap(({ part, stat }) => (stat ? [{ name: STORE_NAME + part, mode: stat.mode }] : []));
  const foreign = main ? foreignLogs(folder, { main: main.mode, beside: logs, record, userState }) : [];
  if (foreign.length > 0) return { kind: "untrusted", because: "other-log", files: foreign };
  return { kind: "trusted", record };
}

function holdsNothing(main: Stats | undefined): boolean {
  return main === undefined || main.size === 0 || main.isDirectory();
}

/**
 * Of SQLite's files beside the database, those that it did not make here. SQLite gives them the mode of the database, 0600, and git
 * makes files that others may read. With a umask of 077 git's files look the same, so its index tells; it is searched again when it has changed.
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

const LOG_NAMES = BESIDE.map((part) => STORE_NAME + part);

function noteIndex(folder: string, userState: string, index: string): void {
  try {
    changeRecord(folder, userState, (before) => ({ at: new Date().toISOString(), ...before, index }));
  } catch {
    // A state folder that can only be read: the next event searches again.
  }
}

/** For the person alone, at the start of a session. */
export function untrustedNotice(found: Untrusted, folder: string): string {
  const { why, next } = explainDistrust(found, ".haversack");
  const hint = next.charAt(0).toUpperCase() + next.slice(1);
  return `Haversack does not use ${JSON.stringify(`${folder}/${STORE_NAME}`)}: ${why}. ${hint}.`;
}

/** Why a store is not used, and what to do. `folder`: how to name the state folder. */
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

/** The record of a project, whether its store still is the recorded one or not. */
export function trustRecord(folder: string, userState: UserState): TrustRecord | undefined {
  if (userState === undefined || !exists(folder)) return undefined;
  const real = realpathSync.native(folder);
  return readRecord(recordFile(real, userState), real);
}

/** Makes an empty database file, recorded as this user's own, where there is none. False: see `recordTrust`. */
export function makeRecordedStore(folder: string, userState: UserState, at: Date): boolean {
  if (checkTrust(folder, userState).kind !== "no-store") return true;
  if (userState === undefined) return false;
  // Where another process made it a moment ago, it may not have recorded it yet.
  putNewFile(`${folder}/${STORE_NAME}`, "", { within: folder, mode: 0o600 });
  return recordTrust(folder, userState, { at });
}

/**
 * Records the database that is there now as this user's own. Settings and templates that are left out stay accepted as they were.
 * False when there is no home folder to keep the record in.
 */
export function recordTrust(
  folder: string,
  userState: UserState,
  { settings, templates, rules, at }: Accepted & { at: Date },
): boolean {
  const store = fileIdentity(`${folder}/${STORE_NAME}`);
  // A log that the user accepts with it gets the mode that SQLite gives.
  if (userState !== undefined) for (const part of [...BESIDE, ""]) makePrivate(`${folder}/${STORE_NAME}${part}`, 0o600);
  return changeRecord(folder, userState, (before) => ({
    store,
    settings: settings ?? before?.settings,
    templates: templates ?? before?.templates,
    rules: rules ?? before?.rules,
    at: at.toISOString(),
  }));
}

/** Records what the user set or accepted; the database is trusted or not as it was. False: see `recordTrust`. */
export function recordAccepted(
  folder: string,
  userState: UserState,
  { at, ...accepted }: Accepted & { at: Date },
): boolean {
  return changeRecord(folder, userState, (before) => ({ ...before, ...accepted, at: at.toISOString() }));
}

/**
 * There is no database to tell by, so any record would make the rest of the local state count as this user's own. Then what is in
 * `.haversack/` has to be accepted first.
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
  writeRecord(file, `${JSON.stringify({ ...change(readRecord(file, real)), folder: real })}\n`);
  return true;
}

export function forgetTrust(folder: string, userState: UserState): void {
  if (userState !== undefined && exists(folder)) {
    removeFile(recordFile(realpathSync.native(folder), userState), { within: USER });
  }
}

/** `$XDG_STATE_HOME/haversack`. */
export function userStateFolder(env: Readonly<Record<string, string | undefined>>): UserState {
  const base = env["XDG_STATE_HOME"] || (env["HOME"] && `${env["HOME"]}/.local/state`);
  // A relative one would be looked for in the project, where a clone can put it.
  return base?.startsWith("/") ? `${base}/haversack` : undefined;
}

/** The same for the same file only: a file that git or a copy put in its place has another. Undefined: there is none. */
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
 * Some runtimes, containers and file systems give 0 or the time of the last change instead: then the inode has to do. Asked of the
 * folder, which is older than the last change of what is in it.
 */
function knowsBirthTimes(folder: string): boolean {
  const { birthtimeNs, ctimeNs } = lstatSync(folder, { bigint: true });
  return birthtimeNs !== 0n && birthtimeNs !== ctimeNs;
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}

/** `real`: the real path, so that a project has one record through whichever links it is reached. */
function recordFile(real: string, userState: string): string {
  const parts = real.split("/");
  // The project's name is for people who look into the folder; the number tells projects of one name apart.
  const name = (parts[parts.length - 2] ?? "").replace(/[^\w.-]/g, "_").slice(0, 60);
  return `${userState}/projects/${name}-${hash(real)}.json`;
}

/** FNV-1a, 64 bits in two halves. Not against attackers: the record holds the whole path, and that is compared. */
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
  // Somebody else's file is not this user's word.
  if (!stat?.isFile() || (process.getuid && stat.uid !== process.getuid())) return undefined;
  try {
    const record = JSON.parse(readFileSync(file, "utf8")) as TrustRecord;
    return record.folder === real ? record : undefined;
  } catch {
    // Cut short or not ours: as good as none, and `trust` writes it anew.
    return undefined;
  }
}

function writeRecord(file: string, text: string): void {
  makeFolder(file.slice(0, file.lastIndexOf("/")), { within: USER, mode: 0o700 });
  putFile(file, text, { within: USER, mode: 0o600 });
}
