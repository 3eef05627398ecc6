/**
 * A fork goes on with what the session held that it was forked from, once that one is over. While it runs, the tasks stay where they
 * are: two sessions on one task would undo each other's work. Loaded by the hook.
 */
import { workPlace } from "../../base/git-place.ts";
import { type Holder, moveClaims, otherHolders } from "../../store/sqlite/fork-claims.ts";
import { cutLine } from "../../wake/text.ts";
import { sessionName } from "../../work/agent-name.ts";
import type { StartedSession } from "../events/start-session.ts";
import type { SessionWakeParts } from "./wake-session.ts";

type ForkParts = Pick<SessionWakeParts, "handle" | "name" | "process" | "isRunning" | "leaseMs" | "now">;

/** What the fork is told: one line, or "" where its origin holds nothing or is not known. */
export function ownFork(
  { sessionId, client, cwd, forkedFrom }: StartedSession,
  { handle, name, process, isRunning, leaseMs, now: at }: ForkParts,
): string {
  const holders = otherHolders(handle, { client: client.name, sessionId });
  if (holders.length === 0) return "";
  const isSameProcess = (holder: Holder) =>
    process !== undefined && holder.process?.id === process.id && holder.process.space === process.space;
  const isAlone = !MANY_SESSIONS.includes(client.name);
  const id = forkedFrom?.(holders.map((holder) => holder.sessionId));
  // A process with one session at a time has left the one that it is forked from.
  const origin = holders.find((holder) =>
    id === undefined ? isAlone && isSameProcess(holder) : holder.sessionId === id,
  );
  if (!origin) return "";
  const tasks = origin.tasks
    .slice(0, MOST_TASKS)
    .map(({ id: task, title }) => `${task} "${cutLine(title, 100)}"`)
    .join(", ");
  const isGone = isSameProcess(origin) ? isAlone : origin.process && isRunning?.(origin.process) === false;
  if (!origin.isEnded && !isGone) {
    return `From Haversack: the session this one was forked from, @${cutLine(origin.agent, 60)}, is still open and holds ${tasks}.`;
  }
  const from = { sessionId: origin.sessionId, name: sessionName(client.name, origin) };
  const to = { sessionId, name: name || sessionName(client.name, { sessionId }) };
  moveClaims(handle, { from, to, place: { ...workPlace(cwd), client: client.name }, leaseMs: leaseMs(), at });
  return `From Haversack: this session was forked from one that is over, and now holds its tasks: ${tasks}.`;
}

/** Clients whose process has several sessions open. */
const MANY_SESSIONS = ["opencode"];

const MOST_TASKS = 5;
