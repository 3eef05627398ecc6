/**
 * What Codex accepts on a hook's standard output (seen in 0.166.0). Text reaches the model as a `developer` message, only under
 * `hookSpecificOutput` with the name of an event, and not from PostCompact and SessionEnd. A changed input counts
 * only together with the decision to allow the call. A result is replaced by a refusal whose reason the model sees in its
 * place. At the end of a turn, too, a refusal's reason is what the model goes on with; other text there is an error to the client.
 */
import type { EventAnswer } from "../../engine/events/client-event.ts";

/**
 * 2,500 tokens as the client counts them, four bytes of UTF-8 each. Past it the model gets the head, the tail and a file's name: at
 * 10,001 bytes 39 tokens of the middle were gone.
 */
export const MAX_CONTEXT_BYTES = 10_000;

export function formatCodexAnswer(payload: Readonly<Record<string, unknown>>, answer: EventAnswer): string {
  const { deny, prompt, result, sendBack } = answer;
  const event = payload["hook_event_name"];
  const context = SILENT.has(event) ? undefined : answer.context && fitBytes(answer.context);
  if (!context && !deny && !prompt && !result && !sendBack) return "";
  if (sendBack) return JSON.stringify({ decision: "block", reason: fitBytes(sendBack) });
  if (event === "Stop") return JSON.stringify({ decision: "block", reason: context });
  const hookSpecificOutput = {
    hookEventName: event,
    ...(context && { additionalContext: context }),
    ...(deny && { permissionDecision: "deny", permissionDecisionReason: deny }),
    ...(prompt && {
      permissionDecision: "allow",
      updatedInput: { ...(payload["tool_input"] as object), message: prompt },
    }),
  };
  return JSON.stringify({ ...(result && { decision: "block", reason: result }), hookSpecificOutput });
}

const SILENT = new Set<unknown>(["PreCompact", "PostCompact", "SessionEnd"]);

const CUT = "\n[cut to fit]";

/** The last guard: texts are made to fit by characters, and one of other letters has up to three bytes for each. */
export function fitBytes(text: string, maxBytes = MAX_CONTEXT_BYTES): string {
  if (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes) return text;
  const bytes = Buffer.from(text);
  let end = maxBytes - CUT.length;
  // Not in the middle of a character.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString("utf8", 0, end) + CUT;
}
