/** One payload per event in the shape that Gemini CLI 0.61.0 sends; for `doctor` and tests. */
const PROMPT = "haversack doctor sends this to see that the hook answers";

export function geminiSamplePayload(
  event: string,
  { sessionId, cwd, now }: { sessionId: string; cwd: string; now: Date },
): Record<string, unknown> {
  return {
    session_id: sessionId,
    transcript_path: `${cwd}/transcript.jsonl`,
    cwd,
    hook_event_name: event,
    timestamp: now.toISOString(),
    ...EXTRA[event],
  };
}

const EXTRA: Record<string, Record<string, unknown>> = {
  SessionStart: { source: "startup" },
  BeforeAgent: { prompt: PROMPT },
  BeforeTool: { tool_name: "invoke_agent", tool_input: { agent_name: "generalist", prompt: PROMPT } },
  AfterTool: {
    tool_name: "run_shell_command",
    tool_input: { command: "true" },
    tool_response: {
      llmContent: "<untrusted_context>\nOutput: (empty)\nProcess Group PGID: 1\n</untrusted_context>",
      returnDisplay: "",
    },
  },
  SessionEnd: { reason: "exit" },
};
