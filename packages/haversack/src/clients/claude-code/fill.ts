/** How full a session's window is, from the transcript of Claude Code (seen in 2.1.325). The window's size stands nowhere in it. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { readTail } from "../../base/read-text.ts";
import type { Environment } from "../../engine/project.ts";
import type { FilledSession, WindowFill } from "../../engine/wiring.ts";
import { object } from "./fields.ts";

/** Behind the last answer come at most attachments and the results of tools. */
const MAX_BYTES = 4_000_000;

export function claudeFill({ sessionId, agentId }: FilledSession, env: Environment): WindowFill | undefined {
  const folder = join(env["CLAUDE_CONFIG_DIR"] || join(env["HOME"] ?? "", ".claude"), "projects");
  if (!existsSync(folder)) return undefined;
  const name = agentId ? join(sessionId, "subagents", `agent-${agentId}.jsonl`) : `${sessionId}.jsonl`;
  // Its own folder for each working folder, and a session may have gone on in another.
  const file = readdirSync(folder)
    .map((project) => join(folder, project, name))
    .find((path) => existsSync(path));
  const lines = file ? (readTail(file, MAX_BYTES)?.toString("utf8").split("\n") ?? []) : [];
  for (const line of lines.reverse()) {
    const fill = fillIn(line, agentId !== "");
    if (fill) return fill === "compacted" ? undefined : fill;
  }
  return undefined;
}

/** After a compaction nothing is known until the next answer. */
function fillIn(line: string, isSubAgent: boolean): WindowFill | "compacted" | undefined {
  if (!line.includes('"usage"') && !line.includes('"compact_boundary"')) return undefined;
  try {
    const { type, subtype, isSidechain, timestamp, message } = object(JSON.parse(line));
    if (type === "system" && subtype === "compact_boundary") return "compacted";
    const { usage } = object(message);
    if (type !== "assistant" || (isSidechain === true) !== isSubAgent || !usage) return undefined;
    const counts = object(usage);
    const usedTokens = COUNTS.reduce((sum, name) => sum + (Number(counts[name]) || 0), 0);
    return usedTokens > 0 ? { usedTokens, at: new Date(String(timestamp)) } : undefined;
  } catch {
    // The first line of the part is cut, and the last may be half written.
    return undefined;
  }
}

const COUNTS = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens"];
