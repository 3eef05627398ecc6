/**
 * Tool calls in Claude Code's transcripts (seen in 2.1.325), as the payloads of the events that should have told of them. A call is a line of the
 * assistant, its result a line of the user. The main agent's results come with `toolUseResult`, which is the payload's `tool_response`;
 * sub-agents write to files of their own, and only what their model saw.
 *
 * A line is parsed only when its call was not seen: results are as long as what tools print.
 */
import { readdirSync, statSync } from "node:fs";
import type { FileLine } from "../../base/new-lines.ts";
import type { LoggedCall, LoggedCalls, TranscriptFile } from "../../engine/events/recover-missed.ts";
import type { Payload, PayloadBase } from "../client-adapter.ts";
import { type Fields, object, text } from "./fields.ts";

/** A sub-agent's file that nobody has written to for this long was read before. */
const RECENT_MS = 24 * 60 * 60_000;
const MOST_AGENTS = 100;

/** The files of the sub-agents are looked for only where nobody waits for the answer to go on typing or working. */
export function claudeTranscripts(payload: Payload, { agentId }: PayloadBase): TranscriptFile[] {
  const path = text(payload["transcript_path"]);
  if (!path?.endsWith(".jsonl")) return [];
  const main = { path, agentId: "" };
  switch (payload["hook_event_name"]) {
    case "UserPromptSubmit":
      return [main];
    case "Stop":
    case "SessionEnd":
    case "SessionStart":
      return agentId === "" ? [main, ...subAgentFiles(path)] : [];
    case "SubagentStop":
      return /^\w+$/.test(agentId) ? [{ path: `${agentFolder(path)}/agent-${agentId}.jsonl`, agentId }] : [];
    default:
      return [];
  }
}

function agentFolder(transcript: string): string {
  return `${transcript.replace(/\.jsonl$/, "")}/subagents`;
}

function subAgentFiles(transcript: string): TranscriptFile[] {
  const folder = agentFolder(transcript);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return [];
  const oldest = Date.now() - RECENT_MS;
  return readdirSync(folder)
    .flatMap((name) => {
      const agentId = /^agent-(\w+)\.jsonl$/.exec(name)?.[1];
      return agentId === undefined ? [] : [{ path: `${folder}/${name}`, agentId }];
    })
    .filter(({ path }) => (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) > oldest)
    .slice(-MOST_AGENTS);
}

export function readClaudeCalls(
  event: Payload,
  lines: readonly FileLine[],
  { agentId }: TranscriptFile,
  isSeen: (toolUseId: string) => boolean,
): LoggedCalls {
  const open = new Map<string, FileLine>();
  const calls: LoggedCalls = { missed: [], seen: [] };
  let lastAnswer: FileLine | undefined;
  for (const line of lines) {
    if (line.bytes.includes(RESULT)) {
      const toolUseId = textAfter(line, RESULT_ID);
      const call = toolUseId === undefined ? undefined : open.get(toolUseId);
      if (toolUseId === undefined || !call) continue;
      open.delete(toolUseId);
      if (isSeen(toolUseId)) calls.seen.push({ toolUseId, from: call.from });
      else calls.missed.push(...missedCall(event, { toolUseId, call, result: line, agentId }));
    } else if (line.bytes.includes(ANSWER)) {
      lastAnswer = line;
      const toolUseId = line.bytes.includes(CALL) ? textAfter(line, CALL_ID) : undefined;
      if (toolUseId !== undefined) open.set(toolUseId, line);
    }
  }
  const openFrom = firstOpen([...open.values()], lastAnswer);
  return openFrom === undefined ? calls : { ...calls, openFrom };
}

const RESULT = '"type":"tool_result"';
const RESULT_ID = '"tool_use_id":"';
const ANSWER = '"type":"assistant"';
const CALL = '"type":"tool_use"';
const CALL_ID = '"type":"tool_use","id":"';
const ID_MAX_BYTES = 200;

