/** One payload per event in the shape that each client sends (Claude Code 2.1.325, Codex 0.166.0, Gemini CLI 0.61.0); for `doctor` and tests. */
import type { ClientName } from "./facts.ts";

const PROMPT = "haversack doctor sends this to see that the hook answers";

type Extra = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export function samplePayload(
  client: ClientName,
  event: string,
  { sessionId, cwd, now = new Date() }: { sessionId: string; cwd: string; now?: Date },
): Record<string, unknown> {
  const { always, events } = SAMPLES[client] ?? { always: {}, events: {} };
  const timestamp = client === "gemini" && { timestamp: now.toISOString() };
  const transcript_path = `${cwd}/transcript.jsonl`;
  return {
    session_id: sessionId,
    transcript_path,
    cwd,
    hook_event_name: event,
    ...always,
    ...timestamp,
    ...events[event],
  };
}

const bash = { tool_name: "Bash", tool_input: { command: "true" }, tool_use_id: "toolu_doctor" };

const CLAUDE: Extra = {
  SessionStart: { source: "startup" },
  UserPromptSubmit: { prompt: PROMPT },
  PreToolUse: { tool_name: "mcp__haversack__skill", tool_input: { name: "none" }, tool_use_id: "toolu_doctor" },
  PostToolUse: {
    ...bash,
    tool_response: { stdout: "", stderr: "", interrupted: false, isImage: false, noOutputExpected: false },
    duration_ms: 1,
  },
  PostToolUseFailure: { ...bash, error: "Exit code 1", is_interrupt: false },
  SubagentStart: { agent_id: "doctor", agent_type: "general-purpose" },
  SubagentStop: {
    agent_id: "doctor",
    agent_type: "general-purpose",
    stop_hook_active: false,
    agent_transcript_path: "agent.jsonl",
    last_assistant_message: "",
  },
  Stop: { stop_hook_active: false, last_assistant_message: "", background_tasks: [], session_crons: [] },
  SessionEnd: { reason: "other" },
};

const agent = { agent_id: "doctor", agent_type: "default" };

const CODEX: Extra = {
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

const GEMINI: Extra = {
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

const SAMPLES: Readonly<Partial<Record<ClientName, { always: object; events: Extra }>>> = {
  "claude-code": { always: { permission_mode: "default" }, events: CLAUDE },
  codex: { always: { model: "doctor", permission_mode: "default" }, events: CODEX },
  gemini: { always: {}, events: GEMINI },
};
