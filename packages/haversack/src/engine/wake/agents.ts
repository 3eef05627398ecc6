/** Agents by name: who they are, what they hold, and which of them is asking. */
import { nearest } from "../../base/nearest.ts";
import type { RemoveAgentOutcome } from "../../store/work-store.ts";
import { ROLES } from "../../wake/state.ts";
import type { Agent } from "../../wake/text.ts";
import { cleanName, invalid } from "../../work/clean-input.ts";
import { present } from "../../work/task-view.ts";
import type { AgentDetails, AgentName, Agents } from "../library-types.ts";
import { checkListInput, type ListInput } from "../work/tasks.ts";
import { given, type Listed, listed, type WorkParts } from "../work/work-parts.ts";

export interface AgentView {
  name: string;
  [field: string]: unknown;
}

/**
 * For an existing name and branch, the given fields replace the stored ones. `role`: one of ROLES, or a role that has its own template.
 * Default branch: all. `hint`: the role that was probably meant.
 */
export async function addAgent(
  { name, role, branch, client, worktree }: Parameters<Agents["add"]>[0],
  { store, by }: WorkParts,
): Promise<{ agent: Agent; view: AgentView; hint?: string }> {
  // Only here, so that no session fails whose agent already has the name.
  if (/^@?haversack$/i.test(name))
    throw invalid(`name must not be ${JSON.stringify(name)}: Haversack's own messages have it`);
  const clean = cleanName(role, { field: "role" });
  if (clean === undefined) throw invalid("role must not be empty");
  // The role is also the name of a file, its template.
  if (!/^[A-Za-z0-9_-]+$/.test(clean)) {
    throw invalid(`role must be a word of letters, digits, "-" and "_", but is ${JSON.stringify(clean)}`);
  }
  const [meant] = (ROLES as readonly string[]).includes(clean) ? [] : nearest(clean, ROLES);
  const agent = await store.addAgent(
    {
      name,
      role: clean,
      ...given({
        branch: cleanName(branch, { field: "branch" }),
        client: cleanName(client, { field: "client" }),
        worktree: cleanName(worktree, { field: "worktree" }),
      }),
    },
    by,
  );
  return { agent, view: viewAgent(agent), ...(meant !== undefined && { hint: meant }) };
}

export type ListAgentsInput = Omit<ListInput, "fields">;

/** By name. */
export async function listAgents(
  input: ListAgentsInput,
  { store }: WorkParts,
): Promise<Omit<Listed<Agent>, "views"> & { views: AgentView[] }> {
  const { limit, offset, maxTokens } = checkListInput(input);
  const all = await store.listAgents();
  const items = all.slice(offset, offset + limit);
  // Agents have no id but their name, so the list's `id` is removed again.
  const view = (agent: Agent) => ({ id: agent.name, ...viewAgent(agent) });
  const { views, ...list } = listed(
    { items, total: all.length },
    { view, fields: "minimal", maxTokens, offset, text: input.text },
  );
  return { ...list, views: views.map(({ id: _, ...rest }) => rest as AgentView) };
}

const MOST_SKILLS = 10;

export async function showAgent(
  { name, branch }: AgentName,
  { store, by }: WorkParts,
): Promise<{ agent: AgentDetails; view: AgentView }> {
  const agent = await store.getAgent({ name, ...given({ branch }) });
  const claims = await store.listClaims({ agent: agent.name, at: by.at });
  const holds: AgentDetails["holds"] = [];
  for (const claim of claims) {
    const { id, title, status } = await store.getTask(claim.taskId, by.at);
    holds.push({ id, title, status, claim });
  }
  const { total: unread } = await store.inbox({ agent: agent.name, limit: 1, ...given({ branch: agent.branch }) });
  const skills = await store.skillHistory({ agent: agent.name, limit: MOST_SKILLS });
  const view = {
    ...viewAgent(agent),
    ...present({
      tasks: holds.map(({ id, title, status }) => ({ id, title, status })),
      unread,
      skill_history: skills.map(({ at: time, taskId, skill, hash, because }) =>
        present({ at: time, skill, version: hash.slice(0, 12), because, task_id: taskId }),
      ),
    }),
  };
  return { agent: { ...agent, holds, unread, skills }, view };
}

export type RemovedAgent = Extract<RemoveAgentOutcome, { kind: "removed" }> & { view: object };

export async function removeAgent(
  { name, branch, isForced = false }: AgentName & { isForced?: boolean | undefined },
  { store, by, for: audience = "agent" }: WorkParts,
): Promise<RemovedAgent | { kind: "refused"; text: string }> {
  const outcome = await store.removeAgent({ name, isForced, ...given({ branch }) }, by);
  if (outcome.kind === "holds-tasks") {
    const { agent, tasks } = outcome;
    // Agents are not told how to take work from others.
    const how = audience === "person" ? "; `--force` puts them back into the queue" : "";
    return { kind: "refused", text: `@${agent.name} holds ${tasks.join(", ")}${how}` };
  }
  const { agent, released, unread } = outcome;
  return {
    ...outcome,
    view: { name: agent.name, removed: true, ...present({ released, unread: unread || undefined }) },
  };
}

/** The named agent; else the asker, by name or by session. Undefined: the asker is no agent. */
export async function askingAgent(
  { agent, branch }: { agent?: string | undefined; branch?: string | undefined },
  { store, by }: WorkParts,
): Promise<Agent | undefined> {
  if (agent !== undefined) return store.getAgent({ name: agent, ...given({ branch }) });
  const agents = await store.listAgents();
  if (agents.some(({ name }) => name === by.name)) return store.getAgent({ name: by.name, ...given({ branch }) });
  // A sub-agent shares its parent's session but is a different agent.
  if (by.sessionId === undefined || by.agentId) return undefined;
  const ofSession = agents.filter(({ sessionId }) => sessionId === by.sessionId);
  return ofSession.sort((a, b) => Number(b.lastSeenAt ?? 0) - Number(a.lastSeenAt ?? 0))[0];
}

export async function requireAsking(
  query: { agent?: string | undefined; branch?: string | undefined },
  parts: WorkParts,
): Promise<Agent> {
  const agent = await askingAgent(query, parts);
  if (agent) return agent;
  throw invalid("agent is missing: name one, or set HAVERSACK_AGENT to your agent's name");
}

export function viewAgent({ createdAt, lastSeenAt, sessionId, ...agent }: Agent): AgentView {
  const { name, role, branch, client, worktree } = agent;
  const times = { created_at: createdAt, last_seen_at: lastSeenAt };
  return present({ name, role, branch, client, session_id: sessionId, worktree, ...times });
}
