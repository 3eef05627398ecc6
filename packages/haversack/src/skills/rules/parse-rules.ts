/**
 * Reads a skill-rules.json in every shape found in the wild: `skills` as map or list, `rules`, `activation_rules`, a bare map, a bare list of
 * `{pattern, skill}`, a single rule. Unusable entries become problems that name file and key. Nothing here throws, and a bad entry does not affect
 * others.
 */
import { cleanLine } from "../../base/clean-text.ts";
import { isRecord } from "../../base/json.ts";
import { type Problem, type Report, reporter, type SkillRule } from "../types.ts";
import {
  emptyRule,
  escapeRegex,
  folderGlob,
  isComment,
  looksLikeRule,
  parseRule,
  type RuleComplaints,
} from "./parse-rule.ts";
import { type JsonObject, plainKey, readTexts, readThreshold } from "./rule-values.ts";

const MAX_RULES = 5_000;
const MAX_PROBLEMS = 200;

export function parseRules(value: unknown, file: string): { rules: SkillRule[]; problems: Problem[] } {
  const problems: Problem[] = [];
  const report = reporter(file, problems);
  if (isJsonSchema(value)) {
    const text = "this is a JSON Schema that describes rules, not a file of rules: name the rules file itself";
    report.error("rules-is-schema", text);
    return { rules: [], problems };
  }
  const complaints = countComplaints();
  const entries = findEntries(value, report);
  if (entries.length > MAX_RULES) {
    report.error("rules-too-many", `${entries.length} rules, more than ${MAX_RULES}: the rest is left out`);
  }
  const rules: SkillRule[] = [];
  const patternLists = new Map<string, SkillRule>();
  for (const { skill, entry } of entries.slice(0, MAX_RULES)) {
    const rule = parseRule(entry, skill, file, complaints);
    if (!rule) {
      report.suggestion("rule-off", `the rule for “${skill}” is switched off in the file`, skill);
      continue;
    }
    // A list of {pattern, skill} may name a skill once per pattern; that is one rule.
    const earlier = isPatternOnly(entry) ? patternLists.get(skill) : undefined;
    if (earlier) earlier.intentPatterns.push(...rule.intentPatterns);
    else {
      rules.push(rule);
      if (isPatternOnly(entry)) patternLists.set(skill, rule);
    }
  }
  if (isRecord(value)) readFileSettings(value, rules, file, report);
  return { rules, problems: firstOf([...problems, ...complaints.problems(file)], file) };
}

/** A file of the wrong kind can have a problem on every line, so only the first ones are reported. */
function firstOf(problems: Problem[], file: string): Problem[] {
  if (problems.length <= MAX_PROBLEMS) return problems;
  const left = problems.length - MAX_PROBLEMS;
  return [
    ...problems.slice(0, MAX_PROBLEMS),
    { level: "error", code: "rules-more-problems", file, text: `and ${left} more problems` },
  ];
}

interface Entry {
  skill: string;
  entry: unknown;
}

const CONTAINERS = new Set(["skills", "rules", "activationrules", "skillrules"]);
/** Settings and texts that may appear next to rules. */
const FILE_KEYS = new Set(
  "description updated lastupdated name title author license metadata schema directorymappings exclusions defaults agents".split(
    " ",
  ),
);
const UNUSED_FILE_KEYS = new Set(
  "config settings scoring globalsettings frameworkskillspath workspaceconfig".split(" "),
);

