/**
 * Claude Code's hook payloads (seen in 2.1.325) to events, all but a start, which is start-event.ts's. Reads the few fields it needs by hand: a schema library would
 * cost more than the whole hook. An event or shape it does not know is no event.
 */
import type { ClientEvent, EventBase } from "../../engine/events/client-event.ts";
import { type Fields, object, text } from "./fields.ts";
import { startedBy } from "./started-by.ts";

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
      // It also fires, with an empty type, for the summariser of a compaction.
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
export function isSpawnTool(toolName: unknown): boolean {
  return toolName === "Agent" || toolName === "Task";
}

/** Our MCP server's tools, wired by init or by the plugin. */
const OWN_TOOL = /^mcp__(?:plugin_haversack_)?haversack__/;

export function pathOf(input: Fields): string | undefined {
  return text(input["file_path"]) ?? text(input["notebook_path"]);
}
