import { resolve } from "node:path";
import { readJson } from "../../base/json.ts";
import { lintRules } from "../../skills/rules/lint-rules.ts";
import { parseRules } from "../../skills/rules/parse-rules.ts";
import type { Problem } from "../../skills/types.ts";
import { type Call, type CommandSpec, type ExitCode, eachOne, flag, print, several } from "../command.ts";
import { countProblems, formatProblems } from "../problems.ts";
import { readNamedFile } from "../project.ts";
import { openSkills } from "../skills.ts";

export const spec: CommandSpec = {
  about:
    "Reads a skill-rules.json of any shape and says what was understood and what is wrong: unknown keys, invalid or slow patterns, deferred skills without a good short description.",
  arguments: [{ name: "FILE", about: "rules files", required: true, many: true }],
  options: { strict: flag("Exit 1 on warnings too.") },
  examples: [{ run: "haversack rules check .claude/skills/skill-rules.json", says: "exit 1 when there are errors" }],
  json: several("{file, rules, problems: [{level, code, file, where?, text}]}"),
};

export const run = eachOne(checkFile);

function checkFile(call: Call): ExitCode {
  const file = resolve(call.io.cwd, call.arguments[0] ?? "");
  const text = readNamedFile(call, call.arguments[0] ?? "");
  const { rules, problems } = readRules({ file, text }, () =>
    openSkills(call)
      .index.listCards()
      .flatMap(({ id, sourceKind }) => (sourceKind === "rule" ? [] : [id])),
  );
  print(call, { file, rules, problems }, () => {
    const read = `${rules} ${rules === 1 ? "rule" : "rules"} read`;
    return problems.length === 0
      ? `${read}, nothing wrong.`
      : `${formatProblems(call.io, problems)}\n\n${read}: ${countProblems(problems)}.`;
  });
  const bad = problems.some(({ level }) => level === "error" || (call.options["strict"] && level === "warning"));
  return bad ? 1 : 0;
}

function readRules(
  { file, text }: { file: string; text: string },
  knownSkills: () => string[],
): { rules: number; problems: Problem[] } {
  const read = readJson(text);
  if (read.problem !== undefined)
    return { rules: 0, problems: [{ level: "error", code: "rules-no-json", file, text: read.problem }] };
  const { rules, problems } = parseRules(read.value, file);
  return { rules: rules.length, problems: [...problems, ...lintRules(rules, { knownSkills: knownSkills() })] };
}
