/** What happens to a session: it starts, it is compacted, a tool is about to run, sub-agents come and go. Loaded by the hook. */

import type { SessionState } from "../store/sqlite/session-state.ts";
import type { SqliteSkillIndex } from "../store/sqlite/skill-index.ts";
import type { SkillLedger } from "../store/sqlite/skill-ledger.ts";
import type { SqliteLocalStore } from "../store/sqlite/sqlite-local-store.ts";
import { afterCompaction } from "./after-compaction.ts";
import type { DiscoverSettings } from "./discover.ts";
import { guardEdit } from "./guard-edit.ts";
import type { HookAnswer, HookEvent } from "./hook-event.ts";
import { afterSpawn, beforeSpawn, type SubAgentParts } from "./work/sub-agent.ts";

export interface EventParts extends SubAgentParts {
  root: string;
  index: SqliteSkillIndex;
  ledger: SkillLedger;
  state: SessionState;
  sessions: SqliteLocalStore;
  settings(): DiscoverSettings;
  env: Readonly<Record<string, string | undefined>>;
  /** Checks the index and has a stale one rebuilt by another process. */
  checkIndex(): void;
}

export function handleEvent(event: HookEvent, parts: EventParts): HookAnswer {
  const { sessions, state, now } = parts;
  const touch = {
    sessionId: event.sessionId,
    agentId: event.agentId,
    client: event.client.name,
    cwd: event.cwd,
    at: now,
  };
  switch (event.kind) {
    case "session-start": {
      const isNewWindow = event.source === "clear" || event.source === "compact";
      const { before } = sessions.touchSession({ ...touch, event: isNewWindow ? "window" : "seen" });
      parts.checkIndex();
      if (event.source !== "compact" || !before) return {};
      // A config that cannot be read is silence here as at prompts.
      parts.settings();
      return afterCompaction(event, before, parts);
    }
    case "before-tool":
      if (event.isOwnTool) state.noteToolCall(event, event.toolUseId, now);
      return event.path && !event.isOwnTool ? guardEdit({ ...event, path: event.path }, parts) : {};
    case "before-spawn":
      return beforeSpawn(event, parts);
    case "after-spawn":
      return afterSpawn(event, parts);
    case "agent-start":
      sessions.touchSession(touch);
      return {};
    case "agent-stop":
    case "session-end":
      sessions.touchSession({ ...touch, event: "end" });
      return {};
  }
}
