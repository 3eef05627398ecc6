/**
 * Our part of Codex's `hooks.json`. Hooks keep their positions: Codex stores a review under file, event and position, so a hook that moves would
 * need a new review.
 */
import type { HookTable } from "../hook-settings.ts";

/**
 * Event, matcher and timeout in seconds (the client's default is 600). A matcher is one expression for the whole name. No hook runs before our own
 * tools, because their calls already carry session and agent. PostCompact is for sub-agents only: no SessionStart follows their compaction.
 */
const lines: HookTable["lines"] = ({ hasGuards, seesOutputs }) => [
  ["SessionStart", undefined, 10],
  ["UserPromptSubmit", undefined, 5],
  ["PreToolUse", hasGuards ? "spawn_agent|apply_patch" : "spawn_agent", 5],
  ["PostToolUse", `Bash|apply_patch|update_plan|spawn_agent${seesOutputs ? "|mcp__.*" : ""}`, 5],
  ["PostCompact", undefined, 5],
  ["Stop", undefined, 5],
  ["SubagentStart", undefined, 5],
  ["SubagentStop", undefined, 5],
  // Above 3, the client complains to the user in every session (seen in 0.166.0).
  ["SessionEnd", undefined, 3],
];

const COMMON_FIELDS = ["hook_event_name", "session_id", "cwd", "transcript_path"];

/**
 * Events that the running server answers: those that the model waits for again and again. The client silently drops a call if one of its fields is
 * missing, so we use only fields that the event always has. `agent_id` is not among them, because only sub-agents have it; the call itself names
 * the thread.
 *
 * All other events start a process, because a crashed server stays away until the session ends. They are calls that may have to be refused, a
 * sub-agent's packet, and the end of a turn, where the process finds in the session file what the server missed.
 */
const SERVER_EVENTS: Readonly<Record<string, readonly string[]>> = {
  UserPromptSubmit: [...COMMON_FIELDS, "turn_id", "prompt"],
  PostToolUse: [...COMMON_FIELDS, "tool_name", "tool_use_id", "tool_input", "tool_response"],
};

export const CODEX_HOOKS: HookTable = { client: "codex", lines, unitMs: 1000, asked: () => SERVER_EVENTS };
