/** Converts Gemini CLI's hook payloads (seen in 0.61.0) to events, and answers to its format. */

import { MAX_CONFIG_BYTES, readBounded } from "../../base/clean-text.ts";
import { withoutComments } from "../../base/json.ts";
import { callKey, noteOfCall } from "../../engine/call-key.ts";
import type { ClientEvent, EventAnswer, EventBase } from "../../engine/events/client-event.ts";
import { parentProcess } from "../../engine/events/event-project.ts";
import { type ClientProfile, profileOf } from "../../skills/showing/activation.ts";
import type { SkillCard } from "../../skills/types.ts";
import type { StoreHandle } from "../../store/sqlite/access.ts";
import { readSessionTimes, type SessionTimes } from "../../store/sqlite/sessions/sqlite-local-store.ts";
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
  resolvePath,
  text,
} from "../client-adapter.ts";
import { hasGeminiAnswer, readGeminiCompaction } from "./transcript.ts";

export function gemini(): ClientAdapter {
  return {
    client: "gemini",
    readBase: readGeminiBase,
    profile: geminiProfile,
    readEvents: (payload, base, project) => {
      const source = geminiStartBefore(payload, base, project);
      const event = { ...readEvent(payload, base), ...messagesWith(payload) };
      const hasAnswered = () => hasGeminiAnswer(payload["transcript_path"]);
      return source ? [{ ...base, kind: "session-start", source, isPromptWaiting: true, hasAnswered }, event] : [event];
    },
    writeAnswer: formatGeminiAnswer,
    // The shell that the client starts usually replaces itself with the hook (`exec`), so the parent is the client (seen in 0.61.0).
    process: () => parentProcess(),
  };
}

function readEvent(payload: Payload, base: EventBase): ClientEvent {
  switch (payload["hook_event_name"]) {
    // Headless, our text would come before the prompt, and a custom command would not be recognized any more.
    case "SessionStart":
      return { ...base, kind: "opened" };
    case "BeforeAgent":
      return { ...base, kind: "prompt", prompt: readGeminiPrompt(payload) };
    case "AfterTool": {
      const { tool, skill } = readGeminiTool(payload, base.cwd);
      return { ...base, kind: "after-tool", tool, ...(skill && { skill }) };
    }
    case "AfterAgent":
      return { ...base, kind: "pause" };
    default:
      return readGeminiEvent(payload, base) ?? { ...base, kind: "other" };
  }
}

type Source = "startup" | "resume" | "compact";

/**
 * The session start that is answered together with this event. Not at SessionStart: headless, our text would come before the prompt, and
 * a custom command would not be recognized any more. So it comes with the first prompt. No event reports a compaction, so the transcript
 * is checked at prompts and tool results. `/clear` begins a session with a new id, which is an ordinary start.
 */
export function geminiStartBefore(
  payload: Fields,
  { sessionId }: { sessionId: string },
  { handle }: { handle: StoreHandle },
): Source | undefined {
  const event = payload["hook_event_name"];
  if (event !== "BeforeAgent" && event !== "AfterTool") return undefined;
  const before = readSessionTimes(handle, sessionId);
  if (wasCompacted(payload, before)) return "compact";
  if (event !== "BeforeAgent" || (before && !before.endedAt)) return undefined;
  return before ? "resume" : "startup";
}

/**
 * True if a summary is newer than the last event that could have reported it. The end of a session cannot, so after an end the last
 * prompt counts. A summary already reported by a tool result in that last turn is then reported again, which is better than never.
 */
function wasCompacted(payload: Fields, before: SessionTimes | undefined): boolean {
  if (!before) return false;
  const since = before.endedAt ? (before.lastPromptAt ?? before.startedAt) : before.lastSeenAt;
  const compactedAt = readGeminiCompaction(payload["transcript_path"]);
  return compactedAt !== undefined && compactedAt.getTime() > Date.parse(since);
}

/** Hooks fire inside sub-agents too, and the payload does not distinguish them from the session. */
export function readGeminiBase(payload: Payload, fallbackCwd: string): PayloadBase | undefined {
  const base = readBase(payload, fallbackCwd);
  return base && { ...base, agentId: "" };
}

/**
 * The typed text; a custom command arrives as its expanded text. Headless, the hooks' answers to SessionStart come before it and would
 * be taken for the user's words.
 */
