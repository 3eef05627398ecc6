/**
 * Who does it. A name that is given wins; else the client's session and agent; else the person at the terminal. Names have no
 * spaces, so that they can be typed after `--agent`.
 */
import { cleanLine } from "../../base/clean-text.ts";
import { HaversackError } from "../../base/errors.ts";
import type { SessionKey } from "../../store/local-store.ts";
import type { Actor } from "../../store/work-store.ts";
import { isPersonName } from "../../wake/message.ts";
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
  /** The client that this process runs below, by its hooks. Asked only before somebody counts as the person. */
  clientAbove?: () => string | undefined;
  at: Date;
}

export function actorForCli(
  env: Environment,
  { agent, session, clientAbove = () => undefined, at }: ShellOrigin,
): Actor {
  const where = session && {
    sessionId: session.sessionId,
    ...(session.agentId && { agentId: session.agentId }),
  };
  const given = cleanName(agent);
  const taken = [given, cleanName(env["HAVERSACK_AGENT"])].find(isPersonName);
  if (taken) {
    throw new HaversackError("input-invalid", `an agent must not be called "${taken}": it means the person`, {
      hint: "leave the name out to act as yourself",
    });
  }
  if (given) return { name: given, at, isNamed: true, ...where };
  const named = namedByEnv(env, where);
  if (named) return { ...named, at, ...where };
  // The shell of an agent: what it does there, no person has done.
  if (session) return { name: sessionName(session.client, session), at, ...where };
  const client = AGENT_SHELLS.find(([mark]) => env[mark]);
  if (client) return { name: client[1], at };
  // Its variables may have been taken out of the environment; the process above is still there.
  const above = clientAbove();
  if (above) return { name: above, at };
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

/** What the agent of this process is called; "" when nobody said, or it is a name that means the person. */
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

function sessionOf({ sessionId, threadId }: CallMarks): SessionKey | undefined {
  // Codex: a sub-agent's thread is another than its session's.
  if (sessionId && threadId && threadId !== sessionId) return { sessionId, agentId: threadId };
  const id = sessionId ?? threadId;
  return id ? { sessionId: id } : undefined;
}

function cleanName(text: string | undefined): string {
  return cleanLine(text ?? "", { maxChars: NAME_MAX_CHARS }).replaceAll(" ", "-");
}
