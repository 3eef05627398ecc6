/** Converts Codex's hook payloads (seen in 0.166.0) to events, and answers to the output that Codex accepts. */
import { realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { MAX_CONFIG_BYTES, readBounded } from "../../base/clean-text.ts";
import { USER } from "../../base/safe-write.ts";
import type { ClientEvent, EventAnswer, EventBase, ShownOutput } from "../../engine/events/client-event.ts";
import { parentProcess } from "../../engine/events/event-project.ts";
import { type ClientProfile, profileOf } from "../../skills/showing/activation.ts";
import type { ToolEvent } from "../../work/capture/capture.ts";
import { readShellOutput } from "../claude-code/observation.ts";
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
  resolvePath,
  text,
} from "../client-adapter.ts";
import { useCommands } from "../use-commands.ts";
import {
  codexTranscripts,
  type endedCommand,
  endOfCommand,
  readAgentName,
  readCodexCalls,
  readForkedFrom,
} from "./rollout.ts";

export function codex(): ClientAdapter {
  return {
    client: "codex",
    readBase: readCodexBase,
    profile: codexProfile,
    readEvents: (payload, base) => {
      return [{ ...readEvent(payload, base), receipts: "found", ...messagesWith(payload) }];
    },
    writeAnswer: (payload, answer) => {
      const isStart = payload["hook_event_name"] === "SessionStart";
      return formatCodexAnswer(payload, answer, isStart ? moveFromRemovedServer(payload, process.env) : undefined);
    },
    transcripts: codexTranscripts,
    readCalls: readCodexCalls,
    // Usually the shell that Codex starts replaces itself with the hook (`exec`), so the parent is Codex itself (seen in 0.166.0).
    process: () => parentProcess(),
  };
}

function readEvent(payload: Payload, base: EventBase): ClientEvent {
  const { hook_event_name: event, tool_name: tool } = payload;
  switch (event) {
    case "UserPromptSubmit": {
      // The client's ID of a prompt, the same in all events of its turn.
      const promptId = text(payload["turn_id"]);
      return { ...base, kind: "prompt", prompt: readCodexPrompt(payload), ...(promptId && { promptId }) };
    }
    case "PostToolUse":
      return typeof tool === "string" && tool.endsWith("spawn_agent")
        ? (readCodexEvent(payload, base) ?? { ...base, kind: "other" })
        : readCall(payload, base);
    case "Stop":
    case "PreCompact":
      return { ...base, kind: "pause" };
    case "SubagentStop":
    case "PostCompact":
      return readCodexEvent(payload, base) ?? { ...base, kind: "pause" };
    default:
      return readCodexEvent(payload, base) ?? { ...base, kind: "other" };
  }
}

function readCall(payload: Payload, base: EventBase): ClientEvent {
  const toolUseId = text(payload["tool_use_id"]);
  const { tool } = readCodexTool(payload);
  return {
    ...base,
    kind: "after-tool",
    tool,
    ...(toolUseId && { toolUseId }),
    agentType: text(payload["agent_type"]) ?? "",
    observation: () => {
      const shown = readCodexOutput(payload);
      return shown && readShellOutput(shown.command, shown.output);
    },
    ...outputOf(payload, tool),
  };
}

/** What the model is about to see; a block replaces it. */
function outputOf(payload: Payload, tool: ToolEvent | undefined): { output?: ShownOutput } {
  const name = text(payload["tool_name"]) ?? "";
  const shown = payload["tool_response"];
  if (name === "Bash" && typeof shown === "string") {
    const source = text(object(payload["tool_input"])["command"]) ?? "";
    const exitCode = tool?.tool === "shell" ? tool.exitCode : undefined;
    return { output: { kind: "command", text: shown, source, ...(exitCode !== undefined && { exitCode }) } };
  }
  if (!name.startsWith("mcp__") || OWN_TOOL.test(name)) return {};
  const texts = textBlocks(shown);
  return texts === undefined ? {} : { output: { kind: "mcp", text: texts, source: name } };
}

function textBlocks(response: unknown): string | undefined {
  const { content } = object(response);
  if (!Array.isArray(content)) return typeof response === "string" ? response : undefined;
  const texts = content.map((block) => (object(block)["type"] === "text" ? object(block)["text"] : undefined));
  return texts.every((one) => typeof one === "string") ? texts.join("\n") : undefined;
}

/** A hook that asks the server names no agent, but its call has a thread ID: the session's or a sub-agent's. */
export function readCodexBase(payload: Payload, fallbackCwd: string): PayloadBase | undefined {
  const base = readBase(payload, fallbackCwd);
  const thread = text(payload["thread_id"]);
  return base && !base.agentId && thread && thread !== base.sessionId ? { ...base, agentId: thread } : base;
}

