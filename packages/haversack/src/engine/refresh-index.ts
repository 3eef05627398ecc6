/**
 * Brings the skill index up to date with the files. Reads files that are new or whose size or time changed, removes those that are gone,
 * and leaves the rest. Writes in small transactions that each leave a sound index: hooks wait little, and a kill loses nothing.
 */
import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { errorText } from "../base/errors.ts";
import { diskFileSystem, type FileSystem } from "../base/file-system.ts";
import { readJson } from "../base/json.ts";
import { bodyOf } from "../base/skill-body.ts";
import { backgroundTerms } from "../skills/matching/background.ts";
import { extensionTable, tieOf } from "../skills/matching/ecosystems.ts";
import { skillTerms } from "../skills/matching/skill-terms.ts";
import { parseSkill } from "../skills/parse-skill.ts";
import { compileRules } from "../skills/rules/compile-rules.ts";
import { parseRules } from "../skills/rules/parse-rules.ts";
import { type RuleTrust, tameRules, untilAccepted, whyFar } from "../skills/rules/rule-reach.ts";
import { briefOfSkill } from "../skills/short-description.ts";
import { findSkillFiles, isKeptForPeople, type SkillFile, type SkillRoot } from "../skills/skill-files.ts";
import type { Problem, SkillRule } from "../skills/types.ts";
import { type StoreHandle, writeStore } from "../store/sqlite/access.ts";
import { readMeta, writeMeta } from "../store/sqlite/meta.ts";
import { type IndexedSkill, SkillIndexWriter } from "../store/sqlite/skills/skill-index-writer.ts";
import type { Environment } from "./project.ts";
import { readEcosystems } from "./project-ecosystems.ts";
import { findSkillSources } from "./skill-sources.ts";

export interface RefreshInput {
  roots: readonly SkillRoot[];
  /** Rules files that may exist, nearest first. */
  ruleFiles: readonly string[];
  ruleTrust: RuleTrust;
  fs: FileSystem;
  /** Forget the index and read everything. */
  isRebuild?: boolean;
  /**
   * Brings the index up to date in another process. Returns whether to look again; false leaves the rest to this process. Called when there
   * is much to read: 300 skills take 140 MB that V8 does not give back, and a server would keep that memory.
   */
  inOtherProcess?: () => boolean;
  onProgress?: (text: string) => void;
}

export interface RefreshReport {
  read: number;
  removed: number;
  unchanged: number;
  /** All known problems, in files read now or before. */
  problems: Problem[];
}

/** Files per transaction. Each transaction rewrites nearly all buckets; meanwhile events go into the spool. */
const BATCH = 1000;

/** Files between two progress reports. */
const STEP = 100;

/** From this many files on, read them in another process if there is one. */
const MANY = 20;

