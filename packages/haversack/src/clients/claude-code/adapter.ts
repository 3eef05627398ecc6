/**
 * Claude Code's hook payloads (seen in 2.1.325) to events, and answers to what it takes. Reads the few fields it needs by hand, without
 * trust. An event or shape it does not know is nothing that we answer.
 */

import type { ClientEvent, EventBase } from "../../engine/events/client-event.ts";
import { claudeProcess } from "../../engine/events/client-process.ts";
import type { ClientAdapter, Payload, PayloadBase } from "../client-adapter.ts";
import { formatClaudeAnswer } from "./answer.ts";
import { isSpawnTool, readClaudeEvent } from "./events.ts";
import { text } from "./fields.ts";
import { claudeTranscripts, readClaudeCalls } from "./logged-calls.ts";
import { readClaudeObservation } from "./observation.ts";
import { claudeProfile } from "./profile.ts";
import { removedServerNotice } from "./removed-server.ts";
import { readClaudeStart } from "./start-event.ts";
import { startedBy } from "./started-by.ts";
import { readClaudeTool } from "./tool-event.ts";

export const claudeCode: ClientAdapter = {
  client: "claude-code",
  readBase: readClaudeBase,
  profile: claudeProfile,
  readEvents: (payload, base) => {
    const event = readEvent(payload, base);
    const messages = messagesWith(payload);
    return [{ ...event, receipts: "found", ...(messages && { messages }) }];
  },
  writeAnswer: (payload, answer) => formatClaudeAnswer(payload, answer, removedServerNotice(payload, process.env)),
  transcripts: claudeTranscripts,
  readCalls: readClaudeCalls,
  process: claudeProcess,
};

export function readClaudeBase(payload: Payload, fallbackCwd: string): PayloadBase | undefined {
  const sessionId = text(payload["session_id"]);
  if (!sessionId) return undefined;
  return { sessionId, agentId: text(payload["agent_id"]) ?? "", cwd: text(payload["cwd"]) ?? fallbackCwd };
}

function readEvent(payload: Payload, base: EventBase): ClientEvent {
  switch (payload["hook_event_name"]) {
    case "UserPromptSubmit":
      return { ...base, kind: "prompt", ...readClaudePrompt(payload) };
    case "SessionStart":
      return readClaudeStart(payload, base) ?? { ...base, kind: "other" };
    case "PostToolUse":
    case "PostToolUseFailure":
      // A call that ran a sub-agent is about tasks and handoffs; what the sub-agent did, its own events have told.
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
  };
}

/** A background agent's result arrives as a prompt too. `/name` is the client's own way to load a skill: it brings the body itself. */
export function readClaudePrompt({ prompt, prompt_id: promptId }: Payload) {
  const typed = typeof prompt === "string" && !prompt.startsWith("<task-notification>") ? prompt : undefined;
  const command = typed && /^\/(\S+)/.exec(typed)?.[1];
  return {
    prompt: typed,
    ...(command && { command }),
    ...(typeof promptId === "string" && { promptId }),
  };
}

/** The events whose answer the model of the main agent reads at once. At the end of a turn it makes another one. */
function messagesWith({ hook_event_name: event, stop_hook_active: isGoingOn }: Payload) {
  if (event === "Stop") return isGoingOn === true ? undefined : { which: "mentions" as const, event };
  const talks = event === "UserPromptSubmit" || event === "PostToolUse" || event === "PostToolUseFailure";
  return talks ? { which: "all" as const, event } : undefined;
}
