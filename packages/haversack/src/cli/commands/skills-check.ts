import { lintSkills } from "../../engine/lint-skills.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { countProblems, formatProblems } from "../problems.ts";
import { openSkills } from "../skills.ts";

export const spec: CommandSpec = {
  about:
    "Holds every skill against the open specification and our own advice: names, descriptions, lengths, requirements, duplicates. Skills with problems are loaded all the same.",
  arguments: [{ name: "NAME", about: "only these skills", many: true }],
  options: { strict: { type: "boolean", about: "Exit 1 on warnings too." } },
  examples: [
    { run: "haversack skills check", says: "exit 1 when there are errors" },
    { run: "haversack skills check api-errors --strict", says: "one skill, in CI" },
  ],
  json: "{skills, problems: [{level: error|warning|suggestion, code, file, where?, text}]}.",
};

export function run(call: Call): ExitCode {
  const open = openSkills(call);
  const { skills, problems } = lintSkills(open, { names: call.arguments, env: call.io.env });
  print(call, { skills, problems }, () => {
    const checked = `${skills} ${skills === 1 ? "skill" : "skills"} checked`;
    return problems.length === 0
      ? `${checked}, nothing wrong.`
      : `${formatProblems(call.io, problems)}\n\n${checked}: ${countProblems(problems)}.`;
  });
  const bad = problems.some(({ level }) => level === "error" || (call.options["strict"] && level === "warning"));
  return bad ? 1 : 0;
}