export function refreshIndex(handle: StoreHandle, input: RefreshInput): RefreshReport {
  const { roots, ruleTrust, fs, isRebuild = false, inOtherProcess, onProgress } = input;
  const writer = new SkillIndexWriter(handle.db);
  const write = (change: () => void): void => {
    writeStore(handle, () => {
      writer.begin();
      change();
      writer.flush();
    });
  };
  const format = indexFormat();
  const mustEmpty = () => isRebuild || readMeta(handle.db, FORMAT) !== format;
  const { files, problems } = findSkillFiles(roots, fs);
  const changedFiles = () => {
    const known = new Map(writer.files().map((file) => [file.path, file]));
    const isSame = ({ path, size, mtimeMs, source }: SkillFile) => {
      const old = known.get(path);
      return old?.size === size && old.mtimeMs === mtimeMs && old.rank === source.rank;
    };
    return { known, changed: files.filter((file) => !isSame(file)) };
  };
  // Look again afterwards: files may have been added meanwhile, as in a checkout.
  if (inOtherProcess && (mustEmpty() ? files : changedFiles().changed).length >= MANY && inOtherProcess()) {
    return refreshIndex(handle, input);
  }
  const isNew = mustEmpty();
  if (isNew) {
    // In one transaction: other processes that read or fill the index never see it without the background.
    write(() => {
      writer.empty();
      writer.putBackground(backgroundTerms());
      writeMeta(handle.db, FORMAT, format);
    });
  }

  const { known, changed } = changedFiles();
  const wanted = new Set(files.map(({ path }) => path));
  const gone = [...known.values()].filter(({ path }) => !wanted.has(path) && !path.startsWith(RULE_PREFIX));
  const rules = new RuleBook(input, writer);
  const isChange = changed.length + gone.length > 0;
  const mustSettle = rules.hasChanged || (isChange && rules.isAny);
  // Mark the rules as never read until they are settled at the end. After a kill, the next refresh reads them again.
  if (isChange && rules.isAny) write(() => writer.putRuleFiles([]));

  for (let from = 0; from < gone.length; from += BATCH) {
    write(() => {
      for (const { path, id } of gone.slice(from, from + BATCH)) {
        // Look the key up again: another process may have removed the file and reused its key.
        const key = writer.keyOf(path);
        if (key === undefined) continue;
        writer.clearRules(key);
        writer.remove(key);
        putOwnTriggers(writer, writer.settle(id));
      }
    });
  }
  for (let from = 0; from < changed.length; from += BATCH) {
    const skills = changed.slice(from, from + BATCH).map((file, at) => {
      if (at % STEP === 0) onProgress?.(`${from + at} of ${changed.length} skills`);
      return readSkillFile(file, fs);
    });
    write(() => {
      for (const skill of skills) {
        const before = known.get(skill.path);
        const key = writer.put(skill);
        writer.clearRules(key);
        if (before && before.id !== skill.id) putOwnTriggers(writer, writer.settle(before.id));
        if (skill.id !== "") putOwnTriggers(writer, writer.settle(skill.id));
      }
    });
    onProgress?.(`${Math.min(from + BATCH, changed.length)} of ${changed.length} skills`);
  }
  if (mustSettle) write(() => settleRules(writer, rules));
  if (isChange) write(() => writer.sweep());
  const times = Object.fromEntries(roots.map(({ dir }) => [dir, folderTime(dir, fs)]));
  const folders = JSON.stringify({ program: PROGRAM, folders: times } satisfies IndexedFolders);
  if (readMeta(handle.db, FOLDERS) !== folders) write(() => writeMeta(handle.db, FOLDERS, folders));
  const context = JSON.stringify({ has: readEcosystems(ruleTrust.root, fs), extensions: extensionTable() });
  if (readMeta(handle.db, CONTEXT) !== context) write(() => writeMeta(handle.db, CONTEXT, context));
  if (isNew) handle.guard(() => writer.shrink());
  return {
    read: changed.length,
    removed: gone.length,
    unchanged: files.length - changed.length,
    problems: [...problems, ...writer.problems()],
  };
}

/** 0 for a missing folder, so it counts as changed once it exists. */
function folderTime(folder: string, fs: FileSystem): number {
  try {
    return fs.stat(folder).mtimeMs;
  } catch {
    // Most of the possible skill folders do not exist.
    return 0;
  }
}

/** Stored instead of the size of an unreadable file, so it is read again next time: a new permission changes neither size nor time. */
const TRY_AGAIN = -1;

/** Larger files are not read at all. Of a skill, only the first 256 kB are used. */
export const MAX_FILE_BYTES = 8 * 1024 * 1024;

function tooLarge({ size }: { size: number }): string {
  return `the file has ${size} bytes, more than ${MAX_FILE_BYTES}: not read`;
}

function readSkillFile(file: SkillFile, fs: FileSystem): IndexedSkill {
  const place = {
    path: file.path,
    size: file.size,
    mtimeMs: file.mtimeMs,
    rank: file.source.rank,
    sourceKind: file.source.kind,
    sourceLabel: file.source.label,
    ...(file.folder && { folder: file.folder }),
  };
  const problem = (code: string, text: string): Problem => ({ level: "error", code, file: file.path, text });
  // Stored without an id: it is not a skill, and is read again only when it changes.
  const unusable = (problems: Problem[]): IndexedSkill => ({
    ...place,
    id: "",
    hash: "",
    name: file.folderName,
    description: "",
    brief: "",
    body: "",
    modelInvocable: false,
    requires: [],
    terms: [],
    problems,
  });
  if (file.size > MAX_FILE_BYTES) return unusable([problem("skill-too-large", tooLarge(file))]);
  let text: string;
  try {
    text = fs.readFile(file.path);
  } catch (error) {
    return { ...unusable([problem("skill-unreadable", errorText(error))]), size: TRY_AGAIN };
  }
  const { skill, problems } = parseSkill(text, file);
  if (!skill) return unusable(problems);
  const { triggers } = skill;
  const tied = tieOf(skill);
  return {
    ...skill,
    ...place,
    brief: briefOfSkill(skill),
    // The body is stored if only this process can read it, or if `bodyOf` gives a different text.
    isBodyInFile: fs.isDisk === true && bodyOf(text) === skill.body,
    modelInvocable: skill.modelInvocable && !isKeptForPeople(file.folder, fs),
    ...(triggers?.confidence !== undefined && { loadConfidence: triggers.confidence }),
    terms: skillTerms({ ...skill, ...(triggers && { keywords: triggers.keywords }) }),
    ...(tied && { tied }),
    problems,
  };
}

/** Path prefix of a skill that only a rules file names; the rules file and the name follow. */
export const RULE_PREFIX = "rule:";

