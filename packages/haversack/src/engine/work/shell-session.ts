/**
 * The session whose agent runs a command in its client's shell. Claude Code and Codex say it in the environment; in opencode our plugin
 * does; of Gemini CLI the process is known, and its hooks have told which session that is. One client may run in the shell of
 * another: then the nearest of their processes decides.
 */
import type { SessionKey } from "../../store/local-store.ts";
import type { StoreHandle } from "../../store/sqlite/handle.ts";
import {
  clientOfProcesses,
  hasOpenProcesses,
  type ProcessesAbove,
  sessionAbove,
} from "../../store/sqlite/sessions/call-notes.ts";
import { processOfSession } from "../../store/sqlite/work/session-claims.ts";
import type { Environment } from "../project.ts";
import { processesAbove } from "../window-of-call.ts";

export interface ShellSession extends SessionKey {
  client: string;
}

/** What our opencode plugin sets in the client's shells: client, session, and the sub-agent where it is one. */
export const SESSION_VARIABLE = "HAVERSACK_SESSION";

export function sessionVariable({ client, sessionId, agentId }: ShellSession): string {
  return [client, sessionId, ...(agentId ? [agentId] : [])].join("/");
}

export function sessionOfShell(
  env: Environment,
  { handle, above = processesAbove }: { handle: StoreHandle; above?: () => ProcessesAbove },
): ShellSession | undefined {
  const named = namedSessions(env);
  if (env["GEMINI_CLI"]) {
    const found = sessionAbove(handle, above());
    if (found?.client === "gemini") named.push({ session: found, processId: found.processId });
  }
  if (named.length < 2) return named[0]?.session;
  const { ids } = above();
  const places = named.map(({ session, processId }) => {
    const place = ids.indexOf(processId ?? processOfSession(handle, session.sessionId)?.id ?? -1);
    return { session, place: place < 0 ? Number.POSITIVE_INFINITY : place };
  });
  return places.sort((a, b) => a.place - b.place)[0]?.session;
}

/** The client whose open session this process runs in, whatever the environment says. */
export function clientAbove(handle: StoreHandle, above: () => ProcessesAbove = processesAbove): string | undefined {
  return hasOpenProcesses(handle) ? clientOfProcesses(handle, above()) : undefined;
}

interface NamedSession {
  session: ShellSession;
  /** Of the client, where the environment says it. */
  processId?: number;
}

/** Those that are mostly started in another's shell come first. */
function namedSessions(env: Environment): NamedSession[] {
  const [client, sessionId, agentId] = (env[SESSION_VARIABLE] ?? "").split("/");
  const thread = env["CODEX_THREAD_ID"];
  const codex = env["CODEX_SESSION_ID"] || thread;
  const claude = env["CLAUDE_CODE_SESSION_ID"];
  const found: NamedSession[] = [];
  if (codex) {
    found.push({
      session: { client: "codex", sessionId: codex, ...(thread && thread !== codex && { agentId: thread }) },
    });
  }
  if (client && sessionId) {
    found.push({ session: { client, sessionId, ...(agentId && { agentId }) }, ...processIn(env, "OPENCODE_PID") });
  }
  if (claude) found.push({ session: { client: "claude-code", sessionId: claude }, ...processIn(env, "CLAUDE_PID") });
  return found;
}

function processIn(env: Environment, name: string): { processId?: number } {
  const processId = Number(env[name]);
  return Number.isInteger(processId) && processId > 1 ? { processId } : {};
}
