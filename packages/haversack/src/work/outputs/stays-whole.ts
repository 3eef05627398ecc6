/** Which outputs of commands are never shortened: files that the model may be about to edit, and answers of Haversack itself. */
import { commandsIn, programsIn } from "../capture/shell-words.ts";

/** The command shows files or diffs. Its output is replaced only if the window already has it. */
export function showsSource(command: string): boolean {
  const commands = commandsIn(command);
  const shown = commands.filter(({ writesTo }) => writesTo === undefined);
  return shown.some(({ words }) => {
    const [program = "", first = ""] = programsIn(words)[0] ?? [];
    return READERS.test(program) || (program === "git" && GIT_READERS.test(first));
  });
}

const READERS = /^(?:cat|bat|batcat|less|more|head|nl|sed|awk|xxd|hexdump|od|jq|yq|diff)$/;
const GIT_READERS = /^(?:diff|show|blame|cat-file)$/;

/** The command is Haversack's own: its output is already limited, and a part of a kept output must not be kept again. */
export function asksHaversack(command: string): boolean {
  return commandsIn(command).some(({ words }) => {
    return programsIn(words).some(
      ([program = "", script = ""]) => /haversack/.test(program) || /haversack\S*\.[cm]?js$/.test(script),
    );
  });
}
