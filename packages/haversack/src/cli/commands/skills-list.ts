import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { mentionProblems } from "../problems.ts";
import { openSkills } from "../skills.ts";
import { paint } from "../terminal.ts";

export const spec: CommandSpec = {
  about:
    "Lists the skills found for this project, where each comes from, and what it is for. Of several with one name the nearest counts.",
  options: {
    source: { type: "string", value: "TEXT", about: "Only sources whose label contains this." },
  },
  examples: [
    { run: "haversack skills list", says: "all of them" },
    { run: "haversack skills list --source plugin --json", says: "those of plugins, for a script" },
  ],
  json: "{skills: [{id, name, description, brief, path, source, domain?, deferred, modelInvocable, requires}], problems}: problems counts what was wrong while reading; `skills check` lints more.",
};

export function run(call: Call): ExitCode {
  const { index, problems } = openSkills(call);
  const { source } = call.options as { source?: string };
  const skills = index
    .listCards()
    .filter(({ sourceLabel }) => !source || sourceLabel.includes(source))
    .map(({ id, name, description, brief, path, sourceLabel, domain, rule, modelInvocable, requires }) => ({
      id,
      name,
      description,
      brief,
      path,
      source: sourceLabel,
      ...(domain && { domain }),
      deferred: rule?.isDeferred ?? false,
      modelInvocable,
      requires,
    }));
  print(call, { skills, problems: problems.length }, () => {
    const links = problems.filter(({ code }) => code.startsWith("link-"));
    const notFollowed = links.map(({ file, text }) => paint(call.io, "yellow", `${file}: ${text}`));
    if (skills.length === 0) {
      const none =
        "No skills found. They live in .claude/skills, .agents/skills or .haversack/skills; `haversack skills new NAME` makes one.";
      return [...notFollowed, none].join("\n");
    }
    const width = Math.min(40, Math.max(...skills.map(({ id }) => id.length)));
    const lines = skills.map(
      ({ id, brief, source: label }) => `${id.padEnd(width)}  ${brief} ${paint(call.io, "dim", `[${label}]`)}`,
    );
    const count = `${skills.length} ${skills.length === 1 ? "skill" : "skills"}`;
    return [...lines, "", ...notFollowed, `${count}${mentionProblems(problems.length)}.`].join("\n");
  });
  return 0;
}
