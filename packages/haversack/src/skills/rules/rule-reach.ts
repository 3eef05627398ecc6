/**
 * Rules that put text into the model's window unasked. A repository may recommend its skills. Loading a body without a request, naming a skill
 * with every prompt, or refusing an edit needs the user's permission.
 *
 * The user accepts a rule together with the text that it loads. The record holds a hash of both, so a pull that changes the keywords or the skill
 * needs acceptance again. So do the user's own edits, because nothing here can tell who changed a file.
 */
import { createHash } from "node:crypto";
import type { SkillRule } from "../types.ts";

/**
 * auto: the rule loads the skill's body. always: it adds text to every prompt. enforced: with `skills.enforce` it loads the body or refuses edits.
 */
export type RuleReach = "auto" | "always" | "enforced";

export interface FarRule {
  file: string;
  /** The skill's name as written in the rule. */
  skill: string;
  reach: RuleReach;
  rule: SkillRule;
  /** The installed skill; undefined if there is none of this name. */
  target: RuleSkill | undefined;
  /** Recorded when the user accepts the rule. */
  key: string;
}

/** An installed skill; the nearest one if several share a name. */
export interface RuleSkill {
  id: string;
  path: string;
  /** Hash of the whole file. */
  hash: string;
  requires: readonly string[];
}

/** Decides whose rules apply as written. */
export interface RuleTrust {
  /** Rules files and skills below this folder came with the project. */
  root: string;
  /** Those that the user accepted: keys of `FarRule`. */
  accepted: readonly string[];
}

export type RulesById = Map<string, SkillRule[]>;

export function reachesOf({ enforcement, alwaysActive }: SkillRule): RuleReach[] {
  return [
    ...(enforcement === "auto" ? (["auto"] as const) : []),
    ...(enforcement === "block" || enforcement === "require" ? (["enforced"] as const) : []),
    ...(alwaysActive ? (["always"] as const) : []),
  ];
}

/** The far-reaching rules of the project's own files, and of other files if they load a skill of the project. */
export function farRules(rules: readonly SkillRule[], skills: readonly RuleSkill[], root: string): FarRule[] {
  const installed = new Map(skills.map((skill) => [skill.id, skill]));
  return [...rulesById(rules, installed.keys())].flatMap(([id, own]) => {
    const target = installed.get(id);
    const isForeignText = target !== undefined && isBelow(target.path, root);
    const far = own.filter((rule) => (isForeignText || isBelow(rule.file, root)) && reachesOf(rule).length > 0);
    if (far.length === 0) return [];
    const content = contentHash(own, target, { installed, root });
    return far.flatMap((rule) =>
      reachesOf(rule).map((reach): FarRule => {
        const { file, skill } = rule;
        return { file, skill, reach, rule, target, key: `${farRuleName({ file, skill, reach }, root)}#${content}` };
      }),
    );
  });
}

/** The part of a key that stays the same when the rule or its skill changes. */
export function farRuleName({ file, skill, reach }: Pick<FarRule, "file" | "skill" | "reach">, root: string): string {
  return `${isBelow(file, root) ? file.slice(root.length + 1) : file}#${skill}#${reach}`;
}

/** Reduces rules that are not accepted to a recommendation or a warning, and returns what was reduced. */
export function tameRules(
  rules: readonly SkillRule[],
  skills: readonly RuleSkill[],
  { root, accepted }: RuleTrust,
): { rules: RulesById; ignored: FarRule[] } {
  const ignored = farRules(rules, skills, root).filter(({ key }) => !accepted.includes(key));
  const reaches = Map.groupBy(ignored, ({ rule }) => rule);
  const tamed = rules.map((rule) => {
    const far = reaches.get(rule)?.map(({ reach }) => reach);
    if (!far) return rule;
    return {
      ...rule,
      ...(far.includes("auto") && { enforcement: "suggest" as const }),
      ...(far.includes("enforced") && { isUnaccepted: true }),
      ...(far.includes("always") && { alwaysActive: false }),
    };
  });
  const ids = skills.map(({ id }) => id);
  return { rules: rulesById(tamed, ids), ignored };
}

export function whyFar(reach: RuleReach): string {
  if (reach === "auto") return "loads the skill's text unasked";
  return reach === "always" ? "names the skill with every prompt" : "loads the skill's text unasked, by skills.enforce";
}

/** What such a rule does until it is accepted. */
export function untilAccepted(reach: RuleReach): string {
  return reach === "enforced" ? "only warns" : "only recommends";
}

/** Groups rules by the skill they mean. A rule without an installed skill stays under its own name. */
export function rulesById(rules: readonly SkillRule[], ids: Iterable<string>): RulesById {
  const targets = ruleTargets(ids);
  return Map.groupBy(rules, (rule) => targets.find(rule.skill) ?? rule.skill);
}

/**
 * Hashes everything in the project that decides what is loaded and when. All rules for a skill are merged, so a rule that only adds keywords
 * counts too, and so do the skills that a body requires. Files in the user's own folders may change freely.
 */
function contentHash(
  rules: readonly SkillRule[],
  target: RuleSkill | undefined,
  { installed, root }: { installed: ReadonlyMap<string, RuleSkill>; root: string },
): string {
  const texts = new Map<string, string>();
  const visit = (skill: RuleSkill | undefined): void => {
    if (!skill || texts.has(skill.id)) return;
    texts.set(skill.id, isBelow(skill.path, root) ? skill.hash : "own");
    for (const id of skill.requires) visit(installed.get(id));
  };
  visit(target);
  const own = rules
    .filter(({ file }) => isBelow(file, root))
    .map((rule) => ({ ...rule, file: rule.file.slice(root.length + 1) }));
  return createHash("sha256")
    .update(JSON.stringify([own.map(plainForm), [...texts]]))
    .digest("hex");
}

/** Sorted keys, without empty values: neither the order in the file nor a field that a later version adds changes the hash. */
function plainForm(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainForm);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, one]) => one !== undefined && one !== false && !(Array.isArray(one) && one.length === 0))
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, one]) => [key, plainForm(one)]),
  );
}

function isBelow(path: string, root: string): boolean {
  return path.startsWith(`${root}/`);
}

/**
 * Finds the installed skill that a rule means. Rules files name skills by folder, by path (`global/review`), in another case (`CreateSkill`), or
 * without their plugin.
 */
export interface RuleTargets {
  /** The skill's ID; undefined if no skill or several match. */
  find(name: string): string | undefined;
}

export function ruleTargets(ids: Iterable<string>): RuleTargets {
  const exact = new Set(ids);
  const loose = new Map<string, string | undefined>();
  for (const id of exact) {
    for (const key of new Set([looseForm(id), looseForm(tail(id))])) {
      // Two skills have the same loose form, so the rule must be specific.
      loose.set(key, loose.has(key) && loose.get(key) !== id ? undefined : id);
    }
  }
  return {
    find(name) {
      if (exact.has(name)) return name;
      return loose.get(looseForm(name)) ?? loose.get(looseForm(tail(name)));
    },
  };
}

function tail(name: string): string {
  return name.slice(Math.max(name.lastIndexOf(":"), name.lastIndexOf("/"), name.lastIndexOf("\\")) + 1);
}

/** CreateSkill, create_skill and create-skill are the same. */
function looseForm(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
}
