/**
 * Writes the compiled skill index. A changed skill rewrites its own rows and the buckets of its terms, which are listed in its row.
 * Changes of the lists are collected and written once, at the end of a transaction.
 */

import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { SkillTerm } from "../../../skills/matching/skill-terms.ts";
import type { CompiledRules } from "../../../skills/rules/compile-rules.ts";
import type { Problem, SkillCard, SkillTriggers } from "../../../skills/types.ts";
import { VERSIONS_IN_USE } from "../work/agents.ts";
import {
  addEntries,
  BucketChange,
  collectEntries,
  entriesOf,
  packBuckets,
  type SkillEntries,
  unpackBuckets,
} from "./pack-lists.ts";
import { bucketName, KEEP_BODY, SkillRows } from "./skill-index.ts";

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
  /** `bodyOf` reads the body from the file, so it need not be stored. */
  isBodyInFile?: boolean;
  domain?: string;
  folder?: string;
  sourceKind: string;
  sourceLabel: string;
  modelInvocable: boolean;
  loadConfidence?: number;
  requires: readonly string[];
  /** Triggers from its own frontmatter, kept because a change of rules then does not read the file again. */
  triggers?: SkillTriggers;
  terms: readonly SkillTerm[];
  /** Default: for no technology in particular. */
  tied?: SkillCard["tied"];
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

export class SkillIndexWriter {
  readonly db: DatabaseSync;
  readonly #rows: SkillRows;
  readonly #statements = new Map<string, StatementSync>();
  /** Changes of the lists, by bucket. */
  readonly #buckets = new Map<number, BucketChange>();
  /** Skills that were added or activated since the last flush. */
  readonly #fresh = new Map<number, FreshSkill>();

  constructor(db: DatabaseSync) {
    this.db = db;
    this.#rows = new SkillRows(db);
  }

  files(): IndexedFile[] {
    const rows = this.#prepare("SELECT key, id, path, size, mtime_ms AS mtimeMs, rank, active FROM skills").all();
    return rows.map((row) => ({ ...row, active: row["active"] === 1 })) as unknown as IndexedFile[];
  }

  /** The active skills with the hash of their file. Paths that start with `except` are left out. */
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

