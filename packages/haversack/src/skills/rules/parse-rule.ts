/**
 * Reads one entry of a rules file, in any shape, as a SkillRule. Triggers are in `promptTriggers` and `fileTriggers`, in one flat `triggers`, or
 * in the entry itself; one table of keys covers all three.
 */
import { isRecord } from "../../base/json.ts";
import type { SkillRule } from "../types.ts";
import { compilePattern } from "./compile-pattern.ts";
import {
  type JsonObject,
  type ListReading,
  looksLikePathRegex,
  looksLikeRegex,
  plainKey,
  readBoolean,
  readEnforcement,
  readLine,
  readPhrases,
  readPriority,
  readTexts,
  readThreshold,
  spread,
} from "./rule-values.ts";

/** Receives what the reader could not use. The caller counts, so 40 rules with the same unknown key give one line. */
export interface RuleComplaints {
  unknownKey(skill: string, key: string): void;
  /** A key that we know but do not use. */
  unusedKey(skill: string, key: string): void;
  badValue(skill: string, key: string, expected: string): void;
}

/** Undefined if the author switched the rule off. */
export function parseRule(
  entry: unknown,
  skill: string,
  file: string,
  complaints: RuleComplaints,
): SkillRule | undefined {
  const rule = emptyRule(skill, file);
  if (Array.isArray(entry) || typeof entry === "string") readLooseTriggers(rule, entry, complaints, "triggers");
  else if (isRecord(entry)) {
    for (const [key, value] of Object.entries(entry)) {
      if (SWITCH_KEYS.has(plainKey(key)) && typeof value !== "boolean") complaints.badValue(skill, key, TRUE_OR_FALSE);
    }
    if (isSwitchedOff(entry)) return undefined;
    readEntry(rule, entry, complaints);
  } else complaints.badValue(skill, "", "an object with triggers");
  return rule;
}

export function emptyRule(skill: string, file: string): SkillRule {
  return {
    skill,
    file,
    enforcement: "suggest",
    keywords: [],
    synonyms: [],
    intentPatterns: [],
    keywordExclusions: [],
    excludePatterns: [],
    pathPatterns: [],
    pathExclusions: [],
    contentPatterns: [],
    createOnly: false,
    skip: { sessionSkillUsed: false, fileMarkers: [] },
    agentRoles: [],
    taskTypes: [],
    alwaysActive: false,
  };
}

/** Whether this could be a rule. Needed where a map may mix rules and settings. */
export function looksLikeRule(value: unknown): value is JsonObject {
  return isRecord(value) && Object.keys(value).some((key) => RULE_SIGNS.has(plainKey(key)));
}

function isSwitchedOff(entry: JsonObject): boolean {
  return Object.entries(entry).some(([key, value]) => {
    const plain = plainKey(key);
    return (
      (plain === "enabled" && readBoolean(value) === false) ||
      (plain === "disabled" && readBoolean(value) === true) ||
      (plain === "enforcement" && readEnforcement(value) === "off")
    );
  });
}

type FieldReader = (rule: SkillRule, value: unknown, complaints: RuleComplaints, key: string) => void;

function readEntry(rule: SkillRule, entry: JsonObject, complaints: RuleComplaints): void {
  for (const [key, value] of Object.entries(entry)) {
    if (value === null || value === undefined) continue;
    const plain = plainKey(key);
    if (isComment(key) || NAME_KEYS.has(plain) || SWITCH_KEYS.has(plain)) continue;
    const reader = RULE_KEYS.get(plain) ?? TRIGGER_KEYS.get(plain);
    if (reader) reader(rule, value, complaints, key);
    else if (UNUSED_KEYS.has(plain)) complaints.unusedKey(rule.skill, key);
    else complaints.unknownKey(rule.skill, key);
  }
}

