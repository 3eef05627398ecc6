/**
 * The call that started a sub-agent. No payload says it: SubagentStart has the agent's id and its type, PreToolUse of `Agent` the
 * call's, and three calls of one type start in any order. The client itself writes it beside the sub-agent's transcript,
 * after SubagentStart and before the sub-agent's first request, so it is there at its first tool call (seen in 2.1.325, in
 * the foreground and in the background, sub-agents of sub-agents too). The hook bundles this file.
 */
import { readFileSync, statSync } from "node:fs";

export function startedBy(transcriptPath: unknown, agentId: string): string | undefined {
  // The ids become part of a path.
  if (typeof transcriptPath !== "string" || !/^\w+$/.test(agentId)) return undefined;
  const file = `${transcriptPath.replace(/\.jsonl$/, "")}/subagents/agent-${agentId}.meta.json`;
  const { size = 0 } = statSync(file, { throwIfNoEntry: false }) ?? {};
  if (size === 0 || size > MAX_BYTES) return undefined;
  try {
    const { toolUseId } = JSON.parse(readFileSync(file, "utf8")) as { toolUseId?: unknown };
    return typeof toolUseId === "string" ? toolUseId : undefined;
  } catch {
    // Half written, or of another version: the next call asks again.
    return undefined;
  }
}

const MAX_BYTES = 100_000;
