/**
 * Everything that rules files and frontmatter say about one skill, in the form that the index stores: keywords by the stem they are looked up
 * with, checked patterns, the rest as one small record. Several rules for one skill are merged: lists are combined, and for single values the
 * nearest file wins.
 */
import { cleanLine } from "../../base/clean-text.ts";
import { ANY_STEM, compileKeyword } from "../matching/keyword-match.ts";
import {
  type CompiledRule,
  type PatternKind,
  type PatternRow,
  type Problem,
  reporter,
  type SkillRule,
  type SkillTriggers,
  type TriggerKind,
  type TriggerRow,
} from "../types.ts";
import { compileGlob } from "./compile-glob.ts";
import { compilePattern } from "./compile-pattern.ts";

export interface CompiledRules {
  /** Absent if no rules file names the skill. */
  rule?: CompiledRule;
  /** `phrase`: the form that `hasKeyword` takes, a tab, and the author's words, which are shown to people. */
  triggers: (Omit<TriggerRow, "skill"> & { stem: string })[];
  patterns: Omit<PatternRow, "skill">[];
  problems: Problem[];
}

/** `rules`: nearest file first. */
export function compileRules(
  rules: readonly SkillRule[],
  frontmatter?: { triggers?: SkillTriggers; file: string },
): CompiledRules {
  const compiled: CompiledRules = { triggers: [], patterns: [], problems: [] };
  for (const rule of rules) compileRule(rule, compiled);
  if (frontmatter?.triggers) {
    const { keywords, patterns } = frontmatter.triggers;
    for (const text of keywords) addKeyword(compiled, "keyword", text, 1);
    for (const pattern of patterns) addPattern(compiled, "intent", pattern, frontmatter.file);
  }
  if (rules.length > 0) compiled.rule = mergeRules(rules);
  return compiled;
}

function compileRule(rule: SkillRule, compiled: CompiledRules): void {
  for (const { text, weight } of rule.keywords) addKeyword(compiled, "keyword", text, weight);
  for (const { text, weight } of rule.synonyms) addKeyword(compiled, "synonym", text, weight);
  for (const text of rule.keywordExclusions) addKeyword(compiled, "exclude", text, 1);
  for (const pattern of rule.intentPatterns) addPattern(compiled, "intent", pattern, rule.file);
  for (const pattern of rule.excludePatterns) addPattern(compiled, "exclude", pattern, rule.file);
  for (const pattern of rule.contentPatterns) addPattern(compiled, "content", pattern, rule.file);
  for (const glob of rule.pathPatterns) addGlob(compiled, "path", glob, rule.file);
  for (const pattern of rule.pathRegexes ?? []) addPattern(compiled, "path", pattern, rule.file);
  for (const glob of rule.pathExclusions) addGlob(compiled, "path-exclude", glob, rule.file);
}

function addKeyword({ triggers }: CompiledRules, kind: TriggerKind, text: string, weight: number): void {
  const phrase = compileKeyword(text);
  if (phrase === "") return;
  const row = { kind, phrase: `${phrase}\t${cleanLine(text, { maxChars: 80 })}`, weight };
  for (const stem of lookupStems(phrase)) triggers.push({ stem, ...row });
}

/** The stems under which a prompt finds a compiled keyword: its first word and its joined form. */
function lookupStems(phrase: string): string[] {
  if (phrase.startsWith("=")) return [ANY_STEM];
  const [words = "", joined] = phrase.split("|");
  const first = words.split(" ")[0] ?? words;
  return joined ? [first, joined] : [first];
}

function addPattern({ patterns, problems }: CompiledRules, kind: PatternKind, pattern: string, file: string): void {
  const result = compilePattern(pattern);
  const { warning } = reporter(file, problems);
  const where = pattern.slice(0, 80);
  if ("problem" in result) warning(result.code, result.problem, where);
  else patterns.push({ kind, source: result.source, flags: result.flags, linear: result.linear });
  if ("problem" in result || result.degree !== null) return;
  const text =
    "the pattern may run forever on some prompts: it runs under a time limit and is disabled once it exceeds it";
  warning("pattern-risky", text, where);
}

function addGlob(
  { patterns, problems }: CompiledRules,
  kind: "path" | "path-exclude",
  glob: string,
  file: string,
): void {
  const result = compileGlob(glob);
  const turned = kind === "path" ? "path-exclude" : "path";
  if ("problem" in result) reporter(file, problems).warning(result.code, result.problem, glob.slice(0, 80));
  else
    patterns.push({ kind: result.negated ? turned : kind, source: result.source, flags: result.flags, linear: true });
}

function mergeRules(rules: readonly SkillRule[]): CompiledRule {
  const first = <T>(pick: (rule: SkillRule) => T | undefined) => rules.map(pick).find((value) => value !== undefined);
  const union = (pick: (rule: SkillRule) => readonly string[]): string[] => [...new Set(rules.flatMap(pick))];
  const priority = first((rule) => rule.priority);
  const domain = first((rule) => rule.domain);
  const threshold = first((rule) => rule.threshold);
  const blockMessage = first((rule) => rule.blockMessage);
  const envOverride = first((rule) => rule.skip.envOverride);
  const brief = first((rule) => (rule.defer?.enabled ? rule.defer.shortDescription : undefined));
  const sessionMarker = first((rule) => rule.skip.sessionMarker);
  return {
    enforcement: rules[0]?.enforcement ?? "suggest",
    ...(priority && { priority }),
    ...(domain && { domain }),
    ...(threshold !== undefined && { threshold }),
    skip: {
      sessionSkillUsed: rules.some((rule) => rule.skip.sessionSkillUsed),
      fileMarkers: union((rule) => rule.skip.fileMarkers),
      ...(envOverride && { envOverride }),
      ...(sessionMarker && { sessionMarker }),
    },
    agentRoles: union((rule) => rule.agentRoles),
    taskTypes: union((rule) => rule.taskTypes),
    alwaysActive: rules.some((rule) => rule.alwaysActive),
    createOnly: rules.some((rule) => rule.createOnly),
    ...(blockMessage && { blockMessage }),
    // The rule whose enforcement is used.
    ...(rules[0]?.isUnaccepted && { isUnaccepted: true }),
    hasTriggers: rules.some(
      (rule) =>
        rule.keywords.length +
          rule.synonyms.length +
          rule.intentPatterns.length +
          rule.pathPatterns.length +
          (rule.pathRegexes?.length ?? 0) +
          rule.contentPatterns.length >
        0,
    ),
    isDeferred: rules.some((rule) => rule.defer?.enabled === true),
    ...(brief && { brief }),
  };
}
