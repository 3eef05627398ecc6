/**
 * Skills of some folders in memory: found, parsed, ranked and loaded with the same rules as those of a project, without a store. Writes
 * nothing. `refresh` reads again only the files that changed.
 */
import { join, resolve } from "node:path";
import { errorText } from "../base/errors.ts";
import { diskFileSystem, type FileSystem, isMissing } from "../base/file-system.ts";
import { readJson } from "../base/json.ts";
import type { MatchIndex } from "../skills/matching/match-skills.ts";
import { indexOfTerms } from "../skills/matching/memory-index.ts";
import type { Posting, TermIndex, TermStats } from "../skills/matching/score-text.ts";
import { type SkillTerm, type SkillTermsInput, skillTerms } from "../skills/matching/skill-terms.ts";
import { parseSkill } from "../skills/parse-skill.ts";
import { compileRules } from "../skills/rules/compile-rules.ts";
import { parseRules } from "../skills/rules/parse-rules.ts";
import { rulesById } from "../skills/rules/rule-reach.ts";
import { briefOfSkill } from "../skills/short-description.ts";
import { findSkillFiles, isKeptForPeople, type SkillFile } from "../skills/skill-files.ts";
import type { PatternKind, PatternRow, Problem, Skill, SkillCard, SkillRule, TriggerRow } from "../skills/types.ts";
import type { LoadIndex } from "./load-skill.ts";

/** A skill file after reading: the input of every index. */
export interface PoolFile {
  file: SkillFile;
  skill: Skill;
  /** The source of its terms. */
  text: SkillTermsInput;
  modelInvocable: boolean;
  problems: Problem[];
}

/** Undefined if the file is no skill; the problems say why. `markdown`: for a skill that has no file. */
export function readPoolFile(
  file: SkillFile,
  fs: FileSystem,
  markdown = fs.readFile(file.path),
): { read?: PoolFile; problems: Problem[] } {
  const { skill, problems } = parseSkill(markdown, file);
  if (!skill) return { problems };
  const text = { ...skill, ...(skill.triggers && { keywords: skill.triggers.keywords }) };
  const modelInvocable = skill.modelInvocable && !isKeptForPeople(file.folder, fs);
  return { read: { file, skill, text, modelInvocable, problems }, problems };
}

/** Something that prevents reading skills. */
export function isBreakage({ level, code }: Problem): boolean {
  return level === "error" || code === "source-missing" || code === "source-not-a-folder";
}

export interface SkillPoolOptions {
  /** Folders of skills, the nearest first: of skills with the same name, the first one wins. */
  folders: readonly string[];
  fs?: FileSystem;
}

interface Member {
  key: number;
  read: PoolFile;
  terms: SkillTerm[];
  card: SkillCard;
}

export class SkillPool implements MatchIndex, LoadIndex {
  readonly #folders: string[];
  readonly #fs: FileSystem;
  /** By path; also those that lost to a nearer skill of the same name. */
  readonly #files = new Map<string, { size: number; mtimeMs: number; read?: PoolFile; terms?: SkillTerm[] }>();
  readonly #added = new Map<string, PoolFile>();
  #ruleFiles = "";
  #rules: SkillRule[] = [];
  #members = new Map<string, Member>();
  #byKey = new Map<number, Member>();
  #bodies = new Map<string, string>();
  #words: TermIndex<number> = indexOfTerms<number>([]);
  #triggers = new Map<string, TriggerRow[]>();
  #patterns: PatternRow[] = [];
  #slow = new Set<string>();
  #version = 0;
  #fileProblems: Problem[] = [];
  #indexProblems: Problem[] = [];
  /** Built on first use, because many skills may be added one by one before that. */
  #isStale = false;

  constructor({ folders, fs = diskFileSystem }: SkillPoolOptions) {
    this.#folders = folders.map((folder) => resolve(folder));
    this.#fs = fs;
    this.refresh();
  }

  /** Increases with every change of the skills. */
  get version(): number {
    return this.#version;
  }

