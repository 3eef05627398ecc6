/**
 * Reads Claude Code's transcripts.
 *
 * Tool calls (seen in 2.1.325) are returned as the payloads of the events that should have reported them. A call is a line of the
 * assistant, its result a line of the user. The main agent's results have `toolUseResult`, which equals the payload's `tool_response`.
 * Sub-agents write to their own files, and only what their model saw.
 *
 * A line is parsed only if its call was not seen, because results are as long as the output of the tools.
 */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { type FileLine, readTail } from "../../base/clean-text.ts";
import type { LoggedCall, LoggedCalls, TranscriptFile } from "../../engine/events/client-event.ts";
import type { Environment } from "../../engine/project.ts";
import type { FilledSession, WindowFill } from "../../engine/wiring.ts";
import { type Fields, object, type Payload, parsed, text } from "../client-adapter.ts";

/** Sub-agent files that did not change for this long have been read before. */
const RECENT_MS = 24 * 60 * 60_000;
const MOST_AGENTS = 100;

export function agentFolder(transcript: string): string {
  return `${transcript.replace(/\.jsonl$/, "")}/subagents`;
}

export function subAgentFiles(transcript: string): TranscriptFile[] {
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

/** Only calls of the last answer can still get results: the model is asked again when all are there. Other open calls were killed. */
function firstOpen(open: readonly FileLine[], lastAnswer: FileLine | undefined): number | undefined {
  if (open.length === 0 || !lastAnswer) return undefined;
  const last = answerId(lastAnswer);
  return open.find((line) => answerId(line) === last)?.from;
}

function answerId(line: FileLine): unknown {
  return object(recordIn(line)["message"])["id"];
}

/** Empty: no event would have reported this call. */
function missedCall(
  event: Payload,
  { toolUseId, call, result, agentId }: { toolUseId: string; call: FileLine; result: FileLine; agentId: string },
): LoggedCall[] {
  const record = recordIn(result);
  const block = blocksOf(record).find((one) => one["tool_use_id"] === toolUseId);
  const { name, input } = blocksOf(recordIn(call)).find(({ id }) => id === toolUseId) ?? {};
  const at = new Date(String(record["timestamp"]));
  // Older versions write sub-agents to the main agent's file.
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
  // The call was refused, interrupted or invalid, so it never ran.
  if (name !== "Bash" || !/^Exit code \d/.test(shown)) return [];
  const payload = { ...common, hook_event_name: "PostToolUseFailure", error: shown };
  return [{ toolUseId, from: call.from, at, payload }];
}

/** The tools whose events `init` subscribes to. */
const TOOLS = [
  ...["Write", "Edit", "MultiEdit", "NotebookEdit", "Read", "Bash", "Grep", "Skill", "Agent", "Task"],
  ...["TaskCreate", "TaskUpdate", "TaskList", "TodoWrite"],
];

/** A sub-agent's tool response, as far as it can be rebuilt from what its model saw. */
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
  return parsed(bytes.toString("utf8"));
}

/**
 * The call that started a sub-agent. No payload has it: SubagentStart has the agent's id and type, PreToolUse of `Agent` has the call's
 * id, and three calls of one type start in any order. The client writes it beside the sub-agent's transcript, after SubagentStart
 * and before the sub-agent's first request, so it is known at its first tool call (seen in 2.1.325, in the foreground and in the
 * background, also for nested sub-agents).
 */
export function startedBy(transcriptPath: unknown, agentId: string): string | undefined {
  // The id becomes part of a path.
  if (typeof transcriptPath !== "string" || !/^\w+$/.test(agentId)) return undefined;
  const file = `${agentFolder(transcriptPath)}/agent-${agentId}.meta.json`;
  const { size = 0 } = statSync(file, { throwIfNoEntry: false }) ?? {};
  // Half written, or from another version: the next call tries again.
  return size === 0 || size > META_MAX_BYTES ? undefined : text(parsed(readFileSync(file, "utf8"))["toolUseId"]);
}

