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

const OF_OLD_SESSIONS = `(session_id, agent_id) IN (${OLD_SESSIONS})`;

export const purgeRules: readonly PurgeRule[] = [
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
  ].map((table) => ({ table, where: OF_OLD_SESSIONS })),
  // Of sub-agents that never came: see agentOfCall.
  ...["ledger", "injections", "skill_uses", "agent_roles", "prompt_matches"].map((table) => ({
    table,
    where: `agent_id GLOB 'call:*' AND session_id IN (SELECT session_id FROM sessions WHERE last_seen_at < :before)`,
  })),
  { table: "spawns", where: "at < :before" },
  { table: "spawn_documents", where: "at < :before" },
  { table: "git_states", where: "at < :before" },
  // Last: the rows of other tables are found through it.
  { table: "sessions", where: "last_seen_at < :before" },
];
