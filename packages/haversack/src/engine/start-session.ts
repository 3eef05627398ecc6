/** A session starts, anew or again, or its window does: it is noted, and told what it goes on with. Loaded by the hook. */
import type { ClientProcess, Session, TouchedSession } from "../store/local-store.ts";
import type { StoreHandle } from "../store/sqlite/handle.ts";
import { hasUnread } from "../store/sqlite/has-unread.ts";
import { hasClaims } from "../store/sqlite/session-claims.ts";
import type { SqliteLocalStore } from "../store/sqlite/sqlite-local-store.ts";
import type { DiscoverSettings } from "./discover.ts";
import type { EventBase, HookAnswer, SessionStart } from "./hook-event.ts";

export interface StartParts {
  handle: StoreHandle;
  sessions: SqliteLocalStore;
  settings(): DiscoverSettings;
  env: Readonly<Record<string, string | undefined>>;
  now: Date;
  /** The client's; undefined when it does not say. */
  process(): ClientProcess | undefined;
  /** What a new session is told, when there may be something. */
  wakeSession(event: EventBase & SessionStart, touched: TouchedSession): HookAnswer;
  /** What one is told that goes on: its window was compacted, or it is resumed or forked. */
  wakeAgain(event: EventBase & SessionStart, touched: TouchedSession): HookAnswer;
  /** Checks the index and has a stale one rebuilt by another process. */
  checkIndex(): void;
}

export function startSession(event: EventBase & SessionStart, parts: StartParts): HookAnswer {
  const { sessionId, agentId, client, cwd, source } = event;
  const isNewWindow = source === "clear" || source === "compact";
  const process = source === "compact" ? undefined : parts.process();
  const touched = parts.sessions.touchSession({
    sessionId,
    agentId,
    client: client.name,
    cwd,
    at: parts.now,
    event: isNewWindow ? "window" : "seen",
    process,
  });
  const answer = mayResume(event, touched.before, parts) ? wake(event, touched, parts) : {};
  // With a packet the hook has done enough: 300 files are 3 ms more, and the MCP server looks at them too when it starts.
  if (!answer.context && source !== "compact") parts.checkIndex();
  return answer;
}

function wake(event: EventBase & SessionStart, touched: TouchedSession, parts: StartParts): HookAnswer {
  // A config that cannot be read is silence here as at prompts.
  parts.settings();
  return goesOn(event, touched) ? parts.wakeAgain(event, touched) : parts.wakeSession(event, touched);
}

/** One that nobody has seen before is new here, however its client calls it. */
export function goesOn({ source }: Pick<SessionStart, "source">, { before }: TouchedSession): boolean {
  return source === "compact" || source === "fork" || (source === "resume" && before !== undefined);
}

/** Whether there may be something to go on with: most projects have no claims. */
function mayResume(
  { source, sessionId, agentId }: EventBase & SessionStart,
  before: Session | undefined,
  { handle, env }: StartParts,
): boolean {
  // A sub-agent is told what it needs when it is started, and again after a compaction; nothing else reaches it.
  if (agentId !== "" && source !== "compact") return false;
  // What it held may be gone.
  if (source === "compact" || (source === "resume" && before)) return before !== undefined;
  return (
    Boolean(env["HAVERSACK_AGENT"]) || hasClaims(handle) || hasUnread(handle.db, sessionId, { isMentionOnly: false })
  );
}
