/**
 * Reads the compiled skill index: the half that a prompt needs. The hook bundles this file: one statement per question, lists of values as JSON.
 * Statements are prepared once per connection, because preparing costs more than running on this path.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { MatchIndex } from "../../skills/combine-matches.ts";
import type { Posting, TermStats } from "../../skills/score-text.ts";
import type { PatternKind, PatternRow, SkillCard, TriggerRow } from "../../skills/types.ts";
import { addWeights, readPostings } from "./posting-lists.ts";

export class PromptIndex implements MatchIndex {
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  #size: number | undefined;

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  /** Counted when it is first asked for: most events do not. */
  get size(): number {
    this.#size ??= Number((this.all(COUNT)[0] as { size: number }).size);
    return this.#size;
  }

  get installed(): number {
    return Number((this.all(INSTALLED)[0] as { count: number }).count);
  }

  names(limit: number): string[] {
    return this.all(NAMES, limit).map(({ id }) => String(id));
  }

  cardsNamed(ids: readonly string[]): SkillCard[] {
    return (this.all(CARDS_NAMED, JSON.stringify(ids)) as unknown as CardRow[]).map(toCard);
  }

  terms(terms: readonly string[]): TermStats[] {
    return (
      this.all(TERMS, JSON.stringify(terms)) as unknown as { term: string; df: number; share: number | null }[]
    ).map(({ term, df, share }) => (share === null ? { term, df } : { term, df, share }));
  }

  sums(factors: ReadonlyMap<string, number>): Map<number, number> {
    const sums = new Map<number, number>();
    for (const row of this.all(LISTS, JSON.stringify([...factors.keys()]))) {
      addWeights(row["postings"] as Uint8Array, factors.get(String(row["term"])) ?? 0, sums);
    }
    return sums;
  }

  postings(terms: readonly string[], skills?: readonly number[]): Posting<number>[] {
    const found: Posting<number>[] = [];
    for (const row of this.all(LISTS, JSON.stringify(terms))) {
      readPostings(String(row["term"]), row["postings"] as Uint8Array, found, skills);
    }
    return found;
  }

  triggers(stems: readonly string[]): TriggerRow[] {
    return this.all(TRIGGERS, JSON.stringify(stems)) as unknown as TriggerRow[];
  }

  /** Those of the kinds given, without the ones that were too slow once. */
  patterns(kinds: readonly PatternKind[]): PatternRow[] {
    const rows = this.all(PATTERNS, JSON.stringify(kinds)) as unknown as (Omit<PatternRow, "linear"> & {
      linear: number;
    })[];
    return rows.map((row) => ({ ...row, linear: row.linear === 1 }));
  }

  alwaysActive(): number[] {
    return (this.all(ALWAYS) as unknown as { skill: number }[]).map(({ skill }) => skill);
  }

  hasRules(): boolean {
    return Number((this.all(HAS_RULES)[0] as { found: number }).found) === 1;
  }

  cards(keys: readonly number[]): SkillCard[] {
    return (this.all(CARDS, JSON.stringify(keys)) as unknown as CardRow[]).map(toCard);
  }

  body(hash: string): string | undefined {
    return (this.all(BODY, hash)[0] as { body: string } | undefined)?.body;
  }

  protected all(sql: string, ...values: (string | number)[]) {
    let statement = this.#statements.get(sql);
    if (!statement) this.#statements.set(sql, (statement = this.#db.prepare(sql)));
    return statement.all(...values);
  }
}

const COUNT = "SELECT count(*) AS size FROM skills WHERE active = 1";
const INSTALLED = "SELECT count(*) AS count FROM skills WHERE active = 1 AND source_kind <> 'rule'";
const NAMES =
  "SELECT id FROM skills WHERE active = 1 AND model_invocable = 1 AND source_kind <> 'rule' ORDER BY id LIMIT ?";
const TERMS = "SELECT term, df, share FROM terms WHERE term IN (SELECT value FROM json_each(?))";
const LISTS =
  "SELECT term, postings FROM terms WHERE term IN (SELECT value FROM json_each(?)) AND postings IS NOT NULL";
const HAS_RULES = `
SELECT EXISTS (SELECT 1 FROM skill_rules) OR EXISTS (SELECT 1 FROM triggers) OR EXISTS (SELECT 1 FROM patterns) AS found`;
const TRIGGERS = "SELECT skill, kind, phrase, weight FROM triggers WHERE stem IN (SELECT value FROM json_each(?))";
const PATTERNS = `
SELECT skill, kind, source, flags, linear FROM patterns
WHERE kind IN (SELECT value FROM json_each(?)) AND source NOT IN (SELECT source FROM slow_patterns) ORDER BY id`;
const ALWAYS = "SELECT skill FROM skill_rules WHERE json_extract(data, '$.alwaysActive') = 1";
export const CARD_COLUMNS = `
SELECT s.key, s.id, s.name, s.description, s.brief, s.domain, s.path, s.folder, s.hash, s.source_kind, s.source_label,
  s.model_invocable, s.load_confidence, s.requires, r.data AS rule
FROM skills s LEFT JOIN skill_rules r ON r.skill = s.key WHERE s.active = 1`;
const CARDS_NAMED = `${CARD_COLUMNS} AND s.id IN (SELECT value FROM json_each(?))`;
const CARDS = `${CARD_COLUMNS} AND s.key IN (SELECT value FROM json_each(?))`;
const BODY = "SELECT body FROM skill_bodies WHERE hash = ?";

export interface CardRow {
  key: number;
  id: string;
  name: string;
  description: string;
  brief: string;
  domain: string | null;
  path: string;
  folder: string | null;
  hash: string;
  source_kind: string;
  source_label: string;
  model_invocable: number;
  load_confidence: number | null;
  requires: string;
  rule: string | null;
}

export function toCard(row: CardRow): SkillCard {
  return {
    key: row.key,
    id: row.id,
    name: row.name,
    description: row.description,
    brief: row.brief,
    path: row.path,
    hash: row.hash,
    sourceKind: row.source_kind,
    sourceLabel: row.source_label,
    modelInvocable: row.model_invocable === 1,
    requires: JSON.parse(row.requires),
    ...(row.domain !== null && { domain: row.domain }),
    ...(row.folder !== null && { folder: row.folder }),
    ...(row.load_confidence !== null && { loadConfidence: row.load_confidence }),
    ...(row.rule !== null && { rule: JSON.parse(row.rule) }),
  };
}
