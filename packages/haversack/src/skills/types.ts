/**
 * The types of this part: a skill and a rule after reading, whatever the format of their files.
 * All of it is plain data, so the store can keep it and the hook can read it without a schema library.
 */

export type Priority = "critical" | "high" | "medium" | "low";

/** suggest: recommended. warn: recommended with its message. auto: body loaded unasked. block/require: see docs/explanation/skills.md. */
export type Enforcement = "suggest" | "warn" | "auto" | "block" | "require";

/** Where a skill was found. A lower rank is nearer; of skills with the same name, the nearest wins. */
export interface SkillSource {
  kind: "project" | "user" | "plugin" | "folder";
  /** A short label for people: `.claude/skills`, `~/.claude/skills`, `plugin superpowers`. */
  label: string;
  rank: number;
}

export interface SkillTriggers {
  keywords: string[];
  patterns: string[];
  /** The author's own threshold for loading the body unasked, 0..1. */
  confidence?: number;
}

export interface Skill {
  /** The name a model uses: `name`, or `plugin:name`. Unique after the nearest has won. */
  id: string;
  /** The name in the frontmatter, else the folder's or the file's. */
  name: string;
  description: string;
  whenToUse?: string;
  shortDescription?: string;
  body: string;
  /** Content hash of the whole file: the pinned version. */
  hash: string;
  /** Absolute path of the SKILL.md or single file. */
  path: string;
  /** Absolute folder with the skill's resources; absent for a single file. */
  folder?: string;
  source: SkillSource;
  /** False for `disable-model-invocation: true`: never recommended, but a person can load it. */
  modelInvocable: boolean;
  triggers?: SkillTriggers;
  tags: string[];
  requires: string[];
  domain?: string;
  license?: string;
  allowedTools?: string[];
  metadata: Record<string, string>;
}

/** A keyword or phrase with the author's weight. Default weight: 1. */
export interface WeightedPhrase {
  text: string;
  weight: number;
}

export interface SkillRule {
  /** The skill that the rule is about. */
  skill: string;
  /** The rules file, for messages. */
  file: string;
  type?: string;
  domain?: string;
  description?: string;
  enforcement: Enforcement;
  /** Absent if the author gave none. */
  priority?: Priority;
  defer?: { enabled: boolean; shortDescription?: string };
  keywords: WeightedPhrase[];
  synonyms: WeightedPhrase[];
  intentPatterns: string[];
  keywordExclusions: string[];
  excludePatterns: string[];
  /** Globs. */
  pathPatterns: string[];
  /** Regular expressions for paths, if the author wrote those instead of globs; absent if there are none. */
  pathRegexes?: string[];
  pathExclusions: string[];
  contentPatterns: string[];
  /** The file triggers apply to newly created files only. */
  createOnly: boolean;
  skip: {
    sessionSkillUsed: boolean;
    fileMarkers: string[];
    envOverride?: string;
    sessionMarker?: string;
  };
  /** Roles or agent types that the rule applies to; empty: all. */
  agentRoles: string[];
  taskTypes: string[];
  alwaysActive: boolean;
  /** The author's own threshold, 0..1; absent if it cannot be read as one. */
  threshold?: number;
  blockMessage?: string;
  /** It came with the project and was not accepted, so `skills.enforce` does not apply to it. Set by rule-reach.ts. */
  isUnaccepted?: boolean;
}

/** A problem in one of the user's files. Other files are still read. */
export interface Problem {
  level: "error" | "warning" | "suggestion";
  /** Stable kebab-case word, for `--json`. */
  code: string;
  file: string;
  /** The key or line it is about, if any. */
  where?: string;
  text: string;
}

export type Report = Record<Problem["level"], (code: string, text: string, where?: string) => void>;

/** Adds the problems of one file to a list, at most as many as `most`. `whereOf`: the whole place, from the part that a check names. */
export function reporter(
  file: string,
  problems: Problem[],
  { most = Infinity, whereOf = (part) => part }: { most?: number; whereOf?(part?: string): string | undefined } = {},
): Report {
  const at = (level: Problem["level"]) => (code: string, text: string, part?: string) => {
    const where = whereOf(part);
    if (problems.length < most) problems.push({ level, code, file, ...(where !== undefined && { where }), text });
  };
  return { error: at("error"), warning: at("warning"), suggestion: at("suggestion") };
}

/** keyword and synonym count for a skill; exclude counts against it. */
export type TriggerKind = "keyword" | "synonym" | "exclude";

/** intent and exclude run on the prompt, path and path-exclude on file paths, content on file contents. */
export type PatternKind = "intent" | "exclude" | "path" | "path-exclude" | "content";

/** The part of a skill's rules that prompts need. Only scalars, because keywords and patterns have their own tables. */
export interface CompiledRule {
  enforcement: Enforcement;
  priority?: Priority;
  domain?: string;
  threshold?: number;
  skip: SkillRule["skip"];
  agentRoles: string[];
  taskTypes: string[];
  alwaysActive: boolean;
  createOnly: boolean;
  blockMessage?: string;
  /** `block` and `require` only warn, whatever `skills.enforce` says. */
  isUnaccepted?: boolean;
  /** False for a rule that names no keyword, pattern or file. */
  hasTriggers: boolean;
  /** True if the author set `defer_loading`. */
  isDeferred: boolean;
  /** The rule's short description, shown for the skill in recommendations. */
  brief?: string;
}

/** What is needed to show a skill for a prompt. */
export interface SkillCard {
  key: number;
  id: string;
  name: string;
  description: string;
  brief: string;
  domain?: string;
  path: string;
  folder?: string;
  hash: string;
  sourceKind: string;
  sourceLabel: string;
  modelInvocable: boolean;
  loadConfidence?: number;
  requires: string[];
  rule?: CompiledRule;
  /** Languages and frameworks that it is for, and the words with which a prompt names them. */
  tied?: { of: readonly string[]; words: readonly string[] };
}

export interface TriggerRow {
  skill: number;
  kind: TriggerKind;
  phrase: string;
  weight: number;
}

export interface PatternRow {
  skill: number;
  kind: PatternKind;
  source: string;
  flags: string;
  linear: boolean;
}
