/**
 * The name of an agent that nobody named: its client and a part of its session's id. Hooks, MCP server and CLI all use this, so one
 * session has one name. The hook bundles this file.
 */

/** Our name for a client, whatever name it reports to an MCP server (`codex-mcp-client`). */
export function clientName(told: string): string {
  return CLIENTS.find(([start]) => told.toLowerCase().startsWith(start))?.[1] ?? told;
}

const CLIENTS: readonly (readonly [start: string, client: string])[] = [
  ["claude", "claude-code"],
  ["codex", "codex"],
  ["gemini", "gemini"],
  ["opencode", "opencode"],
];

export function sessionName(
  client: string,
  { sessionId, agentId }: { sessionId: string; agentId?: string | undefined },
): string {
  return `${client}-${shortId(sessionId)}${agentId ? `.${shortId(agentId)}` : ""}`;
}

const SHORT_CHARS = 8;

/** The first eight characters. If ids begin with a time, sessions of the same minute share those: then the last eight. */
export function shortId(id: string): string {
  const plain = id.replace(/[^A-Za-z0-9]/g, "");
  if (plain.length <= SHORT_CHARS) return plain;
  return BEGINS_WITH_TIME.test(id) ? plain.slice(-SHORT_CHARS) : plain.slice(0, SHORT_CHARS);
}

/** UUID version 7 (Codex), and opencode's `ses_` with twelve hexadecimal digits. */
const BEGINS_WITH_TIME = /^(?:[0-9a-f]{8}-[0-9a-f]{4}-7|[a-z]+_[0-9a-f]{12}[A-Za-z0-9])/;
