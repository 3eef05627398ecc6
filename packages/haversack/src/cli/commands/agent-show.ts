import { cleanLine } from "../../base/clean-text.ts";
import { type AgentDetails, showAgent } from "../../engine/wake/agents.ts";
import { type Call, type CommandSpec, type ExitCode, type Io, print } from "../command.ts";
import { brief } from "../print-task.ts";
import { fields, formatAgo } from "../print-work.ts";
import { paint } from "../terminal.ts";
import { AGENT_NAME, BRANCH, branchOf } from "../wake.ts";
import { readWork } from "../work.ts";

export const spec: CommandSpec = {
  about:
    "Shows an agent: its role, session and place, the tasks it holds, its unread messages, the skills it worked with.",
  arguments: [AGENT_NAME],
  options: { branch: BRANCH },
  examples: [{ run: "haversack agent show backend", says: "what it is and does" }],
  json: "{name, role?, branch?, client?, session_id?, worktree?, created_at, last_seen_at?, tasks?: [{id, title, status}], unread, skill_history?: [{at, skill, version, because, task_id?}]}.",
};

export function run(call: Call): Promise<ExitCode> {
  return readWork(call, async (work) => {
    const [name = ""] = call.arguments;
    const { agent, view } = await showAgent({ name, branch: branchOf(call) }, work);
    print(call, view, () => formatAgent(call.io, agent, work.by.at));
    return 0;
  });
}

function formatAgent(io: Io, agent: AgentDetails, now: Date): string {
  const { name, role, branch, client, sessionId, worktree, lastSeenAt, holds, unread, skills } = agent;
  return [
    `${paint(io, "bold", `@${name}`)}${role === undefined ? "" : `, ${cleanLine(role)}`}`,
    ...fields(io, [
      ["client", client],
      ["session", sessionId && cleanLine(sessionId)],
      ["seen", lastSeenAt ? formatAgo(lastSeenAt, now) : "never"],
      ["worktree", worktree && cleanLine(worktree)],
      ["branch", branch === undefined ? "all" : cleanLine(branch)],
      ["holds", holds.map(brief).join("; ")],
      ["unread", unread === 0 ? "none" : `${unread}; \`haversack inbox ${name} --keep-unread\` shows them`],
    ]),
    ...(skills.length > 0 ? ["", "Skills"] : []),
    ...skills.map(({ at, skill, hash, because, taskId }) => {
      const about = taskId === undefined ? "" : ` for ${taskId}`;
      return `  ${cleanLine(skill)} ${hash.slice(0, 8)}, ${formatAgo(at, now)}${about} (${cleanLine(because)})`;
    }),
  ].join("\n");
}
