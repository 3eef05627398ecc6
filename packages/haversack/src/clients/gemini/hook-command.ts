/**
 * The shell command of a hook as `init` writes it into Gemini CLI's settings. The guard is no comfort here: a command whose program
 * is gone prints an error and ends with 127, and the client takes any code above 1 with a text for a refusal of the
 * prompt (seen in 0.61.0). Its form is also how our own entries are told from foreign ones.
 *
 * No dollar sign: the client fills in variables in every text of its settings.
 */
import { type HookFiles, quoteShell } from "../claude-code/hook-command.ts";

export function geminiHookCommand({ node, hook }: HookFiles): string {
  const [program, file] = [quoteShell(node), quoteShell(hook)];
  return `[ -x ${program} ] && [ -f ${file} ] || exit 0; exec ${program} ${file} gemini`;
}

/** The paths in a command of ours, whatever runtime and version wrote it; undefined for any other command. */
export function readGeminiHookCommand(command: unknown): HookFiles | undefined {
  if (typeof command !== "string") return undefined;
  const [, program, file] = OWN.exec(command) ?? [];
  if (program === undefined || file === undefined) return undefined;
  const hook = unquoteShell(file);
  return hook.endsWith("hook.cjs") ? { node: unquoteShell(program), hook } : undefined;
}

const WORD = String.raw`(?:'[^']*'|\\')+`;
const OWN = new RegExp(`^\\[ -x (${WORD}) \\] && \\[ -f (${WORD}) \\] \\|\\| exit 0; exec \\1 \\2 gemini$`);

function unquoteShell(word: string): string {
  return word.replace(/'([^']*)'|\\'/g, (_, plain: string | undefined) => plain ?? "'");
}
