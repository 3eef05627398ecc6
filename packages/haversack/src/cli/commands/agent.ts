/** Agents by name. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { cleanLine } from "../../base/clean-text.ts";
import type { AgentDetails } from "../../engine/library-types.ts";
import { addAgent, listAgents, removeAgent, showAgent } from "../../engine/wake/agents.ts";
import { PROFILES } from "../../skills/showing/activation.ts";
import { ROLES } from "../../wake/state.ts";
import { type ArgumentSpec, flag, type Io, option } from "../command.ts";
import { brief } from "../print-task.ts";
import { dim, fields, formatAgo, listOutput } from "../print-work.ts";
import { counted, paint } from "../terminal.ts";
import { AGENT_NAME, BRANCH, branchOf } from "../wake.ts";
import { defineWork, inputOf } from "../work.ts";
import { AGENT, listOptions, oneOf } from "../work-options.ts";

const AGENTS: ArgumentSpec = { ...AGENT_NAME, many: true };

export const commands = {
  "agent add": defineWork("save", {
    about:
      "Names an agent and gives it a role, so that you can send it messages and wake it. Sessions started with HAVERSACK_AGENT=NAME are this agent, and tasks claimed with --agent NAME belong to it. Add the same name again to change its fields.",
    arguments: [{ name: "NAME", about: 'letters, digits, ".", "_" and "-", 64 at most', required: true, many: true }],
    options: {
      role: option(
        "ROLE",
        `Required: ${oneOf(ROLES)}, or a word of your own with a template in .haversack/templates/.`,
        { needs: `: ${oneOf(ROLES)}` },
      ),
      branch: option("NAME", "Only on this branch; another agent may have the name elsewhere (default: all branches)."),
      client: option("NAME", "Its coding client (default: the one it is first seen in).", {
        choices: Object.keys(PROFILES).filter((name) => name !== "plain"),
      }),
      worktree: option("FOLDER", "The folder where it works."),
    },
    examples: {
      "haversack agent add june --role orchestrator": "then HAVERSACK_AGENT=june claude",
      "haversack agent add backend --role implementer --branch auth": "one for a branch",
    },
    jsonOfEach: "{name, role, branch?, client?, session_id?, worktree?, created_at, last_seen_at?}",
    several: "lines",
    async run(call, work, name) {
      const { agent, view, hint } = await addAgent({ ...call.options, name }, work);
      const template = `.haversack/templates/${agent.role}.md`;
      const note = `${agent.role} is not a shipped role; did you mean ${hint}? Put the text of your own role into ${template}`;
      const isUnknown = hint !== undefined && !call.json && !existsSync(join(work.paths.root, template));
      return {
        data: view,
        text: `@${agent.name} is ${agent.role}${agent.branch ? ` on ${agent.branch}` : ""}.`,
        notes: isUnknown ? [note] : [],
      };
    },
  }),
  "agent list": defineWork("read", {
    about: "Lists the agents of this project, each with the session it was last seen in.",
    options: listOptions(50),
    examples: { "haversack agent list": "all of them" },
    json: "[{name, role?, branch?, client?, session_id?, worktree?, created_at, last_seen_at?}]. If some are left out, a note says how to get them.",
    async run(call, work) {
      return listOutput(call, {
        nouns: ["agent", "agents"],
        listed: await listAgents(inputOf(call), work),
        row: ({ name, role, branch, client, sessionId, lastSeenAt }) => [
          `@${name}`,
          role && cleanLine(role),
          branch && cleanLine(branch),
          dim(client),
          dim(sessionId && cleanLine(sessionId)),
          dim(lastSeenAt ? `seen ${formatAgo(lastSeenAt, work.by.at)}` : "never seen"),
        ],
        none: "No agents yet; `haversack agent add NAME --role ROLE` names one.",
      });
    },
  }),
  "agent show": defineWork("read", {
    about:
      "Shows agents: role, session and place, the tasks each one holds, its unread messages, and the skills it worked with.",
    arguments: [AGENTS],
    options: { branch: BRANCH },
    examples: { "haversack agent show backend": "one agent" },
    jsonOfEach:
      "{name, role?, branch?, client?, session_id?, worktree?, created_at, last_seen_at?, tasks?: [{id, title, status}], unread, skill_history?: [{at, skill, version, because, task_id?}]}",
    several: "blocks",
    async run(call, work, name) {
      const { agent, view } = await showAgent({ name, branch: branchOf(call) }, work);
      return { data: view, text: formatAgent(call.io, agent, work.by.at) };
    },
  }),
  "agent rm": defineWork("save", {
    about:
      "Removes agents: they get no more messages and are no longer listed. Their messages, handoffs and history stay. An agent comes back with its inbox when you add it again or a session starts under its name. Refused while the agent holds tasks.",
    arguments: [AGENTS],
    options: {
      force: flag("Remove them even if they hold tasks; the tasks go back to the queue with a note."),
      branch: BRANCH,
      agent: { ...AGENT, about: "Who removes them (default: HAVERSACK_AGENT, else you)." },
    },
    examples: {
      "haversack agent rm june": "refused while june holds tasks",
      "haversack agent rm june --force": "june's tasks go back to the queue",
    },
    jsonOfEach: "{name, removed: true, released?: [task ids], unread?}",
    several: "lines",
    async run(call, work, name) {
      const { force: isForced = false } = call.options;
      const outcome = await removeAgent({ name, branch: branchOf(call), isForced }, work);
      if (outcome.kind === "refused") return outcome;
      const { agent, released, unread, view } = outcome;
      const lines = [
        `Removed @${agent.name}.`,
        ...(released.length > 0 ? [`Back in the queue: ${released.join(", ")}.`] : []),
        ...(unread > 0 ? [`${counted(unread, "unread message stays", "unread messages stay")} stored.`] : []),
      ];
      return { data: view, text: lines.join("\n") };
    },
  }),
};

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
      ["unread", unread === 0 ? "none" : `${unread}; \`haversack agent inbox ${name} --keep-unread\` shows them`],
    ]),
    ...(skills.length > 0 ? ["", "Skills"] : []),
    ...skills.map(({ at, skill, hash, because, taskId }) => {
      const about = taskId === undefined ? "" : ` for ${taskId}`;
      return `  ${cleanLine(skill)} ${hash.slice(0, 8)}, ${formatAgo(at, now)}${about} (${cleanLine(because)})`;
    }),
  ].join("\n");
}
