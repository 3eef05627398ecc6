/** Tools that would leave a call without a result, and messages that have such a call. Providers refuse a conversation that does. */
import type { ModelMessage, ToolSet } from "ai";

/** Why an agent system cannot run the tool, and what to do. Undefined: it can. */
export function unsupported(tool: ToolSet[string]): { text: string; hint: string } | undefined {
  if (tool.needsApproval)
    return {
      text: "has `needsApproval`, and a turn cannot wait for an approval",
      hint: "Remove `needsApproval` and ask in the tool's own `execute`, or in a middleware with context.wrapTools: throw an Error there to refuse the call, and the model is told.",
    };
  // The provider runs it, and its result is in the same answer.
  if (tool.execute || tool.isProviderExecuted) return undefined;
  return {
    text: "has no `execute`, and nobody else would answer its calls",
    hint: "Give it an `execute` that returns what the model is to get, or use generateText of the AI SDK for tools that your client runs.",
  };
}

/** The names of tools that were called and have no result. */
export function pendingCalls(messages: readonly ModelMessage[]): string[] {
  const pending = new Map<string, string>();
  for (const { content } of messages) {
    if (typeof content === "string") continue;
    for (const part of content) {
      if (part.type === "tool-call" && !part.providerExecuted) pending.set(part.toolCallId, part.toolName);
      if (part.type === "tool-result") pending.delete(part.toolCallId);
    }
  }
  return [...new Set(pending.values())];
}
