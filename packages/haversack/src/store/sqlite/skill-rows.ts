/**
 * What all readers of the compiled skill index have in common. Statements are prepared once per connection, because preparing costs
 * more than running on this path. The hook bundles this file.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { PatternKind, PatternRow, SkillCard } from "../../skills/types.ts";

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
