/**
 * The stream of a headless client as events that are the same for every client. A reader takes the stream line by line and never
 * throws: a line that it cannot read becomes `unknown`, and the runner counts those.
 */
import { createHash } from "node:crypto";

export type StreamEvent =
  | {
      kind: "session";
      id: string;
      model?: string /** Such as an MCP server that did not start. */;
      problems?: string[];
    }
  /** The main agent's window after the last request; sub-agents have their own windows. */
  | { kind: "fill"; usedTokens: number }
  | { kind: "window"; windowTokens: number /** Where the client compacts it by itself. */; compactsAtTokens?: number }
  | ({ kind: "usage" /** It replaces what was counted so far; else it is added. */; isTotal: boolean } & Usage)
  | {
      kind: "tool";
      name: string;
      text: string /** Equal only for equal calls: the text is cut. */;
      call: string;
      subAgent?: string;
    }
  | { kind: "tool-end"; isError: boolean; subAgent?: string }
  | { kind: "said"; text: string; subAgent?: string }
  | { kind: "compacted"; before?: number; after?: number }
  /** The client retries by itself. */
  | { kind: "retry"; attempt: number; of?: number; status?: number; text: string }
  | { kind: "denied"; tool: string; text: string }
  /** Only a sign of life. */
  | { kind: "busy" }
  /** A turn is over. The session is over only when the process is. */
  | { kind: "result"; isError: false; text: string }
  | { kind: "result"; isError: true; reason: FailureReason; text: string }
  | { kind: "unknown"; text: string };

export interface Usage {
  /** All of them, including cached ones. */
  inputTokens: number;
  cachedTokens: number;
  outputTokens: number;
  costUsd?: number;
}

export type FailureReason =
  | "overloaded"
  | "rate-limited"
  | "server-error"
  | "auth"
  | "not-found"
  /** The client does not trust the folder. */
  | "untrusted"
  /** The client ended because a tool was not allowed. */
  | "denied"
  | "prompt-too-long"
  | "budget"
  | "max-turns"
  | "aborted"
  | "other";

export interface StreamReader {
  read(line: string): StreamEvent[];
}

/** Retry later: the work itself is not the cause. */
export const PASSING_FAILURES: ReadonlySet<FailureReason> = new Set(["overloaded", "rate-limited", "server-error"]);

/** From the HTTP status; without one, from the words of the error. */
export function failureReason(status: number | undefined, text: string): FailureReason {
  if (status === 401 || status === 403) return "auth";
  if (status === 404) return "not-found";
  if (status === 429) return "rate-limited";
  if (status === 529 || status === 503) return "overloaded";
  if (status !== undefined && status >= 500) return "server-error";
  for (const [reason, words] of WORDS) if (words.test(text)) return reason;
  return "other";
}

const WORDS: readonly (readonly [FailureReason, RegExp])[] = [
  ["max-turns", /\bmax(imum)? session turns\b/i],
  ["untrusted", /trusted (folder|directory|workspace)|skip-trust|skip-git-repo-check/i],
  ["prompt-too-long", /prompt is too long|context (length|window)|too many tokens/i],
  // Codex reports a 500 as high demand.
  ["overloaded", /\b(overloaded|529|503|high demand)\b/i],
  // Before auth: Gemini CLI's advice at a 429 names another /auth method.
  ["rate-limited", /\b(429|rate.?limit|too many requests|quota|usage limit)\b/i],
  // Codex names its key's variable, which has any name.
  [
    "auth",
    /\b(40[13]|unauthori[sz]ed|not logged in|(\w+_)?api.?key|auth method|authentication|missing environment variable)\b/i,
  ],
  ["server-error", /\b(5\d\d|internal server error|bad gateway|server_error)\b/i],
  ["not-found", /\b(404|model not found|unknown model)\b/i],
];

/** The end of it: a verdict stands in the last line. */
const SAID_CHARS = 10_000;

export function saidText(text: unknown): string {
  return typeof text === "string" ? text.slice(-SAID_CHARS) : "";
}

/** Longer lines are cut: they are tool results, which are not needed here. */
const SHOWN_CHARS = 200;

export function shorten(text: string): string {
  const line = text
    .slice(0, 4 * SHOWN_CHARS)
    .replace(/\s+/g, " ")
    .trim();
  return line.length > SHOWN_CHARS ? `${line.slice(0, SHOWN_CHARS - 1)}…` : line;
}

export type Fields = Record<string, unknown>;

export function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

export function listOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : [];
}

export function stringOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** Makes a reader from a function that converts one event. Undefined: the event is unknown. */
export function streamReader(read: (event: Fields, line: string) => StreamEvent[] | undefined): StreamReader {
  return {
    read(line) {
      if (line.trim() === "") return [];
      const event = parseLine(line);
      return (event && read(event, line)) ?? [{ kind: "unknown", text: shorten(line) }];
    },
  };
}

/** Undefined: not a JSON object. */
function parseLine(line: string): Fields | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    return fieldsOf(JSON.parse(line));
  } catch {
    // A line that was cut off.
    return undefined;
  }
}

/** Distinguishes calls that look alike, such as two edits of one file. */
export function callOf(name: string, input: unknown): string {
  return createHash("sha1")
    .update(`${name} ${JSON.stringify(input) ?? ""}`)
    .digest("hex")
    .slice(0, 12);
}

/** A tool call, from its name and input. */
export function toolEvent(name: unknown, input: unknown): Extract<StreamEvent, { kind: "tool" }> {
  const tool = stringOf(name) ?? "tool";
  return { kind: "tool", name: tool, text: toolText(input), call: callOf(tool, input) };
}

/** What a tool is about, from its input: the command, the file, the description. */
function toolText(input: unknown): string {
  const fields = fieldsOf(input);
  for (const name of [
    "command",
    "file_path",
    "filePath",
    "path",
    "absolute_path",
    "description",
    "pattern",
    "query",
    "url",
    "task_id",
  ]) {
    const value = stringOf(fields[name]);
    if (value !== undefined) return shorten(value);
  }
  return "";
}
