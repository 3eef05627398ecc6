/**
 * Rules that bring text into the model's window unasked. A repository may recommend its skills; that a body is loaded without a
 * request, or that a skill is named with every prompt, is for the user to allow.
 */
import type { SkillRule } from "./types.ts";

/** auto: the rule loads the skill's body. always: it speaks at every prompt. */
export type RuleReach = "auto" | "always";

export interface FarRule {
  /** The rules file. */
  file: string;
  skill: string;
  reach: RuleReach;
}

/** Whose rules count as they are. */
export interface RuleTrust {
  /** Rules files below this folder came with the project. */
  root: string;
  /** What the user accepted of them: see `farRuleKey`. */
  accepted: readonly string[];
}

/** What the user accepts: the same words in the same file. */
export function farRuleKey({ file, skill, reach }: FarRule, root: string): string {
  return `${file.slice(root.length + 1)}#${skill}#${reach}`;
}

/** The far-reaching rules of the project's own files. */
export function farRules(rules: readonly SkillRule[], root: string): FarRule[] {
  return rules
    .filter(({ file }) => file.startsWith(`${root}/`))
    .flatMap(({ file, skill, enforcement, alwaysActive }) => [
      ...(enforcement === "auto" ? [{ file, skill, reach: "auto" as const }] : []),
      ...(alwaysActive ? [{ file, skill, reach: "always" as const }] : []),
    ]);
}

/** The rules with what was not accepted taken back to a recommendation, and what that was. */
export function tameRules(
  rules: readonly SkillRule[],
  { root, accepted }: RuleTrust,
): { rules: SkillRule[]; ignored: FarRule[] } {
  const ignored: FarRule[] = [];
  const tamed = rules.map((rule) => {
    const far = farRules([rule], root).filter((one) => !accepted.includes(farRuleKey(one, root)));
    ignored.push(...far);
    const reaches = far.map(({ reach }) => reach);
    return {
      ...rule,
      ...(reaches.includes("auto") && { enforcement: "suggest" as const }),
      ...(reaches.includes("always") && { alwaysActive: false }),
    };
  });
  return { rules: tamed, ignored };
}

export function whyFar(reach: RuleReach): string {
  return reach === "auto" ? "loads the skill's text unasked" : "names the skill with every prompt";
}
