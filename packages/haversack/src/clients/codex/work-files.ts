/**
 * The workflow of `/work` for Codex, made from the texts that Claude Code gets. Codex 0.166.0 has no commands of its own making (files in
 * `prompts/` do nothing); what a person can call by name is a skill: `$work`, or `$haversack:work` from the plugin. It stands in no
 * listing. The roles are files beside it, which sub-agents read: agent types (`agents/*.toml`) would cost every session their
 * lines, and a plugin can bring none.
 */
import { type WorkFile, workFiles } from "../claude-code/work-files.ts";

/** Below `.codex/`, `$CODEX_HOME` or the plugin's folder. */
export function codexWorkFiles(call: "$work" | "$haversack:work"): WorkFile[] {
  const [command, ...agents] = workFiles("project");
  return [
    { path: "skills/work/SKILL.md", text: skillText(command?.text ?? "", call) },
    // Out of the listing that every session pays for: only its name in a prompt brings it.
    { path: "skills/work/agents/openai.yaml", text: "policy:\n  allow_implicit_invocation: false\n" },
    ...agents.map(({ path, text }) => ({
      path: `skills/work/roles/${path.replace("agents/haversack-", "")}`,
      text: adapted(text, call),
    })),
  ];
}

function skillText(markdown: string, call: string): string {
  const [, front = "", body = ""] = /^---\n([\s\S]*?)\n---\n\n([\s\S]*)$/.exec(markdown) ?? [];
  const description = /^description: (.*)$/m.exec(front)?.[1] ?? "";
  return `---\nname: work\ndescription: ${description}\n---\n\n${adapted(body, call)}`;
}

/**
 * By the name of a sub-agent its task is known to us with models that encrypt what it is told (events.ts reads it), and by the role's
 * file in the message with the others.
 */
const START = `all at once with spawn_agent, then wait_agent. The message is "Task ID. First read FOLDER/roles/ROLE.md: it says what you do.", no more: Haversack adds the task. FOLDER is the folder of this file. Where there are such fields: fork_turns none, and task_name ROLE_ID in small letters with underscores, such as spec_reviewer_t4829 (a second one: spec_reviewer_2_t4829); by that name it gets its task. close_agent, where there is one, for each that has answered.`;

const REPLACED: readonly (readonly [string, string])[] = [
  [" (ToolSearch loads them)", " (search for those that are not listed)"],
  ["; ToolSearch loads them", "; search for those that are not listed"],
  ['all in one message, run_in_background: false. The prompt is "Task ID", no more: Haversack adds the task.', START],
  ["same prompt, all in one message.", "likewise."],
  ["haversack-", ""],
];

function adapted(text: string, call: string): string {
  const all = [["Arguments: $ARGUMENTS", `Arguments: what the prompt has beside ${call}.`] as const, ...REPLACED];
  return all.reduce((result, [from, to]) => result.replaceAll(from, to), text);
}