const META_MAX_BYTES = 100_000;

/**
 * Whether a prompt's turn is in progress: then the transcript has a tool result with the prompt's id (seen in 2.1.325; an unanswered
 * prompt is not in the file at all). Read only after a compaction.
 */
export function hasToolResult(transcript: string | undefined, promptId: string): boolean {
  const lines = transcript ? linesFromEnd(transcript, 1_000_000) : [];
  return lines.some((line) => line.includes(`"promptId":"${promptId}"`) && line.includes('"type":"tool_result"'));
}

/**
 * The session that a fork was made from. The payload does not have it, and the fork's transcript has the fork's own id in every line. The
 * client's command line may name the session (`--resume ID --fork-session`). Otherwise the payload has the token count of the inherited
 * window, which is also in the last answer of the original's transcript.
 */
export function forkedFrom(payload: Fields, ids: readonly string[], env: Environment): string | undefined {
  const words = commandLine(env["CLAUDE_PID"]);
  const named = ids.find((id) => words.includes(id));
  if (named) return named;
  const { context_tokens: fill } = payload;
  const folder = text(payload["transcript_path"])?.replace(/[^/]*$/, "");
  if (typeof fill !== "number" || fill <= 0 || !folder) return undefined;
  const usedIn = (id: string) => lastFill(`${folder}${id}.jsonl`, { isSubAgent: false, maxBytes: 262_144 })?.usedTokens;
  const alike = ids.filter((id) => /^[\w-]+$/.test(id) && usedIn(id) === fill);
  return alike.length === 1 ? alike[0] : undefined;
}

function commandLine(processId: string | undefined): string[] {
  try {
    return readFileSync(`/proc/${Number(processId)}/cmdline`, "latin1").split("\0");
  } catch {
    // There is no /proc here, so the transcripts are compared.
    return [];
  }
}

/** The folder of transcripts. It has one folder for each working folder. */
export function claudeProjects(env: Environment): string {
  return `${env["CLAUDE_CONFIG_DIR"] || `${env["HOME"]}/.claude`}/projects`;
}

/** How full a session's window is. A transcript does not contain the window's size. */
export function claudeFill({ sessionId, agentId }: FilledSession, env: Environment): WindowFill | undefined {
  const folder = claudeProjects(env);
  if (!existsSync(folder)) return undefined;
  const name = agentId ? `${sessionId}/subagents/agent-${agentId}.jsonl` : `${sessionId}.jsonl`;
  // There is a folder for each working folder, and a session may have continued in another one.
  const file = readdirSync(folder)
    .map((project) => `${folder}/${project}/${name}`)
    .find((path) => existsSync(path));
  // After the last answer there are at most attachments and tool results.
  return file ? lastFill(file, { isSubAgent: agentId !== "", maxBytes: 4_000_000 }) : undefined;
}

/** The token count of the last answer. Undefined: there is none since the last compaction. */
function lastFill(transcript: string, { isSubAgent, maxBytes }: { isSubAgent: boolean; maxBytes: number }) {
  for (const line of linesFromEnd(transcript, maxBytes)) {
    if (!line.includes('"usage"') && !line.includes('"compact_boundary"')) continue;
    const { type, subtype, isSidechain, timestamp, message } = parsed(line);
    if (type === "system" && subtype === "compact_boundary") return undefined;
    const counts = object(object(message)["usage"]);
    const usedTokens = COUNTS.reduce((sum, name) => sum + (Number(counts[name]) || 0), 0);
    if (type !== "assistant" || (isSidechain === true) !== isSubAgent || usedTokens === 0) continue;
    return { usedTokens, at: new Date(String(timestamp)) };
  }
  return undefined;
}

const COUNTS = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens"];

/** Last line first. The first line of the part is cut off, and the last may be half written. */
function linesFromEnd(transcript: string, maxBytes: number): string[] {
  return (readTail(transcript, maxBytes)?.toString("utf8").split("\n") ?? []).reverse();
}
