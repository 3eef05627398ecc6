/**
 * Agents whose files list `skills:`. Such skills are in every conversation of the agent, needed or not. For each, says how to load it only
 * when a task needs it.
 */
import { cleanLine } from "../base/clean-text.ts";
import { readFrontmatter } from "../base/frontmatter.ts";
import { estimateTokens } from "../tokens/estimate.ts";
import { plainKey, readTexts } from "./rules/rule-values.ts";

/** What is known about a skill that an agent lists. */
export interface ListedSkill {
  instructions: string;
  hasTriggers: boolean;
  /** Its author keeps it for people, so nothing loads it unasked. */
  isForPeople: boolean;
  path: string;
}

export interface StaticSkills {
  /** The agent's file. */
  file: string;
  /** Tokens of the listed skills, sent with every request of the agent, as an estimate. */
  tokens: number;
  skills: {
    name: string;
    tokens: number;
    /** ready: remove it from the list. needs-triggers: its own file has none yet. */
    state: "ready" | "needs-triggers" | "for-people" | "not-installed";
    /** What to do, in one sentence. */
    advice: string;
  }[];
}

/** The names that an agent's file lists under `skills`: a list, or a line with commas. Empty: it lists none, or it is no agent. */
export function listedSkills(agentFile: string): string[] {
  const { data } = readFrontmatter(agentFile);
  const value = Object.entries(data).find(([key]) => plainKey(key) === "skills")?.[1];
  const texts = typeof value === "string" ? value.split(",") : (readTexts(value)?.items ?? []);
  return [...new Set(texts.map((text) => cleanLine(text, { maxChars: 128 })).filter((text) => text !== ""))];
}

/** Undefined: the agent lists none. */
export function staticSkillsOf(
  file: string,
  names: readonly string[],
  find: (name: string) => ListedSkill | undefined,
): StaticSkills | undefined {
  if (names.length === 0) return undefined;
  const skills = names.map((name) => judge(name, find(name)));
  return { file, tokens: skills.reduce((sum, { tokens }) => sum + tokens, 0), skills };
}

function judge(name: string, skill: ListedSkill | undefined): StaticSkills["skills"][number] {
  const [state, advice] = adviceFor(name, skill);
  return { name, tokens: skill ? estimateTokens(skill.instructions) : 0, state, advice };
}

function adviceFor(name: string, skill: ListedSkill | undefined): [StaticSkills["skills"][number]["state"], string] {
  if (!skill) return ["not-installed", `${name} is not installed: remove it from the list, or install it.`];
  const { isForPeople, hasTriggers, path } = skill;
  if (isForPeople) {
    const advice = `keep it in the list, or remove that line from ${path}.`;
    return ["for-people", `${name} has disable-model-invocation, so nothing else loads it: ${advice}`];
  }
  if (hasTriggers) return ["ready", `${name} has triggers: remove it from the list.`];
  return ["needs-triggers", `${name} has no triggers: add some to ${path}, then remove it from the list.`];
}

/** One line for people. */
export function formatStaticSkills({ skills, tokens }: StaticSkills): string {
  const names = skills.map(({ name }) => name).join(", ");
  return `preloads ${names} into every conversation (about ${tokens} tokens with each request). ${skills.map(({ advice }) => advice).join(" ")}`;
}
