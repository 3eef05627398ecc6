/** What happens to a session after its start: a tool is about to run, sub-agents come and go, it ends. Loaded by the hook. */

import { workPlace } from "../../base/git-place.ts";
import type { DiscoverSettings } from "../../skills/showing/session.ts";
import type { StoreHandle } from "../../store/sqlite/handle.ts";
import type { SessionState } from "../../store/sqlite/sessions/session-state.ts";
import type { SqliteLocalStore } from "../../store/sqlite/sessions/sqlite-local-store.ts";
import type { SkillLookup } from "../../store/sqlite/skills/skill-index.ts";
import type { SkillLedger } from "../../store/sqlite/skills/skill-ledger.ts";
import { letGo, letGoOfAgent } from "../../store/sqlite/work/events/session-claims.ts";
import { afterSpawn, beforeSpawn, type SubAgentParts, startNamed } from "../work/sub-agent.ts";
import type { ClientEvent, EventAnswer, EventBase } from "./client-event.ts";
import { guardEdit } from "./guard-edit.ts";

export interface EventParts extends SubAgentParts {
  root: string;
  handle: StoreHandle;
  index: SkillLookup;
  ledger: SkillLedger;
  state: SessionState;
  sessions: SqliteLocalStore;
  settings(): DiscoverSettings;
  env: Readonly<Record<string, string | undefined>>;
}

/** What is not answered elsewhere: see answer-event.ts. */
export type LaterEvent = Extract<
  ClientEvent,
  { kind: "before-tool" | "before-spawn" | "after-spawn" | "agent-start" | "agent-stop" | "session-end" }
>;

export function handleEvent(event: LaterEvent, parts: EventParts): EventAnswer {
  const { sessions, state, now } = parts;
  const touch = {
    sessionId: event.sessionId,
    agentId: event.agentId,
    client: event.client.name,
    cwd: event.cwd,
    at: now,
  };
  switch (event.kind) {
    case "before-tool":
      if (event.isOwnTool) {
        state.noteToolCall(event, event.toolUseId, now);
        placeAgent(event, parts);
      }
      return event.isOwnTool ? {} : guardEdits(event, parts);
    case "before-spawn":
      return beforeSpawn(event, parts);
    case "after-spawn":
      return afterSpawn(event, parts);
    case "agent-start":
      sessions.touchSession(touch);
      placeAgent(event, parts);
      return startNamed(event, parts);
    case "session-end":
      letGo(parts.handle, event, now, () => workPlace(event.cwd));
      sessions.touchSession({ ...touch, event: "end" });
      return {};
    case "agent-stop":
      letGoOfAgent(parts.handle, event, now);
      sessions.touchSession({ ...touch, event: "end" });
      return {};
  }
}

/** The first file that a rule guards speaks for all: the call is one, and so is the answer. */
function guardEdits(event: EventBase & { path?: string; paths?: readonly string[] }, parts: EventParts): EventAnswer {
  let warning: EventAnswer = {};
  for (const path of event.paths ?? (event.path ? [event.path] : [])) {
    const answer = guardEdit({ ...event, path }, parts);
    // A refusal for one file outweighs a warning for another.
    if (answer.deny) return answer;
    if (!warning.context) warning = answer;
  }
  return warning;
}

/** The server that answers the call asks what the agent's window has: what its prompt brought must be known by then. */
function placeAgent(
  { startedBy, ...key }: EventBase & { startedBy?(): string | undefined },
  { tasks, now }: EventParts,
): void {
  if (!startedBy || !tasks.isUnplaced(key)) return;
  const toolUseId = startedBy();
  if (toolUseId !== undefined) tasks.placeAgent(key, toolUseId, now);
}