/** Texts for people: notes and the like, and keys that begin with _, $, # or //. */
export function isComment(key: string): boolean {
  return /^(?:[_$#]|\/\/)/.test(key) || /^(?:notes?|comments?|examples?|version)$/i.test(key);
}

const NAME_KEYS = new Set(["skill", "skills", "skillname", "name", "id"]);
/** Switches that turn the whole rule on or off: see isSwitchedOff. */
const SWITCH_KEYS = new Set(["enabled", "disabled"]);
/** "yes" and 1 are understood, but still reported. */
const TRUE_OR_FALSE = "true or false, without quotes";

const list =
  (pick: (rule: SkillRule, items: string[]) => void): FieldReader =>
  (rule, value, complaints, key) => {
    complainOfText(value, rule, complaints, key);
    const reading = counted(readTexts(value), rule, complaints, key);
    if (reading) pick(rule, reading);
  };

/** Adds the items to a list of the rule. */
const into = (
  name: { [Key in keyof SkillRule]-?: SkillRule[Key] extends string[] ? Key : never }[keyof SkillRule],
  form = (item: string) => item,
): FieldReader => list((rule, items) => rule[name].push(...items.map(form)));
const trim = (item: string) => item.trim();

const phrases =
  (pick: "keywords" | "synonyms"): FieldReader =>
  (rule, value, complaints, key) => {
    complainOfText(value, rule, complaints, key);
    const items = counted(readPhrases(value), rule, complaints, key);
    if (items) rule[pick].push(...items.map(({ text, weight }) => ({ text: text.trim(), weight })));
  };

const flag =
  (pick: (rule: SkillRule, value: boolean) => void): FieldReader =>
  (rule, value, complaints, key) => {
    const read = readBoolean(value);
    if (typeof value !== "boolean") complaints.badValue(rule.skill, key, TRUE_OR_FALSE);
    if (read !== undefined) pick(rule, read);
  };

/** `keyword: "x"` is one text; `keywords: "x"` is meant and read as a list. */
function complainOfText(value: unknown, rule: SkillRule, complaints: RuleComplaints, key: string): void {
  if (typeof value === "string" && plainKey(key).endsWith("s"))
    complaints.badValue(rule.skill, key, "a list of texts, not one text");
}

const line =
  (pick: (rule: SkillRule, text: string) => void): FieldReader =>
  (rule, value, complaints, key) => {
    const text = readLine(value);
    if (text !== undefined) pick(rule, text);
    else if (value !== "") complaints.badValue(rule.skill, key, "a text");
  };

function counted<Item>(
  reading: ListReading<Item> | undefined,
  rule: SkillRule,
  complaints: RuleComplaints,
  key: string,
): Item[] | undefined {
  if (!reading) {
    complaints.badValue(rule.skill, key, "a list of texts");
    return undefined;
  }
  if (reading.bad > 0) complaints.badValue(rule.skill, key, "texts in its list");
  if (reading.cut > 0) complaints.badValue(rule.skill, key, `at most 2,000 entries (${reading.cut} left out)`);
  return reading.items;
}

const paths = list((rule, items) => addPaths(rule, items));

const TRIGGER_KEYS = new Map<string, FieldReader>(
  spread<FieldReader>([
    ["keywords keyword phrases commands command slashcommands", phrases("keywords")],
    // What authors call intents or context are labels and phrases: weaker than a keyword.
    ["synonyms intents intent contextpatterns contexts", phrases("synonyms")],
    [
      "intentpatterns intentpattern keywordpatterns promptpatterns patterns pattern regex regexes errorpatterns",
      into("intentPatterns"),
    ],
    [
      "pathpatterns filepatterns filepattern filepathpatterns filepaths filepathtriggers filepath paths files globs",
      paths,
    ],
    ["filetypes extensions fileextensions", into("pathPatterns", extensionGlob)],
    ["directories directory folders", into("pathPatterns", folderGlob)],
    ["contentpatterns contentpattern", into("contentPatterns")],
    ["contenttriggers contentkeywords", into("contentPatterns", escapeRegex)],
    ["pathexclusions excludepaths pathexcludes excludepathpatterns", into("pathExclusions")],
    ["keywordexclusions excludekeywords negativekeywords", into("keywordExclusions", trim)],
    ["excludepatterns exclude excludes exclusions negativepatterns", into("excludePatterns")],
    ["createonly", flag((rule, value) => void (rule.createOnly = value))],
    ["agentcontext agents agentroles roles", into("agentRoles", trim)],
    ["tasktypes tasktype", into("taskTypes", trim)],
  ]),
);

const RULE_KEYS = new Map<string, FieldReader>(
  spread<FieldReader>([
    ["type", line((rule, text) => void (rule.type = text))],
    ["domain", line((rule, text) => void (rule.domain = text))],
    ["description", line((rule, text) => void (rule.description = text))],
    ["suggestion", line((rule, text) => void (rule.description ??= text))],
    [
      "blockmessage message reminder guidance warnmessage warningmessage",
      text((rule, value) => void (rule.blockMessage = value)),
    ],
    [
      "shortdescription",
      line((rule, text) => void (rule.defer = { enabled: false, ...rule.defer, shortDescription: text })),
    ],
    ["enforcement mode", readEnforcementField],
    ["priority", readPriorityField],
    ["deferloading", readDefer],
    ["prompttriggers filetriggers triggers trigger conditions", readTriggerGroup],
    ["skipconditions skip", readSkip],
    ["alwaysactive alwaysactivate alwayson", flag((rule, value) => void (rule.alwaysActive = value))],
    ["triggerthreshold threshold minconfidence minimumconfidence confidence", readThresholdField],
    ["behaviorflags behaviourflags", readBehaviour],
  ]),
);

/** Known from the wild, but without meaning here. */
const UNUSED_KEYS = new Set(
  (
    "relatedskills scope loadlevel resourcepath agentfile skillfile commandfile referencefiles weights weight tags model icon author " +
    "category match casesensitive activationconditions capabilities thresholds triggeredafter tip rules testingrules license " +
    "context action actions hookevents"
  ).split(" "),
);

/** Keys that a settings object would not have. */
const RULE_SIGNS = new Set([
  ...TRIGGER_KEYS.keys(),
  ..."prompttriggers filetriggers triggers trigger enforcement skipconditions deferloading alwaysactive blockmessage".split(
    " ",
  ),
]);
for (const common of ["files", "paths", "exclusions", "exclude", "agents", "extensions"]) RULE_SIGNS.delete(common);

function readTriggerGroup(rule: SkillRule, value: unknown, complaints: RuleComplaints, key: string): void {
  if (!isRecord(value)) {
    // `trigger: "auto"` is a mode, not a text to match.
    const isMode = typeof value === "string" && readEnforcement(value) !== undefined;
    if (isMode) complaints.unusedKey(rule.skill, key);
    else readLooseTriggers(rule, value, complaints, key);
    return;
  }
  for (const [inner, innerValue] of Object.entries(value)) {
    if (innerValue === null || isComment(inner)) continue;
    const plain = plainKey(inner);
    // `patterns` in file triggers are paths.
    const isPath = isFileKey(key) && (plain === "patterns" || plain === "pattern");
    // promptTriggers inside triggers occurs in the wild. Deeper nesting is not read, because a file can nest without limit.
    const isGroup = !isGroupKey(plainKey(key)) && isGroupKey(plain);
    const reader = isPath ? paths : isGroup ? readTriggerGroup : TRIGGER_KEYS.get(plain);
    if (reader) reader(rule, innerValue, complaints, inner);
    else if (UNUSED_KEYS.has(plain) || plain === "type") complaints.unusedKey(rule.skill, `${key}.${inner}`);
    else complaints.unknownKey(rule.skill, `${key}.${inner}`);
  }
}

function isFileKey(key: string): boolean {
  return plainKey(key) === "filetriggers" || plainKey(key) === "file";
}

function isGroupKey(plain: string): boolean {
  return plain === "prompttriggers" || plain === "filetriggers" || plain === "prompt" || plain === "file";
}

/** A plain list mixes phrases and regular expressions. In file triggers its elements are paths. */
function readLooseTriggers(rule: SkillRule, value: unknown, complaints: RuleComplaints, key: string): void {
  const items = counted(readPhrases(typeof value === "string" ? [value] : value), rule, complaints, key);
  if (!items) return;
  for (const { text: item, weight } of isFileKey(key) ? [] : items) {
    if (looksLikeRegex(item)) rule.intentPatterns.push(item);
    else rule.keywords.push({ text: item.trim(), weight });
  }
  const texts = items.map(({ text: item }) => item);
  if (isFileKey(key)) addPaths(rule, texts);
}

/** If one path in a list is a regular expression, all valid ones are read as such. */
function addPaths(rule: SkillRule, items: readonly string[]): void {
  const isRegexList = items.some(looksLikePathRegex);
  for (const item of items) {
    const isRegex = isRegexList && !item.includes("**") && !("problem" in compilePattern(item, { flags: "" }));
    if (isRegex) (rule.pathRegexes ??= []).push(item);
    else rule.pathPatterns.push(item);
  }
}

function readEnforcementField(rule: SkillRule, value: unknown, complaints: RuleComplaints, key: string): void {
  const read = readEnforcement(value);
  if (read === undefined) complaints.badValue(rule.skill, key, "one of suggest, warn, auto, block, require");
  else if (read !== "off") rule.enforcement = read;
}

function readPriorityField(rule: SkillRule, value: unknown, complaints: RuleComplaints, key: string): void {
  const read = readPriority(value);
  if (read === undefined) complaints.badValue(rule.skill, key, "critical, high, medium, low, or a number from 1 to 10");
  else rule.priority = read;
}

function readThresholdField(rule: SkillRule, value: unknown, complaints: RuleComplaints, key: string): void {
  const read = readThreshold(value);
  const wanted = "a number from 0 to 1 (points of another scoring cannot be compared with ours)";
  if (read !== undefined) rule.threshold = read;
  else complaints.badValue(rule.skill, key, wanted);
}

function readDefer(rule: SkillRule, value: unknown, complaints: RuleComplaints, key: string): void {
  const whole = readBoolean(value);
  if (whole !== undefined) {
    rule.defer = { ...rule.defer, enabled: whole };
    return;
  }
  if (!isRecord(value)) {
    complaints.badValue(rule.skill, key, "true, or an object with enabled and short_description");
    return;
  }
  const defer = { enabled: false, ...rule.defer };
  for (const [inner, innerValue] of Object.entries(value)) {
    const plain = plainKey(inner);
    const short = readLine(innerValue);
    if (plain === "enabled" && typeof innerValue !== "boolean")
      complaints.badValue(rule.skill, `${key}.${inner}`, TRUE_OR_FALSE);
    if (plain === "enabled") defer.enabled = readBoolean(innerValue) ?? defer.enabled;
    else if (plain === "shortdescription" && short !== undefined) defer.shortDescription = short;
    else if (plain === "shortdescription") complaints.badValue(rule.skill, `${key}.${inner}`, "a text");
    else if (!isComment(inner)) complaints.unknownKey(rule.skill, `${key}.${inner}`);
  }
  rule.defer = defer;
}

const SKIP_KEYS = new Map<string, FieldReader>(
  spread<FieldReader>([
    ["sessionskillused", flag((rule, value) => void (rule.skip.sessionSkillUsed = value))],
    ["filemarkers", list((rule, items) => rule.skip.fileMarkers.push(...items))],
    ["envoverride envvar", line((rule, text) => void (rule.skip.envOverride = text))],
    ["sessionmarker", line((rule, text) => void (rule.skip.sessionMarker = text))],
    // Ignored: every skill is shown once per window anyway, unless asked for again.
    ["sessiononce", (rule, _, complaints, key) => complaints.unusedKey(rule.skill, key)],
  ]),
);

function readSkip(rule: SkillRule, value: unknown, complaints: RuleComplaints, key: string): void {
  for (const [inner, innerValue] of entriesIn(value, rule, complaints, key)) {
    const name = `${key}.${inner}`;
    const reader = SKIP_KEYS.get(plainKey(inner));
    if (reader) reader(rule, innerValue, complaints, name);
    else if (!isComment(inner)) complaints.unknownKey(rule.skill, name);
  }
}

function readBehaviour(rule: SkillRule, value: unknown, complaints: RuleComplaints, key: string): void {
  for (const [inner, innerValue] of entriesIn(value, rule, complaints, key)) {
    if (/^min(?:imum)?confidence$/.test(plainKey(inner)))
      readThresholdField(rule, innerValue, complaints, `${key}.${inner}`);
    else if (!isComment(inner)) complaints.unusedKey(rule.skill, `${key}.${inner}`);
  }
}

function entriesIn(value: unknown, rule: SkillRule, complaints: RuleComplaints, key: string): [string, unknown][] {
  if (isRecord(value)) return Object.entries(value);
  complaints.badValue(rule.skill, key, "an object");
  return [];
}

/** Several lines are allowed, for instance in a block message. */
function text(pick: (rule: SkillRule, value: string) => void): FieldReader {
  return (rule, value, complaints, key) => {
    if (typeof value === "string")
      pick(rule, value.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "").slice(0, 4_000));
    else complaints.badValue(rule.skill, key, "a text");
  };
}

function extensionGlob(extension: string): string {
  return `**/*.${extension.trim().replace(/^[*.]+/, "")}`;
}

export function folderGlob(folder: string): string {
  return `**/${folder.trim().replace(/^(?:\.?\/|\*\*\/)+|\/+(?:\*\*)?$/g, "")}/**`;
}

export function escapeRegex(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
