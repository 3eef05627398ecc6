/** What a tool call says of who made it. Every client says something else, and two say nothing. */
import { callKey } from "../engine/call-key.ts";
import type { Environment } from "../engine/project.ts";
import { type CallMarks, saysNothing } from "../engine/window-of-call.ts";

export interface CallRequest {
  name: string;
  arguments?: unknown;
  meta?: Readonly<Record<string, unknown>> | undefined;
  /** As the client named itself. */
  client?: string | undefined;
}

/**
 * Claude Code (seen in 2.1.325): the session that started the server in the environment, the tool-use id with the call; one
 * server serves all sub-agents, and outlives a `/clear`, which begins another session. Codex (seen in 0.166.0): session, thread and
 * window with the call. Gemini CLI and opencode: nothing, so that the call itself is what their hooks have noted. Any of them may
 * run in a shell of Claude Code, whose session in the environment is not theirs.
 */
export function readCallMarks({ name, arguments: args, meta, client }: CallRequest, env: Environment): CallMarks {
  if (client !== undefined && saysNothing(client)) return { call: callKey(name, args) };
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
