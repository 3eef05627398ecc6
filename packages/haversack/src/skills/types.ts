/**
 * The words of this part: a skill as it was read, a rule as it was understood, whatever shape its file had.
 * Everything here is plain data, so that the store can keep it and the hook can read it without a schema library.
 */

export type Priority = "critical" | "high" | "medium" | "low";

/** suggest: recommended. warn: recommended with its message. auto: body loaded unasked. block/require: see docs/skills.md. */
export type Enforcement = "suggest" | "warn" | "auto" | "block" | "require";

/** Where a skill was found. A lower rank is nearer; the nearest of one name wins. */
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
  /** The name a model calls: `name`, or `plugin:name`. Unique after the nearest won. */
  id: string;
  /** The frontmatter's name, else the folder's or the file's. */
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
  /** False for `disable-model-invocation: true`: never recommended, still loadable by a person. */
  modelInvocable: boolean;
  triggers?: SkillTriggers;
  tags: string[];
  requires: string[];
  domain?: string;
  license?: string;
  allowedTools?: string[];
  metadata: Record<string, string>;
}

/** A keyword or phrase with the author's weight; 1 when none was given. */
export interface WeightedPhrase {
  text: string;
  weight: number;
}

export interface SkillRule {
  /** The skill it speaks of. */
  skill: string;
  /** The rules file, for messages. */
  file: string;
  type?: string;
  domain?: string;
  description?: string;
  enforcement: Enforcement;
  /** Absent when the author gave none. */
  priority?: Priority;
  defer?: { enabled: boolean; shortDescription?: string };
  keywords: WeightedPhrase[];
  synonyms: WeightedPhrase[];
  intentPatterns: string[];
  keywordExclusions: string[];
  excludePatterns: string[];
  /** Globs. */
  pathPatterns: string[];
  /** Regular expressions for paths, where the author wrote those instead of globs; absent when there are none. */
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
  /** Roles or agent types that this rule speaks to; empty: all. */
  agentRoles: string[];
  taskTypes: string[];
  alwaysActive: boolean;
  /** The author's own threshold, 0..1, when it can be read as one. */
  threshold?: number;
  blockMessage?: string;
  /** Came with the project and was not accepted: `skills.enforce` does not hold for it. Set by rule-reach.ts. */
  isUnaccepted?: boolean;
}

/** Something wrong in a file of the user's. Never stops the reading of the others. */
export interface Problem {
  level: "error" | "warning" | "suggestion";
  /** Stable kebab-case word, for `--json`. */
  code: string;
  file: string;
  /** The key or line it speaks of, when there is one. */
  where?: string;
  text: string;
}

/** keyword and synonym speak for a skill; exclude speaks against it. */
export type TriggerKind = "keyword" | "synonym" | "exclude";

/** intent and exclude run on the prompt, path and path-exclude on file paths, content on what files hold. */
export type PatternKind = "intent" | "exclude" | "path" | "path-exclude" | "content";

/** What the prompt path needs of a skill's rules: scalars, because keywords and patterns have tables of their own. */
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
  /** True when the author asked for `defer_loading`. */
  isDeferred: boolean;
  /** The rule's short description; it stands for the skill in recommendations. */
  brief?: string;
}

/** What a prompt needs to know of a skill to show it. */
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
