/**
 * Who does it. A name that is given wins; else the client's session and agent; else the person at the terminal. Names have no
 * spaces, so that they can be typed after `--agent`.
 */
import { cleanLine } from "../../base/clean-text.ts";
import type { SessionKey } from "../../store/local-store.ts";
import type { Actor } from "../../store/work-store.ts";
import { clientName, sessionName, shortId } from "../../work/agent-name.ts";
import type { Environment } from "../project.ts";
import type { CallMarks } from "../window-of-call.ts";
import type { ShellSession } from "./shell-session.ts";

const NAME_MAX_CHARS = 100;

export interface ShellOrigin {
  /** `--agent`. */
  agent?: string | undefined;
  /** Of the client that the shell belongs to. */
  session?: ShellSession | undefined;
  at: Date;
}

export function actorForCli(env: Environment, { agent, session, at }: ShellOrigin): Actor {
  const where = session && {
    sessionId: session.sessionId,
    ...(session.agentId && { agentId: session.agentId }),
  };
  const given = cleanName(agent);
  if (given) return { name: given, at, isNamed: true, ...where };
  const named = namedByEnv(env, where);
  if (named) return { ...named, at, ...where };
  // The shell of an agent: what it does there, no person has done.
  if (session) return { name: sessionName(session.client, session), at, ...where };
  const client = AGENT_SHELLS.find(([mark]) => env[mark]);
  if (client) return { name: client[1], at };
  return { name: cleanName(env["USER"]) || cleanName(env["LOGNAME"]) || "person", isPerson: true, at };
}

/** What clients set in the shells of their agents. */
const AGENT_SHELLS: readonly (readonly [mark: string, client: string])[] = [
  ["CLAUDECODE", "claude-code"],
  ["CODEX_SANDBOX", "codex"],
  ["CODEX_SANDBOX_NETWORK_DISABLED", "codex"],
  ["GEMINI_CLI", "gemini"],
  ["OPENCODE", "opencode"],
  ["CURSOR_AGENT", "cursor"],
];

export interface CallOrigin {
  env: Environment;
  /** As the client named itself. */
  client?: string | undefined;
  /** The session and agent that made the call, where a hook has seen it. */
  caller?: SessionKey | undefined;
  /** Tells this server process from others: a client that says nothing starts one per session. */
  processId: string;
  at: Date;
}

export function actorForCall(marks: CallMarks, { env, client, caller, processId, at }: CallOrigin): Actor {
  // Without a hook that saw it, the session's main agent is the best guess.
  const key = caller ?? sessionOf(marks);
  const where = key && { sessionId: key.sessionId, ...(key.agentId && { agentId: key.agentId }) };
  const named = namedByEnv(env, where);
  if (named) return { ...named, at, ...where };
  const who = clientName(cleanName(client)) || (marks.threadId ? "codex" : marks.sessionId ? "claude-code" : "agent");
  return { name: where ? sessionName(who, where) : `${who}-${processId}`, at, ...where };
}

/** What the agent of this process is called; "" when nobody said. */
export function givenName(env: Environment): string {
  return cleanName(env["HAVERSACK_AGENT"]);
}

/** Sub-agents share the environment: one name for all of them would let two hold the same task. */
function namedByEnv(
  env: Environment,
  where: { agentId?: string } | undefined,
): Pick<Actor, "name" | "isNamed"> | undefined {
  const name = givenName(env);
  if (!name) return undefined;
  return where?.agentId ? { name: `${name}.${shortId(where.agentId)}` } : { name, isNamed: true };
}

function sessionOf({ sessionId, threadId }: CallMarks): SessionKey | undefined {
  // Codex: a sub-agent's thread is another than its session's.
  if (sessionId && threadId && threadId !== sessionId) return { sessionId, agentId: threadId };
  const id = sessionId ?? threadId;
  return id ? { sessionId: id } : undefined;
}

function cleanName(text: string | undefined): string {
  return cleanLine(text ?? "", { maxChars: NAME_MAX_CHARS }).replaceAll(" ", "-");
}