  /** Problems of the files. */
  get problems(): Problem[] {
    this.#fresh();
    return [...this.#fileProblems, ...this.#indexProblems];
  }

  /**
   * Reads what changed on disk. Returns whether any skill changed. If a file that was fine is broken now, or a folder cannot be read any
   * more, the last good skills stay in place, and the problems say so.
   */
  refresh(): boolean {
    const { files, problems } = findSkillFiles(
      this.#folders.map((dir, rank) => ({ dir, source: { kind: "folder", label: dir, rank }, isNamed: true })),
      this.#fs,
    );
    const hasNewRules = this.#readRules(problems);
    let changed = this.#version === 0 || hasNewRules;
    const seen = new Set<string>();
    for (const file of files) {
      seen.add(file.path);
      const known = this.#files.get(file.path);
      if (known && known.size === file.size && known.mtimeMs === file.mtimeMs) {
        problems.push(...(known.read?.problems ?? []));
        continue;
      }
      try {
        const { read, problems: own } = readPoolFile(file, this.#fs);
        problems.push(...own);
        if (known?.read && (!read || (own.some(isBreakage) && !known.read.problems.some(isBreakage)))) {
          // No file has this size, so the next refresh tries again.
          this.#files.set(file.path, { ...known, size: -1 });
          continue;
        }
        changed = true;
        this.#files.set(file.path, { size: file.size, mtimeMs: file.mtimeMs, ...(read && { read }) });
      } catch (error) {
        problems.push({ level: "error", code: "skill-unreadable", file: file.path, text: errorText(error) });
        if (known?.read) this.#files.set(file.path, { ...known, size: -1 });
        else {
          // Not remembered, so the next refresh tries again.
          this.#files.delete(file.path);
          changed = true;
        }
      }
    }
    const lost = problems.filter(isBreakage).map(({ file }) => file);
    for (const path of this.#files.keys()) {
      if (seen.has(path) || lost.some((place) => path === place || path.startsWith(join(place, "/")))) continue;
      this.#files.delete(path);
      changed = true;
    }
    this.#fileProblems = problems;
    if (changed) this.#change();
    return changed;
  }

  /** Adds a skill that has no file, from its markdown. It comes before those of the folders. */
  add(name: string, markdown: string): SkillCard | undefined {
    const file: SkillFile = {
      path: `memory:${name}`,
      folderName: name,
      size: markdown.length,
      mtimeMs: 0,
      source: { kind: "folder", label: "added in code", rank: -1 },
    };
    const { read } = readPoolFile(file, this.#fs, markdown);
    if (!read) return undefined;
    this.#added.set(read.skill.id, read);
    this.#change();
    return cardOf(0, read);
  }

  remove(id: string): boolean {
    const had = this.#added.delete(id);
    if (had) this.#change();
    return had;
  }

  /** The skill itself, with its triggers and metadata. */
  skill(id: string): Skill | undefined {
    return this.#added.get(id)?.skill ?? this.#fresh().#members.get(id)?.read.skill;
  }

  // For loading.

  card(id: string): SkillCard | undefined {
    return this.#fresh().#members.get(id)?.card;
  }

  listCards(): SkillCard[] {
    return [...this.#fresh().#members.values()].map(({ card }) => card);
  }

  body(hash: string): string | undefined {
    return this.#fresh().#bodies.get(hash);
  }

  // For matching.

  get size(): number {
    return this.#fresh().#words.size;
  }

  terms(terms: readonly string[]): Iterable<TermStats> {
    return this.#fresh().#words.terms(terms);
  }

  postings(terms: readonly string[], skills?: readonly number[]): Iterable<Posting<number>> {
    return this.#fresh().#words.postings(terms, skills);
  }

  /** The sums of `postings` without a map: keys are small numbers here. Half of the time of a match with 500 skills. */
  best(factors: ReadonlyMap<string, number>, count: number): number[] {
    const words = this.#fresh().#words;
    const sums = new Float64Array(this.#byKey.size + 1);
    const found = new Set<number>();
    for (const [term, factor] of factors) {
      for (const { skill, weight } of words.postings([term])) {
        sums[skill]! += factor * weight;
        found.add(skill);
      }
    }
    return [...found].sort((a, b) => sums[b]! - sums[a]! || a - b).slice(0, count);
  }

  triggers(stems: readonly string[]): TriggerRow[] {
    const rows = this.#fresh().#triggers;
    return stems.flatMap((stem) => rows.get(stem) ?? []);
  }

  patterns(kinds: readonly PatternKind[]): PatternRow[] {
    return this.#fresh().#patterns.filter(({ kind, source }) => kinds.includes(kind) && !this.#slow.has(source));
  }

  alwaysActive(): number[] {
    return [...this.#fresh().#byKey.values()].filter(({ card }) => card.rule?.alwaysActive).map(({ key }) => key);
  }

  hasRules(): boolean {
    this.#fresh();
    return this.#triggers.size > 0 || this.#patterns.length > 0 || this.#rules.length > 0;
  }

  cards(keys: readonly number[]): SkillCard[] {
    const members = this.#fresh().#byKey;
    return keys.flatMap((key) => members.get(key)?.card ?? []);
  }

  hidden(keys: readonly number[]): number[] {
    return this.cards(keys).flatMap(({ key, modelInvocable }) => (modelInvocable ? [] : [key]));
  }

  /** Patterns that once ran out of time are not run again. */
  dropSlowPatterns(sources: readonly string[]): void {
    for (const source of sources) this.#slow.add(source);
  }

  /** Reads the `skill-rules.json` of each folder. Returns whether one of them changed. */
  #readRules(problems: Problem[]): boolean {
    const found: { path: string; text: string }[] = [];
    for (const folder of this.#folders) {
      const path = join(folder, "skill-rules.json");
      try {
        found.push({ path, text: this.#fs.readFile(path) });
      } catch (error) {
        if (!isMissing(error) && !errorText(error).endsWith("is gone"))
          problems.push({ level: "error", code: "rules-unreadable", file: path, text: errorText(error) });
      }
    }
    const all = found.map(({ path, text }) => `${path}\n${text}`).join("\n");
    if (all === this.#ruleFiles) return false;
    this.#ruleFiles = all;
    this.#rules = found.flatMap(({ path, text }) => {
      const read = readJson(text);
      if (read.problem !== undefined) {
        problems.push({ level: "error", code: "rules-no-json", file: path, text: read.problem });
        return [];
      }
      const parsed = parseRules(read.value, path);
      problems.push(...parsed.problems);
      return parsed.rules;
    });
    return true;
  }

  #change(): void {
    this.#version++;
    this.#isStale = true;
  }

  #fresh(): this {
    if (!this.#isStale) return this;
    this.#isStale = false;
    this.#rebuild();
    return this;
  }

  #rebuild(): void {
    const problems: Problem[] = [];
    const members = new Map<string, Member>();
    let key = 0;
    const take = (read: PoolFile, kept?: { terms?: SkillTerm[] }) => {
      const { skill, file } = read;
      const winner = members.get(skill.id);
      if (winner) {
        const text = `“${skill.id}” is also in ${winner.read.file.path}, which is used`;
        problems.push({ level: "warning", code: "skill-duplicate", file: file.path, text });
        return;
      }
      const terms = kept?.terms ?? skillTerms(read.text);
      if (kept) kept.terms = terms;
      key++;
      members.set(skill.id, { key, read, terms, card: cardOf(key, read) });
    };
    for (const read of this.#added.values()) take(read);
    const found = [...this.#files.values()].flatMap((known) => (known.read ? [{ read: known.read, known }] : []));
    found.sort(
      (a, b) => a.read.file.source.rank - b.read.file.source.rank || (a.read.file.path < b.read.file.path ? -1 : 1),
    );
    for (const { read, known } of found) take(read, known);
    const rules = rulesById(this.#rules, members.keys());
    this.#triggers = new Map();
    this.#patterns = [];
    for (const member of members.values()) this.#addRules(member, rules.get(member.card.id) ?? [], problems);
    this.#members = members;
    this.#byKey = new Map([...members.values()].map((member) => [member.key, member]));
    this.#bodies = new Map([...members.values()].map(({ read }) => [read.skill.hash, read.skill.body]));
    this.#words = indexOfTerms([...members.values()].map(({ key: own, terms }) => [own, terms] as const));
    this.#indexProblems = problems;
  }

  #addRules(member: Member, rules: readonly SkillRule[], problems: Problem[]): void {
    const { skill, file } = member.read;
    if (rules.length === 0 && !skill.triggers) return;
    const compiled = compileRules(rules, { ...(skill.triggers && { triggers: skill.triggers }), file: file.path });
    problems.push(...compiled.problems);
    if (compiled.rule) member.card.rule = compiled.rule;
    for (const { stem, kind, phrase, weight } of compiled.triggers) {
      const row = { skill: member.key, kind, phrase, weight };
      const rows = this.#triggers.get(stem);
      if (rows) rows.push(row);
      else this.#triggers.set(stem, [row]);
    }
    for (const pattern of compiled.patterns) this.#patterns.push({ skill: member.key, ...pattern });
  }
}

function cardOf(key: number, { skill, file, modelInvocable }: PoolFile): SkillCard {
  return {
    key,
    id: skill.id,
    name: skill.name,
    description: skill.description,
    brief: briefOfSkill(skill),
    ...(skill.domain && { domain: skill.domain }),
    path: skill.path,
    ...(file.folder && { folder: file.folder }),
    hash: skill.hash,
    sourceKind: skill.source.kind,
    sourceLabel: skill.source.label,
    modelInvocable,
    ...(skill.triggers?.confidence !== undefined && { loadConfidence: skill.triggers.confidence }),
    requires: skill.requires,
  };
}
