/** Gemini CLI's hook payloads (seen in 0.61.0) to events, and answers to what it takes. */

import type { ClientEvent, EventBase } from "../../engine/events/client-event.ts";
import { parentProcess } from "../../engine/events/client-process.ts";
import type { ClientAdapter, Payload } from "../client-adapter.ts";
import { formatGeminiAnswer } from "./answer.ts";
import { readGeminiEvent } from "./events.ts";
import { geminiProfile } from "./profile.ts";
import { readGeminiBase, readGeminiPrompt } from "./prompt-event.ts";
import { geminiStartBefore } from "./start-before.ts";
import { readGeminiTool } from "./tool-event.ts";
import { hasGeminiAnswer } from "./transcript.ts";

export const gemini: ClientAdapter = {
  client: "gemini",
  readBase: readGeminiBase,
  profile: geminiProfile,
  readEvents: (payload, base, project) => {
    const source = geminiStartBefore(payload, base, project);
    const event = readEvent(payload, base);
    const hasAnswered = () => hasGeminiAnswer(payload["transcript_path"]);
    return source ? [{ ...base, kind: "session-start", source, isPromptWaiting: true, hasAnswered }, event] : [event];
  },
  writeAnswer: formatGeminiAnswer,
  // Mostly the shell that the client starts gives its place to the hook (`exec`), and the parent is the client itself (seen in 0.61.0).
  process: () => parentProcess(),
};

function readEvent(payload: Payload, base: EventBase): ClientEvent {
  const { hook_event_name: event } = payload;
  switch (event) {
    // Headless, its text would stand before the prompt, and a custom command would be none any more.
    case "SessionStart":
      return { ...base, kind: "opened" };
    case "BeforeAgent":
      return { ...base, kind: "prompt", prompt: readGeminiPrompt(payload), messages: { which: "all", event } };
    case "AfterTool": {
      const { tool, skill } = readGeminiTool(payload, base.cwd);
      return { ...base, kind: "after-tool", tool, ...(skill && { skill }), messages: { which: "all", event } };
    }
    case "AfterAgent":
      return { ...base, kind: "pause" };
    default:
      return readGeminiEvent(payload, base) ?? { ...base, kind: "other" };
  }
}
