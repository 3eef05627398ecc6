/**
 * Codex's hook payloads (seen in 0.166.0) to events. Reads the few fields it needs by hand: a schema library would cost more than
 * the whole hook. An event or shape it does not know is no event. The same payloads come from models that call tools
 * directly and from those that call them in JavaScript.
 */
import type { ClientEvent, EventBase } from "../../engine/events/client-event.ts";
import { patchPaths } from "./patch-paths.ts";
import { readAgentName, readForkedFrom } from "./rollout.ts";

export type Fields = Record<string, unknown>;

export function readCodexEvent(payload: Fields, base: EventBase): ClientEvent | undefined {
  switch (payload["hook_event_name"]) {
    case "SessionStart": {
      const source = text(payload["source"]);
      if (!isSource(source)) return undefined;
      const forkedFrom = (ids: readonly string[]) => {
        const origin = readForkedFrom(payload["transcript_path"]);
        return ids.find((id) => id === origin);
      };
      return { ...base, kind: "session-start", source, ...(source === "fork" && { forkedFrom }) };
    }
    case "PostCompact":
      // A sub-agent's compaction starts no session again, and nothing that is said here reaches it: its window is only emptied.
      return base.agentId ? { ...base, kind: "session-start", source: "clear" } : undefined;
    case "PreToolUse": {
      const toolName = text(payload["tool_name"]) ?? "";
      const toolUseId = text(payload["tool_use_id"]);
      if (!toolUseId) return undefined;
      const input = object(payload["tool_input"]);
      // What the newer tool (`collaboration`) says to a sub-agent is encrypted for the model: it cannot be read, nor changed.
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
      // The newer tool answers with a task's name and no id: whose call it was, nobody says.
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

/** Nothing of the task that the newer tool gives can be read but its name, which only the sub-agent's own file has. */
function agentStart(payload: Fields) {
  const name = readAgentName(payload["transcript_path"]);
  const role = name && ROLE_NAME.exec(name)?.[1]?.replace("_", "-");
  const agentType = role ? `haversack-${role}` : (text(payload["agent_type"]) ?? "");
  return { kind: "agent-start" as const, agentType, ...(name && { taskName: taskIdsAsWritten(name) }) };
}

/** What `$work` tells a sub-agent, and how it names one (work-files.ts): its role, which is no agent type here. */
const ROLE_FILE = /\/roles\/(implementer|spec-reviewer|quality-reviewer|fixer)\.md\b/;
const ROLE_NAME = /^(implementer|spec_reviewer|quality_reviewer|fixer)_(?:\d+_)?t\d{4,12}$/;

/** Names there have small letters, digits and underscores: `implement_t4829` is about T4829. */
function taskIdsAsWritten(name: string): string {
  return name.replaceAll(/(?<![a-z0-9])t(?=\d{4,12}(?![a-z0-9]))/g, "T").replaceAll("_", " ");
}

export const PATCH_TOOL = "apply_patch";

/** `spawn_agent`; with its namespace before it, without a sign between them, where hooks have no name of their own for it. */
function isSpawnTool(toolName: unknown): boolean {
  return typeof toolName === "string" && /^(?:collaboration|multi_agent_v1)?spawn_agent$/.test(toolName);
}

const OWN_TOOL = /^mcp__haversack__/;

function isSource(source: string | undefined): source is "startup" | "resume" | "fork" | "clear" | "compact" {
  return ["startup", "resume", "fork", "clear", "compact"].includes(source ?? "");
}

function parsed(response: unknown): Fields {
  try {
    return object(JSON.parse(text(response) ?? "null"));
  } catch {
    // A refusal in words.
    return {};
  }
}

export function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function object(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}
