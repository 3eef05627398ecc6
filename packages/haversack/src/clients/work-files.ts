/**
 * The `/work` command and its agents, as `init` writes them and as the plugin ships them. Their texts name our tools without a
 * prefix, because the client's prefix differs between the two. In the plugin, agent names are prefixed with the plugin's name.
 * No text contains a path of this machine.
 *
 * Cost: the command nothing until it is typed (`disable-model-invocation`); each agent one line in the client's list of agent
 * types in every session.
 */
export interface WorkFile {
  /** Below the client's folder: `agents/haversack-fixer.md`. */
  path: string;
  text: string;
}

export function workFiles(naming: "project" | "plugin"): WorkFile[] {
  const agent = (role: Role) => (naming === "plugin" ? `haversack:${role}` : `haversack-${role}`);
  return [
    { path: "commands/work.md", text: workCommand(agent, naming === "plugin" ? PLUGIN_LEAVE : "") },
    ...ROLES.map((role) => {
      const name = naming === "plugin" ? role : `haversack-${role}`;
      const { about, body } = AGENTS[role];
      return {
        path: `agents/${name}.md`,
        text: `---\nname: ${name}\ndescription: ${about}\n---\n\n${body}\n\n${TOOLS}\n\n${ending(role)}\n`,
      };
    }),
  ];
}

const ROLES = ["implementer", "spec-reviewer", "quality-reviewer", "fixer"] as const;
type Role = (typeof ROLES)[number];

/**
 * A plugin cannot write permissions. Tools that its command allows are allowed while it runs, also in sub-agents (seen in 2.1.325).
 * If `init` wrote the command, it wrote the permission as well.
 */
const PLUGIN_LEAVE = "allowed-tools: mcp__plugin_haversack_haversack\n";

function workCommand(agent: (role: Role) => string, leave: string): string {
  return `---
description: Work through the task queue with sub-agents
argument-hint: "[-n N|auto] [--continue] [--epic ID | --story ID | --all]"
${leave}disable-model-invocation: true
---

You coordinate work on the task queue. Arguments: $ARGUMENTS

Order, batch size and outcomes come from the \`haversack\` MCP tools (ToolSearch loads them): no planning or code of your own.

1. \`--continue\`: get_session_context first; tasks in progress come before new ones.
2. get_next_batch, with batch_size for \`-n N\` (\`auto\` or nothing: without), epic_id for \`--epic\`, story_id for \`--story\` (\`--all\`: neither). Nothing ready: report and stop.
3. Per task one ${agent("implementer")}, all in one message, run_in_background: false. The prompt is "Task ID", no more: Haversack adds the task.
4. By the last line of each answer:
   - PASS: ${agent("spec-reviewer")} and ${agent("quality-reviewer")}, same prompt, all in one message. Both PASS: update_task_status done.
   - FAIL, of whomever: update_task_status review, then ${agent("fixer")}, then the reviewers again. After the third FAIL of a task: update_task_status blocked, with the reason.
   - BLOCKED: update_task_status blocked, with the reason.
   - claim refused: leave the task to its holder.
   - no verdict: take it from get_task_handoff; none there is a FAIL.
5. Step 2 again.

Read details (get_task_handoff, include_details) only to decide about a FAIL. At the end: one line per task: ID, verdict, why if blocked.
`;
}

/** No verdict and no handoff: a refusal says nothing about the work, and must not hide the FAIL that the next fixer needs. */
const REFUSED = "Refused: stop, change and store nothing, and answer with the refusal alone.";

const AGENTS: Readonly<Record<Role, { about: string; body: string }>> = {
  implementer: {
    about: "Implements one task.",
    body: `You implement the one task whose ID is in the prompt.

1. Claim it: update_task_status in_progress. ${REFUSED}
2. Where work is in progress, continue it. Do what the task says and no more; its files are yours, others are not.
3. Test what you built and run the project's tests.
4. Note decisions that the code does not show with update_task_wip. Files, tests and commits are noted by themselves.
5. update_task_status review, whatever the verdict: only then can another go on.

PASS: every criterion is met and the tests are green. FAIL: you could not get there. BLOCKED: something outside the task is missing.`,
  },
  "spec-reviewer": {
    about: "Reviews a task against its request.",
    body: `You review the task whose ID is in the prompt against its description and criteria. You change no file and no status.

Read the code and the tests, not the report about them. Go through the criteria one by one: met, missing, or more than was asked for; name file and line.

PASS: all are met, nothing was added that nobody asked for. FAIL: anything else. BLOCKED: the task cannot be judged, for instance because its criteria contradict each other.`,
  },
  "quality-reviewer": {
    about: "Reviews a task's code.",
    body: `You review how the task whose ID is in the prompt was built; another agent reviews whether it is what was asked for. You change no file and no status.

Look for bugs, missing error handling, unsafe input, races, tests that cannot fail, needless complexity, breaks with the project's style. Run the tests. Name file, line and what to do, most important first.

PASS: nothing that must change before it is merged. FAIL: something must. BLOCKED: it cannot be judged.`,
  },
  fixer: {
    about: "Fixes what a review found.",
    body: `You fix what the last FAIL of the task whose ID is in the prompt names.

1. Read it: get_task_handoff with status FAIL and include_details.
2. Claim the task: update_task_status in_progress. ${REFUSED}
3. Find the cause, fix it, leave the rest alone. A bug first gets a test that fails.
4. Run the project's tests, then update_task_status review, whatever the verdict.

PASS: every point is fixed and the tests are green. FAIL: one is not. BLOCKED: something outside the task is missing.`,
  },
};

