/**
 * Settings on the skills of tasks: lists of lines such as `spec review: subagent-driven-development`. They come before the
 * shipped ones; a line without a skill (`merge:`) switches that one off. A line that says nothing is a problem, and the
 * others still count. Loaded by the hook.
 */
import { cleanLine } from "../base/clean-text.ts";
import { TASK_TYPES, type TaskType } from "../work/task.ts";
import { SKILL_DEFAULTS } from "./skill-defaults.ts";
import { type SkillRules, TASK_KINDS, type TaskKind } from "./which-skill.ts";

export interface SkillSettings {
  /** `wake.skillPatterns`: `words: skill`. */
  skillPatterns?: readonly string[];
  /** `wake.typeSkills`: `type: skill`. */
  typeSkills?: readonly string[];
  /** `wake.crossCutting`: `kind: skill`. Replaces the shipped ones of that kind. */
  crossCutting?: readonly string[];
}

export function readSkillSettings(
  { skillPatterns = [], typeSkills = [], crossCutting = [] }: SkillSettings,
  defaults: SkillRules = SKILL_DEFAULTS,
): { rules: SkillRules; problems: string[] } {
  const problems: string[] = [];
  const read = (setting: string, lines: readonly string[], known?: readonly string[]): [string, string][] =>
    lines.flatMap((line) => {
      const [, left = "", skill = ""] = /^\s*([^:]*[^:\s])\s*:\s*(\S*)\s*$/.exec(line) ?? [];
      const word = known ? left.toLowerCase() : left;
      if (left && (!known || known.includes(word))) return [[word, skill] as [string, string]];
      const wanted = known ? `one of ${known.join(", ")}, then a colon and` : "words, a colon and";
      problems.push(`${setting}: "${cleanLine(line, { maxChars: 80 })}" is not ${wanted} a skill's name; ignored`);
      return [];
    });

  const patterns = read("wake.skillPatterns", skillPatterns).map(([words, skill]) => ({ words, skill, isSet: true }));
  const types = read("wake.typeSkills", typeSkills, TASK_TYPES) as [TaskType, string][];
  const cutting = read("wake.crossCutting", crossCutting, TASK_KINDS) as [TaskKind, string][];
  return {
    rules: {
      ...defaults,
      patterns: [...patterns, ...defaults.patterns],
      typeSkills: { ...defaults.typeSkills, ...Object.fromEntries(types) },
      setTypes: types.map(([type]) => type),
      crossCutting: [
        ...cutting.flatMap(([kind, skill]) => (skill ? { kind, skill } : [])),
        ...defaults.crossCutting.filter(({ kind }) => !cutting.some(([set]) => set === kind)),
      ],
    },
    problems,
  };
}
