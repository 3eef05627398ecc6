/** A folder of skills as a pool to match prompts against: complete in a real index, in random parts, or with one skill changed. */
import { relative } from "node:path";
import type { FileSystem } from "../base/file-system.ts";
import { backgroundTerms } from "../skills/matching/background.ts";
import { tieOf } from "../skills/matching/ecosystems.ts";
import type { MatchIndex } from "../skills/matching/match-skills.ts";
import { indexOfTerms } from "../skills/matching/memory-index.ts";
import type { Posting, TermIndex } from "../skills/matching/score-text.ts";
import { type SkillTermsInput, skillTerms } from "../skills/matching/skill-terms.ts";
import { compileRules } from "../skills/rules/compile-rules.ts";
import { briefOfSkill } from "../skills/short-description.ts";
import { findSkillFiles } from "../skills/skill-files.ts";
import type { Problem } from "../skills/types.ts";
import { writeStore } from "../store/sqlite/access.ts";
import { openMemoryStore } from "../store/sqlite/open.ts";
import { SqliteSkillIndex } from "../store/sqlite/skills/skill-index.ts";
import { SkillIndexWriter } from "../store/sqlite/skills/skill-index-writer.ts";
import type { AnswerIndex } from "./compose-answer.ts";
import { readPoolFile } from "./skill-pool.ts";

export interface PoolSkill {
  key: number;
  id: string;
  /** The source of its terms. Terms are computed when needed: all of them together would fill the memory. */
  text: SkillTermsInput;
  /** Its author keeps it for people. */
  isHidden: boolean;
}

export interface Pool {
  index: PoolIndex;
  skills: ReadonlyMap<string, PoolSkill>;
  problems: Problem[];
}

/** Knows nothing about a project: only words and rules count. */
export type PoolIndex = MatchIndex & AnswerIndex;

/** Ids are folder paths relative to the pool, so skills with the same name from several collections stay distinct. */
export function openPool(folder: string, fs: FileSystem): Pool {
  const handle = openMemoryStore();
  const writer = new SkillIndexWriter(handle.db);
  const source = { kind: "folder" as const, label: folder, rank: 0 };
  const { files, problems } = findSkillFiles([{ dir: folder, source, isNamed: true }], fs, {
    maxDepth: 12,
    insideSkills: true,
  });
  const skills = new Map<string, PoolSkill>();
  writeStore(handle, () => {
    writer.putBackground(backgroundTerms());
    for (const file of files) {
      if (!file.folder) continue;
      const { read, problems: own } = readPoolFile(file, fs);
      problems.push(...own);
      if (!read) continue;
      const { skill, text, modelInvocable } = read;
      const id = relative(folder, file.folder).replaceAll("\\", "/") || skill.id;
      const tied = tieOf(skill);
      const key = writer.put({
        ...skill,
        id,
        modelInvocable,
        size: file.size,
        mtimeMs: file.mtimeMs,
        rank: 0,
        brief: briefOfSkill(skill),
        sourceKind: source.kind,
        sourceLabel: source.label,
        terms: skillTerms(text),
        ...(tied && { tied }),
        problems: [],
      });
      writer.activate(key);
      if (skill.triggers) writer.putRules(key, compileRules([], { triggers: skill.triggers, file: file.path }));
      skills.set(id, { key, id, text, isHidden: !modelInvocable });
    }
    writer.flush();
  });
  const index: PoolIndex = new SqliteSkillIndex(handle.db);
  return { index, skills, problems };
}

/** The pool as if only these skills were installed. */
export function partOf({ index }: Pool, members: readonly PoolSkill[]): PoolIndex {
  const keys = new Set(members.map(({ key }) => key));
  const isMember = ({ skill }: { skill: number }) => keys.has(skill);
  return {
    ...indexOfTerms(members.map(({ key, text }) => [key, skillTerms(text)] as const)),
    ...rest(index),
    triggers: (stems) => index.triggers(stems).filter(isMember),
    patterns: (kinds) => index.patterns(kinds).filter(isMember),
    alwaysActive: () => index.alwaysActive().filter((key) => keys.has(key)),
    names: (limit) => members.slice(0, limit).map(({ id }) => id),
    installed: members.length,
  };
}

/** The pool as if this skill's description had one more sentence. */
export function withSentence({ index }: Pool, { key, text }: PoolSkill, sentence: string): PoolIndex {
  const before = new Set(skillTerms(text).map(({ term }) => term));
  const after = new Map(
    skillTerms({ ...text, description: `${text.description} ${sentence}` }).map((row) => [row.term, row]),
  );
  const words: TermIndex<number> = {
    size: index.size,
    terms: (terms) =>
      [...index.terms(terms)].map((row) => ({
        ...row,
        df: row.df + Number(after.has(row.term)) - Number(before.has(row.term)),
      })),
    best: (factors, count) => [...new Set([...(index.best?.(factors, count) ?? []), key])],
    postings: (terms, skills) => {
      const others = [...index.postings(terms, skills)].filter(({ skill }) => skill !== key);
      if (skills && !skills.includes(key)) return others;
      const own = terms.flatMap((term): Posting<number>[] => {
        const row = after.get(term);
        return row ? [{ ...row, skill: key }] : [];
      });
      return [...others, ...own];
    },
  };
  return {
    ...words,
    ...rest(index),
    triggers: (stems) => index.triggers(stems),
    patterns: (kinds) => index.patterns(kinds),
    alwaysActive: () => index.alwaysActive(),
    installed: index.installed,
  };
}

function rest(index: PoolIndex): Pick<PoolIndex, "hasRules" | "cards" | "hidden" | "body" | "cardsNamed" | "names"> {
  return {
    hasRules: () => index.hasRules(),
    cards: (keys) => index.cards(keys),
    hidden: (keys) => index.hidden(keys),
    body: (hash) => index.body(hash),
    cardsNamed: (ids) => index.cardsNamed(ids),
    names: (limit) => index.names(limit),
  };
}

/**
 * Splits the pool into random parts of this size. Each skill is in one part; the last part is filled up with other skills. The same seed
 * gives the same parts.
 */
export function randomParts(pool: Pool, size: number, seed: number): PoolSkill[][] {
  const shuffled = [...pool.skills.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  const random = randomNumbers(seed);
  for (let at = shuffled.length - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1));
    [shuffled[at], shuffled[other]] = [shuffled[other]!, shuffled[at]!];
  }
  const parts: PoolSkill[][] = [];
  for (let at = 0; at < shuffled.length; at += size) {
    const part = shuffled.slice(at, at + size);
    parts.push([...part, ...shuffled.slice(0, Math.min(at, size - part.length))]);
  }
  return parts;
}

/** Numbers from 0 to 1 that depend on the seed alone (a linear congruential generator with the constants of Numerical Recipes). */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
