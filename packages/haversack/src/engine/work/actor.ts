/**
 * Who performs an action: a given name first, then the client's session and agent, then the person at the terminal. Names have no spaces,
 * so they can be typed after `--agent`.
 */
import { cleanLine } from "../../base/clean-text.ts";
import { HaversackError } from "../../base/errors.ts";
import type { StoreHandle } from "../../store/sqlite/access.ts";
import {
  clientOfProcesses,
  hasOpenProcesses,
  type ProcessesAbove,
  sessionAbove,
} from "../../store/sqlite/sessions/session-state.ts";
import type { SessionKey } from "../../store/sqlite/sessions/sqlite-local-store.ts";
import { processOfSession } from "../../store/sqlite/work/events/session-claims.ts";
import type { Actor } from "../../store/work-store.ts";
import { isPersonName } from "../../wake/text.ts";
import { clientName, sessionName, shortId } from "../../work/agent-name.ts";
import type { Environment } from "../project.ts";
import { type CallMarks, processesAbove } from "../window-of-call.ts";

const NAME_MAX_CHARS = 100;

export interface ShellOrigin {
  /** The value of `--agent`. */
  agent?: string | undefined;
  /** The session of the client that owns the shell. */
  session?: ShellSession | undefined;
  /** Finds the client that started this process, from its hooks. The last check: without a client, the caller is a person. */
  clientAbove?: () => string | undefined;
  at: Date;
}

export function actorForCli(
  env: Environment,
  { agent, session, clientAbove = () => undefined, at }: ShellOrigin,
): Actor {
  const where = session && { sessionId: session.sessionId, ...(session.agentId && { agentId: session.agentId }) };
  const given = cleanName(agent);
  refusePerson(given, { from: "", hint: "leave the name out to act as yourself" });
  refusePerson(cleanName(env["HAVERSACK_AGENT"]), {
    from: "HAVERSACK_AGENT: ",
    hint: "unset HAVERSACK_AGENT to act as yourself",
  });
  if (given) return { name: given, at, isNamed: true, ...where };
  const named = namedByEnv(env, where);
  if (named) return { ...named, at, ...where };
  // An agent's shell: no person did this.
  if (session) return { name: sessionName(session.client, session), at, ...where };
  const client = AGENT_SHELLS.find(([mark]) => env[mark]);
  if (client) return { name: client[1], at };
  // The environment may have lost the client's variables, but its process is still above this one.
  const above = clientAbove();
  if (above) return { name: above, at };
  return { name: cleanName(env["USER"]) || cleanName(env["LOGNAME"]) || "person", isPerson: true, at };
}

function refusePerson(name: string, { from, hint }: { from: string; hint: string }): void {
  if (!isPersonName(name)) return;
  throw new HaversackError("input-invalid", `${from}an agent must not be called "${name}": it means the person`, {
    hint,
  });
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
  /** The session and agent that made the call, if a hook saw it. */
  caller?: SessionKey | undefined;
  /** Distinguishes this server process from others: a client that sends no session starts one server per session. */
  processId: string;
  at: Date;
}

export function actorForCall(marks: CallMarks, { env, client, caller, processId, at }: CallOrigin): Actor {
  const { sessionId, threadId } = marks;
  const session = sessionId ?? threadId;
  // If no hook saw the call, the session's main agent is the best guess. Codex: a sub-agent's thread id differs from its session id.
  const guess = session && { sessionId: session, ...(threadId !== session && { agentId: threadId }) };
  const key = caller ?? (guess || undefined);
  const where = key && { sessionId: key.sessionId, ...(key.agentId && { agentId: key.agentId }) };
  const named = namedByEnv(env, where);
  if (named) return { ...named, at, ...where };
  const who = clientName(cleanName(client)) || (marks.threadId ? "codex" : marks.sessionId ? "claude-code" : "agent");
  return { name: where ? sessionName(who, where) : `${who}-${processId}`, at, ...where };
}

/** The agent name of this process; "" if none is given, or if the name means the person. */
export function givenName(env: Environment): string {
  const name = cleanName(env["HAVERSACK_AGENT"]);
  return isPersonName(name) ? "" : name;
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

function cleanName(text: string | undefined): string {
  return cleanLine(text ?? "", { maxChars: NAME_MAX_CHARS }).replaceAll(" ", "-");
}

// The session whose agent runs a command in its client's shell. Claude Code and Codex set it in the environment; in
// opencode our plugin does. For Gemini CLI the process is known, and its hooks have recorded its session. If one client
// runs in the shell of another, the nearest process decides.

export interface ShellSession extends SessionKey {
  client: string;
}

/** Our opencode plugin sets this in the client's shells: client, session, and the sub-agent if it is one. */
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

/** The client whose open session this process runs in, regardless of the environment. */
export function clientAbove(handle: StoreHandle, above: () => ProcessesAbove = processesAbove): string | undefined {
  return hasOpenProcesses(handle) ? clientOfProcesses(handle, above()) : undefined;
}

interface NamedSession {
  session: ShellSession;
  /** The client's process, if the environment tells it. */
  processId?: number;
}

/** Clients that usually run inside another client's shell come first. */
function namedSessions(env: Environment): NamedSession[] {
  const [client, sessionId, agentId] = (env[SESSION_VARIABLE] ?? "").split("/");
  const thread = env["CODEX_THREAD_ID"];
  const codex = env["CODEX_SESSION_ID"] || thread;
  const claude = env["CLAUDE_CODE_SESSION_ID"];
  const found: NamedSession[] = [];
  const isSubAgent = thread !== undefined && thread !== codex;
  if (codex) found.push({ session: { client: "codex", sessionId: codex, ...(isSubAgent && { agentId: thread }) } });
  if (client && sessionId)
    found.push({ session: { client, sessionId, ...(agentId && { agentId }) }, ...processIn(env, "OPENCODE_PID") });
  if (claude) found.push({ session: { client: "claude-code", sessionId: claude }, ...processIn(env, "CLAUDE_PID") });
  return found;
}

function processIn(env: Environment, name: string): { processId?: number } {
  const processId = Number(env[name]);
  return Number.isInteger(processId) && processId > 1 ? { processId } : {};
}
