/**
 * Reads Codex's session file (`transcript_path` in every payload; each sub-agent has its own) from the end. Only this file says how a command
 * ended and how full the window is. Codex writes both before it runs the hooks that need them (seen in 0.166.0).
 */

import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { type FileLine, readHead, readTail } from "../../base/clean-text.ts";
import type { LoggedCall, LoggedCalls, TranscriptFile } from "../../engine/events/client-event.ts";
import type { Environment } from "../../engine/project.ts";
import type { FilledSession, WindowFill } from "../../engine/wiring.ts";
import { type Fields, object, type Payload, type PayloadBase, parsed, text } from "../client-adapter.ts";

/** A line holds a command's whole output, which the client cuts at about a megabyte. Usually the first step is enough. */
const STEPS_BYTES = [65_536, 2_000_000];

interface EndedCommand {
  exitCode: number;
  /** Set when the command only showed one file. The client has no tool to read files, so this is how a model reads a skill. */
  readPath?: string;
}

/** How the command of an event ended. Payloads from `readCodexCalls` already hold the client's record (`ended_command`). */
export function endOfCommand(payload: Record<string, unknown>, find = endedCommand): EndedCommand | undefined {
  const { ended_command: item, transcript_path: rollout, tool_use_id: toolUseId } = payload;
  return item === undefined ? find(rollout, toolUseId) : readEnd(item);
}

/** Undefined if the file does not say, for instance because the client ran with `--ephemeral`. */
export function endedCommand(rollout: unknown, toolUseId: unknown): EndedCommand | undefined {
  if (typeof rollout !== "string" || typeof toolUseId !== "string" || !/^[\w-]+$/.test(toolUseId)) return undefined;
  return searchTail(rollout, (line) => {
    if (!line.includes(`"id":"${toolUseId}"`) || !line.includes('"type":"CommandExecution"')) return undefined;
    return readEnd(payloadOf(line)["item"]);
  });
}

/** Reads the client's record of a command. Undefined if it has no exit code. */
function readEnd(item: unknown): EndedCommand | undefined {
  const { exit_code: exitCode, parsed_cmd: parts } = object(item);
  if (typeof exitCode !== "number") return undefined;
  // `parsed_cmd` is the client's own analysis of the command.
  const [only, more] = Array.isArray(parts) ? parts : [];
  const { type, path } = object(only);
  return { exitCode, ...(type === "read" && typeof path === "string" && more === undefined && { readPath: path }) };
}

/** Name of a sub-agent that the newer tool started: the last part of the path that Codex gives it. The first line of its file has that path before SubagentStart. */
export function readAgentName(rollout: unknown): string | undefined {
  return inFirstLine(rollout, /"agent_path":"(?:\/[a-z0-9_]+)*\/([a-z0-9_]+)"/);
}

/** The session that a fork was forked from. It is in the file's first line before SessionStart. */
export function readForkedFrom(rollout: unknown): string | undefined {
  return inFirstLine(rollout, /"forked_from_id":"([\w-]+)"/);
}

/** Read with a pattern: long texts of the client follow in the same line. */
function inFirstLine(rollout: unknown, pattern: RegExp): string | undefined {
  return typeof rollout === "string" ? pattern.exec(readHead(rollout) ?? "")?.[1] : undefined;
}

/** Fill after the last answer or compaction, whichever is later. `windowTokens`: the part of the model's window that the client uses. */
export function readFill(rollout: string): Omit<WindowFill, "at"> | undefined {
  return searchTail(rollout, (line) => {
    if (!line.includes('"type":"token_count"')) return undefined;
    const info = object(payloadOf(line)["info"]);
    const { total_tokens: usedTokens } = object(info["last_token_usage"]);
    const { model_context_window: windowTokens } = info;
    if (typeof usedTokens !== "number") return undefined;
    return { usedTokens, ...(typeof windowTokens === "number" && { windowTokens }) };
  });
}

/** {} if the line is incomplete: the first one read may be cut, and the last may be half written. */
function payloadOf(line: string): Fields {
  return object(parsed(line)["payload"]);
}

/** Searches from the end, in growing steps. */
function searchTail<Answer>(path: string, read: (line: string) => Answer | undefined): Answer | undefined {
  for (const step of STEPS_BYTES) {
    const lines = readTail(path, step);
    if (!lines) return undefined;
    const answer = lastAnswer(lines.toString("utf8").split("\n").reverse(), read);
    if (answer !== undefined || lines.length < step) return answer;
  }
  return undefined;
}

function lastAnswer<Answer>(lines: readonly string[], read: (line: string) => Answer | undefined): Answer | undefined {
  for (const line of lines) {
    const answer = read(line);
    if (answer !== undefined) return answer;
  }
  return undefined;
}

/** Sub-agents write to files of their own. Only SubagentStop names such a file. */
export function codexTranscripts(payload: Payload, { agentId }: PayloadBase): TranscriptFile[] {
  const isMain = agentId === "";
  switch (payload["hook_event_name"]) {
    case "UserPromptSubmit":
    case "Stop":
    case "SessionStart":
    case "SessionEnd":
      return isMain ? fileAt(payload["transcript_path"], "") : [];
    case "SubagentStop":
      return isMain ? [] : fileAt(payload["agent_transcript_path"], agentId);
    default:
      return [];
  }
}

/** Empty with `--ephemeral`: there is no file. */
function fileAt(path: unknown, agentId: string): TranscriptFile[] {
  return typeof path === "string" && path.endsWith(".jsonl") ? [{ path, agentId }] : [];
}

