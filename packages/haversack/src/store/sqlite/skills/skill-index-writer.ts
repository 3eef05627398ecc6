/**
 * Writes the compiled skill index. A change of one skill touches that skill's rows alone: its postings are found through
 * the term ids kept with it, and the counts of those terms are adjusted.
 */

import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { SkillTerm } from "../../../skills/matching/skill-terms.ts";
import type { CompiledRule, PatternKind, Problem, SkillTriggers, TriggerKind } from "../../../skills/types.ts";
import { VERSIONS_IN_USE } from "../work/skill-history.ts";
import { changeList, countList, type Entry, packList, roundWeight, unpackList } from "./posting-lists.ts";

export interface IndexedSkill {
  id: string;
  path: string;
  size: number;
  mtimeMs: number;
  rank: number;
  hash: string;
  name: string;
  description: string;
  brief: string;
  body: string;
  domain?: string;
  folder?: string;
  sourceKind: string;
  sourceLabel: string;
  modelInvocable: boolean;
  loadConfidence?: number;
  requires: readonly string[];
  /** Triggers of its own frontmatter, kept so that a change of rules needs no second reading of the file. */
  triggers?: SkillTriggers;
  terms: readonly SkillTerm[];
  problems: readonly Problem[];
}

export interface IndexedFile {
  key: number;
  id: string;
  path: string;
  size: number;
  mtimeMs: number;
  rank: number;
  active: boolean;
}

export interface CompiledTrigger {
  stem: string;
  kind: TriggerKind;
  phrase: string;
  weight: number;
}

export interface CompiledPattern {
  kind: PatternKind;
  source: string;
  flags: string;
  linear: boolean;
}

export class SkillIndexWriter {
  readonly #db: DatabaseSync;
  readonly #termIds = new Map<string, number>();
  /** `#termIds` holds every term that there is. */
  #knowsAll = false;
  /** Terms that are not in the table yet: `flush` puts them in together with their lists. */
  readonly #newTerms = new Map<string, number>();
  #nextTerm: number | undefined;
  /** Changes when another connection has written: see `begin`. */
  #dataVersion: unknown;
  /** A transaction has begun, and is not known to be saved. */
  #isUnsaved = false;
  readonly #statements = new Map<string, StatementSync>();
  /** Per term the entries to put, or to take out, of its list. */
  readonly #changes = new Map<number, Map<number, Entry | undefined>>();
  /** Skills that were put since the last flush: what activating them would read again. */
  readonly #fresh = new Map<number, { entries: readonly Entry[]; name: string; description: string; body: string }>();
  /** Per skill what was taken out since the last flush. */
  readonly #cleared = new Map<number, Map<number, Entry>>();

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  files(): IndexedFile[] {
    const rows = this.#prepare("SELECT key, id, path, size, mtime_ms AS mtimeMs, rank, active FROM skills").all();
    return rows.map((row) => ({ ...row, active: row["active"] === 1 })) as unknown as IndexedFile[];
  }

