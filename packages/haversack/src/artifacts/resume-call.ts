/**
 * How a client is told to go on with an agent: a tool that the coordinator calls in its session, or a command. Seen with the real
 * clients: Claude Code 2.1.325 wakes a sub-agent that has ended with `SendMessage` (its `Agent` tool has no `resume` any more), in the
 * session that started it, also after that session itself was resumed; its answer arrives as a task notification. Codex 0.166.0
 * goes on with whole sessions.
 */
import { cleanLine } from "../base/clean-text.ts";

/** A sub-agent lives in its coordinator's session; a session stands alone. */
export type ResumeWay = "sub-agent" | "session";

export interface ResumeCall {
  way: ResumeWay;
  agentId: string;
  /** The coordinator's tool. Its argument `message` is the prompt. */
  tool?: { name: string; to: string; summary: string };
  /** Words of a command that takes the prompt from standard input. */
  command?: string[];
  /** The same for a reader. */
  text: string;
}

interface ClientForms {
  tool?: { name: string; note: string };
  command(agentId: string): string[];
}

const CLIENTS: Readonly<Record<string, ClientForms>> = {
  "claude-code": {
    tool: {
      name: "SendMessage",
      note: 'where it is not listed, ToolSearch "select:SendMessage" loads it; the answer comes as a task notification',
    },
    command: (agentId) => ["claude", "-p", "--resume", agentId],
  },
  codex: { command: (agentId) => ["codex", "exec", "resume", agentId, "-"] },
};

/** Sessions have UUIDs in both clients; sub-agents of Claude Code have other ids. */
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** An id becomes a word of a command and of a prompt. */
const ID = /^\w[\w-]{0,99}$/;

/** Undefined: nothing is known of this client, or the id is none of its. */
export function resumeWay(client: string, agentId: string): ResumeWay | undefined {
  const forms = Object.hasOwn(CLIENTS, client) ? CLIENTS[client] : undefined;
  if (!forms || !ID.test(agentId)) return undefined;
  if (UUID.test(agentId)) return "session";
  return forms.tool ? "sub-agent" : undefined;
}

/** What a trial is kept under: a client may do the one and not the other. */
export function resumeName(client: string, way: ResumeWay): string {
  return way === "sub-agent" ? client : `${client} sessions`;
}

/** Undefined as above. */
export function resumeCall(
  client: string,
  { agentId, description }: { agentId: string; description: string },
): ResumeCall | undefined {
  const way = resumeWay(client, agentId);
  if (!way) return undefined;
  const { tool, command } = CLIENTS[client]!;
  if (way === "session") {
    const words = command(agentId);
    const text = `give the prompt to \`${words.join(" ")}\` on standard input`;
    return { way, agentId, command: words, text };
  }
  const { name, note } = tool!;
  const summary = cleanLine(description, { maxChars: 60 });
  const text = `send the prompt with ${name}: to "${agentId}", summary "${summary}", message the prompt as it is (${note})`;
  return { way, agentId, tool: { name, to: agentId, summary }, text };
}

/** The failure is about this agent, not about what the client can do: its session is another, or its transcript is gone. */
export function isAgentGone(failure: string): boolean {
  return /no transcript found|never ran in this session|no conversation found|no rollout found/i.test(failure);
}