/**
 * Reads tool calls from the session file, as the payloads of the events that should have reported them. A finished call is one complete line,
 * whether the model called the tool directly or from JavaScript. For a plan, the line is the call itself. Lines can be long (they hold the
 * command's output), so only calls that were not seen yet are parsed.
 */
export function readCodexCalls(
  event: Payload,
  lines: readonly FileLine[],
  { path, agentId }: TranscriptFile,
  isSeen: (toolUseId: string) => boolean,
): LoggedCalls {
  const calls: LoggedCalls = { missed: [], seen: [] };
  for (const line of lines) {
    const toolUseId = idOfCall(line);
    if (toolUseId === undefined) continue;
    const { from } = line;
    if (isSeen(toolUseId)) {
      calls.seen.push({ toolUseId, from });
      continue;
    }
    const { timestamp, payload: logged } = parsed(line.bytes.toString("utf8"));
    const at = new Date(String(timestamp));
    const told = toldBy(object(logged));
    if (!told || Number.isNaN(at.getTime())) continue;
    const common = {
      session_id: event["session_id"],
      cwd: event["cwd"],
      transcript_path: path,
      ...(agentId && { agent_id: agentId }),
      hook_event_name: "PostToolUse",
      tool_use_id: toolUseId,
    };
    calls.missed.push({ toolUseId, from, at, payload: { ...common, ...told } });
  }
  return calls;
}

const ENDED = /"item":\{"type":"(?:CommandExecution|FileChange|CollabAgentToolCall)","id":"([\w-]+)"/;
const PLANNED = /"name":"update_plan","arguments":.*"call_id":"([\w-]+)"/;
/** The kind and ID of a call come first in its line, before any output or file content. */
const HEAD_BYTES = 1_000;

function idOfCall({ bytes }: FileLine): string | undefined {
  const head = bytes.toString("latin1", 0, HEAD_BYTES);
  if (head.includes('"type":"item_completed"')) return ENDED.exec(head)?.[1];
  if (!head.includes('"type":"function_call"') || !head.includes('"name":"update_plan"')) return undefined;
  return PLANNED.exec(bytes.toString("utf8"))?.[1];
}

/** Tool, input and response as in the event. Undefined if no event would have reported this call. */
function toldBy(logged: Fields): LoggedCall["payload"] | undefined {
  if (logged["type"] === "function_call") {
    return { tool_name: "update_plan", tool_input: parsed(logged["arguments"]), tool_response: "" };
  }
  const item = object(logged["item"]);
  switch (item["type"]) {
    case "CommandExecution":
      return toldCommand(item);
    case "FileChange":
      return item["status"] === "completed" ? toldPatch(object(item["changes"])) : undefined;
    default:
      return toldSpawn(item);
  }
}

/** A command that the person refused never ran. */
function toldCommand(item: Fields): LoggedCall["payload"] | undefined {
  const { command, aggregated_output: output, status } = item;
  const shown = Array.isArray(command) ? command.at(-1) : undefined;
  if (typeof shown !== "string" || status === "declined") return undefined;
  return { tool_name: "Bash", tool_input: { command: shown }, tool_response: text(output) ?? "", ended_command: item };
}

const HEADERS: Readonly<Record<string, string>> = { add: "Add File", update: "Update File", delete: "Delete File" };

/** A patch without file contents: we keep only file names. */
function toldPatch(changes: Fields): LoggedCall["payload"] {
  const lines = Object.entries(changes).flatMap(([path, value]) => {
    const change = object(value);
    const moved = text(change["move_path"]);
    const header = HEADERS[String(change["type"])] ?? "Update File";
    return [`*** ${header}: ${path}`, ...(moved ? [`*** Move to: ${moved}`] : [])];
  });
  const command = ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");
  return { tool_name: "apply_patch", tool_input: { command }, tool_response: "Exit code: 0" };
}

function toldSpawn({ tool, status, receiver_thread_ids: threads, prompt }: Fields): LoggedCall["payload"] | undefined {
  const agentId = Array.isArray(threads) ? text(threads[0]) : undefined;
  if (tool !== "spawn_agent" || status !== "completed" || !agentId) return undefined;
  const response = JSON.stringify({ agent_id: agentId });
  return { tool_name: "spawn_agent", tool_input: { message: prompt }, tool_response: response };
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** The folder with a folder for each year, in it for each month, in it for each day. */
export function codexSessions(env: Environment): string {
  return join(env["CODEX_HOME"] || join(env["HOME"] ?? "", ".codex"), "sessions");
}

export function codexFill({ sessionId, agentId, startedAt }: FilledSession, env: Environment): WindowFill | undefined {
  const folder = codexSessions(env);
  // Codex files a session under its start day in local time, so the neighboring UTC days are searched too.
  const days = [0, -DAY_MS, DAY_MS].map((offset) => new Date(startedAt.getTime() + offset));
  const folders = days.map((day) => join(folder, ...day.toISOString().slice(0, 10).split("-")));
  const ending = `-${agentId || sessionId}.jsonl`;
  const file = folders
    .filter((one) => existsSync(one))
    .flatMap((one) => readdirSync(one).map((name) => join(one, name)))
    .find((path) => path.endsWith(ending));
  const fill = file && readFill(file);
  return file && fill ? { ...fill, at: statSync(file).mtime } : undefined;
}
