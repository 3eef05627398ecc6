/** The compiled skill index: what a prompt needs of it, skills by name and by file, and full-text search. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { MatchIndex } from "../../../skills/matching/match-skills.ts";
import type { Posting, TermStats } from "../../../skills/matching/score-text.ts";
import type { PatternKind, PatternRow, SkillCard, TriggerRow } from "../../../skills/types.ts";
import { addWeights, type ListViews, largest, readPostings, sumsFor, viewsOf } from "./posting-lists.ts";

export class SkillRows {
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  body(hash: string): string | undefined {
    return (this.all("SELECT body FROM skill_bodies WHERE hash = ?", hash)[0] as { body: string } | undefined)?.body;
  }

  /** Those of the kinds given, without the ones that were too slow once. */
  patterns(kinds: readonly PatternKind[]): PatternRow[] {
    const rows = this.all(PATTERNS, JSON.stringify(kinds)) as unknown as (Omit<PatternRow, "linear"> & {
      linear: number;
    })[];
    return rows.map((row) => ({ ...row, linear: row.linear === 1 }));
  }

  cards(keys: readonly number[]): SkillCard[] {
    return (this.allIn(CARDS, keys) as unknown as CardRow[]).map(toCard);
  }

  /** `IN ()` stands for the values: written out while they are few, which takes SQLite a third of the time that JSON takes it. */
  protected allIn(sql: string, values: readonly (string | number)[]) {
    if (values.length === 0) return [];
    if (values.length > FEW) return this.all(sql.replace("()", ALL_OF_JSON), JSON.stringify(values));
    return this.all(sql.replace("()", `(?${",?".repeat(values.length - 1)})`), ...values);
  }

  protected all(sql: string, ...values: (string | number)[]) {
    let statement = this.#statements.get(sql);
    if (!statement) this.#statements.set(sql, (statement = this.#db.prepare(sql)));
    return statement.all(...values);
  }
}

export const ALL_OF_JSON = "(SELECT value FROM json_each(?))";
/** So many values are written out. A prompt with more terms than that has only the lists read that are looked at. */
export const FEW = 100;
const PATTERNS = `
SELECT skill, kind, source, flags, linear FROM patterns
WHERE kind IN ${ALL_OF_JSON} AND source NOT IN (SELECT source FROM slow_patterns) ORDER BY id`;
export const CARD_COLUMNS = `
SELECT s.key, s.id, s.name, s.description, s.brief, s.domain, s.path, s.folder, s.hash, s.source_kind, s.source_label,
  s.model_invocable, s.load_confidence, s.requires, r.data AS rule
FROM skills s LEFT JOIN skill_rules r ON r.skill = s.key WHERE s.active = 1`;

const CARDS = `${CARD_COLUMNS} AND s.key IN ()`;

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
  const card: SkillCard = {
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
    requires: row.requires === "[]" ? [] : JSON.parse(row.requires),
  };
  if (row.domain !== null) card.domain = row.domain;
  if (row.folder !== null) card.folder = row.folder;
  if (row.load_confidence !== null) card.loadConfidence = row.load_confidence;
  if (row.rule !== null) card.rule = JSON.parse(row.rule);
  return card;
}

// Reads the compiled skill index: the half that a prompt needs.

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

// Skills of the compiled index by name and by file, and all of them: the half that sessions and tools need.

export interface SkillLookup {
  card(id: string): SkillCard | undefined;
  /** The skill whose file this is. */
  cardAt(path: string): SkillCard | undefined;
  /** The id under which a name is installed: the name itself, else one of that name with or without a plugin's prefix. */
  idOf(name: string): string | undefined;
  listCards(): SkillCard[];
  cards(keys: readonly number[]): SkillCard[];
  /** Those of the kinds given, without the ones that were too slow once. */
  patterns(kinds: readonly PatternKind[]): PatternRow[];
  /** The text of a version. */
  body(hash: string): string | undefined;
}

export class SkillCards extends SkillRows implements SkillLookup {
  card(id: string): SkillCard | undefined {
    const [row] = this.all(CARD, id) as unknown as CardRow[];
    return row && toCard(row);
  }

  cardAt(path: string): SkillCard | undefined {
    const [row] = this.all(CARD_AT, path) as unknown as CardRow[];
    return row && toCard(row);
  }

  idOf(name: string): string | undefined {
    // Nearly always, and by an index; the card is asked for next.
    if (this.card(name)) return name;
    const bare = name.slice(name.lastIndexOf(":") + 1);
    const rows = this.all(IDS_NAMED, bare, `:${bare}`);
    return rows[0] && String(rows[0]["id"]);
  }

  listCards(): SkillCard[] {
    return (this.all(ALL_CARDS) as unknown as CardRow[]).map(toCard);
  }
}

const CARD = `${CARD_COLUMNS} AND s.id = ?`;
/** All names stand in the index: the rows, which hold long texts, need not be read for them. */
const IDS_NAMED =
  "SELECT id FROM skills INDEXED BY skills_by_id WHERE active = 1 AND (id = ?1 OR substr(id, -length(?2)) = ?2) ORDER BY rank, id LIMIT 1";
const CARD_AT = `${CARD_COLUMNS} AND s.path = ?`;
const ALL_CARDS = `${CARD_COLUMNS} ORDER BY s.id`;

// The compiled skill index whole: for prompts, by name, by file, all of it, and full-text search.

export class SqliteSkillIndex extends PromptIndex implements SkillLookup {
  readonly #cards: SkillCards;

  constructor(db: DatabaseSync) {
    super(db);
    this.#cards = new SkillCards(db);
  }

  card(id: string): SkillCard | undefined {
    return this.#cards.card(id);
  }

  cardAt(path: string): SkillCard | undefined {
    return this.#cards.cardAt(path);
  }

  idOf(name: string): string | undefined {
    return this.#cards.idOf(name);
  }

  listCards(): SkillCard[] {
    return this.#cards.listCards();
  }

  /** Full-text search, best first: `match` is an FTS5 expression. */
  search(match: string, limit: number): number[] {
    return (this.all(SEARCH, match, limit) as unknown as { skill: number }[]).map(({ skill }) => skill);
  }
}

const SEARCH =
  "SELECT rowid AS skill FROM skills_search WHERE skills_search MATCH ? ORDER BY bm25(skills_search, 3, 1, 0.2) LIMIT ?";