/**
 * What a person typed, or the task that an agent gave to a sub-agent. With some models (`multi_agent_v1`) such a task arrives as a prompt of the
 * sub-agent, with others not at all. Undefined for a task with a packet, because the packet already names its skills.
 */
export function readCodexPrompt({ prompt, agent_id }: Record<string, unknown>): string | undefined {
  if (typeof prompt !== "string" || prompt === "") return undefined;
  return agent_id && PACKET.test(prompt) ? undefined : prompt;
}

/** The separator that `beforeSpawn` puts between a task and its packet, then the packet's marker (wake/packet-sign.ts). */
const PACKET = /\n---\n[\s\S]{0,500}From Haversack, /;

/** Payloads are the same whether a model calls tools directly or from JavaScript. */
export function readCodexEvent(payload: Fields, base: EventBase): ClientEvent | undefined {
  switch (payload["hook_event_name"]) {
    case "SessionStart": {
      const source = readSource(payload);
      if (!source) return undefined;
      const forkedFrom = (ids: readonly string[]) => {
        const origin = readForkedFrom(payload["transcript_path"]);
        return ids.find((id) => id === origin);
      };
      return { ...base, kind: "session-start", source, ...(source === "fork" && { forkedFrom }) };
    }
    case "PostCompact":
      // No SessionStart follows a sub-agent's compaction, and no text from here reaches it. Only its window is reset.
      return base.agentId ? { ...base, kind: "session-start", source: "clear" } : undefined;
    case "PreToolUse": {
      const toolName = text(payload["tool_name"]) ?? "";
      const toolUseId = text(payload["tool_use_id"]);
      if (!toolUseId) return undefined;
      const input = object(payload["tool_input"]);
      // The newer tool (`collaboration`) encrypts messages to sub-agents for the model. We can neither read nor change them.
      if (toolName.startsWith("collaboration")) return undefined;
      if (isSpawnTool(toolName)) {
        const prompt = text(input["message"]);
        if (!prompt) return undefined;
        const role = ROLE_FILE.exec(prompt)?.[1];
        const agentType = role ? `haversack-${role}` : (text(input["agent_type"]) ?? "");
        // The sub-agent reports its task as a prompt of its own (prompt-event.ts).
        return { ...base, kind: "before-spawn", toolUseId, prompt, agentType, isPromptReported: true };
      }
      const paths = toolName === PATCH_TOOL ? patchPaths(text(input["command"]) ?? "", base.cwd) : [];
      const [path] = paths;
      const isOwnTool = OWN_TOOL.test(toolName);
      return { ...base, kind: "before-tool", toolName, toolUseId, isOwnTool, ...(path && { path, paths }) };
    }
    case "PostToolUse": {
      const toolUseId = text(payload["tool_use_id"]);
      if (!isSpawnTool(payload["tool_name"]) || !toolUseId) return undefined;
      // The newer tool answers with a task name and no ID, so the call cannot be matched to a sub-agent.
      const childId = text(parsed(payload["tool_response"])["agent_id"]);
      return childId
        ? { ...base, kind: "after-spawn", toolUseId, childId, isDone: false, isOnlySign: true }
        : undefined;
    }
    case "SubagentStart":
      return base.agentId ? { ...base, ...agentStart(payload) } : undefined;
    case "SubagentStop":
      return base.agentId ? { ...base, kind: "agent-stop", ...agentEnd(payload) } : undefined;
    case "SessionEnd":
      return { ...base, kind: "session-end" };
    default:
      return undefined;
  }
}

function agentEnd(payload: Fields) {
  const answer = text(payload["last_assistant_message"]);
  return { agentType: text(payload["agent_type"]) ?? "", canGoOn: true, ...(answer && { answer }) };
}

/** With the newer tool only the task's name is readable, and only from the sub-agent's own file. */
function agentStart(payload: Fields) {
  const name = readAgentName(payload["transcript_path"]);
  const role = name && ROLE_NAME.exec(name)?.[1]?.replace("_", "-");
  const agentType = role ? `haversack-${role}` : (text(payload["agent_type"]) ?? "");
  return { kind: "agent-start" as const, agentType, ...(name && { taskName: taskIdsAsWritten(name) }) };
}

/** The role file that `$work` names in a sub-agent's prompt, and the task name it uses (work-files.ts). Codex has no agent type for these roles. */
const ROLE_FILE = /\/roles\/(implementer|spec-reviewer|quality-reviewer|fixer)\.md\b/;
const ROLE_NAME = /^(implementer|spec_reviewer|quality_reviewer|fixer)_(?:\d+_)?t\d{4,12}$/;

/** Task names have only lowercase letters, digits and underscores: `implement_t4829` is about T4829. */
function taskIdsAsWritten(name: string): string {
  return name.replaceAll(/(?<![a-z0-9])t(?=\d{4,12}(?![a-z0-9]))/g, "T").replaceAll("_", " ");
}

