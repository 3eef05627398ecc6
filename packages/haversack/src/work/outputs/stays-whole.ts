/** Which outputs of commands are never shortened: what the model reads in order to edit it, and what it has asked to see again. */
import { commandsIn, programsIn } from "../capture/shell-words.ts";

/** The command shows files or changes of files. Its output is replaced only when it repeats what the window was shown before. */
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

/** The command asks Haversack itself: what it prints has its own limits, and a part of a kept output must not be kept again. */
export function asksHaversack(command: string): boolean {
  return commandsIn(command).some(({ words }) => {
    return programsIn(words).some(
      ([program = "", script = ""]) => /haversack/.test(program) || /haversack\S*\.[cm]?js$/.test(script),
    );
  });
}
