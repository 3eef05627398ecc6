/** `skill index`, in a file of its own: the clients' packages contain it (scripts/copy-program.mjs). */
import { defineCommand, flag } from "../command.ts";
import { mentionProblems } from "../problems.ts";
import { openSkills } from "../skills.ts";
import { counted } from "../terminal.ts";

export const command = defineCommand({
  about:
    "Reads every skill and rule again and rebuilds the index from scratch. Rarely needed: every command looks for changed files first.",
  options: { changed: flag("Only read what changed, as every command does.") },
  examples: {
    "haversack skill index": "rebuild",
    "haversack skill index --changed": "bring it up to date",
  },
  json: "{skills, read, problems, ms}.",
  run(call) {
    const start = performance.now();
    const { index, report, problems } = openSkills(call, { store: "make", isRebuild: !call.options.changed });
    const ms = Math.round(performance.now() - start);
    const read = report?.read ?? 0;
    const done = `${counted(index.size, "skill")} indexed from ${counted(read, "file")} in ${ms} ms`;
    const text = `${done}${mentionProblems(problems.length)}.`;
    return { data: { skills: index.size, read, problems: problems.length, ms }, text };
  },
});
