/**
 * Gemini CLI's hook payloads (seen in 0.61.0) to events. Reads the few fields it needs by hand, as the other clients' readers
 * do. PreCompress is no event of ours: it fires before every model call, compaction or not; transcript.ts has the real sign.
 */
import { callKey, noteOfCall } from "../../engine/call-key.ts";
import type { ClientEvent, EventBase } from "../../engine/events/client-event.ts";
import { type Fields, object, text } from "../claude-code/fields.ts";
import { resolvePath } from "./paths.ts";

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
      // After a sub-agent too: its id, which its handoff would be found by, is nowhere.
      return undefined;
  }
}

export const SPAWN_TOOL = "invoke_agent";

/**
 * By the server's name: the tool's is `mcp_haversack_NAME`, and another server could be called `haversack_x`. The client tells the
 * server nothing of its session, so that the call itself is noted: the server finds it by tool and arguments.
 */
function ownCall(payload: Fields, input: Fields, callId: string): { isOwnTool: boolean; toolUseId: string } {
  const { server_name: server, tool_name: tool } = object(payload["mcp_context"]);
  const isOwnTool = server === "haversack";
  return { isOwnTool, toolUseId: isOwnTool ? noteOfCall(callKey(String(tool), input), callId) : callId };
}

/** The client gives calls no id; the time makes one that is not met twice in a session. */
function callId(payload: Fields): string {
  return `gemini-${text(payload["timestamp"]) ?? ""}`;
}
