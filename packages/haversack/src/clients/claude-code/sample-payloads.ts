/** One payload per event in the shape that Claude Code 2.1.325 sends; for `doctor` and tests. */
const PROMPT = "haversack doctor sends this to see that the hook answers";

export function samplePayload(
  event: string,
  { sessionId, cwd }: { sessionId: string; cwd: string },
): Record<string, unknown> {
  return {
    session_id: sessionId,
    transcript_path: `${cwd}/transcript.jsonl`,
    cwd,
    hook_event_name: event,
    permission_mode: "default",
    ...EXTRA[event]?.(cwd),
  };
}

const bash = { tool_name: "Bash", tool_input: { command: "true" }, tool_use_id: "toolu_doctor" };

const EXTRA: Record<string, (cwd: string) => Record<string, unknown>> = {
  SessionStart: () => ({ source: "startup" }),
  UserPromptSubmit: () => ({ prompt: PROMPT }),
  PreToolUse: () => ({ tool_name: "mcp__haversack__skill", tool_input: { name: "none" }, tool_use_id: "toolu_doctor" }),
  PostToolUse: () => ({
    ...bash,
    tool_response: { stdout: "", stderr: "", interrupted: false, isImage: false, noOutputExpected: false },
    duration_ms: 1,
  }),
  PostToolUseFailure: () => ({ ...bash, error: "Exit code 1", is_interrupt: false }),
  SubagentStart: () => ({ agent_id: "doctor", agent_type: "general-purpose" }),
  SubagentStop: (cwd) => ({
    agent_id: "doctor",
    agent_type: "general-purpose",
    stop_hook_active: false,
    agent_transcript_path: `${cwd}/agent.jsonl`,
    last_assistant_message: "",
  }),
  Stop: () => ({ stop_hook_active: false, last_assistant_message: "", background_tasks: [], session_crons: [] }),
  SessionEnd: () => ({ reason: "other" }),
};