function findEntries(value: unknown, report: Report): Entry[] {
  if (Array.isArray(value)) return entriesOfList(value, "", report);
  if (!isRecord(value)) {
    report.error("rules-shape-unknown", `an object or a list of rules is expected, not ${kindOf(value)}`);
    return [];
  }
  const containers = Object.entries(value).filter(
    ([key, inner]) => CONTAINERS.has(plainKey(key)) && typeof inner === "object" && inner !== null,
  );
  if (containers.length > 0) {
    for (const key of Object.keys(value)) if (!CONTAINERS.has(plainKey(key))) reportStranger(key, report);
    return containers.flatMap(([key, inner]) => {
      return Array.isArray(inner) ? entriesOfList(inner, key, report) : entriesOfMap(inner as JsonObject, key, report);
    });
  }
  if (namesOf(value).length > 0 && looksLikeRule(value)) return entriesOfList([value], "", report);
  const skills = Object.entries(value).filter(
    ([key, inner]) => looksLikeRule(inner) && !isSetting(key, inner) && !isComment(key),
  );
  if (skills.length === 0) {
    const keys = Object.keys(value)
      .filter((key) => !isComment(key) && !FILE_KEYS.has(plainKey(key)))
      .slice(0, 8)
      .join(", ");
    const found = keys === "" ? "the file has none of these" : `found the keys ${cleanLine(keys, { maxChars: 200 })}`;
    const text = `no rules: expected “skills”, “rules”, “activation_rules”, or skill names as keys; ${found}`;
    report.error("rules-shape-unknown", text);
    return [];
  }
  for (const [key, inner] of Object.entries(value)) {
    if (!looksLikeRule(inner) || isSetting(key, inner)) reportStranger(key, report);
  }
  return skills.flatMap(([key, inner]) => named([key], inner, key, report));
}

function entriesOfMap(map: JsonObject, container: string, report: Report): Entry[] {
  return Object.entries(map).flatMap(([key, entry]) => {
    if (/^[_$]/.test(key) && !looksLikeRule(entry)) return [];
    const where = `${container}.${key}`;
    if (entry === null || (typeof entry !== "object" && typeof entry !== "string")) {
      report.error("rule-invalid", `a rule is an object or a list of triggers, not ${kindOf(entry)}`, cleanLine(where));
      return [];
    }
    return named([key], entry, where, report);
  });
}

function entriesOfList(list: readonly unknown[], container: string, report: Report): Entry[] {
  return list.flatMap((entry, index) => {
    const where = `${container}[${index}]`;
    if (!isRecord(entry)) {
      report.error("rule-invalid", `a rule is an object, not ${kindOf(entry)}`, where);
      return [];
    }
    const names = namesOf(entry);
    if (names.length > 0) return named(names, entry, where, report);
    const other = ["tool", "agent", "command"].find((key) => typeof entry[key] === "string");
    const text = other
      ? `the rule is for the ${other} “${cleanLine(String(entry[other]), { maxChars: 80 })}”, not for a skill`
      : "the rule names no skill: add “skill”";
    report.error("rule-without-skill", text, where);
    return [];
  });
}

function namesOf(entry: JsonObject): string[] {
  const byKey = new Map(Object.entries(entry).map(([key, value]) => [plainKey(key), value]));
  for (const key of ["skill", "skillname", "skills", "name", "id"]) {
    const names = byKey.has(key) ? (readTexts(byKey.get(key))?.items ?? []) : [];
    if (names.length > 0) return names;
  }
  return [];
}

function named(names: readonly string[], entry: unknown, where: string, report: Report): Entry[] {
  return names.flatMap((name) => {
    const skill = cleanLine(name, { maxChars: 200 });
    if (skill !== "") return [{ skill, entry }];
    report.error("rule-without-skill", "the name of the skill is empty", cleanLine(where));
    return [];
  });
}

/** Values for all rules of the file: exclusions, a threshold, folders that belong to skills. */
function readFileSettings(value: JsonObject, rules: SkillRule[], file: string, report: Report): void {
  for (const [key, inner] of Object.entries(value)) {
    if (!isRecord(inner)) continue;
    const plain = plainKey(key);
    if (plain === "exclusions") {
      const patterns = [
        ...(readTexts(inner["patterns"])?.items ?? []),
        ...prefixPattern(readTexts(inner["prefixes"])?.items ?? []),
      ];
      for (const rule of rules) rule.excludePatterns.push(...patterns);
    } else if (plain === "defaults") {
      const threshold = readThreshold(inner["threshold"]);
      if (threshold !== undefined) for (const rule of rules) rule.threshold ??= threshold;
    } else if (plain === "directorymappings") {
      for (const [folder, skill] of Object.entries(inner)) {
        if (typeof skill !== "string" || cleanLine(skill) === "") {
          report.warning("rule-value", "a folder maps to the name of a skill", `${key}.${cleanLine(folder)}`);
          continue;
        }
        let rule = rules.find((one) => one.skill === skill);
        if (!rule) rules.push((rule = emptyRule(cleanLine(skill, { maxChars: 200 }), file)));
        rule.pathPatterns.push(folderGlob(folder));
      }
    } else if (plain === "agents") {
      const count = Object.keys(inner).length;
      report.suggestion("rules-for-agents", `${count} entries are rules for sub-agents, not for skills: ignored`, key);
    }
  }
}