function textAfter({ bytes }: FileLine, start: string): string | undefined {
  const at = bytes.indexOf(start);
  if (at < 0) return undefined;
  const rest = bytes.toString("latin1", at + start.length, at + start.length + ID_MAX_BYTES);
  return /^[^"\\]+(?=")/.exec(rest)?.[0];
}

/** Only calls of the last answer can still get results: the model is asked again when all are there. Others were killed. */
function firstOpen(open: readonly FileLine[], lastAnswer: FileLine | undefined): number | undefined {
  if (open.length === 0 || !lastAnswer) return undefined;
  const last = answerId(lastAnswer);
  return open.find((line) => answerId(line) === last)?.from;
}

function answerId(line: FileLine): unknown {
  return object(recordIn(line)["message"])["id"];
}

interface CallLines {
  toolUseId: string;
  call: FileLine;
  result: FileLine;
  agentId: string;
}

/** None: nothing that an event would have told of. */
function missedCall(event: Payload, { toolUseId, call, result, agentId }: CallLines): LoggedCall[] {
  const record = recordIn(result);
  const block = blocksOf(record).find((one) => one["tool_use_id"] === toolUseId);
  const { name, input } = blocksOf(recordIn(call)).find(({ id }) => id === toolUseId) ?? {};
  const at = new Date(String(record["timestamp"]));
  // Older versions keep sub-agents in the main agent's file.
  const caller = record["isSidechain"] === true ? text(record["agentId"]) : agentId;
  if (!block || caller === undefined || !TOOLS.includes(String(name)) || Number.isNaN(at.getTime())) return [];
  const common = {
    session_id: event["session_id"],
    transcript_path: event["transcript_path"],
    ...(caller && { agent_id: caller }),
    cwd: text(record["cwd"]) ?? event["cwd"],
    tool_name: name,
    tool_use_id: toolUseId,
    tool_input: object(input),
  };
  const shown = shownText(block["content"]);
  if (block["is_error"] !== true) {
    const response = record["toolUseResult"] ?? asResponse(String(name), object(input), shown);
    const payload = { ...common, hook_event_name: "PostToolUse", tool_response: response };
    return [{ toolUseId, from: call.from, at, payload }];
  }
  // A call that was refused, interrupted or not understood never ran.
  if (name !== "Bash" || !/^Exit code \d/.test(shown)) return [];
  const payload = { ...common, hook_event_name: "PostToolUseFailure", error: shown };
  return [{ toolUseId, from: call.from, at, payload }];
}

/** Those whose events `init` asks for. */
const TOOLS = [
  ...["Write", "Edit", "MultiEdit", "NotebookEdit", "Read", "Bash", "Grep", "Skill", "Agent", "Task"],
  ...["TaskCreate", "TaskUpdate", "TaskList", "TodoWrite"],
];

/** What can be told of a sub-agent's call by what its model saw. */
function asResponse(tool: string, input: Fields, shown: string): unknown {
  switch (tool) {
    case "Bash":
      return { stdout: shown, stderr: "" };
    case "Read": {
      const numbers = shown.split("\n").flatMap((line) => /^\s*(\d{1,9})[\t→]/.exec(line)?.[1] ?? []);
      if (numbers.length === 0) return {};
      const file = { filePath: input["file_path"], numLines: numbers.length, startLine: Number(numbers[0]) };
      return { type: "text", file };
    }
    case "Grep":
      return input["output_mode"] === "content" ? { mode: "content", content: shown } : {};
    default:
      return {};
  }
}

function shownText(content: unknown): string {
  if (typeof content === "string") return content;
  const parts = Array.isArray(content) ? content.map((part) => text(object(part)["text"])) : [];
  return parts.filter(Boolean).join("\n");
}

function blocksOf(record: Fields): Fields[] {
  const { content } = object(record["message"]);
  return Array.isArray(content) ? content.map(object) : [];
}

function recordIn({ bytes }: FileLine): Fields {
  try {
    return object(JSON.parse(bytes.toString("utf8")));
  } catch {
    // Cut, or of another version: nothing is known of it.
    return {};
  }
}
