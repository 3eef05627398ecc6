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
  if (!sessionId) return undefined;
  // A hook that asks the server names no agent, but its call has the thread: that of the session, or a sub-agent's.
  const thread = text("thread_id");
  const agentId = text("agent_id") ?? (thread !== sessionId ? thread : undefined) ?? "";
  return { sessionId, agentId, cwd: text("cwd") ?? fallbackCwd };
}

/**
 * What a person typed, or the task that an agent gives to a sub-agent: with some models (`multi_agent_v1`) that arrives as a prompt
 * of the sub-agent's, with others not at all. Undefined for a task that came with a packet, which brings its skills.
 */
export function readCodexPrompt({ prompt, agent_id }: Record<string, unknown>): string | undefined {
  if (typeof prompt !== "string" || prompt === "") return undefined;
  return agent_id && PACKET.test(prompt) ? undefined : prompt;
}

/** What `beforeSpawn` puts between a task and its packet, and the packet's own sign (wake/packet-sign.ts). */
const PACKET = /\n---\n[\s\S]{0,500}From Haversack, /;

/** The client's name for a prompt; the same in all events of its turn. */
export function readCodexPromptId({ turn_id }: Record<string, unknown>): string | undefined {
  return typeof turn_id === "string" && turn_id !== "" ? turn_id : undefined;
}

/** Skills that the prompt names with a dollar sign: the client itself puts the bodies of those it lists behind the prompt. */
export function mentionedSkills(prompt: string): string[] {
  return [...new Set([...prompt.matchAll(/(?<![\w$])\$([A-Za-z][\w:-]*)/g)].map(([, name = ""]) => name))];
}
