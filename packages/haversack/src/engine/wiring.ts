/**
 * What `init`, `uninstall` and `doctor` know of a client: data and pure functions from a file's text to its text. A new
 * client is one more value of this type.
 */
import type { SkillCard } from "../skills/types.ts";
import type { Environment } from "./project.ts";

/** project: this project only, in files that are not committed. user: every project of the user's. */
export type Scope = "project" | "user";

/** Absolute paths of what runs: the runtime that runs now, and the built files beside this one. */
export interface Installed {
  node: string;
  hook: string;
  bin: string;
}

export interface WiringPlace {
  scope: Scope;
  /** Where the command was called; the client derives its own project folder from it. */
  cwd: string;
  env: Environment;
  installed: Installed;
  /** A rule guards files, so edits must be seen before they happen. */
  hasGuards: boolean;
  /**
   * How events reach us: a process for each, or the MCP server that runs already. Default: the server where the installed client is known to
   * be able to ask it.
   */
  hooks?: "command" | "server";
}

export interface Client {
  name: string;
  /** As people call it. */
  title: string;
  /** Why it seems to be used here, one line each; empty: it does not. */
  find(place: WiringPlace): string[];
  files(place: WiringPlace): WiredFile[];
  /** Why it cannot be wired in this scope, and the command that wires it all the same. `files` then change nothing. */
  blocked?(place: WiringPlace): { why: string; instead: string } | undefined;
  /** What a person should know beforehand, such as a file that git would commit. */
  notes(place: WiringPlace): string[];
  /** What `uninstall` leaves though `init` wrote it, one line each: files that a person has changed since. */
  leftovers?(place: WiringPlace): string[];
  /** Everything about this client that `doctor` reports. */
  check(place: CheckPlace): Promise<Finding[]>;
  /** How full a session's window is, from what the client itself keeps of it. Undefined: nothing is known. Reads only. */
  fill(session: FilledSession, env: Environment): WindowFill | undefined;
  /** Its package (plugin, extension) is installed: it works without what `init` writes. */
  isPackaged?(place: { cwd: string; env: Environment }): boolean;
  /** The client's own setting that keeps skills out of its listing; absent: it has none. */
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
  /** Absent: the client does not say it. */
  windowTokens?: number;
  /** When that was. */
  at: Date;
}

export interface CheckPlace extends Omit<WiringPlace, "scope"> {
  /** A copy of the project's state: events sent there touch nothing real. Absent when there is no sound store. */
  scratch: Scratch | undefined;
  cards: readonly SkillCard[];
  /** Switched off: hooks do nothing, and that is right. */
  isOff: boolean;
  /** `init` has wired this client, for the project or the user: nothing of it there is a fault, else a choice. */
  wasWired: boolean;
}

export interface Scratch {
  root: string;
  /** XDG_STATE_HOME for processes there: it holds the record that the copy is trusted. */
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
  /** Because of this no hook of ours runs, or no hidden skill can be loaded. For `doctor` itself; not in its report. */
  isSilencing?: boolean;
}

/** hidden: neither name nor description in front of the model. names: the name alone. */
export type DeferMode = "hidden" | "names";

export interface Deferral {
  /** The settings file. */
  path: string;
  blank: string;
  /** Readable by the user alone where we make it. */
  isPrivate?: boolean;
  /** Why a name cannot be listed alone; absent: it can. */
  noNames?: string;
  /** The client's key for a skill, or why it cannot be deferred. */
  keyOf(card: SkillCard): { key: string } | { why: string };
  /** What a value of ours means; absent: all are hidden. */
  modeOf?(value: string): DeferMode;
  /** A hidden skill is read from its file, so that the MCP server is not needed. Default: false. */
  isReadByFile?: boolean;
  /** What people call the skill of a key; absent: the key itself. */
  nameOf?(key: string): string;
  /** `own`: the entries that are ours already, key to value. Others are never changed. */
  set(text: string, keys: readonly string[], mode: DeferMode, own: Readonly<Record<string, string>>): DeferChange;
  /** Takes out those of `own` that are still as we wrote them. */
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
  /** What of ours is in it: "hooks". */
  about: string;
  /** The text of a file that holds nothing. */
  blank: string;
  /** A folder that the client makes while it writes this file, and we too. */
  lock?: string;
  /** Readable by the user alone when `init` makes it. */
  isPrivate?: boolean;
  /** Taken out only when the receipt says that `init` put it in. */
  isRecordedOnly?: boolean;
  /** Nothing but ours can be in it: without ours the file goes, whoever made it. */
  isWhole?: boolean;
  /** Nothing to do: the same text. A text that cannot be understood is a fault. */
  wire(text: string): { text: string; keep: string[] };
  /** Takes out this client's part alone: in a file that several write, `keep` has the notes of all of them. */
  unwire(text: string, keep: readonly string[]): string;
}
