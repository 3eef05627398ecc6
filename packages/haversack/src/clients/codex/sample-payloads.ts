/** One payload per event in the shape that Codex 0.166.0 sends; for `doctor` and tests. */
const PROMPT = "haversack doctor sends this to see that the hook answers";

export function samplePayload(
  event: string,
  { sessionId, cwd }: { sessionId: string; cwd: string },
): Record<string, unknown> {
  return {
    session_id: sessionId,
    transcript_path: `${cwd}/rollout.jsonl`,
    cwd,
    hook_event_name: event,
    model: "doctor",
    permission_mode: "default",
    ...EXTRA[event],
  };
}

const agent = { agent_id: "doctor", agent_type: "default" };

const EXTRA: Record<string, Record<string, unknown>> = {
  SessionStart: { source: "startup" },
  UserPromptSubmit: { turn_id: "doctor", prompt: PROMPT },
  PreToolUse: { turn_id: "doctor", tool_name: "mcp__haversack__skill", tool_input: {}, tool_use_id: "call_doctor" },
  PostToolUse: {
    turn_id: "doctor",
    tool_name: "Bash",
    tool_input: { command: "true" },
    tool_response: "",
    tool_use_id: "call_doctor",
  },
  PostCompact: { turn_id: "doctor", ...agent, trigger: "auto" },
  Stop: { turn_id: "doctor", stop_hook_active: false, last_assistant_message: "" },
  SubagentStart: { turn_id: "doctor", ...agent },
  SubagentStop: { turn_id: "doctor", ...agent, stop_hook_active: false, last_assistant_message: "" },
  SessionEnd: { reason: "other" },
};
