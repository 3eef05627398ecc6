/** What every payload of Claude Code says first, and a prompt. Apart from events.ts: the way of a prompt loads no more. */

export interface ClaudeBase {
  sessionId: string;
  /** "" for the main agent. */
  agentId: string;
  cwd: string;
}

export function readClaudeBase(payload: Record<string, unknown>, fallbackCwd: string): ClaudeBase | undefined {
  const text = (key: string) =>
    typeof payload[key] === "string" && payload[key] !== "" ? (payload[key] as string) : undefined;
  const sessionId = text("session_id");
  return sessionId ? { sessionId, agentId: text("agent_id") ?? "", cwd: text("cwd") ?? fallbackCwd } : undefined;
}

/** Undefined for what nobody typed: a background agent's result arrives as a prompt too. */
export function readClaudePrompt({ prompt }: Record<string, unknown>): string | undefined {
  return typeof prompt === "string" && prompt !== "" && !prompt.startsWith("<task-notification>") ? prompt : undefined;
}