/** `hi`, `ok`, `/`: prompts that begin like this are never matched. */
function prefixPattern(prefixes: readonly string[]): string[] {
  const words = prefixes.map((prefix) => prefix.trim()).filter((prefix) => prefix !== "");
  const sources = words.map((word) => escapeRegex(word) + (/\w$/.test(word) ? "\\b" : ""));
  return sources.length === 0 ? [] : [`^\\s{0,20}(?:${sources.join("|")})`];
}

function reportStranger(key: string, report: Report): void {
  const plain = plainKey(key);
  if (isComment(key) || FILE_KEYS.has(plain)) return;
  const where = cleanLine(key, { maxChars: 100 });
  if (UNUSED_FILE_KEYS.has(plain)) report.suggestion("rules-key-unused", "this setting has no meaning here", where);
  else report.warning("rules-key-unknown", "unknown key beside the rules: ignored", where);
}

/** A camel-cased plural such as intentPatterns or fileContextTriggers is a setting, unless it contains a rule's own keys. */
function isSetting(key: string, value: JsonObject): boolean {
  if (FILE_KEYS.has(plainKey(key)) || UNUSED_FILE_KEYS.has(plainKey(key))) return true;
  if (!/^[a-z]+[A-Z]\w*s$/.test(key)) return false;
  return !Object.keys(value).some((inner) =>
    /^(?:prompttriggers|filetriggers|keywords|enforcement|priority)$/.test(plainKey(inner)),
  );
}

function isPatternOnly(entry: unknown): boolean {
  return isRecord(entry) && Object.keys(entry).length === 2 && "pattern" in entry && "skill" in entry;
}

function isJsonSchema(value: unknown): boolean {
  if (!isRecord(value) || !isRecord(value["properties"])) return false;
  return (
    value["type"] === "object" ||
    /json-schema\.org/.test(String(value["$schema"])) ||
    "$defs" in value ||
    "definitions" in value
  );
}

function kindOf(value: unknown): string {
  return value === null
    ? "null"
    : Array.isArray(value)
      ? "a list"
      : typeof value === "object"
        ? "an object"
        : `a ${typeof value}`;
}

/** One line per unknown key, however many rules have it. */
function countComplaints(): RuleComplaints & { problems(file: string): Problem[] } {
  const groups = new Map<
    string,
    { level: Problem["level"]; code: string; key: string; text: string; skills: Set<string> }
  >();
  const add = (level: Problem["level"], code: string, skill: string, key: string, text: string): void => {
    const id = `${code}\n${key}\n${text}`;
    let group = groups.get(id);
    if (!group)
      groups.set(id, (group = { level, code, key: cleanLine(key, { maxChars: 100 }), text, skills: new Set() }));
    group.skills.add(skill);
  };
  return {
    unknownKey: (skill, key) => add("warning", "rule-key-unknown", skill, key, "unknown key: ignored"),
    unusedKey: (skill, key) => add("suggestion", "rule-key-unused", skill, key, "this key has no meaning here"),
    badValue: (skill, key, expected) => add("warning", "rule-value", skill, key, `expected ${expected}`),
    problems: (file) =>
      [...groups.values()].map(({ level, code, key, text, skills }) => {
        const [first, ...others] = skills;
        const whose = others.length === 0 ? `rule “${first}”` : `${skills.size} rules, the first is “${first}”`;
        return { level, code, file, where: key === "" ? first! : key, text: `${text} (${whose})` };
      }),
  };
}
