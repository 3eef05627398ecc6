/** Agents by name. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { cleanLine } from "../../base/clean-text.ts";
import { HaversackError } from "../../base/errors.ts";
import type { AgentDetails } from "../../engine/library-types.ts";
import { addAgent, type ListAgentsInput, listAgents, removeAgent, showAgent } from "../../engine/wake/agents.ts";
import { PROFILES } from "../../skills/showing/activation.ts";
import { ROLES } from "../../wake/state.ts";
import {
  type ArgumentSpec,
  type Command,
  type ExitCode,
  eachOne,
  eachTask,
  flag,
  type Io,
  option,
  print,
  sayNote,
  several,
} from "../command.ts";
import { brief } from "../print-task.ts";
import { fields, formatAgo, printList } from "../print-work.ts";
import { paint } from "../terminal.ts";
import { AGENT_NAME, BRANCH, branchOf } from "../wake.ts";
import { inputOf, LIST_INPUT, openWork } from "../work.ts";
import { AGENT, listOptions, oneOf } from "../work-options.ts";

const AGENTS: ArgumentSpec = { ...AGENT_NAME, many: true };

type Input = Parameters<typeof addAgent>[0];

const agentAdd: Command = {
  spec: {
    about:
      "Names an agent and gives it a role, so that you can send it messages and wake it. Sessions started with HAVERSACK_AGENT=NAME are this agent, and tasks claimed with --agent NAME belong to it. Add the same name again to change its fields.",
    arguments: [{ name: "NAME", about: 'letters, digits, ".", "_" and "-", 64 at most', required: true, many: true }],
    options: {
      role: option(
        "ROLE",
        `Required: ${oneOf(ROLES)}, or a word of your own with a template in .haversack/templates/.`,
      ),
      branch: option("NAME", "Only on this branch; another agent may have the name elsewhere (default: all branches)."),
      client: option("NAME", "Its coding client (default: the one it is first seen in).", {
        choices: Object.keys(PROFILES).filter((name) => name !== "plain"),
      }),
      worktree: option("FOLDER", "The folder where it works."),
    },
    examples: [
      { run: "haversack agent add june --role orchestrator", says: "then HAVERSACK_AGENT=june claude" },
      { run: "haversack agent add backend --role implementer --branch auth", says: "one for a branch" },
    ],
    json: several("{name, role, branch?, client?, session_id?, worktree?, created_at, last_seen_at?}"),
  },
  run: eachOne(
    async (call): Promise<ExitCode> => {
      const work = await openWork(call, "save");
      const [name = ""] = call.arguments;
      const { role, ...options } = inputOf<Input>(call, "role", "branch", "client", "worktree");
      if (role === undefined) throw new HaversackError("usage", `agent add needs --role: ${oneOf(ROLES)}`);
      const { agent, view, hint } = await addAgent({ name, role, ...options }, work);
      print(call, view, () => `@${agent.name} is ${agent.role}${agent.branch ? ` on ${agent.branch}` : ""}.`);
      const template = `.haversack/templates/${agent.role}.md`;
      if (hint !== undefined && !call.json && !existsSync(join(work.paths.root, template))) {
        sayNote(
          call.io,
          `${agent.role} is not a shipped role; did you mean ${hint}? Put the text of your own role into ${template}`,
        );
      }
      return 0;
    },
    { isBlock: false },
  ),
};

const agentList: Command = {
  spec: {
    about: "Lists the agents of this project, each with the session it was last seen in.",
    options: listOptions(50),
    examples: [{ run: "haversack agent list", says: "all of them" }],
    json: "[{name, role?, branch?, client?, session_id?, worktree?, created_at, last_seen_at?}]. If some are left out, a note says how to get them.",
  },
  async run(call): Promise<ExitCode> {
    const work = await openWork(call, "read");
    const input = inputOf<ListAgentsInput>(call, ...LIST_INPUT);
    printList(call, {
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
  },
};

const agentShow: Command = {
  spec: {
    about:
      "Shows agents: role, session and place, the tasks each one holds, its unread messages, and the skills it worked with.",
    arguments: [AGENTS],
    options: { branch: BRANCH },
    examples: [{ run: "haversack agent show backend", says: "one agent" }],
    json: several(
      "{name, role?, branch?, client?, session_id?, worktree?, created_at, last_seen_at?, tasks?: [{id, title, status}], unread, skill_history?: [{at, skill, version, because, task_id?}]}",
    ),
  },
  async run(call) {
    const work = await openWork(call, "read");
    const show = async (name: string) => {
      const { agent, view } = await showAgent({ name, branch: branchOf(call) }, work);
      return { kind: "done" as const, view, text: formatAgent(call.io, agent, work.by.at) };
    };
    return eachTask(call, call.arguments, show, { isBlock: true });
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
      ["unread", unread === 0 ? "none" : `${unread}; \`haversack agent inbox ${name} --keep-unread\` shows them`],
    ]),
    ...(skills.length > 0 ? ["", "Skills"] : []),
    ...skills.map(({ at, skill, hash, because, taskId }) => {
      const about = taskId === undefined ? "" : ` for ${taskId}`;
      return `  ${cleanLine(skill)} ${hash.slice(0, 8)}, ${formatAgo(at, now)}${about} (${cleanLine(because)})`;
    }),
  ].join("\n");
}

const agentRm: Command = {
  spec: {
    about:
      "Removes agents: they get no more messages and are no longer listed. Their messages, handoffs and history stay. An agent comes back with its inbox when you add it again or a session starts under its name. Refused while the agent holds tasks.",
    arguments: [AGENTS],
    options: {
      force: flag("Remove them even if they hold tasks; the tasks go back to the queue with a note."),
      branch: BRANCH,
      agent: { ...AGENT, about: "Who removes them (default: HAVERSACK_AGENT, else you)." },
    },
    examples: [
      { run: "haversack agent rm june", says: "refused while june holds tasks" },
      { run: "haversack agent rm june --force", says: "june's tasks go back to the queue" },
    ],
    json: several("{name, removed: true, released?: [task ids], unread?}"),
  },
  async run(call) {
    const work = await openWork(call, "save");
    const isForced = call.options["force"] === true;
    return eachTask(call, call.arguments, async (name) => {
      const outcome = await removeAgent({ name, branch: branchOf(call), isForced }, work);
      if (outcome.kind === "refused") return outcome;
      const { agent, released, unread, view } = outcome;
      const lines = [
        `Removed @${agent.name}.`,
        ...(released.length > 0 ? [`Back in the queue: ${released.join(", ")}.`] : []),
        ...(unread > 0 ? [`${unread} unread ${unread === 1 ? "message stays" : "messages stay"} stored.`] : []),
      ];
      return { kind: "done", view, text: lines.join("\n") };
    });
  },
};

export const commands: Readonly<Record<string, Command>> = {
  "agent add": agentAdd,
  "agent list": agentList,
  "agent show": agentShow,
  "agent rm": agentRm,
};
