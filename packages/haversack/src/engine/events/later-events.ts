/** Handles events after a session's start: tool calls, sub-agents that start and stop, the end. Loaded by the hook. */

import { workPlace } from "../../base/project-root.ts";
import { runPatterns } from "../../skills/matching/run-patterns.ts";
import { activationOf } from "../../skills/showing/activation.ts";
import type { DiscoverSettings } from "../../skills/showing/disclosure.ts";
import type { StoreHandle } from "../../store/sqlite/access.ts";
import type { SessionState } from "../../store/sqlite/sessions/session-state.ts";
import type { SqliteLocalStore } from "../../store/sqlite/sessions/sqlite-local-store.ts";
import { type Because, noteInjection } from "../../store/sqlite/skills/injections.ts";
import type { SkillLookup } from "../../store/sqlite/skills/skill-index.ts";
import type { SkillLedger } from "../../store/sqlite/skills/skill-ledger.ts";
import { letGo, letGoOfAgent } from "../../store/sqlite/work/events/session-claims.ts";
import { afterSpawn, beforeSpawn, type SubAgentParts, startNamed } from "../work/sub-agent.ts";
import type { EventAnswer, EventBase, EventOf } from "./client-event.ts";
import { placeAgent } from "./record-tool.ts";

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

/** Events that answer-event.ts does not answer itself. */
export type LaterEvent = EventOf<
  "before-tool" | "before-spawn" | "after-spawn" | "agent-start" | "agent-stop" | "session-end"
>;

export function handleEvent(event: LaterEvent, parts: EventParts): EventAnswer {
  const { sessions, state, now } = parts;
  const { sessionId, agentId, client, cwd } = event;
  const touch = { sessionId, agentId, client: client.name, cwd, at: now };
  switch (event.kind) {
    case "before-tool":
      if (event.isOwnTool) {
        state.noteToolCall(event, event.toolUseId, now);
        // The server that answers the call asks what the agent's window has, so the skills of its prompt must be assigned by then.
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
      letGo(parts.handle, event, now, () => workPlace(cwd));
      sessions.touchSession({ ...touch, event: "end" });
      return {};
    case "agent-stop":
      letGoOfAgent(parts.handle, event, now);
      sessions.touchSession({ ...touch, event: "end" });
      return {};
  }
}

/** Answers with the first guarded file: one call gets one answer. */
function guardEdits(event: EventBase & { path?: string; paths?: readonly string[] }, parts: EventParts): EventAnswer {
  let warning: EventAnswer = {};
  for (const path of event.paths ?? (event.path ? [event.path] : [])) {
    const answer = guardEdit({ ...event, path }, parts);
    // A refusal for one file wins over a warning for another.
    if (answer.deny) return answer;
    if (!warning.context) warning = answer;
  }
  return warning;
}

/**
 * Guardrails on file edits: a rule with `block` or `require` whose paths match the file requires its skill first. It warns once per
 * window. `block` refuses the edit only if the user has switched on `skills.enforce` and, for a project's rule, has accepted it.
 */
function guardEdit(
  event: EventBase & { path: string },
  { root, handle, index, ledger, settings, env, now }: EventParts,
): EventAnswer {
  const path = event.path.startsWith(`${root}/`) ? event.path.slice(root.length + 1) : event.path;
  const rows = index.patterns(["path", "path-exclude"]);
  const hits = runPatterns(rows, [path]).hits.map((at) => rows[at]!);
  const excluded = new Set(hits.filter(({ kind }) => kind === "path-exclude").map(({ skill }) => skill));
  const keys = new Set(hits.flatMap(({ kind, skill }) => (kind === "path" && !excluded.has(skill) ? [skill] : [])));
  const cards = index
    .cards([...keys])
    .filter(({ rule }) => rule?.enforcement === "block" || rule?.enforcement === "require");
  if (cards.length === 0) return {};

  const { sessionId, agentId } = event;
  const tracking = ledger.tracking(event);
  for (const card of cards) {
    const entry = tracking.ledger.find(({ skill }) => skill === card.id);
    const override = card.rule?.skip.envOverride && env[card.rule.skip.envOverride];
    if (entry?.loadedHash || (override && override !== "0")) continue;
    const message = `${card.rule?.blockMessage ?? `Edits of ${path} ask for the skill ${card.id}.`} Activate it first: ${activationOf(card, event.client)} (haversack)`;
    const enforcement = card.rule?.enforcement ?? "require";
    const because: Because = { kind: "guard", skill: card.id, path, enforcement };
    if (settings().enforce && card.rule?.enforcement === "block" && !card.rule.isUnaccepted) {
      noteInjection(handle, event, { at: now, event: "before-tool", format: "refusal", text: message, because });
      return { deny: message };
    }
    // This window has already had a warning.
    if (entry) continue;
    const { window, promptCount: promptNumber } = tracking;
    const shown = { skill: card.id, text: message, event: "before-tool", because };
    ledger.recordShown({ sessionId, agentId, at: now, window, promptNumber, ...shown });
    return { context: message };
  }
  return {};
}