  /** The nearest of each name, with the hash of its file; `except`: how the paths of others begin. */
  activeSkills(except: string): { id: string; path: string; hash: string; requires: string[] }[] {
    const rows = this.#prepare(
      "SELECT id, path, hash, requires FROM skills WHERE active = 1 AND substr(path, 1, length(?1)) <> ?1",
    ).all(except);
    return rows.map((row) => ({ ...row, requires: JSON.parse(String(row["requires"])) })) as never;
  }

  keyOf(path: string): number | undefined {
    const row = this.#prepare("SELECT key FROM skills WHERE path = ?").get(path);
    return row && Number(row["key"]);
  }

  ownTriggers(key: number): SkillTriggers | undefined {
    const row = this.#prepare("SELECT own_triggers AS text FROM skills WHERE key = ?").get(key) as
      | { text: string | null }
      | undefined;
    return row?.text ? JSON.parse(row.text) : undefined;
  }

  /** Of all files with this id the nearest is made active, the others not. Returns its key. */
  settle(id: string): number | undefined {
    // Files that are no skill share the empty id.
    if (id === "") return undefined;
    const rows = this.#prepare("SELECT key, active FROM skills WHERE id = ? ORDER BY rank, path").all(id) as {
      key: number;
      active: number;
    }[];
    const [winner, ...others] = rows;
    for (const { key, active } of others) if (active === 1) this.deactivate(key);
    if (winner) this.activate(winner.key);
    return winner?.key;
  }

  ruleFiles(): { path: string; size: number; mtimeMs: number; problems: Problem[] }[] {
    const rows = this.#prepare("SELECT path, size, mtime_ms AS mtimeMs, problems FROM rule_files").all();
    return rows.map((row) => ({ ...row, problems: JSON.parse(String(row["problems"])) })) as never;
  }

  problems(): Problem[] {
    const rows = this.#prepare("SELECT problems FROM skills UNION ALL SELECT problems FROM rule_files").all();
    return rows.flatMap((row) => JSON.parse(String(row["problems"])) as Problem[]);
  }

  /** Inserts or replaces what is known of one file; its key stays when the path stays. Not searchable until activated. */
  put(skill: IndexedSkill): number {
    const known = this.#prepare("SELECT key FROM skills WHERE path = ?").get(skill.path) as { key: number } | undefined;
    if (known) this.#clear(known.key);
    this.#prepare("INSERT OR IGNORE INTO skill_bodies (hash, body) VALUES (?, ?)").run(skill.hash, skill.body);
    const entries = skill.terms.map(({ term, weight, fields }) => ({
      skill: this.#termId(term),
      weight: roundWeight(weight),
      fields,
    }));
    const { key } = this.#prepare(PUT).get({
      key: known?.key ?? null,
      id: skill.id,
      path: skill.path,
      size: skill.size,
      mtimeMs: skill.mtimeMs,
      rank: skill.rank,
      hash: skill.hash,
      name: skill.name,
      description: skill.description,
      brief: skill.brief,
      domain: skill.domain ?? null,
      folder: skill.folder ?? null,
      sourceKind: skill.sourceKind,
      sourceLabel: skill.sourceLabel,
      modelInvocable: skill.modelInvocable ? 1 : 0,
      loadConfidence: skill.loadConfidence ?? null,
      requires: JSON.stringify(skill.requires),
      triggers: skill.triggers ? JSON.stringify(skill.triggers) : null,
      terms: packList(entries),
      problems: JSON.stringify(skill.problems),
    }) as { key: number };
    const { name, description, body } = skill;
    this.#fresh.set(key, { entries, name, description, body });
    return key;
  }

  /** Makes a skill findable: its postings, its share in the counts, its row for full-text search. */
  activate(key: number): void {
    const active = this.#prepare("SELECT active FROM skills WHERE key = ?").get(key)?.["active"];
    if (active === undefined || active === 1) return;
    const { entries, name, description, body } = this.#fresh.get(key) ?? this.#readSkill(key);
    for (const { skill: term, weight, fields } of entries) {
      const before = this.#cleared.get(key)?.get(term);
      // As it was before this change: then its list stays as it is.
      if (before && before.weight === weight && before.fields === fields) this.#changes.get(term)?.delete(key);
      else this.#change(term, key, { skill: key, weight, fields });
    }
    this.#prepare("INSERT INTO skills_search (rowid, name, description, body) VALUES (?, ?, ?, ?)").run(
      key,
      name,
      description,
      body,
    );
    this.#prepare("UPDATE skills SET active = 1 WHERE key = ?").run(key);
  }

  #readSkill(key: number): { entries: readonly Entry[]; name: string; description: string; body: string } {
    const row = this.#prepare(
      "SELECT terms, name, description, body FROM skills JOIN skill_bodies USING (hash) WHERE key = ?",
    ).get(key) as { terms: Uint8Array; name: string; description: string; body: string };
    return { ...row, entries: unpackList(row.terms) };
  }

  /** What is not active has no rows that a prompt looks at. */
  deactivate(key: number): void {
    this.clearRules(key);
    this.#clear(key);
  }

  remove(key: number): void {
    this.#clear(key);
    this.#prepare("DELETE FROM skills WHERE key = ?").run(key);
  }

  /** Everything that rules say of one skill. */
  putRules(
    key: number,
    {
      rule,
      triggers,
      patterns,
    }: { rule?: CompiledRule; triggers: readonly CompiledTrigger[]; patterns: readonly CompiledPattern[] },
  ): void {
    if (rule)
      this.#prepare("INSERT OR REPLACE INTO skill_rules (skill, data) VALUES (?, ?)").run(key, JSON.stringify(rule));
    const trigger = this.#prepare(
      "INSERT OR IGNORE INTO triggers (stem, skill, kind, phrase, weight) VALUES (?, ?, ?, ?, ?)",
    );
    for (const { stem, kind, phrase, weight } of triggers) trigger.run(stem, key, kind, phrase, weight);
    const pattern = this.#prepare("INSERT INTO patterns (skill, kind, source, flags, linear) VALUES (?, ?, ?, ?, ?)");
    for (const { kind, source, flags, linear } of patterns) pattern.run(key, kind, source, flags, linear ? 1 : 0);
  }

  clearRules(key?: number): void {
    const where = key === undefined ? "" : " WHERE skill = ?";
    for (const table of ["skill_rules", "triggers", "patterns"]) {
      this.#prepare(`DELETE FROM ${table}${where}`).run(...(key === undefined ? [] : [key]));
    }
  }

  putRuleFiles(files: readonly { path: string; size: number; mtimeMs: number; problems: readonly Problem[] }[]): void {
    this.#db.exec("DELETE FROM rule_files");
    const insert = this.#prepare("INSERT INTO rule_files (path, size, mtime_ms, problems) VALUES (?, ?, ?, ?)");
    for (const { path, size, mtimeMs, problems } of files) insert.run(path, size, mtimeMs, JSON.stringify(problems));
  }

  /** The background list, so that a prompt's ordinary words weigh little in a small pool too. */
  putBackground(shares: ReadonlyMap<string, number>): void {
    const insert = this.#prepare(
      "INSERT INTO terms (term, share) VALUES (?, ?) ON CONFLICT (term) DO UPDATE SET share = excluded.share",
    );
    for (const [term, share] of shares) insert.run(term, share);
  }

  /** By which rules the rows were made; undefined before the first. */
  format(): string | undefined {
    const row = this.#prepare("SELECT value FROM meta WHERE key = 'skill-index'").get();
    return row && String(row["value"]);
  }

  putFormat(format: string): void {
    this.#prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('skill-index', ?)").run(format);
  }

  /** Of the rules, what the user had accepted when they were settled, as JSON. */
  acceptedRules(): string {
    const row = this.#prepare("SELECT value FROM meta WHERE key = 'accepted-rules'").get();
    return String(row?.["value"] ?? "[]");
  }

  putAcceptedRules(accepted: string): void {
    this.#prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('accepted-rules', ?)").run(accepted);
  }

  /** The folders that were searched with their times, as JSON: how a hook sees that a skill was added. */
  folders(): string | undefined {
    const row = this.#prepare("SELECT value FROM meta WHERE key = 'skill-roots'").get();
    return row && String(row["value"]);
  }

  putFolders(folders: string): void {
    this.#prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('skill-roots', ?)").run(folders);
  }

  /** Bodies that no file has, no window was given and no task was begun with. Terms stay: shadowed skills refer to them by id. */
  sweep(): void {
    this.#db.exec(`
DELETE FROM skill_bodies WHERE hash NOT IN (SELECT hash FROM skills)
  AND hash NOT IN (SELECT loaded_hash FROM ledger WHERE loaded_hash IS NOT NULL)
  AND hash NOT IN (${VERSIONS_IN_USE})`);
  }

  /**
   * Call it at the start of each transaction: another process may have rebuilt the index in between. Where none has written, the ids of
   * terms that are known hold; to look up 40,000 of them again costs more than the rest of a transaction.
   */
  begin(): void {
    const version = this.#prepare("PRAGMA data_version").get()?.["data_version"];
    if (version !== this.#dataVersion || this.#isUnsaved) this.#forgetTerms();
    this.#dataVersion = version;
    this.#isUnsaved = true;
  }

  /** Reads all terms at once: for a transaction with many skills, in place of a question for each of their terms. */
  readTerms(): void {
    if (this.#knowsAll) return;
    for (const row of this.#db.prepare("SELECT id, term FROM terms").iterate()) {
      this.#termIds.set(String(row["term"]), Number(row["id"]));
    }
    this.#knowsAll = true;
  }

  #forgetTerms(): void {
    this.#termIds.clear();
    this.#newTerms.clear();
    this.#fresh.clear();
    this.#changes.clear();
    this.#cleared.clear();
    this.#knowsAll = false;
    this.#nextTerm = undefined;
  }

  /** Call it when the transaction is saved: the ids of one that failed are nobody's. */
  saved(): void {
    this.#isUnsaved = false;
  }

  empty(): void {
    this.clearRules();
    this.#db.exec(
      "DELETE FROM terms; DELETE FROM skills; DELETE FROM skills_search; DELETE FROM rule_files; DELETE FROM slow_patterns;",
    );
    this.#forgetTerms();
  }

  /** A rebuild runs the same few statements a million times; preparing one costs more than running it. */
  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = this.#db.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  /** Writes the lists that changed. Call it before a transaction ends. */
  flush(): void {
    const insert = this.#prepare("INSERT INTO terms (id, term, df, postings) VALUES (?, ?, ?, ?)");
    // In the order of the table's index: neighbours lie on one page.
    for (const [term, id] of [...this.#newTerms].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const list = changeList(undefined, this.#changes.get(id) ?? new Map());
      insert.run(id, term, countList(list), list.length === 0 ? null : list);
      this.#changes.delete(id);
    }
    this.#newTerms.clear();
    const read = this.#prepare("SELECT postings FROM terms WHERE id = ?");
    const write = this.#prepare("UPDATE terms SET postings = ?, df = ? WHERE id = ?");
    for (const [term, changes] of this.#changes) {
      if (changes.size === 0) continue;
      const list = changeList((read.get(term)?.["postings"] as Uint8Array | null) ?? undefined, changes);
      write.run(list.length === 0 ? null : list, countList(list), term);
    }
    this.#fresh.clear();
    this.#cleared.clear();
    this.#changes.clear();
  }

  #change(term: number, skill: number, entry: Entry | undefined): void {
    let changes = this.#changes.get(term);
    if (!changes) {
      changes = new Map();
      this.#changes.set(term, changes);
    }
    changes.set(skill, entry);
  }

  #clear(key: number): void {
    const row = this.#prepare("SELECT active, terms FROM skills WHERE key = ?").get(key);
    if (row?.["active"] !== 1) return;
    const cleared = new Map<number, Entry>();
    for (const entry of unpackList(row["terms"] as Uint8Array)) {
      cleared.set(entry.skill, entry);
      this.#change(entry.skill, key, undefined);
    }
    this.#cleared.set(key, cleared);
    this.#prepare("DELETE FROM skills_search WHERE rowid = ?").run(key);
    this.#prepare("UPDATE skills SET active = 0 WHERE key = ?").run(key);
  }

  #termId(term: string): number {
    const known = this.#termIds.get(term);
    if (known !== undefined) return known;
    const row = this.#knowsAll ? undefined : this.#prepare("SELECT id FROM terms WHERE term = ?").get(term);
    const id = row ? Number(row["id"]) : this.#freshTerm(term);
    this.#termIds.set(term, id);
    return id;
  }

  #freshTerm(term: string): number {
    this.#nextTerm ??= Number(this.#prepare("SELECT coalesce(max(id), 0) + 1 AS next FROM terms").get()?.["next"]);
    const id = this.#nextTerm++;
    this.#newTerms.set(term, id);
    return id;
  }
}

const PUT = `
INSERT INTO skills (key, id, path, size, mtime_ms, rank, hash, name, description, brief, domain, folder, source_kind,
  source_label, model_invocable, load_confidence, requires, own_triggers, terms, problems)
VALUES (:key, :id, :path, :size, :mtimeMs, :rank, :hash, :name, :description, :brief, :domain, :folder, :sourceKind,
  :sourceLabel, :modelInvocable, :loadConfidence, :requires, :triggers, :terms, :problems)
ON CONFLICT (path) DO UPDATE SET id = excluded.id, size = excluded.size, mtime_ms = excluded.mtime_ms, rank = excluded.rank,
  hash = excluded.hash, name = excluded.name, description = excluded.description, brief = excluded.brief,
  domain = excluded.domain, folder = excluded.folder, source_kind = excluded.source_kind,
  source_label = excluded.source_label, model_invocable = excluded.model_invocable,
  load_confidence = excluded.load_confidence, requires = excluded.requires,
  own_triggers = excluded.own_triggers, terms = excluded.terms,
  problems = excluded.problems, active = 0
RETURNING key`;
