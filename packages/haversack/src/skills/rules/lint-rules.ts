/** Problems of a file's rules beyond their shape, for `rules check`. Strict, while loading is lenient. */
import { nearest } from "../../base/nearest.ts";
import { compileKeyword } from "../matching/keyword-match.ts";
import { lintShortDescription } from "../short-description.ts";
import { type Problem, type Report, reporter, type SkillRule } from "../types.ts";
import { compileGlob } from "./compile-glob.ts";
import { compilePattern } from "./compile-pattern.ts";
import { ruleTargets } from "./rule-reach.ts";

/** With `knownSkills` (IDs), rules for missing skills are reported. */
export function lintRules(
  rules: readonly SkillRule[],
  { knownSkills }: { knownSkills?: readonly string[] } = {},
): Problem[] {
  const targets = knownSkills && ruleTargets(knownSkills);
  const seen = new Map<string, string>();
  return rules.flatMap((rule) => {
    const problems: Problem[] = [];
    const whereOf = (key?: string) => (key === undefined ? rule.skill : `${rule.skill}.${key}`);
    const report = reporter(rule.file, problems, { whereOf });
    problems.push(...lintDefer(rule, report));
    for (const lint of [lintTriggers, lintPatterns, lintPaths, lintWords]) lint(rule, report);
    const before = seen.get(rule.skill);
    if (before !== undefined) {
      report.warning(
        "rule-duplicate",
        before === rule.file
          ? "the file has two rules for this skill"
          : `there is another rule for this skill in ${before}`,
      );
    }
    seen.set(rule.skill, rule.file);
    if (targets && targets.find(rule.skill) === undefined) {
      const near = nearest(rule.skill, knownSkills);
      const text = `there is no skill of this name${near.length > 0 ? `; near: ${near.join(", ")}` : ""}`;
      report.warning("rule-skill-unknown", text);
    }
    return problems;
  });
}

function lintDefer(rule: SkillRule, report: Report): Problem[] {
  const short = rule.defer?.shortDescription;
  if (rule.defer?.enabled && short === undefined) {
    const text = "the skill is deferred, so it needs a short_description: 20 to 50 characters that say what it does";
    report.error("short-description-missing", text, "defer_loading");
  }
  if (short === undefined) return [];
  return lintShortDescription(short, { file: rule.file, where: `${rule.skill}.defer_loading.short_description` });
}

function lintTriggers(rule: SkillRule, report: Report): void {
  const { keywords, synonyms, intentPatterns, pathPatterns, pathRegexes, contentPatterns } = rule;
  const count = [keywords, synonyms, intentPatterns, pathPatterns, pathRegexes ?? [], contentPatterns].reduce(
    (sum, list) => sum + list.length,
    0,
  );
  if (count === 0 && !rule.alwaysActive)
    report.warning("rule-without-triggers", "the rule has no triggers, so it can never apply");
}

function lintPatterns(rule: SkillRule, report: Report): void {
  for (const key of ["intentPatterns", "excludePatterns", "contentPatterns", "pathRegexes"] as const) {
    for (const pattern of rule[key] ?? []) {
      const compiled = compilePattern(pattern);
      if ("problem" in compiled) {
        const level = compiled.code === "pattern-invalid" ? "error" : "warning";
        report[level](compiled.code, `${quoted(pattern)}: ${compiled.problem}`, key);
      } else if (compiled.degree === null) {
        const text = `${quoted(pattern)} can take very long on some texts (nested or overlapping repetition, look-around or a back-reference): it runs under a time limit, and may be stopped`;
        report.warning("pattern-risky", text, key);
      } else if (compiled.degree > 4) {
        const text = `${quoted(pattern)} has many open repetitions in a row: long prompts make it slow`;
        report.suggestion("pattern-slow", text, key);
      }
    }
  }
}

function lintPaths(rule: SkillRule, report: Report): void {
  for (const key of ["pathPatterns", "pathExclusions"] as const) {
    for (const glob of rule[key]) {
      const compiled = compileGlob(glob);
      if ("problem" in compiled) report.error(compiled.code, `${quoted(glob)}: ${compiled.problem}`, key);
    }
  }
}

function lintWords(rule: SkillRule, report: Report): void {
  const seen = new Map<string, string>();
  for (const key of ["keywords", "synonyms"] as const) {
    for (const { text } of rule[key]) {
      const compiled = compileKeyword(text);
      const before = seen.get(compiled);
      if (before !== undefined)
        report.suggestion("keyword-duplicate", `${quoted(text)} matches the same as ${quoted(before)}`, key);
      else seen.set(compiled, text);
    }
  }
  for (const key of ["intentPatterns", "pathPatterns", "contentPatterns"] as const) {
    const twice = rule[key].find((text, index) => rule[key].indexOf(text) !== index);
    if (twice !== undefined) report.suggestion("pattern-duplicate", `${quoted(twice)} is listed twice`, key);
  }
}

function quoted(text: string): string {
  return `“${text.length > 80 ? `${text.slice(0, 77)}...` : text}”`;
}
