/**
 * Which skills fit a prompt, how surely, and why: the ranking by words, and on top of it what rules say. Evidence only ever
 * adds: each piece leaves less room for doubt (1 − Π(1 − strength)), so a skill never becomes harder to find because its
 * author listed more keywords.
 */

import type { PatternKind, PatternRow, Priority, SkillCard, TriggerRow } from "../types.ts";
import { matchRules, STRENGTH } from "./match-rules.ts";
import { type Faint, type RankedSkill, rankSkills, type TermIndex } from "./score-text.ts";

export interface MatchIndex extends TermIndex<number> {
  triggers(stems: readonly string[]): TriggerRow[];
  patterns(kinds: readonly PatternKind[]): PatternRow[];
  alwaysActive(): number[];
  /** Whether any rules file or frontmatter says anything at all. */
  hasRules(): boolean;
  cards(keys: readonly number[]): SkillCard[];
}

export interface MatchInput {
  prompt: string;
  /** Files the session touched, relative to the project or absolute. */
  files?: readonly string[];
  /** The project's absolute folder: paths in it are matched as relative ones. */
  root?: string;
  /** The domain the session is in. */
  domain?: string | undefined;
  /** The type of the task that the agent holds, and the agent's role. */
  taskType?: string | undefined;
  role?: string | undefined;
  env?: Readonly<Record<string, string | undefined>>;
  /** Skills whose body this window has. */
  usedSkills?: readonly string[];
  /** Reads the beginning of a file that the prompt mentions; undefined when there is none. */
  readHead?: (path: string) => string | undefined;
}

export type Feature =
  | "named"
  | "name"
  | "description"
  | "body"
  | "keyword"
  | "synonym"
  | "intent"
  | "file"
  | "content"
  | "domain"
  | "task-type"
  | "role"
  | "always";

export interface Reason {
  feature: Feature;
  /** What matched, for people. */
  text: string;
  /** How much this piece alone would give, 0..1. */
  strength: number;
}

export interface Match {
  card: SkillCard;
  confidence: number;
  named: boolean;
  reasons: Reason[];
  /** The parts as the rules' own format names them: how many matched, and the sum of what they count there. */
  parts: { keyword: number; synonym: number; intent: number; file: number; context: number; score: number };
  /** Why it may not be shown although it matched. */
  excluded?: string;
}

export interface MatchResult {
  /** Best first; excluded ones last. */
  matches: Match[];
  /** Patterns that ran out of time in this prompt. */
  slowPatterns: string[];
}

/** Priority orders skills that fit about equally well; it is no evidence that one fits. */
const PRIORITY_BONUS: Record<Priority, number> = { critical: 0.06, high: 0.03, medium: 0, low: -0.03 };

/** What the parts count in the rules' own format. */
const PART_SCORE = { keyword: 2, synonym: 1, intent: 3, file: 1, context: 5 };
const PART_OF: Partial<Record<Feature, keyof typeof PART_SCORE>> = {
  keyword: "keyword",
  synonym: "synonym",
  intent: "intent",
  file: "file",
  content: "file",
  domain: "context",
  "task-type": "context",
  role: "context",
};

/** What rules have to say of a prompt. */
export interface RuleMatches {
  reasons: ReadonlyMap<number, readonly Reason[]>;
  /** Why a skill may not be shown although it matched. */
  excluded(card: SkillCard): string | undefined;
  slowPatterns: string[];
}

const NO_RULES: RuleMatches = { reasons: new Map(), excluded: () => undefined, slowPatterns: [] };

export function matchSkills(
  input: MatchInput,
  index: MatchIndex,
  { limit = 24, faint }: { limit?: number; faint?: Faint } = {},
): MatchResult {
  const words = new Map<number, Reason[]>();
  const named = new Set<number>();
  for (const ranked of rankSkills(input.prompt, index, { limit, ...(faint && { faint }) })) {
    if (ranked.named) named.add(ranked.skill);
    words.set(ranked.skill, textReasons(ranked));
  }
  const rules = index.hasRules() ? matchRules(input, index) : NO_RULES;
  const matches = index.cards([...new Set([...words.keys(), ...rules.reasons.keys()])]).map((card): Match => {
    const reasons = [
      ...(words.get(card.key) ?? []),
      ...(rules.reasons.get(card.key) ?? []),
      ...contextReasons(card, input),
    ];
    const why = card.modelInvocable
      ? rules.excluded(card)
      : "its author keeps it for people (disable-model-invocation)";
    return {
      card,
      confidence: combine(reasons),
      named: named.has(card.key),
      reasons,
      parts: partsOf(reasons),
      ...(why && { excluded: why }),
    };
  });
  matches.sort(
    (a, b) =>
      Number(Boolean(a.excluded)) - Number(Boolean(b.excluded)) ||
      Number(b.named) - Number(a.named) ||
      standing(b) - standing(a) ||
      (a.card.id < b.card.id ? -1 : 1),
  );
  return { matches: matches.slice(0, limit), slowPatterns: rules.slowPatterns };
}

function standing({ confidence, card }: Match): number {
  return confidence + PRIORITY_BONUS[card.rule?.priority ?? "medium"];
}

function combine(reasons: readonly Reason[]): number {
  return 1 - reasons.reduce((doubt, { strength }) => doubt * (1 - strength), 1);
}

/** The ranking's confidence, split over its strongest evidence so that the pieces together give just that. */
function textReasons({ confidence, evidence, named }: RankedSkill<number>): Reason[] {
  if (named) return [{ feature: "named", text: "the prompt names it", strength: STRENGTH.named }];
  if (evidence.length === 0) return [{ feature: "body", text: "words", strength: confidence }];
  const total = evidence.reduce((sum, { share }) => sum + share, 0);
  return evidence.map(({ text, where, kind, share }) => ({
    feature: where[0] ?? "body",
    text: kind === "synonym" ? `${text} (a synonym)` : text,
    strength: 1 - (1 - confidence) ** (share / total),
  }));
}

function contextReasons({ rule, domain }: SkillCard, input: MatchInput): Reason[] {
  const reasons: Reason[] = [];
  const own = rule?.domain ?? domain;
  if (own && own === input.domain) reasons.push({ feature: "domain", text: own, strength: STRENGTH.domain });
  if (input.taskType && rule?.taskTypes.includes(input.taskType)) {
    reasons.push({ feature: "task-type", text: input.taskType, strength: STRENGTH.taskType });
  }
  if (input.role && rule?.agentRoles.includes(input.role)) {
    reasons.push({ feature: "role", text: input.role, strength: STRENGTH.role });
  }
  return reasons;
}

function partsOf(reasons: readonly Reason[]): Match["parts"] {
  const parts = { keyword: 0, synonym: 0, intent: 0, file: 0, context: 0, score: 0 };
  for (const { feature } of reasons) {
    const part = PART_OF[feature];
    if (!part) continue;
    parts[part]++;
    parts.score += PART_SCORE[part];
  }
  return parts;
}