export const PATCH_TOOL = "apply_patch";

/** `spawn_agent`, with its namespace directly in front where hooks have no name of their own for the tool. */
function isSpawnTool(toolName: unknown): boolean {
  return typeof toolName === "string" && /^(?:collaboration|multi_agent_v1)?spawn_agent$/.test(toolName);
}

const OWN_TOOL = /^mcp__haversack__/;

/**
 * What a call did; {} for unknown tools. Codex has no event for failed calls: a failed command sends the usual event, a patch that does not apply
 * sends none.
 */
export function readCodexTool(payload: Fields, findEnd?: typeof endedCommand): { tool?: ToolEvent } {
  if (payload["hook_event_name"] !== "PostToolUse") return {};
  const input = object(payload["tool_input"]);
  const command = text(input["command"]);
  switch (payload["tool_name"]) {
    case "Bash": {
      if (!command) return {};
      const { exitCode, readPath } = endOfCommand(payload, findEnd) ?? {};
      if (readPath && exitCode === 0)
        return { tool: { tool: "read", path: resolvePath(readPath, text(payload["cwd"])) } };
      const output = text(payload["tool_response"]) ?? "";
      const end = exitCode === undefined ? {} : { exitCode, isError: exitCode !== 0 };
      return { tool: { tool: "shell", command, output, ...end } };
    }
    case PATCH_TOOL: {
      const paths = patchPaths(command ?? "");
      const [path] = paths;
      const isError = !/^Exit code: 0\b/.test(text(payload["tool_response"]) ?? "Exit code: 0");
      return path ? { tool: { tool: "edit", path, paths, ...(isError && { isError }) } } : {};
    }
    case "update_plan":
      return Array.isArray(input["plan"]) ? { tool: { tool: "todo", todos: input } } : {};
    default:
      return {};
  }
}

/**
 * The files that an `apply_patch` patch touches, in order. A moved file counts with its old and new name. Paths are as written in the patch; with
 * `cwd` they are made absolute and normalized.
 */
export function patchPaths(patch: string, cwd?: string): string[] {
  const paths: string[] = [];
  // Content lines begin with a space, `+` or `-`, so they never look like a header.
  for (const [, path = ""] of patch.matchAll(/^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+?)\r?$/gm)) {
    const file = cwd === undefined ? path : inFolder(path.trim(), cwd);
    if (!paths.includes(file)) paths.push(file);
  }
  return paths;
}

