/** Codex's hook payloads (seen in 0.166.0) to events, and answers to what it takes. */

import type { ClientEvent, EventBase } from "../../engine/events/client-event.ts";
import { parentProcess } from "../../engine/events/client-process.ts";
import { readShellOutput } from "../claude-code/observation.ts";
import type { ClientAdapter, Payload } from "../client-adapter.ts";
import { formatCodexAnswer } from "./answer.ts";
import { readCodexEvent, text } from "./events.ts";
import { codexTranscripts, readCodexCalls } from "./logged-calls.ts";
import { codexProfile } from "./profile.ts";
import { readCodexBase, readCodexPrompt, readCodexPromptId } from "./prompt-event.ts";
import { readCodexOutput } from "./shown-output.ts";
import { readCodexTool } from "./tool-event.ts";

export const codex: ClientAdapter = {
  client: "codex",
  readBase: readCodexBase,
  profile: codexProfile,
  readEvents: (payload, base) => {
    const event = readEvent(payload, base);
    const messages = messagesWith(payload);
    return [{ ...event, receipts: "found", ...(messages && { messages }) }];
  },
  writeAnswer: formatCodexAnswer,
  transcripts: codexTranscripts,
  readCalls: readCodexCalls,
  // Mostly the shell that Codex starts gives its place to the hook (`exec`), and the parent is Codex itself (seen in 0.166.0).
  process: () => parentProcess(),
};

function readEvent(payload: Payload, base: EventBase): ClientEvent {
  const { hook_event_name: event, tool_name: tool } = payload;
  switch (event) {
    case "UserPromptSubmit": {
      const promptId = readCodexPromptId(payload);
      return { ...base, kind: "prompt", prompt: readCodexPrompt(payload), ...(promptId !== undefined && { promptId }) };
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
  return {
    ...base,
    kind: "after-tool",
    tool: readCodexTool(payload).tool,
    ...(toolUseId && { toolUseId }),
    agentType: text(payload["agent_type"]) ?? "",
    observation: () => {
      const shown = readCodexOutput(payload);
      return shown && readShellOutput(shown.command, shown.output);
    },
  };
}

function messagesWith({ hook_event_name: event, stop_hook_active: isGoingOn }: Payload) {
  if (event === "Stop") return isGoingOn === true ? undefined : { which: "mentions" as const, event };
  return event === "UserPromptSubmit" || event === "PostToolUse" ? { which: "all" as const, event } : undefined;
}
