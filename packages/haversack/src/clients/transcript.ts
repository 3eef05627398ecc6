/**
 * What a reader of a client's transcripts tells: each text that went into the model's window, by what it is, and each request, with the
 * tokens that the client reported for it. The readers are in `clients/CLIENT/transcript-parts.ts`; src/audit counts what they tell.
 */
import type { Environment } from "../engine/project.ts";

/** What a text in the window is. */
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
  /** What follows belongs to this session or sub-agent, until the next call. May be called again for one that was told before. */
  session(info: SessionInfo): void;
  /** `at`: when, as the client wrote it. */
  time(at: string | number): void;
  /**
   * `name`: the file, command, tool or skill that the text is from. `body`: the part of the text that stays the same when a file is read again;
   * default: all of it.
   */
  add(kind: PartKind, text: string, name?: string, body?: string): void;
  /** The system prompt and tool definitions of the requests from here on. Replaces what was told before. */
  fixed(text: string): void;
  /** The model is asked with what is in the window now. */
  request(): void;
  /** For the last request. */
  usage(usage: ReportedUsage): void;
  /** The session is told whole. Only for a file that holds many sessions one after the other. */
  sessionEnd(): void;
  /** The agent changes a file. "": the record does not say which. */
  edit(path: string): void;
  /** Marks the parts that follow, so that a compaction can keep them. */
  mark(id: string): void;
  /** The window ended. `kept`: marks of the parts that stay. What else is in the new window is added after this, up to `retold` if the client wrote it again. */
  compaction(about: { trigger?: string; kept?: readonly string[]; isRetold?: boolean }): void;
  /** The client wrote the window's content anew: what was added is void, and is added again, up to `retold`. */
  restart(): void;
  /** What a client writes again after a compaction or a restart is told. What follows is new. */
  retold(): void;
  /** A record that holds nothing of the window. */
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
  /** What the model gets and the transcript does not have. */
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

/** Whether a shell command only shows a skill's text: how a client without a tool for skills reads one. */
export function skillInCommand(command: string): string | undefined {
  return /^\s*(?:cat|head|tail|sed|nl|less|bat)\b[^|;&]*?([\w.-]+)\/SKILL\.md['"]?\s*$/.exec(command)?.[1];
}

/** The file that a shell command only shows. */
export function fileInCommand(command: string): string | undefined {
  return /^\s*(?:cat|nl|bat|head|tail|sed -n)\s(?:[^|;&<>$`]*\s)?['"]?([\w./~@+-]*[\w-][\w./~@+-]*)['"]?\s*$/.exec(
    command,
  )?.[1];
}
