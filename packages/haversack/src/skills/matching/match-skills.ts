/**
 * Which skills fit a prompt, with what confidence, and why. Combines the ranking by words with the rules, and with what is known
 * besides the words. Evidence only adds: each piece
 * reduces the doubt (1 − Π(1 − strength)), so a skill never becomes harder to find because its author listed more keywords.
 */

import type { PatternKind, PatternRow, Priority, SkillCard, TriggerRow } from "../types.ts";
import { matchRules, STRENGTH } from "./match-rules.ts";
import { pathsInPrompt } from "./prompt-paths.ts";
import {
  type Faint,
  LEAST_CONFIDENCE,
  NAME_CONFIDENCE,
  type RankedSkill,
  RECOMMEND_CONFIDENCE,
  rankSkills,
  type TermIndex,
} from "./score-text.ts";
import { promptTerms, tokenize } from "./tokenize.ts";

export interface MatchIndex extends TermIndex<number> {
  triggers(stems: readonly string[]): TriggerRow[];
  patterns(kinds: readonly PatternKind[]): PatternRow[];
  alwaysActive(): number[];
  /** Whether there is any rule, in a rules file or in frontmatter. */
  hasRules(): boolean;
  cards(keys: readonly number[]): SkillCard[];
  /** Which of these no model is shown. Asked for all candidates, most of which need no card. */
  hidden(keys: readonly number[]): number[];
  /** Absent: nothing is known about a project, as in evaluation. */
  projectContext?(): ProjectContext | undefined;
  /** What other sessions did with these skills. Without learning, only whether they loaded them: `loaded` is 1. */
  uses?(ids: readonly string[], sessionId: string, isLearning: boolean): ReadonlyMap<string, SkillUse>;
}

