/** What every payload of Codex says first, and a prompt (seen in 0.166.0). Apart from events.ts: the way of a prompt loads no more. */

export interface CodexBase {
  /** A sub-agent has its parent's. */
  sessionId: string;
  /** The sub-agent's thread; "" for the main agent. */
  agentId: string;
  cwd: string;
}

export function readCodexBase(payload: Record<string, unknown>, fallbackCwd: string): CodexBase | undefined {
  const text = (key: string) =>
    typeof payload[key] === "string" && payload[key] !== "" ? (payload[key] as string) : undefined;
  const sessionId = text("session_id");
  return sessionId ? { sessionId, agentId: text("agent_id") ?? "", cwd: text("cwd") ?? fallbackCwd } : undefined;
}

/**
 * Undefined for what nobody typed: the task that an agent gives to a sub-agent arrives as a prompt too, with some models
 * (`multi_agent_v1`) and not with others.
 */
export function readCodexPrompt({ prompt, agent_id }: Record<string, unknown>): string | undefined {
  return typeof prompt === "string" && prompt !== "" && !agent_id ? prompt : undefined;
}

/** The client's name for a prompt; the same in all events of its turn. */
export function readCodexPromptId({ turn_id }: Record<string, unknown>): string | undefined {
  return typeof turn_id === "string" && turn_id !== "" ? turn_id : undefined;
}

/** Skills that the prompt names with a dollar sign: the client itself puts the bodies of those it lists behind the prompt. */
export function mentionedSkills(prompt: string): string[] {
  return [...new Set([...prompt.matchAll(/(?<![\w$])\$([A-Za-z][\w:-]*)/g)].map(([, name = ""]) => name))];
}