const TOOLS =
  "The task stands below its ID; if it does not, get_task with fields full. The tools named here are those of the `haversack` MCP server; ToolSearch loads them.";

function ending(role: Role): string {
  return `At the end store the details with set_task_handoff (role: ${role}, status, summary, files_changed, full_details): all that others may need goes there, not into the answer. Then answer in at most five lines, the last line alone:
VERDICT: PASS|FAIL|BLOCKED`;
}

/** Replacements of Claude Code's words in another client's texts. */
type Words = readonly (readonly [string, string])[];

function adapted(text: string, words: Words): string {
  return words.reduce((result, [from, to]) => result.replaceAll(from, to), text);
}

function withoutFront(markdown: string, words: Words): { name: string; description: string; body: string } {
  const [, front = "", body = ""] = /^---\n([\s\S]*?)\n---\n\n([\s\S]*)$/.exec(markdown) ?? [];
  const field = (key: string) => new RegExp(`^${key}: (.*)$`, "m").exec(front)?.[1] ?? "";
  return { name: field("name"), description: field("description"), body: adapted(body, words) };
}

/**
 * We find a sub-agent's task by its name if the model encrypts its message (the adapter reads the name), and otherwise by the role's
 * file in the message.
 */
const START = `all at once with spawn_agent, then wait_agent. The message is "Task ID. First read FOLDER/roles/ROLE.md: it says what you do.", no more: Haversack adds the task. FOLDER is the folder of this file. Where there are such fields: fork_turns none, and task_name ROLE_ID in small letters with underscores, such as spec_reviewer_t4829 (a second one: spec_reviewer_2_t4829); by that name it gets its task. close_agent, where there is one, for each that has answered.`;

const CODEX_WORDS: Words = [
  [" (ToolSearch loads them)", " (search for those that are not listed)"],
  ["; ToolSearch loads them", "; search for those that are not listed"],
  ['all in one message, run_in_background: false. The prompt is "Task ID", no more: Haversack adds the task.', START],
  ["same prompt, all in one message.", "likewise."],
  ["haversack-", ""],
];

/**
 * For Codex, below `.codex/`, `$CODEX_HOME` or the plugin's folder. Codex 0.166.0 has no custom commands (files in `prompts/` do nothing).
 * Users call a skill by name: `$work`, or `$haversack:work` from the plugin. The roles are files beside it, which sub-agents read: agent
 * types (`agents/*.toml`) would cost every session their lines, and a plugin cannot contain them.
 */
export function codexWorkFiles(call: "$work" | "$haversack:work"): WorkFile[] {
  const words: Words = [["Arguments: $ARGUMENTS", `Arguments: what the prompt has beside ${call}.`], ...CODEX_WORDS];
  const [command, ...agents] = workFiles("project");
  const { description, body } = withoutFront(command?.text ?? "", words);
  return [
    { path: "skills/work/SKILL.md", text: `---\nname: work\ndescription: ${description}\n---\n\n${body}` },
    // Keeps it out of the listing that every session pays for. Only its name in a prompt loads it.
    { path: "skills/work/agents/openai.yaml", text: "policy:\n  allow_implicit_invocation: false\n" },
    ...agents.map(({ path, text }) => ({
      path: `skills/work/roles/${path.replace("agents/haversack-", "")}`,
      text: adapted(text, words),
    })),
  ];
}

/** Tools need not be loaded first, and the coordinator always waits for sub-agents. */
const LISTED_TOOLS: Words = [
  [" (ToolSearch loads them)", ""],
  ["; ToolSearch loads them", ""],
];

const GEMINI_WORDS: Words = [
  ...LISTED_TOOLS,
  ["$ARGUMENTS", "{{args}}"],
  ["all in one message, run_in_background: false.", "all with invoke_agent in one message."],
];

/** For Gemini CLI, below `.gemini/` or the extension's folder. A command is TOML. Agents need our name in theirs: the client adds no prefix. */
export function geminiWorkFiles(): WorkFile[] {
  const [command, ...agents] = workFiles("project");
  const { description, body } = withoutFront(command?.text ?? "", GEMINI_WORDS);
  // A literal TOML string has no escapes; three quotes in the text would end it.
  const prompt = body.replaceAll("'''", "''");
  const toml = `description = ${JSON.stringify(description)}\nprompt = '''\n${prompt}'''\n`;
  return [
    { path: "commands/work.toml", text: toml },
    ...agents.map(({ path, text }) => ({ path, text: adapted(text, GEMINI_WORDS) })),
  ];
}

const OPENCODE_WORDS: Words = [
  ...LISTED_TOOLS,
  ["all in one message, run_in_background: false.", "all with the task tool in one message."],
];

/** For opencode, as configuration values. */
export function opencodeWork() {
  const [command, ...agents] = workFiles("project").map(({ text }) => withoutFront(text, OPENCODE_WORDS));
  const own = agents.map(({ name, description, body }) => [name, { description, mode: "subagent", prompt: body }]);
  return {
    command: { description: command?.description ?? "", template: command?.body ?? "" },
    agents: Object.fromEntries(own) as Record<string, unknown>,
  };
}

/** What a session is told that has the role alone, without a coordinator. */
export function roleText(role: string): string {
  return (AGENTS as Readonly<Record<string, { body: string } | undefined>>)[role]?.body ?? `Review as ${role}.`;
}
