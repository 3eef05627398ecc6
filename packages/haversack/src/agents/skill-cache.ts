/**
 * The skills that a conversation has loaded. Conversations do not see each other's skills. Bounded in every direction, so a process that
 * serves a million conversations holds as much as one that serves a thousand.
 */
import type { Skill } from "./skill-registry.ts";

export interface CachedSkill {
  readonly skill: Skill;
  readonly loadedAt: Date;
}

export interface SkillCacheOptions {
  /** How long a skill is kept, in ms. Default: 1 hour. */
  ttlMs?: number;
  /** How many skills one conversation keeps. The least recently used is removed first. Default: 100. */
  maxSkills?: number;
  /** How many conversations are kept. The least recently used is removed first. Default: 1,000. */
  maxConversations?: number;
  now?: () => number;
}

export class SkillCache {
  // A Map keeps its keys in the order of insertion. What is used is inserted again, so the first key is the one used longest ago.
  readonly #conversations = new Map<string, Map<string, CachedSkill>>();
  readonly #ttlMs: number;
  readonly #maxSkills: number;
  readonly #maxConversations: number;
  readonly #now: () => number;
  #hits = 0;
  #misses = 0;

  constructor({
    ttlMs = 3_600_000,
    maxSkills = 100,
    maxConversations = 1_000,
    now = Date.now,
  }: SkillCacheOptions = {}) {
    this.#ttlMs = ttlMs;
    this.#maxSkills = maxSkills;
    this.#maxConversations = maxConversations;
    this.#now = now;
  }

  get(conversationId: string, skillName: string): CachedSkill | undefined {
    const skills = this.#conversations.get(conversationId);
    const cached = skills?.get(skillName);
    if (!skills || !cached || this.#isOld(cached)) {
      if (skills && cached) this.#drop(conversationId, skills, skillName);
      this.#misses++;
      return undefined;
    }
    this.#hits++;
    renew(this.#conversations, conversationId, skills);
    renew(skills, skillName, cached);
    return cached;
  }

  set(conversationId: string, skillName: string, skill: Skill): void {
    const skills = this.#conversations.get(conversationId) ?? new Map<string, CachedSkill>();
    renew(skills, skillName, { skill, loadedAt: new Date(this.#now()) });
    renew(this.#conversations, conversationId, skills);
    trim(skills, this.#maxSkills);
    this.#dropOld();
    trim(this.#conversations, this.#maxConversations);
  }

  /** Forgets one conversation, or all of them. */
  clear(conversationId?: string): void {
    if (conversationId === undefined) this.#conversations.clear();
    else this.#conversations.delete(conversationId);
  }

  /** How many skills are kept, in one conversation or in all of them. */
  size(conversationId?: string): number {
    const kept =
      conversationId === undefined ? this.#conversations.values() : [this.#conversations.get(conversationId)];
    let count = 0;
    for (const skills of kept) for (const cached of skills?.values() ?? []) if (!this.#isOld(cached)) count++;
    return count;
  }

  /** Look-ups since the cache was made. */
  get stats(): { hits: number; misses: number } {
    return { hits: this.#hits, misses: this.#misses };
  }

  #isOld({ loadedAt }: CachedSkill): boolean {
    return this.#now() - loadedAt.getTime() > this.#ttlMs;
  }

  #drop(conversationId: string, skills: Map<string, CachedSkill>, skillName: string): void {
    skills.delete(skillName);
    if (skills.size === 0) this.#conversations.delete(conversationId);
  }

  /** From the conversation used longest ago up to the first that has a skill of today: a few at a time, and none is missed. */
  #dropOld(): void {
    for (const [id, skills] of this.#conversations) {
      for (const [name, cached] of skills) if (this.#isOld(cached)) skills.delete(name);
      if (skills.size > 0) return;
      this.#conversations.delete(id);
    }
  }
}

/** Makes it the last of the map, which is then the one used most recently. */
export function renew<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key);
  map.set(key, value);
}

/** Removes what was used longest ago. */
export function trim(map: Map<string, unknown>, most: number): void {
  for (const key of map.keys()) {
    if (map.size <= most) return;
    map.delete(key);
  }
}