/** The rules files, read on first use, and whether they changed since the index was written. */
class RuleBook {
  readonly files: { path: string; size: number; mtimeMs: number; problems: Problem[] }[] = [];
  readonly hasChanged: boolean;
  readonly #fs: FileSystem;
  readonly trust: RuleTrust;
  #rules: SkillRule[] | undefined;

  constructor({ ruleFiles, ruleTrust, fs }: RefreshInput, writer: SkillIndexWriter) {
    this.#fs = fs;
    this.trust = ruleTrust;
    for (const path of ruleFiles) {
      try {
        const { kind, size, mtimeMs } = fs.stat(path);
        if (kind === "file") this.files.push({ path, size, mtimeMs, problems: [] });
      } catch {
        // No such rules file: most projects have none.
      }
    }
    const before = writer.ruleFiles();
    this.hasChanged =
      before.length !== this.files.length ||
      (this.isAny && (readMeta(writer.db, RULES) ?? "[]") !== this.accepted) ||
      this.files.some(
        ({ path, size, mtimeMs }) =>
          !before.some((old) => old.path === path && old.size === size && old.mtimeMs === mtimeMs),
      );
  }

  /** The rules that the user has accepted, as one text. If it changes, the rules are settled again. */
  get accepted(): string {
    return JSON.stringify(this.trust.accepted);
  }

  get isAny(): boolean {
    return this.files.length > 0;
  }

  /** All rules, nearest file first. */
  rules(): readonly SkillRule[] {
    this.#rules ??= this.files.flatMap((file) => {
      const { path } = file;
      const without = (code: string, text: string): SkillRule[] => {
        file.problems.push({ level: "error", code, file: path, text });
        return [];
      };
      if (file.size > MAX_FILE_BYTES) return without("rules-too-large", tooLarge(file));
      const { root } = this.trust;
      try {
        if (path.startsWith(`${root}/`) && !this.#fs.realpath(path).startsWith(`${this.#fs.realpath(root)}/`))
          return without("rules-link", "is a symbolic link that leads out of the project, so it is not read");
        const read = readJson(this.#fs.readFile(path));
        if (read.problem !== undefined) return without("rules-no-json", read.problem);
        const { rules, problems } = parseRules(read.value, path);
        file.problems.push(...problems);
        return rules;
      } catch (error) {
        file.size = TRY_AGAIN;
        return without("rules-unreadable", errorText(error));
      }
    });
    return this.#rules;
  }
}

/** At most this many rules that the user has not accepted are named. */
const MAX_IGNORED = 20;

/**
 * Identifies how the index was made: other weights or stems make every row stale although no file changed. Compiles a sample (3 ms), so
 * nobody has to remember to raise a version.
 */
function indexFormat(): string {
  const terms = skillTerms(SAMPLE);
  const { triggers } = compileRules([], { triggers: { keywords: SAMPLE.tags, patterns: [] }, file: "" });
  return createHash("sha256")
    .update(JSON.stringify([ROW_FORMAT, terms, triggers]))
    .digest("hex")
    .slice(0, 16);
}

const SAMPLE = {
  name: "database-migrations",
  description:
    "Writes and reviews PostgreSQL schema migrations in TypeScript. Use when tables, indexes or foreign keys are changed, or running queries got slower. Do not use for Python's Django models.",
  body: "# Migrating\n\nAdding columns, renamed tables, batches of rows, node.js and C# clients, ci/cd.\n\n## When not to use\n\nFrontend styling.",
  tags: ["migrations", "zero-downtime deploys", "c#", "adding indexes"],
};

/** Frontmatter triggers are written at once; rules files are settled together at the end. */
function putOwnTriggers(writer: SkillIndexWriter, key: number | undefined): void {
  if (key === undefined) return;
  const triggers = writer.ownTriggers(key);
  if (!triggers) return;
  writer.clearRules(key);
  writer.putRules(key, compileRules([], { triggers, file: "" }));
}

