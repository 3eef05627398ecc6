/** The packet of what was gathered, within what the client takes. Loaded by the hook, apart from what gathers: most sessions have nothing to go on with. */
import { type ClientProfile, sizeFor } from "../../skills/showing/activation.ts";
import { firstInTurn } from "../../wake/dispatch-order.ts";
import { assemblePacket, type Packet, type PacketOptions } from "../../wake/packet.ts";
import { ROLES, type WakeState } from "../../wake/state.ts";
import { DEVELOPMENT } from "../../wake/workflow.ts";
import type { Gathered, WakeParts, WakeRequest, WakeSettings } from "./gather-wake.ts";

export interface WakeUp extends Packet {
  state: WakeState;
  /** The row of the agent, when it has one: for read marks. */
  agentSeq?: number;
}

export function makePacket(
  { state: gathered, agentSeq, problems, ready }: Gathered,
  request: WakeRequest,
  { root, settings, readText }: Pick<WakeParts, "root" | "settings" | "readText">,
): WakeUp {
  const suggested = ready && firstInTurn(ready.tasks, { ...ready, workflow: DEVELOPMENT });
  const state = suggested ? { ...gathered, suggested } : gathered;
  const packet = assemblePacket(state, {
    template:
      request.template ??
      (state.agent.role && readText(`${root}/.haversack/templates/${fileName(state.agent.role)}.md`)),
    workflow: DEVELOPMENT,
    how: waysTo(state.task?.id, request.client),
    ...budgetOf(request, settings),
  });
  return {
    ...packet,
    problems: [...problems, ...packet.problems],
    state,
    ...(agentSeq !== undefined && { agentSeq }),
  };
}

/** Where our MCP server is there, its tools are the way: they need no shell and no permission. */
function waysTo(taskId: string | undefined, { skillTool }: ClientProfile): PacketOptions["how"] {
  if (!skillTool || taskId === undefined) return undefined;
  const task = `get_task(task_id: "${taskId}", fields: "full")`;
  return { task, wip: task, handoffs: `get_task_handoff(task_id: "${taskId}")` };
}

function budgetOf({ budget, client }: WakeRequest, { budgetChars }: WakeSettings) {
  if (budget) return { budget: budget.size, unit: budget.unit, count: budget.count };
  const most = budgetChars > 0 ? Math.min(budgetChars, client.maxChars) : client.maxChars;
  return { budget: most, unit: "chars" as const, count: (text: string) => sizeFor(client, text) };
}

/** A role is a word; whatever else it is must not lead out of the folder. */
function fileName(role: string): string {
  return ROLES.some((known) => known === role) ? role : role.replace(/[^A-Za-z0-9_-]/g, "-");
}
