/** The shell command of a hook as `init` writes it for Codex: the form and the guards of Claude Code's, with another client's name. */
import { type HookFiles, quoteShell, readHookCommand as readClaudeCommand } from "../claude-code/hook-command.ts";

export function hookCommand({ node, hook }: HookFiles): string {
  const [program, file] = [quoteShell(node), quoteShell(hook)];
  return `[ -x ${program} ] && [ -f ${file} ] || exit 0; exec ${program} ${file} ${CLIENT}`;
}

/** The paths in a command of ours, whatever runtime and version wrote it; undefined for any other command. */
export function readHookCommand(command: unknown): HookFiles | undefined {
  if (typeof command !== "string" || !command.endsWith(` ${CLIENT}`)) return undefined;
  return readClaudeCommand(`${command.slice(0, -CLIENT.length)}claude-code`);
}

const CLIENT = "codex";
