/**
 * The shell command of a hook as `init` writes it. Guarded: a runtime or file that went away is silence, not two error
 * lines at every event. Its form is also how our own entries are told from foreign ones.
 */
export interface HookFiles {
  /** Absolute path of the runtime that ran `init`. */
  node: string;
  /** Absolute path of hook.cjs. */
  hook: string;
}

export function hookCommand({ node, hook }: HookFiles): string {
  const [program, file] = [quoteShell(node), quoteShell(hook)];
  return `[ -x ${program} ] && [ -f ${file} ] || exit 0; exec ${program} ${file} claude-code`;
}

/** The paths in a command of ours, whatever runtime and version wrote it; undefined for any other command. */
export function readHookCommand(command: unknown): HookFiles | undefined {
  if (typeof command !== "string") return undefined;
  const [, program, file] = OWN.exec(command) ?? [];
  if (program === undefined || file === undefined) return undefined;
  const hook = unquoteShell(file);
  return hook.endsWith("hook.cjs") ? { node: unquoteShell(program), hook } : undefined;
}

const WORD = String.raw`(?:'[^']*'|\\')+`;
const OWN = new RegExp(`^\\[ -x (${WORD}) \\] && \\[ -f (${WORD}) \\] \\|\\| exit 0; exec \\1 \\2 claude-code$`);

/** One word for any POSIX shell, whatever it holds. */
export function quoteShell(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

function unquoteShell(word: string): string {
  return word.replace(/'([^']*)'|\\'/g, (_, plain: string | undefined) => plain ?? "'");
}
