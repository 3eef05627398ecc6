/**
 * What `init`, `uninstall` and `doctor` know about a client: data, and pure functions that transform a file's text. A new client is one
 * more value of this type.
 */
import type { SkillCard } from "../skills/types.ts";
import type { Environment } from "./project.ts";

/** project: this project only, in files that are not committed. user: all projects of the user. */
export type Scope = "project" | "user";

/** Absolute paths of the current runtime and of the built files beside this one. */
export interface Installed {
  node: string;
  hook: string;
  bin: string;
}

export interface WiringPlace {
  scope: Scope;
  /** Where the command was called; the client derives its project folder from it. */
  cwd: string;
  env: Environment;
  installed: Installed;
  /** A rule guards files, so hooks must see edits before they happen. */
  hasGuards: boolean;
  /** Long outputs are replaced, so hooks must see those of MCP tools. Default: false. */
  seesOutputs?: boolean;
  /**
   * How events reach us: one process per event, or the running MCP server. Default: the server, if the installed client is known to support
   * it.
   */
  hooks?: "command" | "server";
}

export interface Client {
  name: string;
  /** The name that people use. */
  title: string;
  /** Why it seems to be used here, one line each. Empty: it is not used. */
  find(place: WiringPlace): string[];
  files(place: WiringPlace): WiredFile[];
  /** Why it cannot be wired in this scope, and the command that works instead. Then `files` change nothing. */
  blocked?(place: WiringPlace): { why: string; instead: string } | undefined;
  /** What a person should know beforehand, such as a file that git would commit. */
  notes(place: WiringPlace): string[];
  /** What `init` wrote but `uninstall` leaves, one line each: files that a person has changed since. */
  leftovers?(place: WiringPlace): string[];
  /** Everything about this client that `doctor` reports. */
  check(place: CheckPlace): Promise<Finding[]>;
  /** Its package (plugin, extension) is installed, so it works without `init`. */
  isPackaged?(place: { cwd: string; env: Environment }): boolean;
  /** The client's own setting that hides skills from its listing. Absent: it has none. */
  deferral?(place: { cwd: string; env: Environment }): Deferral;
}

export interface FilledSession {
  sessionId: string;
  /** "" for the main agent. */
  agentId: string;
  startedAt: Date;
}

export interface WindowFill {
  /** Of the last request and its answer. */
  usedTokens: number;
  /** Absent: the client does not report it. */
  windowTokens?: number;
  /** When that was. */
  at: Date;
}

export interface CheckPlace extends Omit<WiringPlace, "scope"> {
  /** A copy of the project's state: events sent there touch nothing real. Absent when there is no sound store. */
  scratch: Scratch | undefined;
  cards: readonly SkillCard[];
  /** Switched off: hooks are expected to do nothing. */
  isOff: boolean;
  /** `init` has wired this client, for the project or the user. If so, missing parts are a fault; otherwise they are a choice. */
  wasWired: boolean;
  /** The scope it was wired for; the project takes precedence. */
  wiredFor?: Scope;
}

export interface Scratch {
  root: string;
  /** XDG_STATE_HOME for processes in the copy: it records that the copy is trusted. */
  stateHome: string;
  /** Whether an event of this session was recorded there. */
  hasSession(sessionId: string): boolean;
  /** What hooks logged there as errors. */
  errors(): string[];
}

export interface Finding {
  /** What was looked at: `store`, `claude-code hooks`. */
  part: string;
  level: "ok" | "warn" | "fail";
  text: string;
  /** What to do about it; every warning and failure has one. */
  remedy?: string;
  /** Because of this, no hook of ours runs or no hidden skill can be loaded. Used by `doctor`; not in its report. */
  isSilencing?: boolean;
}

/** hidden: the model sees neither name nor description. names: the model sees only the name. */
export type DeferMode = "hidden" | "names";

export interface Deferral {
  /** The settings file. */
  path: string;
  blank: string;
  /** If we make it, only the user can read it. */
  isPrivate?: boolean;
  /** Why the client cannot list a name alone. Absent: it can. */
  noNames?: string;
  /** The client's key for a skill, or why it cannot be deferred. */
  keyOf(card: SkillCard): { key: string } | { why: string };
  /** What a value of ours means. Absent: all are hidden. */
  modeOf?(value: string): DeferMode;
  /** The model reads a hidden skill from its file, so the MCP server is not needed. Default: false. */
  isReadByFile?: boolean;
  /** The name that people use for a key. Absent: the key itself. */
  nameOf?(key: string): string;
  /** `own`: our existing entries, key to value. Other entries are never changed. */
  set(text: string, keys: readonly string[], mode: DeferMode, own: Readonly<Record<string, string>>): DeferChange;
  /** Removes the entries of `own` that are unchanged. */
  drop(text: string, own: Readonly<Record<string, string>>, keep: readonly string[]): string;
}

export interface DeferChange {
  text: string;
  /** Our entries among the keys, with their value. */
  own: Record<string, string>;
  /** The user's own entries, left as they are. */
  foreign: { key: string; value: string }[];
  keep: string[];
}

export interface WiredFile {
  path: string;
  /** Our part of the file: "hooks". */
  about: string;
  /** The text of an empty file. */
  blank: string;
  /** The lock folder that the client makes while it writes this file. We use it too. */
  lock?: string;
  /** If `init` makes it, only the user can read it. */
  isPrivate?: boolean;
  /** Removed only if the receipt says that `init` added it. */
  isRecordedOnly?: boolean;
  /** The file contains only our part: without it the file is removed, whoever made it. */
  isWhole?: boolean;
  /** Git commits it, and it would contain paths of this machine: then nothing of its client is written. Default: false. */
  isTracked?(): boolean;
  /** Returns the same text if there is nothing to do. Throws a fault if the text cannot be parsed. */
  wire(text: string): { text: string; keep: string[] };
  /** Removes only this client's part. If several clients write the file, `keep` has the notes of all. */
  unwire(text: string, keep: readonly string[]): string;
}