export function readGeminiPrompt({ prompt }: Record<string, unknown>): string | undefined {
  if (typeof prompt !== "string") return undefined;
  let typed = prompt;
  while (typed.startsWith(OPEN)) {
    const end = typed.indexOf(CLOSE);
    if (end < 0) break;
    typed = typed.slice(end + CLOSE.length).trimStart();
  }
  return typed.trim() === "" ? undefined : typed;
}

/** The client escapes angle brackets inside, so the first closing tag is the end. */
const OPEN = "<hook_context>";
const CLOSE = "</hook_context>";

/** PreCompress is ignored: it fires before every model call, with or without a compaction. transcript.ts has the real sign. */
export function readGeminiEvent(payload: Fields, base: EventBase): ClientEvent | undefined {
  switch (payload["hook_event_name"]) {
    case "BeforeTool": {
      const toolName = text(payload["tool_name"]) ?? "";
      const input = object(payload["tool_input"]);
      const toolUseId = callId(payload);
      if (toolName === SPAWN_TOOL) {
        const prompt = text(input["prompt"]);
        return prompt
          ? { ...base, kind: "before-spawn", toolUseId, prompt, agentType: text(input["agent_name"]) ?? "" }
          : undefined;
      }
      const path = text(input["file_path"]);
      return {
        ...base,
        kind: "before-tool",
        toolName,
        ...ownCall(payload, input, toolUseId),
        ...(path && { path: resolvePath(path, base.cwd) }),
      };
    }
    case "SessionEnd":
      return { ...base, kind: "session-end" };
    default:
      // Also after a sub-agent: its id, needed to find its handoff, is not reported anywhere.
      return undefined;
  }
}

const SPAWN_TOOL = "invoke_agent";

/**
 * Recognized by the server's name: the tool is called `mcp_haversack_NAME`, and another server could be called `haversack_x`. The client
 * does not send the session to the server, so the call is noted and the server finds it by tool and arguments.
 */
function ownCall(payload: Fields, input: Fields, callId: string): { isOwnTool: boolean; toolUseId: string } {
  const { server_name: server, tool_name: tool } = object(payload["mcp_context"]);
  const isOwnTool = server === "haversack";
  return { isOwnTool, toolUseId: isOwnTool ? noteOfCall(callKey(String(tool), input), callId) : callId };
}

/** The client gives calls no id. The time makes one that is unique in a session. */
function callId(payload: Fields): string {
  return `gemini-${text(payload["timestamp"]) ?? ""}`;
}

/** What a call did. Unknown tools are not recorded. */
export function readGeminiTool(payload: Fields, cwd: string): { tool?: ToolEvent; skill?: string } {
  const input = object(payload["tool_input"]);
  const response = object(payload["tool_response"]);
  // A failed call also arrives as AfterTool, with an error beside the text. A call that the client itself refuses (wrong
  // parameters, no such tool) does not arrive at all.
  const isError = object(response["error"])["message"] !== undefined;
  const common = isError ? { isError } : {};
  const named = text(input["file_path"]);
  const path = named && resolvePath(named, cwd);
  switch (payload["tool_name"]) {
    case "write_file":
      return path ? { tool: { tool: "write", path, ...common } } : {};
    case "replace":
      return path ? { tool: { tool: "edit", path, ...common } } : {};
    case "read_file":
      return path ? { tool: { tool: "read", path, ...common } } : {};
    case "run_shell_command":
      return shellEvent(input, response, cwd);
    case "write_todos":
      return Array.isArray(input["todos"]) ? { tool: { tool: "todo", todos: input["todos"], ...common } } : {};
    case "activate_skill": {
      const skill = text(input["name"]);
      return skill && !isError ? { tool: { tool: "other" }, skill } : {};
    }
    default:
      return {};
  }
}

/**
 * A failed command is no tool error. The text for the model has `Exit Code: N` on its own line below the output; the text for the
 * user is the output alone.
 */
function shellEvent(input: Fields, response: Fields, cwd: string): { tool?: ToolEvent } {
  const command = text(input["command"]);
  const said = text(response["llmContent"]) ?? "";
  if (!command) return {};
  const shown = response["returnDisplay"];
  const isBackground = input["is_background"] === true;
  const tail = said.slice(-TAIL_CHARS);
  const [, code] = EXIT_CODE.exec(tail) ?? [];
  const wasKilled = /\n(?:Signal|Error): /.test(tail) || object(response["error"])["message"] !== undefined;
  const exitCode = code === undefined ? (wasKilled ? 1 : 0) : Number(code);
  const folder = text(input["dir_path"]);
  return {
    tool: {
      tool: "shell",
      command,
      output: typeof shown === "string" ? shown : said,
      exitCode,
      isError: exitCode !== 0,
      isBackground,
      ...(folder && { cwd: resolvePath(folder, cwd) }),
    },
  };
}