function inFolder(path: string, cwd: string): string {
  const parts: string[] = [];
  for (const part of (path.startsWith("/") ? path : `${cwd}/${path}`).split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}

/**
 * What a shell command showed the model (seen in 0.166.0). Codex has no tool to read files, so this is how a sub-agent reads its documents.
 * Undefined if the call was no command or failed.
 */
export function readCodexOutput(
  payload: Fields,
  findEnd?: typeof endedCommand,
): { command: string; output: string } | undefined {
  if (payload["hook_event_name"] !== "PostToolUse" || payload["tool_name"] !== "Bash") return undefined;
  const command = text(object(payload["tool_input"])["command"]);
  const output = payload["tool_response"];
  if (!command || typeof output !== "string") return undefined;
  // The payload has no exit code. If the session file has none either, assume success.
  const { exitCode = 0 } = endOfCommand(payload, findEnd) ?? {};
  return exitCode === 0 ? { command, output: withoutCut(output) } : undefined;
}

/** The hook gets the same as the model: for long output a three-line header, the head and the tail. Only the head is counted. */
function withoutCut(output: string): string {
  const head = /^Warning: truncated output \(original token count: \d+\)\nTotal output lines: \d+\n\n/.exec(
    output,
  )?.[0];
  if (head === undefined) return output;
  const cut = output.search(/…\d+ (?:tokens|chars) truncated…/);
  // The line that the cut splits was not fully seen, so it is left out.
  return cut < 0 ? "" : output.slice(head.length, output.lastIndexOf("\n", cut) + 1);
}

/**
 * 2,500 tokens as the client counts them, at four bytes of UTF-8 each. Longer texts reach the model as head, tail and a file name: at 10,001
 * bytes, 39 tokens from the middle were missing.
 */
export const MAX_CONTEXT_BYTES = 10_000;

/**
 * What Codex accepts on a hook's standard output (seen in 0.166.0). Text reaches the model as a `developer` message, but only under
 * `hookSpecificOutput` with an event name, and not from PostCompact or SessionEnd. Changed input needs the decision to allow the call. To replace
 * a result, block it: the model sees the reason instead. At the end of a turn, too, the model continues with the reason of a block; Codex treats
 * other text there as an error.
 */
export function formatCodexAnswer(
  payload: Readonly<Record<string, unknown>>,
  answer: EventAnswer,
  notice?: string,
): string {
  const { deny, prompt, sendBack } = answer;
  const result = answer.result ?? answer.output;
  const event = payload["hook_event_name"];
  const context = SILENT.has(event) ? undefined : answer.context && fitBytes(answer.context);
  const toPerson = notice === undefined ? {} : { systemMessage: notice };
  if (!context && !deny && !prompt && !result && !sendBack) return notice === undefined ? "" : JSON.stringify(toPerson);
  if (sendBack) return JSON.stringify({ decision: "block", reason: fitBytes(sendBack) });
  if (event === "Stop") return JSON.stringify({ decision: "block", reason: context });
  const hookSpecificOutput = {
    hookEventName: event,
    ...(context && { additionalContext: context }),
    ...(deny && { permissionDecision: "deny", permissionDecisionReason: deny }),
    ...(prompt && {
      permissionDecision: "allow",
      updatedInput: { ...(payload["tool_input"] as object), message: prompt },
    }),
  };
  return JSON.stringify({ ...toPerson, ...(result && { decision: "block", reason: result }), hookSpecificOutput });
}

const SILENT = new Set<unknown>(["PreCompact", "PostCompact", "SessionEnd"]);

const CUT = "\n[cut to fit]";

/** Last safeguard: texts are limited by characters, but a non-ASCII character can have three bytes. */
export function fitBytes(text: string, maxBytes = MAX_CONTEXT_BYTES): string {
  if (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes) return text;
  const bytes = Buffer.from(text);
  let end = maxBytes - CUT.length;
  // Do not cut inside a character.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString("utf8", 0, end) + CUT;
}

/**
 * Codex has no tool for skills. It lists name, description and path of the skills in `.agents/skills` and its own folders, and the model reads the
 * file. The same works for an unlisted skill that Haversack names. The model has to search for our MCP tools first, so reading the file is
 * shorter.
 */
export function codexProfile(): ClientProfile {
  return { ...profileOf("codex"), skillTool: "mcp__haversack__skill" };
}

const NO_SERVER = "Haversack: its MCP server was removed from Codex's settings, so";
const REMEDY = "`haversack init` registers it again; `haversack uninstall` removes the hooks too.";
const MOVED = `${NO_SERVER} its hooks may show errors in this session. From the next one on, each event starts a process: open /hooks there and trust the changed hooks. ${REMEDY}`;
const NOT_MOVED = `${NO_SERVER} its hooks show errors. ${REMEDY}`;

/**
 * For a session's start: if no settings that Codex reads here name the MCP server that our hooks ask, these hooks become commands, and the user is
 * told in a line. Otherwise the client would show "unknown MCP server" at every prompt and tool call (seen in 0.166.0). Until the user has reviewed
 * the changed hooks Codex skips them, so nothing is lost that was not lost already. Undefined: the server is there, or this cannot be determined.
 */
function moveFromRemovedServer(payload: Fields, env: Readonly<Record<string, string | undefined>>): string | undefined {
  const cwd = text(payload["cwd"]);
  if (!cwd || !statSync(cwd, { throwIfNoEntry: false })) return undefined;
  const from = realpathSync.native(cwd);
  const root = repositoryRoot(from);
  const home = env["CODEX_HOME"] || `${env["HOME"]}/.codex`;
  const hooks = [
    { file: `${root}/.codex/hooks.json`, within: root },
    { file: `${home}/hooks.json`, within: USER },
  ];
  const asking = hooks.filter(({ file }) => ASKS.test(readBounded(file, MAX_CONFIG_BYTES)?.text ?? ""));
  if (asking.length === 0) return undefined;
  const folders = [home, "/etc/codex"];
  for (let folder = from; folder.startsWith(root); folder = dirname(folder)) {
    folders.push(`${folder}/.codex`);
    if (folder === root) break;
  }
  for (const folder of folders) {
    const config = readBounded(`${folder}/config.toml`, MAX_CONFIG_BYTES);
    // Missing files name no server; one that we may not read could.
    if (config && (config.text === undefined || NAMES_SERVER.test(config.text))) return undefined;
  }
  // `doctor` only looks.
  return !env["HAVERSACK_DOCTOR"] && asking.every((place) => useCommands("codex", place)) ? MOVED : NOT_MOVED;
}

const ASKS = /"mcp_tool"[^{}]*"server"\s*:\s*"haversack"/;

/** A table or key of that name in any form of TOML, or our plugin. A path that ends in the name is none. */
const NAMES_SERVER =
  /^(?![ \t]*#).*(?:(?:mcp_servers[ \t]*\.[ \t]*["']?|(?<![\w./-]))haversack["']?[ \t]*[\].=]|["']haversack@)/m;
