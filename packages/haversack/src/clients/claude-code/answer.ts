/**
 * What Claude Code accepts on a hook's standard output. Text reaches the model only under `hookSpecificOutput` with the
 * event's own name; anywhere else it is dropped without a word.
 */
import type { HookAnswer } from "../../engine/hook-event.ts";

export function formatClaudeAnswer(eventName: string, { context, deny }: HookAnswer): string {
  if (!context && !deny) return "";
  return JSON.stringify({
    hookSpecificOutput: {
      hookEventName: eventName,
      ...(context && { additionalContext: context }),
      ...(deny && { permissionDecision: "deny", permissionDecisionReason: deny }),
    },
  });
}
