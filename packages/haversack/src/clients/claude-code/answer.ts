/**
 * What Claude Code accepts on a hook's standard output. Text reaches the model only under `hookSpecificOutput` with the
 * event's own name; anywhere else it is dropped without a word. A changed input counts without a permission decision, and a
 * changed result only in the whole shape of the tool's own (both seen in 2.1.325).
 */
import type { EventAnswer } from "../../engine/events/client-event.ts";

/** `notice`: a line for the person, which the model does not see. */
export function formatClaudeAnswer(
  payload: Readonly<Record<string, unknown>>,
  answer: EventAnswer,
  notice?: string,
): string {
  const { context, deny, prompt, result, sendBack } = answer;
  // At a sub-agent's end there is nothing else to say.
  if (sendBack) return JSON.stringify({ decision: "block", reason: sendBack });
  const toPerson = notice === undefined ? {} : { systemMessage: notice };
  if (!context && !deny && !prompt && !result) return notice === undefined ? "" : JSON.stringify(toPerson);
  return JSON.stringify({
    ...toPerson,
    hookSpecificOutput: {
      hookEventName: payload["hook_event_name"],
      ...(context && { additionalContext: context }),
      ...(deny && { permissionDecision: "deny", permissionDecisionReason: deny }),
      ...(prompt && { updatedInput: { ...(payload["tool_input"] as object), prompt } }),
      ...(result && {
        updatedToolOutput: { ...(payload["tool_response"] as object), content: [{ type: "text", text: result }] },
      }),
    },
  });
}
