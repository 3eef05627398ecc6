/** Agents by name. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { cleanLine } from "../../base/clean-text.ts";
import { HaversackError } from "../../base/errors.ts";
import {
  type AgentDetails,
  addAgent,
  type ListAgentsInput,
  listAgents,
  removeAgent,
  showAgent,
} from "../../engine/wake/agents.ts";
import { PROFILES } from "../../skills/showing/activation.ts";
import { ROLES } from "../../wake/state.ts";
import { type Command, type Io, print } from "../command.ts";
import { brief } from "../print-task.ts";
import { fields, formatAgo, printList } from "../print-work.ts";
import { paint } from "../terminal.ts";
import { AGENT_NAME, BRANCH, branchOf, noteLines } from "../wake.ts";
import { inputOf, readWork, refuse, withWork } from "../work.ts";
import { AGENT, listOptions, oneOf } from "../work-options.ts";

type Input = Parameters<typeof addAgent>[0];

export const agentAdd: Command = {
  spec: {
    about:
      "Names an agent, so that it can be sent messages and woken, and gives it a role. Sessions that are started with HAVERSACK_AGENT=NAME are that agent, and what is claimed with --agent NAME is its. The same name again changes what is given.",
    arguments: [{ name: "NAME", about: 'letters, digits, ".", "_" and "-", 64 at most', required: true }],
    options: {
      role: {
        type: "string",
        value: "ROLE",
        about: `Required: ${oneOf(ROLES)}, or a word of your own with a template in .haversack/templates/.`,
      },
      branch: {
        type: "string",
        value: "NAME",
        about: "Only on this branch; another may have the name (default: all).",
      },
      client: {
        type: "string",
        value: "NAME",
        choices: Object.keys(PROFILES).filter((name) => name !== "plain"),
        about: "The coding client that it is (default: the one it is first seen in).",
      },
      worktree: { type: "string", value: "FOLDER", about: "Where it works." },
    },
    examples: [
      { run: "haversack agent add june --role orchestrator", says: "then HAVERSACK_AGENT=june claude" },
      { run: "haversack agent add backend --role implementer --branch auth", says: "one for a branch" },
    ],
    json: "{name, role, branch?, client?, session_id?, worktree?, created_at, last_seen_at?}.",
  },
  run(call) {
    return withWork(call, async (work) => {
      const [name = ""] = call.arguments;
      const { role, ...options } = inputOf<Input>(call, {
        role: "role",
        branch: "branch",
        client: "client",
        worktree: "worktree",
      });
      if (role === undefined) throw new HaversackError("usage", `agent add needs --role: ${oneOf(ROLES)}`);
      const { agent, view, hint } = await addAgent({ name, role, ...options }, work);
      print(call, view, () => `@${agent.name} is ${agent.role}${agent.branch ? ` on ${agent.branch}` : ""}.`);
      const template = `.haversack/templates/${agent.role}.md`;
      if (hint !== undefined && !call.json && !existsSync(join(work.paths.root, template))) {
        noteLines(call, [
          `${agent.role} is no shipped role; did you mean ${hint}? A role of yours has its text in ${template}`,
        ]);
      }
      return 0;
    });
  },
};

export const agentList: Command = {
  spec: {
    about: "Lists the agents of this project by name, with the session that each was seen in last.",
    options: listOptions(50),
    examples: [{ run: "haversack agent list", says: "who there is" }],
    json: "[{name, role?, branch?, client?, session_id?, worktree?, created_at, last_seen_at?}]. What was left out is said on standard error.",
  },
  run(call) {
    return readWork(call, async (work) => {
      const input = inputOf<ListAgentsInput>(call, { limit: "limit", offset: "offset", maxTokens: "max-tokens" });
      printList(call, {
        command: "agent list",
        nouns: ["agent", "agents"],
        listed: await listAgents(input, work),
        row: ({ name, role, branch, client, sessionId, lastSeenAt }) => [
          { text: `@${name}` },
          { text: role === undefined ? "" : cleanLine(role) },
          { text: branch === undefined ? "" : cleanLine(branch) },
          { text: client ?? "", style: "dim" },
          { text: sessionId === undefined ? "" : cleanLine(sessionId), style: "dim" },
          { text: lastSeenAt ? `seen ${formatAgo(lastSeenAt, work.by.at)}` : "never seen", style: "dim" },
        ],
        none: "No agents yet; `haversack agent add NAME --role ROLE` names one.",
      });
      return 0;
    });
  },
};

export const agentShow: Command = {
  spec: {
    about:
      "Shows an agent: its role, session and place, the tasks it holds, its unread messages, the skills it worked with.",
    arguments: [AGENT_NAME],
    options: { branch: BRANCH },
    examples: [{ run: "haversack agent show backend", says: "what it is and does" }],
    json: "{name, role?, branch?, client?, session_id?, worktree?, created_at, last_seen_at?, tasks?: [{id, title, status}], unread, skill_history?: [{at, skill, version, because, task_id?}]}.",
  },
  run(call) {
    return readWork(call, async (work) => {
      const [name = ""] = call.arguments;
      const { agent, view } = await showAgent({ name, branch: branchOf(call) }, work);
      print(call, view, () => formatAgent(call.io, agent, work.by.at));
      return 0;
    });
  },
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
      ["unread", unread === 0 ? "none" : `${unread}; \`haversack inbox ${name} --keep-unread\` shows them`],
    ]),
    ...(skills.length > 0 ? ["", "Skills"] : []),
    ...skills.map(({ at, skill, hash, because, taskId }) => {
      const about = taskId === undefined ? "" : ` for ${taskId}`;
      return `  ${cleanLine(skill)} ${hash.slice(0, 8)}, ${formatAgo(at, now)}${about} (${cleanLine(because)})`;
    }),
  ].join("\n");
}

export const agentRm: Command = {
  spec: {
    about:
      "Removes an agent's name: it gets no more messages and is no longer listed. Its messages, handoffs and history stay, and it is back, with its inbox, when it is added again or a session starts under its name. Refused while it holds tasks.",
    arguments: [AGENT_NAME],
    options: {
      force: { type: "boolean", about: "Remove it even if it holds tasks; they go back to the queue with a note." },
      branch: BRANCH,
      agent: { ...AGENT, about: "Who removes it (default: HAVERSACK_AGENT, else you)." },
    },
    examples: [
      { run: "haversack agent rm june", says: "refused while june holds tasks" },
      { run: "haversack agent rm june --force", says: "june's tasks go back to the queue" },
    ],
    json: "{name, removed: true, released?: [task ids], unread?}.",
  },
  run(call) {
    return withWork(call, async (work) => {
      const [name = ""] = call.arguments;
      const isForced = call.options["force"] === true;
      const outcome = await removeAgent({ name, branch: branchOf(call), isForced }, work);
      if (outcome.kind === "refused") return refuse(call, outcome);
      const { agent, released, unread } = outcome;
      print(call, outcome.view, () =>
        [
          `Removed @${agent.name}.`,
          ...(released.length > 0 ? [`Back in the queue: ${released.join(", ")}.`] : []),
          ...(unread > 0 ? [`${unread} unread ${unread === 1 ? "message stays" : "messages stay"} stored.`] : []),
        ].join("\n"),
      );
      return 0;
    });
  },
};
