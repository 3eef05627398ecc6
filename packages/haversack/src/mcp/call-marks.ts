/** What a tool call says of who made it. Every client says something else, and two say nothing. */
import type { Environment } from "../engine/project.ts";
import type { CallMarks } from "../engine/window-of-call.ts";

/**
 * Claude Code (seen in 2.1.325): the session that started the server in the environment, the tool-use id with the call; one
 * server serves all sub-agents, and outlives a `/clear`, which begins another session. Codex (seen in 0.166.0): session, thread and
 * window with the call, and it may itself run in a shell of Claude Code. Gemini CLI and opencode: nothing.
 */
export function readCallMarks(meta: Readonly<Record<string, unknown>> | undefined, env: Environment): CallMarks {
  const isThread = typeof meta?.["threadId"] === "string" && meta["threadId"] !== "";
  const marks = {
    sessionId: isThread ? meta["sessionId"] : env["CLAUDE_CODE_SESSION_ID"],
    toolUseId: meta?.["claudecode/toolUseId"],
    threadId: meta?.["threadId"],
    windowId: meta?.["windowId"],
    callId: isThread ? meta["callId"] : undefined,
  };
  return Object.fromEntries(Object.entries(marks).filter(([, value]) => typeof value === "string" && value !== ""));
}
