/**
 * What `haversack store purge` may remove. A part that keeps local rows adds its rules here, rows that depend on
 * others first. Work state is never listed unless its part says what makes a row worthless.
 */
export interface PurgeRule {
  table: string;
  /** SQL condition on that table; `:before` is the time limit as ISO text. */
  where: string;
}

/** Sessions that ended or went silent before the limit. For `(session_id, agent_id) IN (…)` in dependent tables. */
export const OLD_SESSIONS = "SELECT session_id, agent_id FROM sessions WHERE last_seen_at < :before";

/** A session that holds a task is part of the work. */
const FREE = "session_id NOT IN (SELECT session_id FROM claims WHERE session_id IS NOT NULL)";

/** What `store purge` removes when it is asked to. */
export const purgeRules: readonly PurgeRule[] = rulesFor({ oldSessions: OLD_SESSIONS, isKept: "" });

/** What goes by itself with time: the same, except for what belongs to a task in progress. */
export const retirementRules: readonly PurgeRule[] = rulesFor({
  oldSessions: `${OLD_SESSIONS} AND ${FREE}`,
  isKept: ` AND ${FREE}`,
  gitStates: " AND task NOT IN (SELECT t.id FROM claims c JOIN tasks t ON t.seq = c.task)",
});

function rulesFor({
  oldSessions,
  isKept,
  gitStates = "",
}: {
  oldSessions: string;
  isKept: string;
  gitStates?: string;
}): PurgeRule[] {
  const ofOldSessions = `(session_id, agent_id) IN (${oldSessions})`;
  return [
    ...[
      "ledger",
      "session_files",
      "prompt_matches",
      "injections",
      "skill_uses",
      "session_wip",
      "wip_changes",
      "tool_calls",
      "agent_tasks",
      "agent_roles",
      "seen_lines",
      "expected_documents",
      "dispatched_agents",
    ].map((table) => ({ table, where: ofOldSessions })),
    // Of sub-agents that never came: see agentOfCall.
    ...["ledger", "injections", "skill_uses", "agent_roles", "prompt_matches"].map((table) => ({
      table,
      where: `agent_id GLOB 'call:*' AND session_id IN (SELECT session_id FROM sessions WHERE last_seen_at < :before)${isKept}`,
    })),
    { table: "spawns", where: "at < :before" },
    { table: "spawn_documents", where: "at < :before" },
    { table: "transcripts", where: "at < :before" },
    { table: "seen_calls", where: "at < :before" },
    { table: "git_states", where: `at < :before${gitStates}` },
    // Last: the rows of other tables are found through it.
    { table: "sessions", where: `last_seen_at < :before${isKept}` },
  ];
}
