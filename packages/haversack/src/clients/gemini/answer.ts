/**
 * What Gemini CLI accepts on a hook's standard output (seen in 0.61.0). Text for the model counts after SessionStart, BeforeAgent
 * and AfterTool; after BeforeTool it is dropped without a word, so a warning before an edit cannot be given, only a
 * refusal. `<` and `>` reach the model as `&lt;` and `&gt;`.
 *
 * A changed input replaces the whole input, although the client's documentation says that it is merged. A sub-agent's answer cannot
 * be replaced but by an error, which would tell the model that it failed: `result` is left out.
 */
import type { EventAnswer } from "../../engine/events/client-event.ts";

const TAKES_CONTEXT = ["SessionStart", "BeforeAgent", "AfterTool"];

export function formatGeminiAnswer(payload: Readonly<Record<string, unknown>>, answer: EventAnswer): string {
  const { context, deny, prompt } = answer;
  const event = String(payload["hook_event_name"]);
  const isBeforeTool = event === "BeforeTool";
  if (deny && isBeforeTool) return JSON.stringify({ decision: "deny", reason: deny });
  if (prompt && isBeforeTool) {
    const input = { ...(payload["tool_input"] as object), prompt };
    return JSON.stringify({ hookSpecificOutput: { hookEventName: event, tool_input: input } });
  }
  if (!context || !TAKES_CONTEXT.includes(event)) return "";
  return JSON.stringify({ hookSpecificOutput: { hookEventName: event, additionalContext: context } });
}
