/**
 * Converts Claude Code's hook payloads (seen in 2.1.325) to events, and answers to its format. Payloads are untrusted; the few fields needed
 * are read by hand. Unknown events and shapes get no answer.
 */

import { realpathSync, statSync } from "node:fs";
import { MAX_CONFIG_BYTES, readBounded } from "../../base/clean-text.ts";
import { USER } from "../../base/safe-write.ts";
import type {
  ClientEvent,
  EventAnswer,
  EventBase,
  ShownOutput,
  TranscriptFile,
} from "../../engine/events/client-event.ts";
import { claudeProcess } from "../../engine/events/event-project.ts";
import { type ClientProfile, profileOf } from "../../skills/showing/activation.ts";
import type { ToolEvent } from "../../work/capture/capture.ts";
import {
  type ClientAdapter,
  type Fields,
  messagesWith,
  object,
  type Payload,
  type PayloadBase,
  parsed,
  readBase,
  readSource,
  repositoryRoot,
  text,
} from "../client-adapter.ts";
import { useCommands } from "../use-commands.ts";
import { readClaudeObservation } from "./observation.ts";
import { agentFolder, forkedFrom, hasToolResult, readClaudeCalls, startedBy, subAgentFiles } from "./transcripts.ts";

export function claudeCode(): ClientAdapter {
  return {
    client: "claude-code",
    readBase,
    profile: claudeProfile,
    readEvents: (payload, base) => {
      return [{ ...readEvent(payload, base), receipts: "found", ...messagesWith(payload) }];
    },
    writeAnswer: (payload, answer) => {
      const isStart = payload["hook_event_name"] === "SessionStart";
      return formatClaudeAnswer(payload, answer, isStart ? moveFromRemovedServer(payload, process.env) : undefined);
    },
    transcripts: claudeTranscripts,
    readCalls: readClaudeCalls,
    process: claudeProcess,
  };
}

function readEvent(payload: Payload, base: EventBase): ClientEvent {
  switch (payload["hook_event_name"]) {
    case "UserPromptSubmit":
      return { ...base, kind: "prompt", ...readClaudePrompt(payload) };
    case "SessionStart":
      return readStart(payload, base) ?? { ...base, kind: "other" };
    case "PostToolUse":
    case "PostToolUseFailure":
      // A call that ran a sub-agent is about tasks and handoffs. The sub-agent's own events have reported its work.
      return isSpawnTool(payload["tool_name"])
        ? (readClaudeEvent(payload, base) ?? { ...base, kind: "other" })
        : readCall(payload, base);
    case "Stop":
    case "PreCompact":
    case "PostCompact":
      return { ...base, kind: "pause" };
    case "SubagentStop":
      return readClaudeEvent(payload, base) ?? { ...base, kind: "pause" };
    default:
      return readClaudeEvent(payload, base) ?? { ...base, kind: "other" };
  }
}

function readCall(payload: Payload, base: EventBase): ClientEvent {
  const { tool, skill } = readClaudeTool(payload);
  const toolUseId = text(payload["tool_use_id"]);
  return {
    ...base,
    kind: "after-tool",
    tool,
    ...(skill && { skill }),
    ...(toolUseId && { toolUseId }),
    agentType: text(payload["agent_type"]) ?? "",
    startedBy: () => startedBy(payload["transcript_path"], base.agentId),
    observation: () => readClaudeObservation(payload),
    ...outputOf(payload),
  };
}