  /** Activates the nearest of all files with this id and deactivates the others. Returns its key. */
  settle(id: string): number | undefined {
    // Files that are not skills share the empty id.
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

  /** Inserts or replaces the row of one file. The same path keeps its key. Not searchable until activated. */
  put(skill: IndexedSkill): number {
    const known = this.#prepare("SELECT key FROM skills WHERE path = ?").get(skill.path) as { key: number } | undefined;
    if (known) this.#clear(known.key);
    if (!skill.isBodyInFile) this.#prepare(KEEP_BODY).run(skill.hash, skill.body);
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
      tied: skill.tied ? JSON.stringify(skill.tied) : "",
      problems: JSON.stringify(skill.problems),
    }) as { key: number };
    const { name, description, body } = skill;
    this.#fresh.set(key, { entries: entriesOf(skill.terms), name, description, body, isActive: false });
    return key;
  }

  /** Makes a skill searchable: `flush` writes its postings and its full-text row. */
  activate(key: number): void {
    const active = this.#prepare("SELECT active FROM skills WHERE key = ?").get(key)?.["active"];
    if (active === undefined || active === 1) return;
    const skill = this.#fresh.get(key) ?? this.#readShadowed(key);
    this.#fresh.set(key, { ...skill, isActive: true });
    this.#prepare("UPDATE skills SET active = 1, terms = ? WHERE key = ?").run(packBuckets(skill.entries), key);
  }

  /** A skill that is not active is in no list. All its entries are in its row. */
  #readShadowed(key: number): FreshSkill {
    const row = this.#prepare("SELECT terms, name, description, hash FROM skills WHERE key = ?").get(key) as {
      terms: Uint8Array;
      name: string;
      description: string;
      hash: string;
    };
    const entries = new Uint32Array(row.terms.slice().buffer);
    return { ...row, entries, body: this.#rows.body(row.hash) ?? "", isActive: false };
  }

  /** Removes all rows of a skill that a prompt reads. */
  deactivate(key: number): void {
    this.clearRules(key);
    const entries = this.#fresh.get(key)?.entries ?? this.#readEntries(key);
    this.#clear(key);
    this.#prepare(PUT_TERMS).run(new Uint8Array(entries.buffer), key);
  }

  remove(key: number): void {
    this.#clear(key);
    this.#prepare("DELETE FROM skills WHERE key = ?").run(key);
  }

  /** Stores everything that the rules say about one skill. */
  putRules(key: number, { rule, triggers, patterns }: Omit<CompiledRules, "problems">): void {
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
    this.db.exec("DELETE FROM rule_files");
    const insert = this.#prepare("INSERT INTO rule_files (path, size, mtime_ms, problems) VALUES (?, ?, ?, ?)");
    for (const { path, size, mtimeMs, problems } of files) insert.run(path, size, mtimeMs, JSON.stringify(problems));
  }

  /** Stores background frequencies of terms, so common words have low weight in a small pool too. */
  putBackground(shares: ReadonlyMap<string, number>): void {
    const insert = this.#prepare(
      "INSERT INTO terms (term, share) VALUES (?, ?) ON CONFLICT (term) DO UPDATE SET share = excluded.share",
    );
    for (const [term, share] of shares) insert.run(term, share);
  }

  /** Removes versions that no installed skill, window or task uses. */
  sweep(): void {
    this.db.exec(`
DELETE FROM skill_bodies WHERE hash NOT IN (SELECT hash FROM skills)
  AND hash NOT IN (SELECT loaded_hash FROM ledger WHERE loaded_hash IS NOT NULL)
  AND hash NOT IN (${VERSIONS_IN_USE})`);
  }

  /** Call it at the start of each transaction. Discards what a failed transaction left. */
  begin(): void {
    this.#buckets.clear();
    this.#fresh.clear();
  }

  /**
   * Returns free pages to the disk when they are most of the file, as after the upgrade of an older index. This rewrites the whole
   * file, so no hook does it. Events during that time go into the spool.
   */
  shrink(): void {
    const { page_count: pages } = this.#prepare("PRAGMA page_count").get() as { page_count: number };
    const { freelist_count: free } = this.#prepare("PRAGMA freelist_count").get() as { freelist_count: number };
    if (free < MANY_PAGES || free * 2 < pages) return;
    try {
      this.db.exec("VACUUM");
    } catch {
      // Another process uses the store, or the disk is full. SQLite reuses the free pages, and the next rebuild tries again.
    }
  }

  empty(): void {
    this.clearRules();
    this.db.exec(
      "DELETE FROM terms; DELETE FROM skills; DELETE FROM skills_search; DELETE FROM rule_files; DELETE FROM slow_patterns;",
    );
    this.begin();
    // An older version stored every body.
    this.sweep();
  }

  /** Caches statements: a rebuild runs the same few a million times, and preparing one costs more than running it. */
  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = this.db.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  /** Writes the lists that changed. Call it before a transaction ends. */
  flush(): void {
    // In the order of their keys: lists are sorted by key.
    for (const [key, { entries, isActive }] of [...this.#fresh].sort(([a], [b]) => a - b)) {
      if (isActive) addEntries(entries, key, this.#bucket);
      else this.#prepare(PUT_TERMS).run(new Uint8Array(entries.buffer), key);
    }
    const insert = this.#prepare("INSERT INTO terms (term, lists) VALUES (?, ?)");
    const update = this.#prepare("UPDATE terms SET lists = ? WHERE term = ?");
    const remove = this.#prepare("DELETE FROM terms WHERE term = ?");
    for (const [bucket, change] of this.#buckets) {
      const name = bucketName(bucket);
      const before = this.#readBucket(bucket);
      const after = change.apply(before);
      if (!before) after && insert.run(name, after);
      else if (!after) remove.run(name);
      else if (Buffer.compare(before, after) !== 0) update.run(after, name);
    }
    // Last and all at once: with writes to other tables in between, the search index would flush each row separately.
    const search = this.#prepare("INSERT INTO skills_search (rowid, name, description, body) VALUES (?, ?, ?, ?)");
    for (const [key, { isActive, name, description, body }] of this.#fresh) {
      if (isActive) search.run(key, name, description, body);
    }
    this.begin();
  }

  /** The pending change of a bucket. */
  readonly #bucket = (bucket: number): BucketChange => {
    let change = this.#buckets.get(bucket);
    if (!change) this.#buckets.set(bucket, (change = new BucketChange()));
    return change;
  };

  #readBucket(bucket: number): Uint8Array | undefined {
    return this.#prepare("SELECT lists FROM terms WHERE term = ?").get(bucketName(bucket))?.["lists"] as
      | Uint8Array
      | undefined;
  }

  /** The entries of an active skill that an earlier transaction indexed. */
  #readEntries(key: number): SkillEntries {
    const entries: number[] = [];
    for (const bucket of this.#bucketsOf(key) ?? []) {
      const bytes = this.#readBucket(bucket);
      if (bytes) collectEntries(bytes, bucket, key, entries);
    }
    return Uint32Array.from(entries);
  }

  #bucketsOf(key: number): number[] | undefined {
    const row = this.#prepare("SELECT terms FROM skills WHERE key = ? AND active = 1").get(key);
    return row && unpackBuckets(row["terms"] as Uint8Array);
  }

  /** Removes a skill from everything that a prompt or a search reads. */
  #clear(key: number): void {
    const isFresh = this.#fresh.delete(key);
    const buckets = this.#bucketsOf(key);
    if (!buckets) return;
    if (!isFresh) {
      for (const bucket of buckets) this.#bucket(bucket).removed.add(key);
      this.#prepare("DELETE FROM skills_search WHERE rowid = ?").run(key);
    }
    this.#prepare("UPDATE skills SET active = 0 WHERE key = ?").run(key);
  }
}

/** A skill as passed to `put`, and whether it is active. */
interface FreshSkill {
  entries: SkillEntries;
  name: string;
  description: string;
  body: string;
  isActive: boolean;
}

/** 4 MB. */
const MANY_PAGES = 1000;

const PUT_TERMS = "UPDATE skills SET terms = ? WHERE key = ?";
const PUT = `
INSERT INTO skills (key, id, path, size, mtime_ms, rank, hash, name, description, brief, domain, folder, source_kind,
  source_label, model_invocable, load_confidence, requires, own_triggers, terms, tied, problems)
VALUES (:key, :id, :path, :size, :mtimeMs, :rank, :hash, :name, :description, :brief, :domain, :folder, :sourceKind,
  :sourceLabel, :modelInvocable, :loadConfidence, :requires, :triggers, x'', :tied, :problems)
ON CONFLICT (path) DO UPDATE SET id = excluded.id, size = excluded.size, mtime_ms = excluded.mtime_ms, rank = excluded.rank,
  hash = excluded.hash, name = excluded.name, description = excluded.description, brief = excluded.brief,
  domain = excluded.domain, folder = excluded.folder, source_kind = excluded.source_kind,
  source_label = excluded.source_label, model_invocable = excluded.model_invocable,
  load_confidence = excluded.load_confidence, requires = excluded.requires,
  own_triggers = excluded.own_triggers, tied = excluded.tied,
  problems = excluded.problems, active = 0
RETURNING key`;