/** Assigns every rule to its skill. A rule whose skill has no file becomes a skill of its own. */
function settleRules(writer: SkillIndexWriter, book: RuleBook): void {
  const files = writer.files();
  const active = files.filter((file) => file.active && !file.path.startsWith(RULE_PREFIX));
  const { rules: byId, ignored } = tameRules(book.rules(), writer.activeSkills(RULE_PREFIX), book.trust);
  for (const { key, path } of files) if (path.startsWith(RULE_PREFIX)) writer.remove(key);
  writer.clearRules();

  const keys = new Map(active.map(({ id, key }) => [id, key]));
  for (const [id, own] of byId) if (!keys.has(id)) keys.set(id, putRuleSkill(writer, id, own));
  const problems: Problem[] = [];
  // `skills.enforce` is not known here; `doctor` and `trust` report the enforced rules.
  for (const { file, skill, reach } of ignored.filter(({ reach }) => reach !== "enforced").slice(0, MAX_IGNORED)) {
    const text = `the rule for “${skill}” ${whyFar(reach)}, so it ${untilAccepted(reach)} until you run \`haversack trust\``;
    problems.push({ level: "warning", code: "rule-untrusted", file, where: skill, text });
  }
  for (const [id, key] of keys) {
    const triggers = writer.ownTriggers(key);
    const own = byId.get(id) ?? [];
    if (own.length === 0 && !triggers) continue;
    const compiled = compileRules(own, triggers && { triggers, file: "" });
    writer.putRules(key, compiled);
    problems.push(...compiled.problems);
  }
  writeMeta(writer.db, RULES, book.accepted);
  const ofFile = (path: string) => problems.filter(({ file }) => file === path);
  writer.putRuleFiles(book.files.map((file) => ({ ...file, problems: [...file.problems, ...ofFile(file.path)] })));
}

function putRuleSkill(writer: SkillIndexWriter, id: string, rules: readonly SkillRule[]): number {
  const [first] = rules;
  const description = rules.map((rule) => rule.description).find(Boolean) ?? "";
  const short = rules.map((rule) => rule.defer?.shortDescription).find(Boolean);
  const key = writer.put({
    id,
    path: `${RULE_PREFIX}${first?.file}#${id}`,
    size: 0,
    mtimeMs: 0,
    rank: Number.MAX_SAFE_INTEGER,
    hash: "",
    name: id,
    description,
    brief: briefOfSkill({ shortDescription: short, description }),
    body: "",
    sourceKind: "rule",
    sourceLabel: first?.file ?? "rules",
    modelInvocable: true,
    requires: [],
    terms: skillTerms({ name: id, description: [description, short ?? ""].join("\n"), body: "", tags: [] }),
    problems: [],
  });
  writer.settle(id);
  return key;
}

// Brings a project's skill index up to date when a file, a folder or this program changed since it was written.

export interface IndexPlaces {
  root: string;
  env: Environment;
  /** The setting `skills.folders`. */
  folders: readonly string[];
}

/** `isThorough`: also look for files that no indexed file or folder points to. Costs 15 ms for 285 skills, otherwise 2 ms. */
export function freshenIndex(
  handle: StoreHandle,
  { root, env, folders }: IndexPlaces,
  { isThorough = false }: { isThorough?: boolean } = {},
): void {
  if (!isThorough && !isIndexStale(handle.db)) return;
  const sources = findSkillSources(root, { env, folders, fs: diskFileSystem });
  refreshIndex(handle, { ...sources, fs: diskFileSystem });
}

/** Checking more files would noticeably delay a session start. The CLI and the MCP server check all of them. */
const MAX_CHECKED = 2000;

// What is kept in `meta` about the index: the format of its rows, the searched folders with their times (hooks notice by it that a skill was
// added), the project's languages and frameworks, and the rules that the user had accepted when they were applied.
const FORMAT = "skill-index";
const FOLDERS = "skill-roots";
const CONTEXT = "project-context";
const RULES = "accepted-rules";

/** Stored by a refresh for the next check: which program wrote it, and the times of the folders it searched (0: missing). */
interface IndexedFolders {
  program: string;
  folders: Record<string, number>;
}

/** Raise it when rows change in a way that the sample of `indexFormat` does not show, such as another way to pack lists. */
const ROW_FORMAT = 10;

/** Which program made the index. Running from source without a build has no version. */
const PROGRAM = `${typeof __VERSION__ === "string" ? __VERSION__ : "source"}/${ROW_FORMAT}`;

/**
 * Whether the index is older than the files: compares size and time of indexed files and the times of their folders. Reads no file. The
 * hook calls this at session start.
 */
export function isIndexStale(db: DatabaseSync): boolean {
  const indexed = readMeta(db, FOLDERS);
  // Never indexed.
  if (indexed === undefined) return true;
  const { program, folders } = JSON.parse(indexed) as IndexedFolders;
  // Another version may split and weigh words differently.
  if (program !== PROGRAM) return true;
  for (const [folder, mtimeMs] of Object.entries(folders)) {
    if ((statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? 0) !== mtimeMs) return true;
  }
  const files = db.prepare(
    "SELECT path, size, mtime_ms FROM skills WHERE path NOT LIKE 'rule:%' UNION ALL SELECT path, size, mtime_ms FROM rule_files LIMIT ?",
  );
  for (const row of files.all(MAX_CHECKED)) {
    const stat = statSync(String(row["path"]), { throwIfNoEntry: false });
    if (stat?.size !== row["size"] || stat?.mtimeMs !== row["mtime_ms"]) return true;
  }
  return false;
}
