/** Claude Code's payload of a session's start (seen in 2.1.325), read by hand as in events.ts. */
import type { ClientEvent, EventBase } from "../../engine/events/client-event.ts";
import { type Fields, text } from "./fields.ts";
import { forkedFrom } from "./forked-from.ts";
import { hasToolResult } from "./transcript-tail.ts";

export function readClaudeStart(payload: Fields, base: EventBase): ClientEvent | undefined {
  const source = text(payload["source"]);
  const prompt = text(payload["prompt_id"]);
  // What a prompt was given survives a compaction before its first answer; in the middle of its turn it is gone.
  const promptId = prompt && !hasToolResult(text(payload["transcript_path"]), prompt) ? prompt : undefined;
  if (!isSource(source)) return undefined;
  const agentType = text(payload["agent_type"]);
  return {
    ...base,
    kind: "session-start",
    source,
    ...(promptId && { promptId }),
    ...(agentType && { agentType }),
    ...(source === "fork" && { forkedFrom: (ids: readonly string[]) => forkedFrom(payload, ids, process.env) }),
  };
}

function isSource(source: string | undefined): source is "startup" | "resume" | "fork" | "clear" | "compact" {
  return ["startup", "resume", "fork", "clear", "compact"].includes(source ?? "");
}