/** The client's own lines are at the end. A program may print the same words earlier. */
const TAIL_CHARS = 300;
const EXIT_CODE =
  /\nExit Code: (\d+)\n(?:Signal: [^\n]*\n)?(?:Background PIDs: [^\n]*\n)?(?:Process Group PGID: \d+\n?)?(?:<\/untrusted_context>)?\s*$/;

const TAKES_CONTEXT = ["SessionStart", "BeforeAgent", "AfterTool"];

/**
 * What Gemini CLI accepts on a hook's standard output (seen in 0.61.0). Text for the model works after SessionStart, BeforeAgent and
 * AfterTool. After BeforeTool it is silently dropped, so an edit can be refused but not warned about. `<` and `>` reach the model
 * as `&lt;` and `&gt;`.
 *
 * A changed input replaces the whole input, although the client's documentation says that it is merged. A sub-agent's answer can only be
 * replaced by an error, which would tell the model that it failed, so `result` is not used.
 */
export function formatGeminiAnswer(payload: Readonly<Record<string, unknown>>, answer: EventAnswer): string {
  const { context, deny, prompt } = answer;
  const event = String(payload["hook_event_name"]);
  const isBeforeTool = event === "BeforeTool";
  if (deny && isBeforeTool) return JSON.stringify({ decision: "deny", reason: deny });
  if (prompt && isBeforeTool) {
    const input = { ...(payload["tool_input"] as object), prompt };
    return JSON.stringify({ hookSpecificOutput: { hookEventName: event, tool_input: input } });
  }
  if (!context || !TAKES_CONTEXT.includes(event)) return "";
  return JSON.stringify({ hookSpecificOutput: { hookEventName: event, additionalContext: context } });
}

/** Gemini CLI's profile: the name of our tool, and which skills its own tool loads. */
export function geminiProfile(root: string, env: Readonly<Record<string, string | undefined>>): ClientProfile {
  let hidden: Set<string> | undefined;
  return {
    ...profileOf("gemini"),
    // The same for the extension: the client does not prefix a server with the extension's name.
    skillTool: SKILL_TOOL,
    ownTool: { call: (id) => `activate_skill(name: "${id}")`, sees: isListed },
    // Read lazily: most events name no skill to the model.
    get hidden() {
      hidden ??= hiddenGeminiSkills(root, `${env["GEMINI_CLI_HOME"] || env["HOME"]}/.gemini`);
      return hidden;
    },
  };
}

export const SKILL_TOOL = "mcp_haversack_skill";

/** Folders that the client reads itself (seen in 0.61.0). If two skills share a name, it uses the one in `.agents/skills`, as we do. */
const SOURCES = [".agents/skills", "~/.agents/skills", ".gemini/skills", "~/.gemini/skills"];

/** It lists `skills/NAME/SKILL.md`: no single files, no deeper folders. */
function isListed({ sourceKind, sourceLabel, folder = "" }: SkillCard): boolean {
  if (!folder.slice(0, folder.lastIndexOf("/")).endsWith("/skills")) return false;
  // With GEMINI_CLI_HOME the user's folder has a different path.
  return SOURCES.includes(sourceLabel) || (sourceKind === "user" && sourceLabel.endsWith("/.gemini/skills"));
}

/** Names of skills that the project's or the user's settings hide from the model. `configDir` is the client's user folder, `~/.gemini`. */
function hiddenGeminiSkills(root: string, configDir: string): Set<string> {
  return new Set([`${root}/.gemini/settings.json`, `${configDir}/settings.json`].flatMap(disabledIn));
}

/** Empty for broken JSON: the client ignores it too, and hides nothing. */
function disabledIn(file: string): string[] {
  const settings = readBounded(file, MAX_CONFIG_BYTES)?.text;
  // Most settings disable nothing, and a search costs less than parsing.
  if (!settings?.includes('"disabled"')) return [];
  const { disabled } = object(parsed(withoutComments(settings))["skills"]);
  return Array.isArray(disabled) ? disabled.filter((name) => typeof name === "string") : [];
}
