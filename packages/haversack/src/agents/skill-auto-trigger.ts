/**
 * Which skills a task needs, before the model is asked. The matcher is the one behind the hooks: evidence only adds, so a skill does not
 * become harder to trigger because its author lists more keywords.
 */
import type { Match } from "../skills/matching/match-skills.ts";
import { RECOMMEND_CONFIDENCE } from "../skills/matching/score-text.ts";
import type { Skill, SkillRegistry } from "./skill-registry.ts";

export interface SkillTrigger {
  skill: Skill;
  /** How probable it is that the task needs the skill, 0 to 1. */
  confidence: number;
  /** The confidence that the skill needs: its own `triggers.confidence`, else the one that was asked for; less if a rule says `auto`. */
  threshold: number;
  /** Keywords as their author wrote them, `pattern:…` for patterns, and words of the task that the skill has. */
  matchedKeywords: string[];
  /** One line for people and models. */
  reason: string;
}

export interface AnalyzeOptions {
  /** The confidence that a skill needs if its author set none. Default: 0.6. */
  confidenceThreshold?: number;
  /** Default: all. */
  maxSkills?: number;
}

export const DEFAULT_CONFIDENCE = 0.6;

export class SkillAutoTrigger {
  readonly #registry: SkillRegistry;

  constructor(registry: SkillRegistry) {
    this.#registry = registry;
  }

  /** The skills that the task needs, the most probable first. Empty if there are none. */
  analyzeTask(
    task: string,
    { confidenceThreshold = DEFAULT_CONFIDENCE, maxSkills }: AnalyzeOptions = {},
  ): SkillTrigger[] {
    const triggers = this.#registry.match(gist(task)).flatMap((match) => {
      const skill = this.#registry.getSkill(match.card.id);
      return skill ? [triggerOf(skill, match, confidenceThreshold)] : [];
    });
    return triggers
      .filter(({ confidence, threshold }) => confidence >= threshold)
      .sort((a, b) => b.confidence - a.confidence || (a.skill.name < b.skill.name ? -1 : 1))
      .slice(0, maxSkills);
  }
}

/** What people ask is at the beginning or at the end of a long task; the rest is what they pasted. */
const HEAD_CHARS = 15_000;
const TAIL_CHARS = 5_000;

function gist(task: string): string {
  return task.length <= HEAD_CHARS + TAIL_CHARS ? task : `${task.slice(0, HEAD_CHARS)}\n${task.slice(-TAIL_CHARS)}`;
}

function triggerOf(skill: Skill, { card, confidence, reasons }: Match, threshold: number): SkillTrigger {
  // A phrase can be both in the description and among the keywords.
  const matchedKeywords = [
    ...new Set(
      reasons.map(({ feature, text }) => (feature === "intent" ? `pattern:${text.replace(/^\/|\/$/g, "")}` : text)),
    ),
  ];
  return {
    skill,
    confidence,
    threshold: card.loadConfidence ?? (card.rule?.enforcement === "auto" ? RECOMMEND_CONFIDENCE : threshold),
    matchedKeywords,
    reason: `Matched: ${matchedKeywords.join(", ")}`,
  };
}
