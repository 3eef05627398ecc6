/** A session that starts with a name says which agent it is. Loaded by the hook. */
import { gitPlace } from "../../base/git-place.ts";
import { becomeKnown } from "../../store/sqlite/work/agents.ts";
import { isAgentName } from "../../wake/message.ts";
import type { NamedAgent, StartedSession } from "../events/start-session.ts";

/** What notes it in the transaction that notes the start. Undefined where the name cannot be one. */
export function knownAs(name: string, { client, sessionId, cwd }: StartedSession, at: Date): NamedAgent | undefined {
  if (!isAgentName(name)) return undefined;
  const seen = { name, client: client.name, sessionId, ...gitPlace(cwd) };
  return { seen, note: (db) => becomeKnown(db, seen, at) };
}
