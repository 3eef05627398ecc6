/** The content of standard input: a plain prompt, or the JSON payload of a client's hook. */
import { isRecord } from "../base/json.ts";

export type PromptInput =
  | { kind: "prompt"; prompt: string; sessionId?: string; agentId?: string; cwd?: string; client?: string }
  | { kind: "not-a-prompt" };

/** The events at which the user's prompt reaches the model. Others repeat it (AfterAgent, UserPromptExpansion). */
const CLIENT_OF_EVENT: Readonly<Record<string, string>> = {
  UserPromptSubmit: "claude-code",
  BeforeAgent: "gemini",
};

export function readPromptInput(text: string): PromptInput {
  const payload = parsePayload(text);
  if (payload === "broken") return { kind: "not-a-prompt" };
  if (!payload) return { kind: "prompt", prompt: text };
  if (isRecord(payload["input"])) return readMessage(payload["input"], payload["output"]);
  const take = (key: string) =>
    typeof payload[key] === "string" && payload[key] !== "" ? (payload[key] as string) : undefined;
  const event = take("hook_event_name");
  const prompt = take("prompt");
  if (prompt === undefined || (event !== undefined && !Object.hasOwn(CLIENT_OF_EVENT, event)))
    return { kind: "not-a-prompt" };
  // A background agent's result also arrives as a prompt.
  if (prompt.startsWith("<task-notification>")) return { kind: "not-a-prompt" };
  const sessionId = take("session_id");
  const agentId = take("agent_id");
  const cwd = take("cwd");
  const client = event && (take("turn_id") ? "codex" : CLIENT_OF_EVENT[event]);
  return {
    kind: "prompt",
    prompt: withoutHookContext(prompt),
    ...(sessionId && { sessionId }),
    ...(agentId && { agentId }),
    ...(cwd && { cwd }),
    ...(client && { client }),
  };
}

/** opencode's `chat.message`: the session in one object, the typed text as parts in the other. */
function readMessage(input: Record<string, unknown>, output: unknown): PromptInput {
  const parts = isRecord(output) && Array.isArray(output["parts"]) ? output["parts"].filter(isRecord) : [];
  const prompt = parts
    .filter((part) => part["type"] === "text" && part["synthetic"] !== true && typeof part["text"] === "string")
    .map((part) => part["text"])
    .join("\n");
  const sessionId = input["sessionID"];
  const isMessage = isRecord(output) && isRecord(output["message"]);
  if (prompt === "" || !isMessage || typeof sessionId !== "string") return { kind: "not-a-prompt" };
  return { kind: "prompt", prompt, ...(sessionId && { sessionId }), client: "opencode" };
}

/** Gemini puts the hooks' text from the session's start before the first prompt. Our own words must not match skills. */
function withoutHookContext(prompt: string): string {
  return prompt.replace(/^\s*<hook_context>[\s\S]*?<\/hook_context>\s*/, "");
}

/** A prompt may itself be pasted JSON. A payload has an event name and a session. */
function parsePayload(text: string): Record<string, unknown> | "broken" | undefined {
  const trimmed = text.replace(/^\ufeff/, "").trim();
  if (!trimmed.startsWith("{")) return undefined;
  try {
    const value = JSON.parse(trimmed) as Record<string, unknown>;
    // A line of a recording has the payload under `stdin`.
    const inner = value["stdin"];
    if (isRecord(inner) && typeof value["event"] === "string") return inner;
    const isMessage = isRecord(value["input"]) && typeof value["input"]["sessionID"] === "string";
    return isMessage || typeof value["hook_event_name"] === "string" || typeof value["session_id"] === "string"
      ? value
      : undefined;
  } catch {
    // Not JSON: a prompt that starts with a brace, or a truncated payload, whose paths are no prompt.
    return /^\{\s*"[^"]*"\s*:/.test(trimmed) && /"(?:hook_event_name|session_id)"\s*:/.test(trimmed)
      ? "broken"
      : undefined;
  }
}
