/** What every payload of Gemini CLI says first, and a prompt (seen in 0.61.0). Apart from events.ts: the way of a prompt loads no more. */

export interface GeminiBase {
  sessionId: string;
  /** Always "": hooks fire inside sub-agents too, and nothing in the payload tells them from the session. */
  agentId: "";
  cwd: string;
}

export function readGeminiBase(payload: Record<string, unknown>, fallbackCwd: string): GeminiBase | undefined {
  const text = (key: string) =>
    typeof payload[key] === "string" && payload[key] !== "" ? (payload[key] as string) : undefined;
  const sessionId = text("session_id");
  return sessionId ? { sessionId, agentId: "", cwd: text("cwd") ?? fallbackCwd } : undefined;
}

/**
 * What was typed; a custom command arrives as its expanded text. Headless, what hooks answered to SessionStart stands before it and
 * would be taken for the person's words.
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

/** Angle brackets inside are escaped by the client, so the first end is the end. */
const OPEN = "<hook_context>";
const CLOSE = "</hook_context>";
