/**
 * What a reader of a client's transcripts reports: each text that went into the model's window, by kind, and each request with the
 * tokens that the client counted for it. The readers are in `clients/CLIENT/transcript-parts.ts`; src/audit adds up what they report.
 */
import type { Environment } from "../engine/project.ts";

/** The kind of a text in the window. */
export type PartKind =
  | "system"
  | "instructions"
  | "skill-listing"
  | "skill-body"
  | "mcp"
  | "read"
  | "shell"
  | "sub-agent"
  | "tool"
  | "prompt"
  | "answer"
  | "hook"
  | "summary";

export interface SessionInfo {
  sessionId: string;
  /** "" for the main agent. */
  agentId: string;
  /** The folder that the session worked in, if the transcript says so. */
  project?: string;
}

/** Tokens as the client reported them for one request. `input` includes what came from the cache. */
export interface ReportedUsage {
  input: number;
  cached: number;
  output: number;
}

export interface TranscriptSink {
  /** Everything until the next call belongs to this session or sub-agent. May be called more than once for the same one. */
  session(info: SessionInfo): void;
  /** `at`: the time as the client wrote it. */
  time(at: string | number): void;
  /**
   * `name`: the file, command, tool or skill that the text is from. `body`: the part of the text that stays the same when a file is read again;
   * default: all of it.
   */
  add(kind: PartKind, text: string, name?: string, body?: string): void;
  /** The system prompt and tool definitions of all later requests. Replaces earlier ones. */
  fixed(text: string): void;
  /** A request with the window as it is now. */
  request(): void;
  /** The usage of the last request. */
  usage(usage: ReportedUsage): void;
  /** The session is complete. Only for a file with several sessions, one after the other. */
  sessionEnd(): void;
  /** The agent changes a file. "": the record does not name it. */
  edit(path: string): void;
  /** Marks the parts that follow, so that a compaction can keep them. */
  mark(id: string): void;
  /** The window ended. `kept`: marks of the parts that stay. All other parts of the new window follow, up to `retold` if the client writes them again. */
  compaction(about: { trigger?: string; kept?: readonly string[]; isRetold?: boolean }): void;
  /** The client writes the window's content again, from here to `retold`. It replaces everything added so far. */
  restart(): void;
  /** The end of what a client writes again after a compaction or a restart. What follows is new. */
  retold(): void;
  /** A record without any part of the window. */
  skipped(): void;
  /** A record of a kind that the reader does not know. */
  unknown(kind: string): void;
  /** A line that is not valid JSON. */
  broken(): void;
}

export interface TranscriptReader {
  client: string;
  /** Folders and files where the client keeps its transcripts. They may not exist. */
  places(env: Environment): string[];
  /** Whether a file is one of its transcripts, by its name and the start of its text. */
  matches(path: string, head: string): boolean;
  /** The transcript holds the system prompt and the tools. If not, they are inferred from the first request's usage. */
  hasFixed: boolean;
  /** What the model gets but the transcript does not contain. */
  absent: readonly ("skill-listing" | "instructions" | "hook")[];
  read(path: string, sink: TranscriptSink, progress: ReadProgress): void;
}

export interface ReadProgress {
  /** Called with the bytes read since the last call. */
  bytes(count: number): void;
}

/** The text of a message or a result, in the forms that all clients share. */
export function textsOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  let all = "";
  for (const part of content) {
    const text = typeof part === "string" ? part : (part as { text?: unknown } | null)?.text;
    if (typeof text === "string") all += all === "" ? text : `\n${text}`;
  }
  return all;
}

/** What a result is, from what the call was about: a skill, or a file. */
export function kindOfFile(path: string): { kind: PartKind; name: string } {
  const [, skill] = /([\w.-]+)\/SKILL\.md$/.exec(path) ?? [];
  return skill ? { kind: "skill-body", name: skill } : { kind: "read", name: path };
}

/** The same for a shell command, which may show a skill or a file. */
export function kindOfCommand(command: string): { kind: PartKind; name: string } {
  const skill = skillInCommand(command);
  if (skill) return { kind: "skill-body", name: skill };
  const file = fileInCommand(command);
  return file ? { kind: "read", name: file } : { kind: "shell", name: command };
}

/** The skill whose text a shell command shows: clients without a tool for skills read them this way. */
function skillInCommand(command: string): string | undefined {
  return /^\s*(?:cat|head|tail|sed|nl|less|bat)\b[^|;&]*?([\w.-]+)\/SKILL\.md['"]?\s*$/.exec(command)?.[1];
}

/** The file that a shell command shows, if it does nothing else. */
function fileInCommand(command: string): string | undefined {
  return /^\s*(?:cat|nl|bat|head|tail|sed -n)\s(?:[^|;&<>$`]*\s)?['"]?([\w./~@+-]*[\w-][\w./~@+-]*)['"]?\s*$/.exec(
    command,
  )?.[1];
}
