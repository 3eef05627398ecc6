/**
 * Tool calls in Codex's session files (seen in 0.166.0), as the payloads of the events that should have told of them. A call that has ended is one
 * line with all of it, whether the model called the tool directly or from JavaScript; only of a plan is the call itself the line.
 *
 * A line is parsed only when its call was not seen: it holds what the command printed.
 */
import type { FileLine } from "../../base/new-lines.ts";
import type { LoggedCall, LoggedCalls, TranscriptFile } from "../../engine/events/recover-missed.ts";
import type { Payload, PayloadBase } from "../client-adapter.ts";
import { type Fields, object, PATCH_TOOL, text } from "./events.ts";

/** Sub-agents write to files of their own, which only the end of each names. */
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

/** None with `--ephemeral`. */
function fileAt(path: unknown, agentId: string): TranscriptFile[] {
  return typeof path === "string" && path.endsWith(".jsonl") ? [{ path, agentId }] : [];
}

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
    const { timestamp, payload: logged } = recordIn(line);
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
/** The kind and the id of a call come first in its line; output and content of files follow. */
const HEAD_BYTES = 1_000;

function idOfCall({ bytes }: FileLine): string | undefined {
  const head = bytes.toString("latin1", 0, HEAD_BYTES);
  if (head.includes('"type":"item_completed"')) return ENDED.exec(head)?.[1];
  if (!head.includes('"type":"function_call"') || !head.includes('"name":"update_plan"')) return undefined;
  return PLANNED.exec(bytes.toString("utf8"))?.[1];
}

/** Tool, input and response as the event has them; undefined: nothing that an event would have told of. */
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

/** A patch without its contents: the names of its files are all that is kept of one. */
function toldPatch(changes: Fields): LoggedCall["payload"] {
  const lines = Object.entries(changes).flatMap(([path, value]) => {
    const change = object(value);
    const moved = text(change["move_path"]);
    const header = HEADERS[String(change["type"])] ?? "Update File";
    return [`*** ${header}: ${path}`, ...(moved ? [`*** Move to: ${moved}`] : [])];
  });
  const command = ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");
  return { tool_name: PATCH_TOOL, tool_input: { command }, tool_response: "Exit code: 0" };
}

function toldSpawn({ tool, status, receiver_thread_ids: threads, prompt }: Fields): LoggedCall["payload"] | undefined {
  const agentId = Array.isArray(threads) ? text(threads[0]) : undefined;
  if (tool !== "spawn_agent" || status !== "completed" || !agentId) return undefined;
  const response = JSON.stringify({ agent_id: agentId });
  return { tool_name: "spawn_agent", tool_input: { message: prompt }, tool_response: response };
}

function parsed(json: unknown): Fields {
  try {
    return object(JSON.parse(String(json)));
  } catch {
    // Cut, or of another version: nothing is known of it.
    return {};
  }
}

function recordIn({ bytes }: FileLine): Fields {
  return parsed(bytes.toString("utf8"));
}
