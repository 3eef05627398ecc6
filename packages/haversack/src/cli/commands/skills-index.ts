import { type Call, type CommandSpec, type ExitCode, flag, print } from "../command.ts";
import { mentionProblems } from "../problems.ts";
import { openSkills } from "../skills.ts";

export const spec: CommandSpec = {
  about:
    "Reads every skill and rule again and rebuilds the index from scratch. Rarely needed: every command looks for changed files first.",
  options: { changed: flag("Only read what changed, as every command does.") },
  examples: [
    { run: "haversack skill index", says: "rebuild" },
    { run: "haversack skill index --changed", says: "bring it up to date" },
  ],
  json: "{skills, read, problems, ms}.",
};

export function run(call: Call): ExitCode {
  const start = performance.now();
  const { index, report, problems } = openSkills(call, { store: "make", isRebuild: call.options["changed"] !== true });
  const ms = Math.round(performance.now() - start);
  print(call, { skills: index.size, read: report?.read ?? 0, problems: problems.length, ms }, () => {
    return `${count(index.size, "skill")} indexed from ${count(report?.read ?? 0, "file")} in ${ms} ms${mentionProblems(problems.length)}.`;
  });
  return 0;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
