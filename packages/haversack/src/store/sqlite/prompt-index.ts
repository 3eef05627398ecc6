/**
 * Reads the compiled skill index: the half that a prompt needs. The hook bundles this file: one statement per question.
 */
import type { MatchIndex } from "../../skills/matching/match-skills.ts";
import type { Posting, TermStats } from "../../skills/matching/score-text.ts";
import type { SkillCard, TriggerRow } from "../../skills/types.ts";
import { addWeights, type ListViews, largest, readPostings, sumsFor, viewsOf } from "./posting-lists.ts";
import { ALL_OF_JSON, CARD_COLUMNS, type CardRow, FEW, SkillRows, toCard } from "./skill-rows.ts";

export class PromptIndex extends SkillRows implements MatchIndex {
  #facts: PoolFacts | undefined;
  /** The lists of the prompt that is being ranked; undefined for a term that has none. */
  #lists = new Map<string, ListViews | undefined>();

  get size(): number {
    return this.#pool.size;
  }

  get installed(): number {
    return this.#pool.installed;
  }

  /** Counted when it is first asked for, in one statement: most events ask for none of it, and those that do for all. */
  get #pool(): PoolFacts {
    this.#facts ??= this.all(POOL)[0] as unknown as PoolFacts;
    return this.#facts;
  }

  names(limit: number): string[] {
    return this.all(NAMES, limit).map(({ id }) => String(id));
  }

  cardsNamed(ids: readonly string[]): SkillCard[] {
    return (this.allIn(CARDS_NAMED, ids) as unknown as CardRow[]).map(toCard);
  }

  /**
   * Ranking begins with this question: short lists come along, because it asks for most of them next. What was counted for the prompt before
   * is forgotten: a server lives longer than an index.
   */
  terms(terms: readonly string[]): TermStats[] {
    this.#lists = new Map();
    this.#facts = undefined;
    const sql = terms.length <= FEW ? TERMS_WITH_LISTS : TERMS;
    const rows = this.allIn(sql, terms) as unknown as TermRow[];
    return rows.map(({ term, df, share, postings }) => {
      if (postings) this.#lists.set(term, viewsOf(postings));
      return share === null ? { term, df } : { term, df, share };
    });
  }

  best(factors: ReadonlyMap<string, number>, count: number): number[] {
    const lists = this.#listsOf([...factors.keys()]);
    const sums = sumsFor(lists.values());
    for (const [term, list] of lists) addWeights(list, factors.get(term) ?? 0, sums);
    return largest(sums, count);
  }

  postings(terms: readonly string[], skills?: readonly number[]): Posting<number>[] {
    const found: Posting<number>[] = [];
    for (const [term, list] of this.#listsOf(terms)) readPostings(term, list, found, skills);
    return found;
  }

  #listsOf(terms: readonly string[]): Map<string, ListViews> {
    const missing = terms.filter((term) => !this.#lists.has(term));
    if (missing.length > 0) {
      for (const term of missing) this.#lists.set(term, undefined);
      for (const { term, postings } of this.allIn(LISTS, missing) as unknown as TermRow[]) {
        if (postings) this.#lists.set(term, viewsOf(postings));
      }
    }
    const found = new Map<string, ListViews>();
    for (const term of terms) {
      const list = this.#lists.get(term);
      if (list) found.set(term, list);
    }
    return found;
  }

  triggers(stems: readonly string[]): TriggerRow[] {
    return this.all(TRIGGERS, JSON.stringify(stems)) as unknown as TriggerRow[];
  }

  alwaysActive(): number[] {
    return (this.all(ALWAYS) as unknown as { skill: number }[]).map(({ skill }) => skill);
  }

  hasRules(): boolean {
    return this.#pool.hasRules === 1;
  }
}

interface PoolFacts {
  size: number;
  installed: number;
  hasRules: number;
}

const POOL = `
SELECT size, size - (SELECT count(*) FROM skills WHERE active = 1 AND source_kind = 'rule') AS installed,
  EXISTS (SELECT 1 FROM skill_rules) OR EXISTS (SELECT 1 FROM triggers) OR EXISTS (SELECT 1 FROM patterns) AS hasRules
FROM (SELECT count(*) AS size FROM skills WHERE active = 1)`;
const NAMES =
  "SELECT id FROM skills WHERE active = 1 AND model_invocable = 1 AND source_kind <> 'rule' ORDER BY id LIMIT ?";
/** Skills of a list that is read with the counts: one page of the file at the most. */
const SHORT_LIST = 500;
const TERMS_WITH_LISTS = `
SELECT term, df, share, CASE WHEN df <= ${SHORT_LIST} THEN postings END AS postings
FROM terms WHERE term IN ()`;
const TERMS = "SELECT term, df, share FROM terms WHERE term IN ()";
const LISTS = "SELECT term, postings FROM terms WHERE term IN () AND postings IS NOT NULL";
const TRIGGERS = `SELECT skill, kind, phrase, weight FROM triggers WHERE stem IN ${ALL_OF_JSON}`;
const ALWAYS = "SELECT skill FROM skill_rules WHERE json_extract(data, '$.alwaysActive') = 1";
const CARDS_NAMED = `${CARD_COLUMNS} AND s.id IN ()`;

interface TermRow {
  term: string;
  df: number;
  share: number | null;
  postings?: Uint8Array | null;
}
