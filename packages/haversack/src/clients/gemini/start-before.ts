/**
 * When a session of Gemini CLI (0.61.0) is told what it starts with. Not at SessionStart: headless, its text would stand before the
 * prompt, and a custom command would be none any more. So it comes with the first prompt; and as no event tells of a
 * compaction, the transcript is looked at with prompts and tool results. Loaded by the hook.
 */
import type { StoreHandle } from "../../store/sqlite/handle.ts";
import { readSessionTimes, type SessionTimes } from "../../store/sqlite/sessions/sqlite-local-store.ts";
import { readGeminiCompaction } from "./transcript.ts";

type Fields = Record<string, unknown>;
type Source = "startup" | "resume" | "compact";

/** The start that is answered with this event, before it. `/clear` begins a session with a new id, which is a start like any. */
export function geminiStartBefore(
  payload: Fields,
  { sessionId }: { sessionId: string },
  { handle }: { handle: StoreHandle },
): Source | undefined {
  const event = payload["hook_event_name"];
  if (event !== "BeforeAgent" && event !== "AfterTool") return undefined;
  const before = readSessionTimes(handle, sessionId);
  if (wasCompacted(payload, before)) return "compact";
  return event === "BeforeAgent" ? startOf(before) : undefined;
}

function startOf(before: SessionTimes | undefined): Source | undefined {
  if (!before) return "startup";
  return before.endedAt ? "resume" : undefined;
}

/**
 * A summary later than the last event that could have told of it. The end of a session hears of none, so there the last prompt counts:
 * one that a tool result told of, in the last turn before that end, comes again, which is better than not at all.
 */
function wasCompacted(payload: Fields, before: SessionTimes | undefined): boolean {
  if (!before) return false;
  const since = before.endedAt ? (before.lastPromptAt ?? before.startedAt) : before.lastSeenAt;
  const compactedAt = readGeminiCompaction(payload["transcript_path"]);
  return compactedAt !== undefined && compactedAt.getTime() > Date.parse(since);
}
