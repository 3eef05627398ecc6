/**
 * `/work` and its agents for Gemini CLI, made from the texts that Claude Code gets: a command is TOML here, arguments are `{{args}}`,
 * tools need not be loaded first, and sub-agents are started with `invoke_agent` and always waited for.
 */
import { type WorkFile, workFiles } from "../claude-code/work-files.ts";

/** Below `.gemini/`, or below the extension's folder. Agents have our name in both: the client puts none before them. */
export function geminiWorkFiles(): WorkFile[] {
  return workFiles("project").map(({ path, text }) =>
    path === "commands/work.md"
      ? { path: "commands/work.toml", text: commandToml(text) }
      : { path, text: adapted(text) },
  );
}

function commandToml(markdown: string): string {
  const [, front = "", body = ""] = /^---\n([\s\S]*?)\n---\n\n([\s\S]*)$/.exec(markdown) ?? [];
  const description = /^description: (.*)$/m.exec(front)?.[1] ?? "";
  // A literal string of TOML has no escapes; three quotes in the text would end it.
  const prompt = adapted(body).replaceAll("'''", "''");
  return `description = ${JSON.stringify(description)}\nprompt = '''\n${prompt}'''\n`;
}

const REPLACED: readonly (readonly [string, string])[] = [
  ["$ARGUMENTS", "{{args}}"],
  [" (ToolSearch loads them)", ""],
  ["; ToolSearch loads them", ""],
  ["all in one message, run_in_background: false.", "all with invoke_agent in one message."],
];

function adapted(text: string): string {
  return REPLACED.reduce((result, [from, to]) => result.replaceAll(from, to), text);
}
