/** The tool `delegate`: another agent does a part of the task in its own conversation, and hands over its result. */
import type { LanguageModelUsage, Tool } from "ai";
import { cutAt } from "../base/clean-text.ts";
import { errorText } from "../base/errors.ts";
import { estimateTokens } from "../tokens/estimate.ts";
import type { AgentDefinition } from "./agent-file.ts";
import { input } from "./file-tools.ts";
import { beginningAndEnd } from "./handoff-text.ts";
import { type AgentContext, type AgentResult, type Delegation, isSpent, OutputText } from "./middleware.ts";

/** A turn of the other agent, in a new conversation. */
export interface DelegatedTurn {
  agent: string;
  task: string;
  conversationId: string;
  parent: AgentContext;
  signal: AbortSignal | undefined;
}

/** The tool for one turn of an agent. What it did is added to `delegations`. Call it before other wrappers of tools are added. */
export function delegateTool(
  context: AgentContext,
  {
    others,
    delegations,
    run,
  }: {
    others: readonly AgentDefinition[];
    delegations: Delegation[];
    run: (turn: DelegatedTurn) => Promise<AgentResult>;
  },
): Tool {
  const { config, cache, signal } = context;
  const path = pathOf(context);
  const refusal = (to: string): string | undefined => {
    // First, because an agent is not among its own others.
    if (path.includes(to))
      return `Not delegated: ${[...path, to].join(" → ")} is a cycle. '${to}' already works on this task; do this part yourself.`;
    if (!others.some(({ name }) => name === to))
      return `There is no agent '${to}'. The agents are ${others.map(({ name }) => name).join(", ")}.`;
    if (path.length > config.limits.maxDepth)
      return `Not delegated: ${path.join(" → ")} is as deep as delegation may go. Do this part yourself.`;
    return isSpent(context) ? "Not delegated: the token budget is spent." : undefined;
  };
  const handedOver = reportHandoffs(context);
  const list = others.map(({ name, description }) => `  - ${name}${description ? `: ${cutAt(description, 160)}` : ""}`);
  return {
    description: `Gives a part of the task to another agent, which works on its own and hands over a short result. It does not see this conversation, so the task must say all that it needs.\n\nAgents:\n${list.join("\n")}`,
    inputSchema: input<{ agent: string; task: string }>(
      {
        agent: { type: "string", description: "Name of the agent" },
        task: { type: "string", description: "What it is to do, with all that it needs to know" },
      },
      ["agent", "task"],
    ),
    execute: async ({ agent, task }: { agent: string; task: string }, { abortSignal = signal, toolCallId }) => {
      const delegation: Delegation = { agent, task, text: "", handoff: "", status: "failed", usage: NO_USAGE };
      const refused = refusal(agent);
      if (refused !== undefined) {
        delegations.push({ ...delegation, handoff: refused, status: "refused" });
        context.emit({ type: "tool-failed", tool: "delegate", toolCallId, text: refused });
        return new OutputText(refused);
      }
      const conversationId = `${context.conversationId}/${agent}/${toolCallId}`;
      context.emit({ type: "delegated", to: agent, task, depth: path.length });
      try {
        const result = await run({ agent, task, conversationId, parent: context, signal: abortSignal });
        const handoff = handoffText(result, config.limits.handoffTokens);
        Object.assign(delegation, { text: result.text, handoff, status: "completed", usage: result.usage });
      } catch (error) {
        // An abort ends the agent that delegated as well.
        signal?.throwIfAborted();
        delegation.handoff = `${agent} failed: ${errorText(error)}`;
      } finally {
        cache.clear(conversationId);
      }
      delegations.push(delegation);
      handedOver.set(toolCallId, delegation);
      return new OutputText(delegation.handoff, delegation.text);
    },
  } as Tool;
}

/** The agents from the first to this one. */
export function pathOf({ agentName, parent }: AgentContext): string[] {
  return parent ? [...pathOf(parent), agentName] : [agentName];
}

/** By call, the delegations that are to be reported with what the model gets: a middleware may change the handoff. */
function reportHandoffs(context: AgentContext): Map<string, Delegation> {
  const handedOver = new Map<string, Delegation>();
  context.wrapTools(async ({ toolCallId }, run) => {
    const output = await run();
    const delegation = handedOver.get(toolCallId);
    if (!delegation) return output;
    handedOver.delete(toolCallId);
    if (output instanceof OutputText) delegation.handoff = output.text;
    else if (typeof output === "string") delegation.handoff = output;
    const { agent: from, status, usage, handoff } = delegation;
    const handoffTokens = estimateTokens(handoff);
    context.emit({ type: "handed-off", from, status, tokens: usage.totalTokens ?? 0, handoffTokens });
    return output;
  });
  return handedOver;
}

/** The answer of the agent within the budget, and what is known about its work. */
function handoffText({ agent, text, skills, steps, stoppedBy }: AgentResult, budgetTokens: number): string {
  const names = [...new Set(skills.map(({ name }) => name))];
  const facts = [
    stoppedBy === "model" ? "completed" : `stopped by its ${stoppedBy} limit`,
    `${steps} ${steps === 1 ? "step" : "steps"}`,
    ...(names.length > 0 ? [`skills: ${names.join(", ")}`] : []),
  ];
  const head = `Handoff from ${agent} (${facts.join("; ")}):\n\n`;
  if (estimateTokens(head + text) <= budgetTokens) return head + text;
  return head + beginningAndEnd(text, budgetTokens - estimateTokens(head));
}

const NO_USAGE: LanguageModelUsage = {
  inputTokens: 0,
  inputTokenDetails: { noCacheTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
  outputTokens: 0,
  outputTokenDetails: { textTokens: 0, reasoningTokens: 0 },
  totalTokens: 0,
};
