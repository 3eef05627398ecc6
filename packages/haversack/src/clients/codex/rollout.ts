/**
 * The session's file of Codex (`transcript_path` in every payload; a sub-agent's is its own), read from its end. Two things stand only
 * there: how a command ended, and how full the window is. Both are written before the hooks that ask (seen in 0.166.0).
 * Loaded by the hook: nothing but `fs`.
 */
import { readHead, readTail } from "../../base/read-text.ts";

/** A line holds a command's whole output, which the client cuts at about a megabyte; usually the first step finds it. */
const STEPS_BYTES = [65_536, 2_000_000];

export interface EndedCommand {
  exitCode: number;
  /** The one file that it only showed: the client has no tool to read files, so this is how a model reads a skill. */
  readPath?: string;
}

/** How the command of an event ended. One that comes from the file (logged-calls.ts) brings the client's record of it along. */
export function endOfCommand(payload: Record<string, unknown>, find = endedCommand): EndedCommand | undefined {
  const { ended_command: item, transcript_path: rollout, tool_use_id: toolUseId } = payload;
  return item === undefined ? find(rollout, toolUseId) : readEnd(item);
}

/** Undefined: the file does not say, for instance because the client ran with `--ephemeral`. */
export function endedCommand(rollout: unknown, toolUseId: unknown): EndedCommand | undefined {
  if (typeof rollout !== "string" || typeof toolUseId !== "string" || !/^[\w-]+$/.test(toolUseId)) return undefined;
  return searchTail(rollout, (line) => {
    if (!line.includes(`"id":"${toolUseId}"`) || !line.includes('"type":"CommandExecution"')) return undefined;
    return readEnd(payloadOf(line)["item"]);
  });
}

/** Of the client's record of a command; undefined: it does not say. */
function readEnd(item: unknown): EndedCommand | undefined {
  const { exit_code: exitCode, parsed_cmd: parts } = (item ?? {}) as CommandItem;
  if (typeof exitCode !== "number") return undefined;
  const [only, more] = Array.isArray(parts) ? (parts as CommandPart[]) : [];
  const isRead = only?.type === "read" && typeof only.path === "string" && more === undefined;
  return { exitCode, ...(isRead && { readPath: only.path as string }) };
}

interface CommandItem {
  exit_code?: unknown;
  /** What the client made of the command. */
  parsed_cmd?: unknown;
}

interface CommandPart {
  type?: unknown;
  path?: unknown;
}

/** Of a sub-agent that the newer tool started: the last part of its path (`/root/look`). Its first line has it before SubagentStart. */
export function readAgentName(rollout: unknown): string | undefined {
  if (typeof rollout !== "string") return undefined;
  // Long texts of the client follow in the same line.
  return /"agent_path":"(?:\/[a-z0-9_]+)*\/([a-z0-9_]+)"/.exec(readHead(rollout) ?? "")?.[1];
}

/** Of a fork: the session it was forked from. Its first line has it before SessionStart. */
export function readForkedFrom(rollout: unknown): string | undefined {
  if (typeof rollout !== "string") return undefined;
  return /"forked_from_id":"([\w-]+)"/.exec(readHead(rollout) ?? "")?.[1];
}

export interface WindowFill {
  usedTokens: number;
  /** The part of the model's window that the client uses. */
  windowTokens: number | undefined;
}

/** After the last answer, or after the last compaction if that came later. Undefined: no answer yet. */
export function readFill(rollout: unknown): WindowFill | undefined {
  if (typeof rollout !== "string") return undefined;
  return searchTail(rollout, (line) => {
    if (!line.includes('"type":"token_count"')) return undefined;
    const { info } = payloadOf(line) as { info?: TokenInfo | null };
    const used = info?.last_token_usage?.total_tokens;
    if (typeof used !== "number") return undefined;
    const window = info?.model_context_window;
    return { usedTokens: used, windowTokens: typeof window === "number" ? window : undefined };
  });
}

interface TokenInfo {
  last_token_usage?: { total_tokens?: unknown };
  model_context_window?: unknown;
}

function payloadOf(line: string): Record<string, unknown> {
  try {
    return (JSON.parse(line) as { payload?: Record<string, unknown> }).payload ?? {};
  } catch {
    // The first line of the part is cut, and the last may be half written.
    return {};
  }
}

/** The last line that has an answer. */
function searchTail<Answer>(path: string, read: (line: string) => Answer | undefined): Answer | undefined {
  for (const step of STEPS_BYTES) {
    const lines = readTail(path, step);
    if (!lines) return undefined;
    const answer = lastOf(lines.toString("utf8").split("\n"), read);
    if (answer !== undefined || lines.length < step) return answer;
  }
  return undefined;
}

function lastOf<Answer>(lines: readonly string[], read: (line: string) => Answer | undefined): Answer | undefined {
  for (let at = lines.length - 1; at >= 0; at--) {
    const answer = read(lines[at]!);
    if (answer !== undefined) return answer;
  }
  return undefined;
}
