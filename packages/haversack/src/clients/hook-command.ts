/**
 * The shell command of a hook, as `init` writes it. The guard keeps it silent when the runtime or our file is gone. Without it, Claude Code
 * and Codex show two error lines at every event, and Gemini CLI takes exit code 127 for a refusal of the prompt (seen in 0.61.0). We
 * recognize our own entries by this form. It has no dollar sign, because Gemini CLI expands variables in its settings.
 */
export interface HookFiles {
  /** Absolute path of the runtime that ran `init`. */
  node: string;
  /** Absolute path of hook.cjs. */
  hook: string;
}

export function hookCommand(client: string, { node, hook }: HookFiles): string {
  const [program, file] = [node, hook].map(quoteShell);
  return `[ -x ${program} ] && [ -f ${file} ] || exit 0; exec ${program} ${file} ${client}`;
}

/** The paths in one of our commands, from any runtime and version; undefined for any other command. */
export function readHookCommand(client: string, command: unknown): HookFiles | undefined {
  const [, program = "", file = "", name] = (typeof command === "string" && OWN.exec(command)) || [];
  const hook = unquoteShell(file);
  return name === client && hook.endsWith("hook.cjs") ? { node: unquoteShell(program), hook } : undefined;
}

const WORD = String.raw`(?:'[^']*'|\\')+`;
const OWN = new RegExp(`^\\[ -x (${WORD}) \\] && \\[ -f (${WORD}) \\] \\|\\| exit 0; exec \\1 \\2 ([a-z-]+)$`);

/** Quotes any text as one word for a POSIX shell. */
function quoteShell(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

function unquoteShell(word: string): string {
  return word.replace(/'([^']*)'|\\'/g, (_, plain: string | undefined) => plain ?? "'");
}