export interface MatchInput {
  prompt: string;
  /** The prompt is a search for skills. Default: false. */
  isSearch?: boolean;
  /** Files the session touched, relative to the project or absolute. */
  files?: readonly string[];
  /** The project's absolute folder; paths inside it are matched as relative ones. */
  root?: string;
  /** The domain the session is in. */
  domain?: string | undefined;
  /** The type of the task that the agent holds, and the agent's role. */
  taskType?: string | undefined;
  role?: string | undefined;
  /** The title of that task. */
  taskTitle?: string | undefined;
  sessionId?: string;
  /** The setting `skills.learn`. Default: false. */
  isLearning?: boolean;
  /** Similarity to the prompt by skill id, from an embedding endpoint. */
  judged?: ReadonlyMap<string, number> | undefined;
  env?: Readonly<Record<string, string | undefined>>;
  /** Skills whose body this window already has. */
  usedSkills?: readonly string[];
  /** Reads the beginning of a file that the prompt mentions; undefined if there is no such file. */
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
  | "always"
  | "project"
  | "task"
  | "use"
  | "judge";

export interface Reason {
  feature: Feature;
  /** What matched, in words for people. */
  text: string;
  /** The confidence that this piece alone would give, 0..1. */
  strength: number;
  /** How it moves the log odds; only for what is known besides the prompt. */
  shift?: number;
}

export interface Match {
  card: SkillCard;
  confidence: number;
  named: boolean;
  reasons: Reason[];
  /** Matches per part, named as in the rules' own format, and the total score in that format. */
  parts: { keyword: number; synonym: number; intent: number; file: number; context: number; score: number };
  /** Why it must not be shown although it matched. */
  excluded?: string;
}

/** How a skill is shown for a prompt: as a card, or by name with a few words. */
export type Tier = "card" | "name";

export interface MatchResult {
  /** Best first; excluded ones last. */
  matches: Match[];
  /** Patterns that ran out of time in this prompt. */
  slowPatterns: string[];
}

/** Priority orders skills that fit about equally well; it is not evidence that one fits. */
const PRIORITY_BONUS: Record<Priority, number> = { critical: 0.06, high: 0.03, medium: 0, low: -0.03 };

/** Scores of the parts in the rules' own format. */
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

/** The rules' results for a prompt. */
export interface RuleMatches {
  reasons: ReadonlyMap<number, readonly Reason[]>;
  /** Why a skill must not be shown although it matched. */
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
  const hidden = (keys: readonly number[]) => new Set(index.hidden(keys));
  const rules = index.hasRules() ? matchRules(input, index) : NO_RULES;
  const asked = new Set([...rules.reasons].flatMap(([key, reasons]) => (reasons.some(isAuthorsWord) ? [key] : [])));
  const { prompt, isSearch = false } = input;
  for (const ranked of rankSkills(prompt, index, { limit, isSearch, hidden, asked, ...(faint && { faint }) })) {
    if (ranked.named) named.add(ranked.skill);
    words.set(ranked.skill, textReasons(ranked));
  }
  const candidates = index.cards([...new Set([...words.keys(), ...rules.reasons.keys()])]);
  const context = contextOf(candidates, input, index);
  const matches = candidates.map((card): Match => {
    const reasons = [
      ...(words.get(card.key) ?? []),
      ...(rules.reasons.get(card.key) ?? []),
      ...contextReasons(card, input),
    ];
    const isNamed = named.has(card.key);
    const priors = isNamed ? [] : priorReasons(card, context);
    const why = card.modelInvocable
      ? rules.excluded(card)
      : "its author keeps it for people (disable-model-invocation)";
    return {
      card,
      confidence: shifted(combine(reasons), priors, NAME_CONFIDENCE),
      named: isNamed,
      reasons: [...reasons, ...priors],
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

function contextOf(candidates: readonly SkillCard[], input: MatchInput, index: MatchIndex): SkillContext {
  const { prompt, files = [], taskTitle, sessionId = "", isLearning = false, judged } = input;
  const ids = candidates.map(({ id }) => id);
  return {
    prompt,
    files,
    isLearning,
    judged: judged ? standardized(judged) : new Map(),
    project: candidates.some(({ tied }) => tied) ? index.projectContext?.() : undefined,
    uses: index.uses?.(ids, sessionId, isLearning) ?? new Map(),
    ofTask: taskTitle ? sharedWords(taskTitle, candidates, index) : new Map(),
  };
}

/** Skills whose name or description has a word of the title, with the word. Everyday words do not count. */
function sharedWords(title: string, candidates: readonly SkillCard[], index: MatchIndex): Map<number, string> {
  const said = promptTerms(title).terms.filter(({ kind }) => kind !== "whole");
  const text = new Map(said.map(({ term, text }) => [term, text]));
  const telling = [...index.terms([...text.keys()])]
    .filter(({ share = 0, df }) => share < COMMON_SHARE && df > 0)
    .map(({ term }) => term);
  const keys = candidates.map(({ key }) => key);
  return new Map([...index.postings(telling, keys)].map(({ skill, term }) => [skill, text.get(term)!]));
}

const COMMON_SHARE = 0.05;

export interface TierSettings {
  /** The minimum confidence for a card, unless the skill's rule sets another. */
  recommendThreshold: number;
  /** From this confidence on a skill gets a name. Only evaluation tries others. */
  nameThreshold: number;
  /** Maximum number of cards. */
  maxSkills: number;
}

/** Maximum number of names beside the cards. More do not help a model to choose. */
export const MOST_NAMES = 5;

/**
 * The surer the best skill is, the less a weak candidate beside it is worth its tokens. Saves 8 tokens a prompt and 2 points of wrong
 * names, and costs 0.9 points of right skills in front of the model.
 */
const NAME_RATIO = 0.13;

/** The confidence below which a candidate is not worth its tokens beside the best one. */
export function leastBeside(matches: readonly Pick<Match, "confidence" | "excluded">[]): number {
  return NAME_RATIO * Math.max(0, ...matches.map(({ confidence, excluded }) => (excluded ? 0 : confidence)));
}

/** The tier of each match, best first. A skill that the prompt names always gets a card. */
export function tiersOf(
  matches: readonly Pick<Match, "card" | "confidence" | "named" | "excluded">[],
  {
    recommendThreshold = RECOMMEND_CONFIDENCE,
    nameThreshold = NAME_CONFIDENCE,
    maxSkills = 3,
  }: Partial<TierSettings> = {},
): (Tier | undefined)[] {
  let cards = 0;
  let names = 0;
  const leastName = Math.max(nameThreshold, leastBeside(matches));
  const speaks = matches.some(({ confidence, excluded }) => !excluded && confidence >= nameThreshold);
  return matches.map(({ card, confidence, named, excluded }) => {
    if (excluded) return undefined;
    const isSure = named || confidence >= (card.rule?.threshold ?? recommendThreshold);
    if (isSure && (named || cards < maxSkills)) {
      cards++;
      return "card";
    }
    const least = cards > 0 ? LEAST_SHOWN.withCard : LEAST_SHOWN.withoutCard;
    const isAmongFirst = speaks && cards + names < least && confidence >= LEAST_CONFIDENCE;
    if ((confidence < leastName && !isAmongFirst) || names === MOST_NAMES) return undefined;
    names++;
    return "name";
  });
}

/**
 * A prompt that brings anything brings its best skills, unless nearly nothing speaks for them: a model tells three names apart, and for one
 * prompt in 28 the right one was cut that stood second or third. Brings 1 point of right skills in front of the model (2.3 with each
 * source as a pool) and no prompt that was silent before; costs 0.4 names a prompt and 3.6 points of wrong names. A third beside a card
 * would bring 0.7 points more for as many names again.
 */
const LEAST_SHOWN = { withCard: 2, withoutCard: 3 };

function isAuthorsWord({ feature }: Reason): boolean {
  return feature === "keyword" || feature === "intent";
}

function standing({ confidence, card }: Match): number {
  return confidence + PRIORITY_BONUS[card.rule?.priority ?? "medium"];
}

function combine(reasons: readonly Reason[]): number {
  return 1 - reasons.reduce((doubt, { strength }) => doubt * (1 - strength), 1);
}

/** Splits the ranking's confidence over its strongest evidence, so that the pieces combine to exactly that confidence. */
function textReasons({ confidence, evidence, named }: RankedSkill<number>): Reason[] {
  if (named) return [{ feature: "named", text: "the prompt names it", strength: STRENGTH.named }];
  if (evidence.length === 0) return [{ feature: "body", text: "words", strength: confidence }];
  const total = evidence.reduce((sum, { share }) => sum + share, 0);
  return evidence.map(({ text, where, kind, share }) => ({
    feature: where[0] ?? "body",
    text: kind === "similar" ? `${text} (spelled alike)` : text,
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

// What is known besides the prompt's words: the project's languages, files touched in this session, the task in hand, and what was used
// before. Each moves the odds of a skill by a bounded amount. None vetoes a skill that the prompt names, and none brings a skill for a
// prompt that asks for nothing.

/** Stored when the skills are indexed. */
export interface ProjectContext {
  /** Languages, frameworks and tools of the project. Empty: not known. */
  has: readonly string[];
  /** Extension of a file name → language. */
  extensions: Readonly<Record<string, string>>;
}

/** What was done with a skill in this project. */
export interface SkillUse {
  /** In how many windows the model loaded it, in earlier sessions. */
  loaded: number;
  /** Of the latest windows that it was shown in: in how many it was loaded, and in how many not. */
  used: number;
  ignored: number;
  /** Windows that loaded it although it was not shown, as after a search. */
  searched: number;
}

/** Moves of the log odds. `npm run bench context` and `npm run bench learning` print what each moves. */
export const PRIOR = {
  /** For a language or framework that the project does not have. */
  foreign: -2.5,
  /** For one that it has. */
  home: 0.3,
  /** For the language of a file that this session touched. */
  touched: 0.5,
  /** It has a word of the title of the task in hand. */
  task: 0.4,
  /** It was loaded in an earlier session of this project. */
  before: 0.3,
  /** At most, in both directions, for what was learned from use. */
  learned: 0.7,
  /** At most, in both directions, for what the user's embedding endpoint says. */
  judged: 1,
  /** At most upwards, for all together. */
  most: 1,
};

export interface SkillContext {
  project: ProjectContext | undefined;
  prompt: string;
  /** Touched in this session. */
  files: readonly string[];
  /** Skills that have a word of the task's title, by key. */
  ofTask: ReadonlyMap<number, string>;
  uses: ReadonlyMap<string, SkillUse>;
  /** The setting `skills.learn`. */
  isLearning: boolean;
  /** By id: how far a skill's similarity is from the others', in standard deviations. */
  judged: ReadonlyMap<string, number>;
}

/** Reasons with a shift of the log odds. */
export function priorReasons(card: SkillCard, context: SkillContext): Reason[] {
  const reasons: Reason[] = [];
  const add = (feature: Reason["feature"], text: string, shift: number) =>
    reasons.push({ feature, text, strength: 0, shift });
  const { project, files, ofTask, uses, isLearning } = context;
  const { tied } = card;
  if (tied && project && project.has.length > 0) {
    const touched = languagesOf(files, project);
    const isTouched = tied.of.find((one) => touched.has(one));
    if (isTouched) add("project", `${isTouched}: touched in this session`, PRIOR.touched);
    else if (tied.of.some((one) => project.has.includes(one))) add("project", tied.of.join(", "), PRIOR.home);
    else if (!isNamed(tied, context, project))
      add("project", `${tied.of.join(", ")}: not in this project`, PRIOR.foreign);
  }
  const word = ofTask.get(card.key);
  if (word !== undefined) add("task", `"${word}" in the task's title`, PRIOR.task);
  const use = uses.get(card.id);
  if (use && use.loaded > 0) add("use", "used in this project before", PRIOR.before);
  const learned = use && isLearning ? learnedShift(use) : 0;
  if (use && learned !== 0)
    add("use", `shown and used ${use.used}, ignored ${use.ignored}, searched for ${use.searched} times`, learned);
  const judged = context.judged.get(card.id);
  if (judged !== undefined) {
    const shift = Math.max(-PRIOR.judged, Math.min(PRIOR.judged, JUDGED_STEP * judged));
    add("judge", "the embedding endpoint", shift);
  }
  return reasons;
}

const JUDGED_STEP = 0.7;

/** Similarities differ in range from model to model, so only their order and distances count. */
export function standardized(similarities: ReadonlyMap<string, number>): Map<string, number> {
  const values = [...similarities.values()];
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const deviation = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
  if (!(deviation > 1e-6)) return new Map();
  return new Map([...similarities].map(([id, value]) => [id, (value - mean) / deviation]));
}

/** The prompt says the language or framework, or names a file of it. */
function isNamed(
  { of, words }: NonNullable<SkillCard["tied"]>,
  { prompt }: SkillContext,
  project: ProjectContext,
): boolean {
  const head = prompt.slice(0, 4000);
  const mentioned = languagesOf(pathsInPrompt(head), project);
  if (of.some((one) => mentioned.has(one))) return true;
  const said = new Set(tokenize(head).map(({ term }) => term));
  return words.some((word) => said.has(word));
}

function languagesOf(files: readonly string[], { extensions }: ProjectContext): Set<string> {
  return new Set(files.flatMap((file) => extensions[file.slice(file.lastIndexOf(".") + 1).toLowerCase()] ?? []));
}

/**
 * How much more or less often than usual the skill was used when it was shown, in log odds. Four showings with the usual rate of use are
 * added, so that a single session has little effect.
 */
export function learnedShift({ used, ignored, searched }: SkillUse): number {
  const hits = used + searched;
  if (hits + ignored === 0) return 0;
  const rate = (hits + USUAL * ADDED) / (hits + ignored + ADDED);
  const shift = 0.5 * (Math.log(rate / (1 - rate)) - Math.log(USUAL / (1 - USUAL)));
  return Math.max(-PRIOR.learned, Math.min(PRIOR.learned, shift));
}

const USUAL = 0.25;
const ADDED = 4;

/** A confidence after the reasons' shifts. It rises only if something is shown anyway: a prior is not a request. */
export function shifted(confidence: number, reasons: readonly Reason[], leastToRaise: number): number {
  const sum = reasons.reduce((total, { shift = 0 }) => total + shift, 0);
  if (sum === 0 || (sum > 0 && confidence < leastToRaise)) return confidence;
  const certain = Math.min(0.999, Math.max(0.0001, confidence));
  return 1 / (1 + Math.exp(-(Math.log(certain / (1 - certain)) + Math.min(PRIOR.most, sum))));
}