/** What a hook can replace (seen in 2.1.325): the result of a call that succeeded, in the tool's own shape. */
function outputOf(payload: Payload): { output?: ShownOutput } {
  if (payload["hook_event_name"] !== "PostToolUse") return {};
  const [name, response] = [text(payload["tool_name"]) ?? "", payload["tool_response"]];
  const input = object(payload["tool_input"]);
  if (name === "Bash") {
    const { stdout, stderr, isImage, interrupted, backgroundTaskId, persistedOutputPath } = object(response);
    // The client itself has replaced an output that it wrote to a file.
    if (isImage === true || interrupted === true || backgroundTaskId !== undefined || persistedOutputPath) return {};
    const shown = [text(stdout), text(stderr)].filter(Boolean).join("\n");
    return { output: { kind: "command", text: shown, source: text(input["command"]) ?? "", exitCode: 0 } };
  }
  if (name === "Read") {
    const { content, filePath, startLine, numLines } = object(object(response)["file"]);
    const path = text(filePath) ?? text(input["file_path"]);
    if (object(response)["type"] !== "text" || typeof content !== "string" || !path) return {};
    return { output: { kind: "read", text: content, source: `${path}:${startLine ?? 1}+${numLines ?? ""}` } };
  }
  const blocks = name.startsWith("mcp__") && !OWN_TOOL.test(name) ? textBlocks(response) : undefined;
  return blocks === undefined ? {} : { output: { kind: "mcp", text: blocks, source: name } };
}

/** The text of an MCP result. Undefined if it has an image or another block that a text cannot replace. */
function textBlocks(response: unknown): string | undefined {
  if (!Array.isArray(response)) return undefined;
  const texts = response.map((block) => (object(block)["type"] === "text" ? object(block)["text"] : undefined));
  return texts.every((one) => typeof one === "string") ? texts.join("\n") : undefined;
}

/** Sub-agent files are searched only at events where neither the user nor the model waits for the answer. */
function claudeTranscripts(payload: Payload, { agentId }: PayloadBase): TranscriptFile[] {
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

/** A background agent's result also arrives as a prompt. With `/name` the client loads a skill itself and adds its body. */
export function readClaudePrompt({ prompt, prompt_id: promptId }: Payload) {
  const typed = typeof prompt === "string" && !prompt.startsWith("<task-notification>") ? prompt : undefined;
  const command = typed?.startsWith("/") && /^\/(\S+)/.exec(typed)?.[1];
  return {
    prompt: typed,
    ...(command && { command }),
    ...(typeof promptId === "string" && { promptId }),
  };
}

export function readStart(payload: Fields, base: EventBase): ClientEvent | undefined {
  const source = readSource(payload);
  const prompt = text(payload["prompt_id"]);
  // Text given with a prompt survives a compaction before the first answer; a compaction in mid-turn removes it.
  const promptId = prompt && !hasToolResult(text(payload["transcript_path"]), prompt) ? prompt : undefined;
  if (!source) return undefined;
  const agentType = text(payload["agent_type"]);
  return {
    ...base,
    kind: "session-start",
    source,
    ...(promptId && { promptId }),
    ...(agentType && { agentType }),
    ...(source === "fork" && { forkedFrom: (ids: readonly string[]) => forkedFrom(payload, ids, process.env) }),
  };
}

export function readClaudeEvent(payload: Fields, base: EventBase): ClientEvent | undefined {
  switch (payload["hook_event_name"]) {
    case "PreToolUse": {
      const toolName = text(payload["tool_name"]) ?? "";
      const toolUseId = text(payload["tool_use_id"]);
      if (!toolUseId) return undefined;
      const input = object(payload["tool_input"]);
      const prompt = text(input["prompt"]);
      if (isSpawnTool(toolName)) {
        return prompt
          ? { ...base, kind: "before-spawn", toolUseId, prompt, agentType: text(input["subagent_type"]) ?? "" }
          : undefined;
      }
      const path = pathOf(input);
      return {
        ...base,
        kind: "before-tool",
        toolName,
        toolUseId,
        isOwnTool: OWN_TOOL.test(toolName),
        startedBy: () => startedBy(payload["transcript_path"], base.agentId),
        ...(path && { path }),
      };
    }
    case "PostToolUse": {
      const { agentId: childId, status } = object(payload["tool_response"]);
      const toolUseId = text(payload["tool_use_id"]);
      if (!isSpawnTool(payload["tool_name"]) || !toolUseId || typeof childId !== "string") return undefined;
      return { ...base, kind: "after-spawn", toolUseId, childId, isDone: status === "completed" };
    }
    case "SubagentStart":
      return base.agentId ? { ...base, kind: "agent-start", agentType: text(payload["agent_type"]) ?? "" } : undefined;
    case "SubagentStop":
      // It also fires, with an empty type, for the agent that summarizes a compaction.
      return base.agentId && payload["agent_type"]
        ? { ...base, kind: "agent-stop", ...agentEnd(payload, base) }
        : undefined;
    case "SessionEnd":
      return { ...base, kind: "session-end" };
    default:
      return undefined;
  }
}

function agentEnd(payload: Fields, { agentId }: EventBase) {
  const answer = text(payload["last_assistant_message"]);
  return {
    agentType: text(payload["agent_type"]) ?? "",
    startedBy: () => startedBy(payload["transcript_path"], agentId),
    canGoOn: true,
    ...(answer && { answer }),
  };
}

/** The tool that starts sub-agents; `Task` before 2.1. */
function isSpawnTool(toolName: unknown): boolean {
  return toolName === "Agent" || toolName === "Task";
}

/** The tools of our MCP server, wired by `init` or by the plugin. */
const OWN_TOOL = /^mcp__(?:plugin_haversack_)?haversack__/;

function pathOf(input: Fields): string | undefined {
  return text(input["file_path"]) ?? text(input["notebook_path"]);
}

/** What a call did. Unknown tools are not recorded. */
export function readClaudeTool(payload: Fields): { tool?: ToolEvent; skill?: string } {
  const input = object(payload["tool_input"]);
  const response = payload["tool_response"];
  const error = text(payload["error"]);
  const isError = payload["hook_event_name"] === "PostToolUseFailure";
  const path = pathOf(input);
  const common = isError ? { isError } : {};
  switch (payload["tool_name"]) {
    case "Write":
      return path ? { tool: { tool: "write", path, ...common } } : {};
    case "Edit":
    case "MultiEdit":
    case "NotebookEdit":
      return path ? { tool: { tool: "edit", path, ...common } } : {};
    case "Read":
      return path ? { tool: { tool: "read", path, ...common } } : {};
    case "Bash": {
      const command = text(input["command"]);
      if (!command || payload["is_interrupt"] === true) return {};
      const { stdout, stderr, gitOperation, backgroundTaskId } = object(response);
      const isBackground = backgroundTaskId !== undefined;
      const commit = text(object(object(gitOperation)["commit"])["sha"]);
      const output = isError ? (error ?? "") : [text(stdout), text(stderr)].filter(Boolean).join("\n");
      const exitCode = isError ? Number(/^Exit code (\d+)/.exec(error ?? "")?.[1] ?? 1) : 0;
      return {
        tool: { tool: "shell", command, output, exitCode, isError, isBackground, ...(commit && { commitSha: commit }) },
      };
    }
    case "Skill": {
      const skill = text(input["skill"]);
      return skill && !isError ? { tool: { tool: "other" }, skill } : {};
    }
    case "TaskCreate": {
      const { id, subject } = object(object(response)["task"]);
      return { tool: { tool: "todo", isPartial: true, todos: [{ id, subject, status: "pending" }], ...common } };
    }
    case "TaskUpdate":
      return { tool: { tool: "todo", isPartial: true, todos: [input], ...common } };
    case "TaskList": {
      const { tasks } = object(response);
      // Partial: a whole list would drop the ids that later updates refer to.
      return Array.isArray(tasks) ? { tool: { tool: "todo", isPartial: true, todos: tasks } } : {};
    }
    case "TodoWrite":
      return Array.isArray(input["todos"]) ? { tool: { tool: "todo", todos: input["todos"] } } : {};
    default:
      return {};
  }
}

/**
 * What Claude Code accepts on a hook's standard output. Text reaches the model only under `hookSpecificOutput` with the
 * event's own name; anywhere else it is silently dropped. A changed input works without a permission decision, and a changed
 * result only in the tool's complete result shape (both seen in 2.1.325).
 *
 * `notice`: a line for the user, which the model does not see.
 */
export function formatClaudeAnswer(
  payload: Readonly<Record<string, unknown>>,
  answer: EventAnswer,
  notice?: string,
): string {
  const { context, deny, prompt, result, output, sendBack } = answer;
  // At a sub-agent's end nothing else can be said.
  if (sendBack) return JSON.stringify({ decision: "block", reason: sendBack });
  const toPerson = notice === undefined ? {} : { systemMessage: notice };
  if (!context && !deny && !prompt && !result && output === undefined)
    return notice === undefined ? "" : JSON.stringify(toPerson);
  return JSON.stringify({
    ...toPerson,
    hookSpecificOutput: {
      hookEventName: payload["hook_event_name"],
      ...(context && { additionalContext: context }),
      ...(deny && { permissionDecision: "deny", permissionDecisionReason: deny }),
      ...(prompt && { updatedInput: { ...(payload["tool_input"] as object), prompt } }),
      ...(result && {
        updatedToolOutput: { ...(payload["tool_response"] as object), content: [{ type: "text", text: result }] },
      }),
      ...(output !== undefined && { updatedToolOutput: resultWith(output, payload) }),
    },
  });
}

function resultWith(output: string, payload: Readonly<Record<string, unknown>>): unknown {
  const response = payload["tool_response"];
  if (payload["tool_name"] === "Bash") return { ...object(response), stdout: output, stderr: "" };
  if (payload["tool_name"] === "Read") {
    const file = { ...object(object(response)["file"]), content: output, numLines: output.split("\n").length };
    return { ...object(response), file };
  }
  return [{ type: "text", text: output }];
}

/** Claude Code's profile in this process: which skills it hides, and the name of our tool. */
export function claudeProfile(root: string, env: Readonly<Record<string, string | undefined>>): ClientProfile {
  const configDir = env["CLAUDE_CONFIG_DIR"] || `${env["HOME"]}/.claude`;
  // Servers of a plugin are prefixed with its name.
  const prefix = env["CLAUDE_PLUGIN_ROOT"] ? "mcp__plugin_haversack_haversack" : "mcp__haversack";
  let hidden: Set<string> | undefined;
  return {
    ...profileOf("claude-code"),
    skillTool: `${prefix}__skill`,
    hasAgentTools: (agentType) => WITH_ALL_TOOLS.test(agentType),
    // Read lazily: most events name no skill to the model.
    get hidden() {
      hidden ??= hiddenSkills(root, configDir);
      return hidden;
    },
  };
}

/**
 * Types whose sub-agents have the Skill tool and our MCP tools (seen in 2.1.325), and our own types. Any other type may list its tools
 * in its file, and then it has neither.
 */
const WITH_ALL_TOOLS = /^(?:|general-purpose|Explore|Plan|haversack[-:].*)$/;

/**
 * The skills that the client hides from the model, so its own Skill tool refuses them. Read from the client's settings, not from a
 * list of ours, so manual changes count at once.
 *
 * Returns folder names, which are the client's keys for skills. `root` is the project's; the settings are at the repository's root,
 * even if `root` is a folder below it. `configDir` is the client's user folder (`CLAUDE_CONFIG_DIR`, else `~/.claude`).
 */
export function hiddenSkills(root: string, configDir?: string): Set<string> {
  const top = repositoryRoot(root);
  const files = [`${top}/.claude/settings.json`, `${top}/.claude/settings.local.json`];
  if (configDir) files.unshift(`${configDir}/settings.json`);
  const values = new Map<string, unknown>();
  for (const file of files) {
    for (const [name, value] of Object.entries(overridesOf(file))) values.set(name, value);
  }
  const hidden = [...values].filter(([, value]) => value === "user-invocable-only" || value === "off");
  return new Set(hidden.map(([name]) => name));
}

/** Empty for a missing file or broken JSON: the client ignores those too, and hides nothing. */
function overridesOf(file: string): Fields {
  const settings = readBounded(file, MAX_CONFIG_BYTES)?.text;
  // Most settings have no overrides, and a search costs less than parsing.
  return settings?.includes('"skillOverrides"') ? object(parsed(settings)["skillOverrides"]) : {};
}

/** The client's state file may be long. Larger files are not read. */
const MAX_BYTES = 4_000_000;

const NO_SERVER = "Haversack: Claude Code does not start its MCP server, which was removed or not approved, so";
const REMEDY = "`haversack init` registers it again; `haversack uninstall` removes the hooks too.";
const MOVED = `${NO_SERVER} its hooks may show errors in this session. From the next one on, each event starts a process. ${REMEDY}`;
const NOT_MOVED = `${NO_SERVER} its hooks show errors. ${REMEDY}`;

/**
 * For a session's start: if the client does not start the MCP server that the hooks ask, our hooks become commands, and the user is told in
 * a line. Otherwise the client would show an error at every event (seen in 2.1.325). Either the server was removed (`claude mcp remove
 * haversack`), or the project's .mcp.json offers it and the user has refused it. No event is lost meanwhile: see `recoverMissed`.
 * Undefined: the server is there, or this cannot be determined.
 */
function moveFromRemovedServer(payload: Fields, env: Readonly<Record<string, string | undefined>>): string | undefined {
  const cwd = text(payload["cwd"]);
  const isStart = payload["source"] === "startup" || payload["source"] === "resume";
  if (!isStart || !cwd || !statSync(cwd, { throwIfNoEntry: false })) return undefined;
  // The client's key for a project is its path with links resolved.
  const root = repositoryRoot(realpathSync.native(cwd));
  const own = env["CLAUDE_CONFIG_DIR"];
  const settings = [
    { file: `${root}/.claude/settings.local.json`, within: root },
    { file: `${own || `${env["HOME"]}/.claude`}/settings.json`, within: USER },
  ];
  const asking = settings.filter(({ file }) => asksServer(file));
  if (asking.length === 0) return undefined;
  const state = readBounded(`${own || env["HOME"]}/.claude.json`, MAX_BYTES);
  // The file is too long, or we may not read it.
  if (state !== undefined && state.text === undefined) return undefined;
  const isOffered = readBounded(`${root}/.mcp.json`, MAX_BYTES)?.text?.includes('"haversack"');
  if (isOffered && !settings.some(({ file }) => refusesServer(file))) return undefined;
  if (hasServer(state?.text ?? "{}", root)) return undefined;
  // `doctor` only looks.
  return !env["HAVERSACK_DOCTOR"] && asking.every((place) => useCommands("claude-code", place)) ? MOVED : NOT_MOVED;
}

function asksServer(file: string): boolean {
  return /"mcp_tool"[^{}]*"server"\s*:\s*"haversack"/.test(readBounded(file, MAX_BYTES)?.text ?? "");
}

/** Of servers in .mcp.json, which the client starts only if the user approves. */
function refusesServer(file: string): boolean {
  return /"disabledMcpjsonServers"\s*:\s*\[[^\]]*"haversack"/.test(readBounded(file, MAX_BYTES)?.text ?? "");
}

function hasServer(state: string, root: string): boolean {
  try {
    const { mcpServers, projects } = object(JSON.parse(state));
    return [object(object(projects)[root])["mcpServers"], mcpServers].some((servers) => "haversack" in object(servers));
  } catch {
    // Broken JSON: the client restores it from its own backups.
    return true;
  }
}
